"""File states of real repositories: what was indexed, what is on disk, and what changed in between."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.extract.worker import FAULT_VARIABLE
from gitindex.filestate import FileStateService
from gitindex.freshness.observation import read_progress
from gitindex.semantic.contexts.router import LiveContexts
from gitindex.store import semantic
from gitindex.store.connection import open_writer
from gitindex.store.semantic import Dependency, FileFacts
from gitindex.view.tree import open_tree
from tests.indexers import Fake, allow, index_semantically
from tests.states import NO_FACTS, A, B, one, publish, refresh, state, states, write
from tests.support import Repo, wait_for


@pytest.fixture
def pair(repo: Repo) -> Repo:
    """b imports a; both are indexed."""
    publish(write(repo, {"a.py": A, "b.py": B, "c.py": "import b\n", "other.py": "x = 1\n"}))
    assert states(repo, "a.py", "b.py", "c.py", "other.py") == ["clean"] * 4
    return repo


def test_f1_cycle_of_two(repo: Repo) -> None:
    publish(write(repo, {"a.py": "import b\n", "b.py": "import a\n"}))
    assert states(repo, "a.py", "b.py") == ["clean", "clean"]
    repo.write("a.py", "import b\n__all__ = ['x']\n")
    assert states(repo, "a.py", "b.py") == ["clean", "stale"], "it exports other names"
    repo.write("a.py", "import b\n# x\n")
    assert states(repo, "a.py", "b.py") == ["clean", "clean"], "the edit has facts of its own"
    repo.write("a.py", NO_FACTS)
    assert states(repo, "a.py", "b.py") == ["dirty", "pending_check"]


def test_f2_chain_of_3000(repo: Repo) -> None:
    last = 2999
    for number in range(last):
        repo.write(f"m{number}.py", f"import m{number + 1}\n")
    publish(write(repo, {f"m{last}.py": "x = 1\n"}))
    assert state(repo, "m0.py").freshness == "clean"
    repo.write(f"m{last}.py", "x = 2\n")
    assert state(repo, "m0.py").freshness == "clean"
    repo.write(f"m{last}.py", NO_FACTS)
    assert state(repo, "m0.py").freshness == "pending_check"


def test_f3_stale_until_refreshed(pair: Repo) -> None:
    pair.write("a.py", A.replace("(x)", "(x, y)"))
    publish(pair)
    assert states(pair, "a.py", "b.py", "c.py", "other.py") == ["clean", "stale", "stale", "clean"]
    publish(write(pair, {"other.py": "x = 2\n"}))
    assert states(pair, "b.py") == ["stale"], "an unrelated publish refreshes nothing"
    refresh(pair, "b.py")
    assert states(pair, "b.py", "c.py") == ["clean", "clean"]


def test_f3_the_publish_of_a_file_refreshes_it(pair: Repo) -> None:
    publish(write(pair, {"a.py": A.replace("(x)", "(x, y)")}))
    publish(write(pair, {"b.py": B.replace("(1)", "(1, 2)")}))
    assert states(pair, "b.py", "c.py") == ["clean", "clean"]


def test_f3_both_in_one_commit(pair: Repo) -> None:
    publish(write(pair, {"a.py": A.replace("(x)", "(x, y)"), "b.py": B.replace("(1)", "(1, 2)")}))
    assert states(pair, "a.py", "b.py", "c.py") == ["clean", "clean", "clean"]


def test_f3_a_forced_reindex_refreshes_all(pair: Repo) -> None:
    publish(write(pair, {"a.py": A.replace("(x)", "(x, y)")}))
    publish(pair, force=True)
    assert states(pair, "a.py", "b.py") == ["clean", "clean"]


def test_f3_an_upgrade_reads_all_files_anew(pair: Repo) -> None:
    publish(write(pair, {"a.py": A.replace("(x)", "(x, y)")}))
    database = open_writer(pair.worktree.database)
    database.run("UPDATE worktrees SET fingerprint='of an older version'")
    database.close()
    publish(pair)
    assert states(pair, "a.py", "b.py") == ["clean", "clean"]


def test_f3_back_to_the_interface_that_was_seen(pair: Repo) -> None:
    publish(write(pair, {"a.py": A.replace("(x)", "(x, y)")}))
    pair.git("checkout", "-q", "HEAD~1")
    publish(pair)
    assert states(pair, "a.py", "b.py", "c.py") == ["clean", "clean", "clean"]
    pair.git("checkout", "-q", "main")
    publish(pair)
    assert states(pair, "a.py", "b.py") == ["clean", "stale"]


def test_f3_worktrees_do_not_share_what_was_seen(pair: Repo) -> None:
    other = Repo(pair.path.with_name("other"))
    pair.git("worktree", "add", "-q", str(other.path))
    publish(other)
    publish(write(pair, {"a.py": A.replace("(x)", "(x, y)")}))
    assert states(pair, "b.py") == ["stale"]
    assert states(other, "b.py") == ["clean"]


GAINED = "\n\n@print\ndef more(x):\n    return x\n"
SAYS = {
    "nothing of it": ("import a\nfrom a import helper\n", "clean"),
    "a part of the word": ("import a\na.mores\n", "clean"),
    "the name": ("import a\na.more\n", "stale"),
    "everything": ("from a import *\n", "stale"),
}


@pytest.mark.parametrize("said", SAYS)
@pytest.mark.parametrize("committed", [False, True])
def test_f3_a_new_name_concerns_those_who_say_it(repo: Repo, said: str, committed: bool) -> None:
    text, expected = SAYS[said]
    publish(write(repo, {"a.py": A, "b.py": text, "c.py": "import b\n"}))
    write(repo, {"a.py": A.replace("return x", "return [x]") + GAINED})
    if committed:
        publish(repo)
    assert states(repo, "a.py", "b.py", "c.py") == ["clean", expected, expected]
    write(repo, {"a.py": A.replace("(x)", "(x, y)") + GAINED})
    assert states(repo, "b.py", "c.py") == ["stale", "stale"], "a name that was there changed too"


def test_f3_a_new_member_concerns_all(repo: Repo) -> None:
    """A class between has the same interface, and what is called on it means something else."""
    base = "class Base:\n    def old(self): ...\n"
    between = "from a import Base\n\n\nclass Between(Base): ...\n"
    files = {"a.py": base, "b.py": between, "c.py": "from b import Between\nBetween().new()\n"}
    publish(write(repo, files))
    before = interface(repo, "b.py")
    write(repo, {"a.py": base + "    def new(self): ...\n"})
    assert interface(repo, "b.py") == before
    assert states(repo, "a.py", "b.py", "c.py") == ["clean", "stale", "stale"]


def test_f3_a_package_shares_its_names(repo: Repo) -> None:
    head = "package p\n\nfunc Old() {}\n"
    user = 'package q\n\nimport "m/p"\n\nfunc Q() { p.Old() }\n'
    publish(write(repo, {"go.mod": "module m\n", "p/p.go": head, "q/q.go": user}))
    write(repo, {"p/p.go": head + "\nfunc New() {}\n"})
    assert states(repo, "q/q.go") == ["stale"]


def test_f4_transitively_pending(pair: Repo) -> None:
    pair.write("a.py", A + "\n")
    assert states(pair, "a.py", "b.py", "c.py", "other.py") == ["clean"] * 4
    pair.write("a.py", A + NO_FACTS)
    assert states(pair, "a.py", "b.py", "c.py", "other.py") == [
        "dirty",
        "pending_check",
        "pending_check",
        "clean",
    ]


def test_f5_a_dependency_without_facts(repo: Repo) -> None:
    write(repo, {".gitindexignore": "a.py\n", "a.py": A, "b.py": B, "c.py": "import b\n"})
    publish(repo)
    assert states(repo, "a.py", "b.py", "c.py") == ["unindexed", "pending_check", "clean"]
    repo.write("a.py", A + "\n")
    assert states(repo, "a.py", "b.py", "c.py") == ["unindexed", "pending_check", "pending_check"]


def test_f6_any_order_gives_the_same_answers(repo: Repo) -> None:
    files = {"a.py": "import b\nimport c\n", "b.py": "import a\n", "c.py": "import d\n"}
    publish(write(repo, {**files, "d.py": "def f():\n    pass\n"}))
    publish(write(repo, {"d.py": "def f(x):\n    pass\n"}))
    expected = {"a.py": "stale", "b.py": "stale", "c.py": "stale", "d.py": "clean"}
    for order in (["a.py", "b.py"], ["b.py", "a.py"], ["d.py", "c.py", "b.py", "a.py"]):
        assert [str(state(repo, path).freshness) for path in order] == _in(expected, order)
        assert states(repo, *order) == _in(expected, order)


def _in(expected: dict[str, str], order: Iterable[str]) -> list[str]:
    return [expected[path] for path in order]


@pytest.mark.parametrize("committed", [True, False])
def test_f7_a_deleted_dependency(pair: Repo, committed: bool) -> None:
    (pair.path / "a.py").unlink()
    if committed:
        publish(pair)
    assert states(pair, "b.py", "c.py", "other.py") == ["stale", "stale", "clean"]
    refresh(pair, "b.py")
    assert states(pair, "b.py") == ["clean" if committed else "stale"]


@pytest.mark.parametrize("committed", [True, False])
def test_f8_an_import_that_resolves_later(repo: Repo, committed: bool) -> None:
    publish(write(repo, {"b.py": B, "other.py": "import os\n"}))
    assert states(repo, "b.py") == ["clean"]
    repo.write("a.py", A)
    if committed:
        publish(repo)
    assert states(repo, "b.py", "other.py") == ["stale", "clean"]
    refresh(repo, "b.py")
    assert states(repo, "b.py") == ["clean" if committed else "stale"]


def test_f8_an_import_that_means_another_file(repo: Repo) -> None:
    """Both files exist before and after; only what the import reaches has changed."""
    files = {"pkg/__init__.py": "", "pkg/a.py": A, "lib/x/a.py": A, "lib/x/b.py": B}
    publish(write(repo, {**files, "lib/x/__init__.py": ""}))
    assert states(repo, "lib/x/b.py") == ["clean"]
    (repo.path / "lib/x/__init__.py").unlink()
    publish(repo)
    assert states(repo, "lib/x/b.py") == ["stale"]


@pytest.mark.parametrize("committed", [True, False])
def test_f9_a_project_file_changes(repo: Repo, committed: bool) -> None:
    """Only its own context is touched: neither one inside it, nor another language's."""
    own = {
        "pyproject.toml": '[project]\nname = "x"\n',
        "a.py": A,
        "sub/setup.cfg": "",
        "web/x.ts": "",
    }
    nested = {
        "sub/pyproject.toml": "",
        "sub/s.py": A,
        "web/tsconfig.json": "{}",
        "web/package.json": "{}",
    }
    publish(write(repo, {**own, **nested}))
    files = ("a.py", "sub/s.py", "web/x.ts")
    assert states(repo, *files) == ["clean"] * 3
    repo.write("pyproject.toml", '[project]\nname = "y"\n')
    if committed:
        publish(repo)
    assert states(repo, *files) == ["stale", "clean", "clean"]
    refresh(repo, "a.py")
    assert states(repo, *files) == ["clean" if committed else "stale", "clean", "clean"]
    repo.write("web/tsconfig.json", '{"compilerOptions": {}}')
    assert states(repo, "sub/s.py", "web/x.ts") == ["clean", "stale"]


def test_f9_a_file_gets_another_owner(repo: Repo) -> None:
    publish(write(repo, {"pyproject.toml": "", "sub/s.py": A, "a.py": A}))
    publish(write(repo, {"sub/pyproject.toml": ""}))
    assert states(repo, "sub/s.py", "a.py") == ["stale", "clean"]
    repo.git("rm", "-q", "sub/pyproject.toml")
    publish(repo)
    assert states(repo, "sub/s.py", "a.py") == ["clean", "clean"], "as it was seen"


def test_f10_the_disk_is_hashed(pair: Repo) -> None:
    """Same size, same times, and git told to look away: the bytes decide."""
    path = pair.path / "a.py"
    before = path.stat()
    pair.git("update-index", "--assume-unchanged", "a.py")
    path.write_text(A.replace("return x", "return 1"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert pair.git("status", "--porcelain") == ""
    assert states(pair, "a.py", "b.py") == ["clean", "clean"]
    assert one(pair, "a.py", "helper")["basis"] == "worktree"
    path.write_text(A.replace("(x)", "(y)"))
    assert states(pair, "a.py", "b.py") == ["clean", "stale"]


LISTED = "__all__ = ['helper']\n"
F13 = {
    "body": (A.replace("return x", "return [x]"), "clean"),
    "private helper": (f"{A}\n\ndef _own():\n    return 1\n", "clean"),
    "default value": (A.replace("(x)", "(x=1)"), "stale"),
    "name in __all__": (A + LISTED.replace("]", ", 'more']") + "more = 1\n", "stale"),
}


@pytest.mark.parametrize("change", F13)
def test_f13_what_is_seen_from_outside(pair: Repo, change: str) -> None:
    text, expected = F13[change]
    publish(write(pair, {"a.py": A + LISTED if "__all__" in text else A}))
    refresh(pair, "b.py", "c.py")
    before = interface(pair, "a.py")
    publish(write(pair, {"a.py": text}))
    assert (interface(pair, "a.py") == before) is (expected == "clean")
    assert states(pair, "a.py", "b.py") == ["clean", expected]


def interface(repo: Repo, path: str) -> str:
    with open_tree(repo.worktree, ".") as view:
        return FileStateService(view).inputs.interface(path)


def test_f14_formatting_and_comments(pair: Repo) -> None:
    text = '# a comment\ndef helper( x ):\n\n    """Doc."""\n    return (x)\n'
    publish(write(pair, {"a.py": text}))
    assert states(pair, "a.py", "b.py", "c.py") == ["clean"] * 3


def test_paths_without_facts(pair: Repo) -> None:
    pair.write("notes.txt", "not added\n")
    (pair.path / "link.py").symlink_to("/etc/passwd")
    pair.write("new.py", "x = 1\n")
    for name in ("none.py", "link.py", "a.py/b.py"):
        assert [str(word) for word in state(pair, name)] == ["unindexed", "unknown"], name
    for name in ("", "..", "/etc/passwd"):
        with pytest.raises(GitIndexError, match="outside"):
            state(pair, name)
    assert [str(word) for word in state(pair, "notes.txt")] == ["clean", "unknown"], "no grammar"
    assert [str(word) for word in state(pair, "new.py")] == ["clean", "certain"]


def test_certainty(repo: Repo) -> None:
    files = {"sure.py": "x = 1\n", "star.py": "from os.path import *\n", "broken.py": "def (\n"}
    publish(write(repo, {**files, "words.txt": "no grammar\n"}))
    found = [str(state(repo, path).certainty) for path in (*files, "words.txt")]
    assert found == ["certain", "ambiguous", "ambiguous", "unknown"]
    assert states(repo, *files, "words.txt") == ["clean"] * 4


def test_deleted_on_disk(pair: Repo) -> None:
    (pair.path / "b.py").unlink()
    assert states(pair, "b.py", "c.py") == ["dirty", "stale"]


def test_r5_line_ends_that_git_converts(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    publish(write(repo, {"a.py": A.replace("\n", "\r\n"), "b.py": B.replace("\n", "\r\n")}))
    assert states(repo, "a.py", "b.py") == ["clean", "clean"]
    repo.write("a.py", A.replace("\n", "\r\n").replace("return x", "return 2"))
    assert states(repo, "a.py", "b.py") == ["clean", "clean"]
    repo.write("a.py", A.replace("\n", "\r\n").replace("(x)", "(x, y)"))
    assert states(repo, "a.py", "b.py") == ["clean", "stale"]


def test_a_sparse_checkout_is_no_deletion(repo: Repo) -> None:
    publish(write(repo, {"lib/a.py": A, "app/b.py": B.replace("from a", "from lib.a")}))
    repo.git("sparse-checkout", "set", "app")
    assert not (repo.path / "lib/a.py").exists()
    assert states(repo, "app/b.py", "lib/a.py") == ["clean", "clean"]
    assert str(state(repo, "lib/a.py").certainty) == "unknown", "there is nothing to edit"


def test_names_of_any_bytes(repo: Repo) -> None:
    odd = os.fsdecode(b"od\xff\xfed\n.py")
    publish(write(repo, {odd: "x = 1\n", "a.py": A}))
    assert states(repo, odd, "a.py") == ["clean", "clean"]
    repo.write(odd, NO_FACTS)
    assert states(repo, odd, "a.py") == ["dirty", "clean"]


class Indexer:
    """Stands in for an indexer: puts down what one would have told of the published files."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self._db = open_writer(repo.worktree.database)
        context = semantic.context_row(self._db, "python:.", "python", b"")
        with open_tree(repo.worktree, ".") as view:
            found = LiveContexts(view).router.route("b.py").context
        assert found is not None
        self._origin = semantic.FactsOrigin(context, found.config_hash, "1.0")
        semantic.note_tool(self._db, context, "1.0")

    def tell(self, path: str, interface: str, *uses: tuple[str, str]) -> None:
        """`path` looks like `interface`, and uses other files that look like theirs."""
        facts = FileFacts((), {}, (), {}, interface)
        edges = [Dependency(os.fsencode(t), self._oid(t), seen) for t, seen in uses]
        with self._db.write():
            writer = semantic.SemanticWriter(self._db)
            writer.save(self._origin, os.fsencode(path), self._oid(path), facts, edges)

    def upgrade(self, version: str) -> None:
        semantic.note_tool(self._db, self._origin.context_id, version)
        self._origin = self._origin._replace(tool_version=version)

    def close(self) -> None:
        self._db.close()

    def _oid(self, path: str) -> str:
        return self._repo.git("rev-parse", f"HEAD:{path}").strip()


@pytest.fixture
def indexer(pair: Repo) -> Iterator[Indexer]:
    """b uses a by what an indexer says; c is known too."""
    made = Indexer(pair)
    made.tell("a.py", "a1")
    made.tell("b.py", "b1", ("a.py", "a1"))
    made.tell("c.py", "c1", ("b.py", "b1"))
    assert states(pair, "a.py", "b.py", "c.py") == ["clean"] * 3
    yield made
    made.close()


def test_f3_by_the_semantic_interface(pair: Repo, indexer: Indexer) -> None:
    """A body edit is nothing to the grammar; an indexer may see that an inferred type changed."""
    publish(write(pair, {"a.py": A.replace("return x", "return str(x)")}))
    assert states(pair, "a.py", "b.py", "c.py") == ["clean", "pending_check", "pending_check"]
    indexer.tell("a.py", "a2")
    assert states(pair, "a.py", "b.py", "c.py") == ["clean", "stale", "stale"]
    indexer.tell("b.py", "b1", ("a.py", "a2"))
    assert states(pair, "a.py", "b.py", "c.py") == ["clean", "clean", "clean"]


def test_f14_by_the_semantic_interface(pair: Repo, indexer: Indexer) -> None:
    publish(write(pair, {"a.py": "# comment\n" + A}))
    indexer.tell("a.py", "a1")
    assert states(pair, "a.py", "b.py", "c.py") == ["clean", "clean", "clean"]


def test_f9_the_indexers_version_changes(pair: Repo, indexer: Indexer) -> None:
    indexer.upgrade("2.0")
    assert states(pair, "a.py", "b.py", "other.py") == ["stale", "stale", "clean"]
    for path, uses in (("a.py", ()), ("b.py", (("a.py", "a1"),)), ("c.py", (("b.py", "b1"),))):
        indexer.tell(path, f"{path[0]}1", *uses)
    assert states(pair, "a.py", "b.py", "c.py") == ["clean"] * 3


def test_f3_f9_a_real_semantic_job_refreshes(
    pair: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = Fake(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{fake.folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    allow(pair)
    index_semantically(pair)
    assert states(pair, "a.py", "b.py", "c.py") == ["clean"] * 3
    publish(write(pair, {"a.py": A.replace("(x)", "(x, y)")}))
    assert states(pair, "a.py", "b.py", "c.py") == ["clean", "stale", "stale"]
    index_semantically(pair)
    assert states(pair, "a.py", "b.py", "c.py") == ["clean"] * 3


def test_an_indexer_settles_what_a_grammar_leaves_open(repo: Repo) -> None:
    publish(write(repo, {"b.py": "from os.path import *\n\n\ndef f(x):\n    return x.y()\n"}))
    assert str(state(repo, "b.py").certainty) == "ambiguous"
    made = Indexer(repo)
    made.tell("b.py", "b1")
    made.close()
    assert str(state(repo, "b.py").certainty) == "certain"


def test_q15_an_edit_during_a_slow_run(pair: Repo) -> None:
    """a.py is edited while it is being indexed: the edit is judged, not what is published."""
    write(pair, {"a.py": A + "# slowpoke\n", "new.py": "slowpoke = 2\n"}).commit()
    env = {**os.environ, FAULT_VARIABLE: "slow:slowpoke"}
    run = subprocess.Popen([sys.executable, "-m", "gitindex", "index"], cwd=pair.path, env=env)
    wait_for(lambda: read_progress(pair.worktree) is not None)
    pair.write("a.py", A + "# slowpoke, edited\n")
    while run.poll() is None:
        assert states(pair, "a.py") == ["clean"]
    pair.write("a.py", A + NO_FACTS)
    assert run.returncode == 0
    assert pair.marker()["treeId"] == pair.tree()
    assert states(pair, "a.py", "b.py", "new.py", "other.py") == [
        "dirty",
        "pending_check",
        "clean",
        "clean",
    ]
