# ruff: noqa: E501 — sources read better on one line
"""The two gates on the staged tree: references left dangling, and the tests a change reaches."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from gitindex.cli.verbs import gates
from gitindex.query.impact import dangling as dangling_references
from gitindex.query.impact import reach
from tests.support import Repo

FILES = {
    "pkg/__init__.py": "",
    "pkg/core.py": "LIMIT = 3\n\n\ndef build():\n    return LIMIT\n\n\ndef spare():\n    pass\n",
    "pkg/cli.py": "from pkg.core import build\nimport pkg.core as core\n\n\ndef main():\n    return build() + core.spare()\n",
    "pkg/late.py": "from . import core\n\n\ndef run():\n    return core.LIMIT\n",
    "tests/test_cli.py": "from pkg.cli import main\n\n\ndef test_main():\n    assert main()\n",
    "tests/test_other.py": "def test_nothing():\n    assert True\n",
    "web/util.ts": "export function pad(s: string) { return s }\nexport const WIDTH = 2\n",
    "web/app.ts": "import { pad, WIDTH } from './util'\nexport const x = pad('a') + WIDTH\n",
    "web/app.test.ts": "import { x } from './app'\n",
    "c/api.h": "int open_door(int n);\n",
    "c/main.c": '#include "api.h"\nint main(void) { return open_door(1); }\n',
    "doc.md": "# pkg.core\n",
}


@pytest.fixture
def project(repo: Repo) -> Repo:
    return repo.index_files(FILES)


def dangling(repo: Repo) -> list[tuple[str, int, str]]:
    done = repo.answer("impact", "--staged", "--dangling")
    return [(d["path"], d["line"], d["name"]) for d in done["dangling"]]


def replace(repo: Repo, name: str, old: str, new: str) -> None:
    text = (repo.path / name).read_text()
    assert old in text
    repo.write(name, text.replace(old, new))
    repo.git("add", name)


def test_a_renamed_function_leaves_its_importers_behind(project: Repo) -> None:
    replace(project, "pkg/core.py", "def build", "def make")
    assert dangling(project) == [("pkg/cli.py", 1, "build"), ("pkg/cli.py", 6, "build")]
    done = project.gitindex("impact", "--staged", "--dangling")
    assert (done.returncode, done.stdout) == (
        1,
        "pkg/cli.py:1: `build` is gone from pkg/core.py\n"
        "pkg/cli.py:6: `build` is gone from pkg/core.py\n",
    )


def test_a_rename_that_is_carried_through_passes(project: Repo) -> None:
    replace(project, "pkg/core.py", "def build", "def make")
    replace(project, "pkg/cli.py", "build", "make")
    assert dangling(project) == []
    assert project.gitindex("impact", "--staged", "--dangling").returncode == 0


def test_a_member_of_an_imported_module(project: Repo) -> None:
    replace(project, "pkg/core.py", "def spare", "def extra")
    assert dangling(project) == [("pkg/cli.py", 6, "spare")]


def test_a_constant_reached_through_its_package(project: Repo) -> None:
    replace(project, "pkg/core.py", "LIMIT", "BOUND")
    assert dangling(project) == [("pkg/late.py", 5, "LIMIT")]


def test_a_deleted_module_leaves_imports_behind(project: Repo) -> None:
    project.git("rm", "-q", "pkg/core.py")
    assert [(path, line) for path, line, _ in dangling(project)] == [
        ("pkg/cli.py", 1),
        ("pkg/cli.py", 2),
        ("pkg/late.py", 1),
    ]


def test_a_moved_module(project: Repo) -> None:
    project.git("mv", "pkg/core.py", "pkg/kernel.py")
    assert ("pkg/cli.py", 1, "pkg.core") in dangling(project)


def test_typescript_names(project: Repo) -> None:
    replace(project, "web/util.ts", "WIDTH", "BREADTH")
    assert dangling(project) == [("web/app.ts", 1, "WIDTH"), ("web/app.ts", 2, "WIDTH")]


def test_c_functions_that_are_nowhere_else(project: Repo) -> None:
    replace(project, "c/api.h", "open_door", "close_door")
    assert dangling(project) == [("c/main.c", 2, "open_door")]


def test_only_what_is_staged_counts(project: Repo) -> None:
    project.write("pkg/core.py", "")
    assert dangling(project) == []


def test_an_unindexed_staged_blob_is_extracted_in_memory(project: Repo) -> None:
    replace(project, "pkg/core.py", "def build", "def make")
    project.write("pkg/new.py", "from pkg.core import build\n")
    project.git("add", "pkg/new.py")
    assert ("pkg/new.py", 1, "build") in dangling(project)


def test_a_partial_commit_is_judged_by_its_own_index(project: Repo) -> None:
    """`git commit <path>` hands hooks a temporary index; the real one is not the question."""
    replace(project, "pkg/core.py", "def build", "def make")
    project.write("doc.md", "# more\n")
    hook = project.path / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nexec {sys.executable} -m gitindex impact --staged --dangling\n")
    hook.chmod(0o755)
    assert project.try_git("commit", "-q", "-m", "doc", "doc.md").returncode == 0
    assert project.try_git("commit", "-q", "-m", "core").returncode == 1


def test_affected_tests_follow_imports(project: Repo) -> None:
    replace(project, "pkg/core.py", "return LIMIT", "return LIMIT + 1")
    assert project.answer("impact", "--staged", "--tests")["tests"] == ["tests/test_cli.py"]
    replace(project, "web/util.ts", "return s", "return s + s")
    assert project.gitindex("impact", "--staged", "--tests").stdout.splitlines() == [
        "tests/test_cli.py",
        "web/app.test.ts",
    ]


def test_a_name_in_all_is_passed_on_and_not_used(repo: Repo) -> None:
    """Else every test that imports the package would be affected."""
    lists = '__all__ = [\n    "fast",\n    "slow",\n]\n'
    repo.index_files(
        {
            "pkg/__init__.py": "from .core import *\n",
            "pkg/core.py": lists + "\n\ndef fast():\n    return 1\n\n\ndef slow():\n    return 2\n",
            "tests/test_fast.py": "import pkg\n\n\ndef test_it():\n    assert pkg.fast()\n",
            "tests/test_slow.py": "from pkg import slow\n\n\ndef test_it():\n    assert slow()\n",
        }
    )
    replace(repo, "pkg/core.py", "return 1", "return 3")
    assert repo.answer("impact", "--staged", "--tests")["tests"] == ["tests/test_fast.py"]
    replace(repo, "pkg/core.py", '    "slow",\n', "")
    affected = repo.answer("impact", "--staged", "--tests")["tests"]
    assert affected == ["tests/test_fast.py", "tests/test_slow.py"], "the list itself changed"


def test_without_an_index_a_question_is_gated(repo: Repo) -> None:
    repo.write("a.py", "")
    repo.commit()
    for flag in ("--dangling", "--tests"):
        done = repo.gitindex("impact", "--staged", flag)
        assert (done.returncode, done.stdout) == (3, "")
        told = repo.gitindex("impact", "--staged", flag, "--json")
        assert (json.loads(told.stdout)["status"], told.returncode) == ("not_indexed", 3)


RENAMED = "from pkg.core import build\n\nbuild()\n"


@pytest.fixture
def broken(repo: Repo) -> Repo:
    """A clone without an index, on a branch that leaves a reference behind."""
    repo.write("pkg/core.py", "def build():\n    return 1\n")
    repo.write("pkg/use.py", RENAMED)
    repo.commit("first")
    repo.git("switch", "-qc", "topic")
    repo.write("pkg/core.py", "def make():\n    return 1\n")
    repo.commit("rename")
    return repo


LOOKS: dict[str, tuple[list[str], dict[str, str]]] = {
    "nothing staged, as in `pre-commit run --all-files`": ([], {}),
    "--all-files": (["--all-files"], {}),
    "two commits": (["--from-ref", "main", "--to-ref=topic"], {}),
    "pre-push": ([], {"PRE_COMMIT_FROM_REF": "main", "PRE_COMMIT_TO_REF": "topic"}),
    "a new branch": ([], {"PRE_COMMIT_FROM_REF": "0" * 40, "PRE_COMMIT_TO_REF": "topic"}),
    "CI": ([], {"CI": "true", "GITHUB_BASE_REF": "main"}),
}


@pytest.mark.parametrize("how", LOOKS.values(), ids=LOOKS)
def test_gates_look_in_a_fresh_clone(broken: Repo, how: tuple[list[str], dict[str, str]]) -> None:
    args, env = how
    done = broken.gitindex("gate", "dangling", *args, env=env)
    assert done.returncode == 1, done
    assert "pkg/use.py:1: `build` is gone from pkg/core.py" in done.stdout
    assert "run" not in done.stderr
    if "PRE_COMMIT_FROM_REF" not in env or env["PRE_COMMIT_FROM_REF"].startswith("0"):
        named = len(args) > 1  # what is compared is said where nobody named it
        assert ("gitindex: compared " in done.stderr) is not named


def test_a_new_branch_is_compared_with_its_own_base(broken: Repo) -> None:
    """It need not be what is checked out: `git push origin topic` from another branch."""
    main = broken.git("rev-parse", "main").strip()[:10]
    broken.git("switch", "-q", "-c", "other", "main")
    broken.write("pkg/new.py", "def later(): pass\n")
    broken.commit("later")
    refs = ["--from-ref", "0" * 40, "--to-ref", "topic"]
    done = broken.gitindex("gate", "dangling", *refs)
    assert (done.returncode, done.stderr.strip()) == (1, f"gitindex: compared {main}..topic")
    assert "later" not in broken.gitindex("gate", "api", *refs).stdout


def test_a_first_commit_has_nothing_to_compare_with(repo: Repo) -> None:
    repo.write("a.py", "def f(): pass\n")
    repo.commit()
    done = repo.gitindex("gate", "dangling", "--all-files")
    told = "gitindex: no commit before HEAD to compare with\n"
    assert (done.returncode, done.stderr) == (0, told)


def test_what_a_limit_leaves_out_is_said_and_fails_if_strict(
    broken: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(broken.path)
    monkeypatch.setattr(dangling_references, "MAX_LOST", 0)
    assert gates.run_gate("dangling", []) == 0
    assert "not checked: a part of this change" in capfd.readouterr().err
    assert gates.run_gate("dangling", ["--strict"]) == 1


def test_a_commit_is_judged_by_what_it_stages(broken: Repo) -> None:
    broken.write("pkg/other.py", "x = 1\n")
    broken.git("add", "-A")
    assert broken.gitindex("gate", "dangling").returncode == 0
    broken.git("reset", "-q", "--hard")
    hook = {"GIT_INDEX_FILE": str(broken.path / ".git/index")}
    assert broken.gitindex("gate", "dangling", env=hook).returncode == 0, "an amended message"


def test_a_shallow_clone_says_what_to_fetch(broken: Repo, tmp_path: Path) -> None:
    broken.git(
        "clone", "-q", "--depth=1", "--branch=topic", f"file://{broken.path}", str(tmp_path / "c")
    )
    clone = Repo(tmp_path / "c")
    clone.git("fetch", "-q", "--depth=1", "origin", "main:refs/remotes/origin/main")
    done = clone.gitindex("gate", "dangling")
    assert (done.returncode, "not checked: the history of this clone" in done.stderr) == (0, True)
    assert "git fetch --unshallow" in done.stderr
    assert clone.gitindex("gate", "dangling", "--strict").returncode == 1
    done = clone.gitindex("gate", "dangling", "--from-ref", "HEAD~1", "--to-ref", "HEAD")
    assert (done.returncode, "fetch-depth: 0" in done.stderr) == (2, True)


def test_a_push_that_deletes_a_branch_has_nothing_to_check(broken: Repo) -> None:
    refs = ("--from-ref", "HEAD", "--to-ref", "0" * 40)
    done = broken.gitindex("gate", "dangling", *refs)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_merge_gate_says_what_it_merged(broken: Repo) -> None:
    for named in ((), ("main",)):
        done = broken.gitindex("gate", "merge", *named)
        assert "gitindex: HEAD has all of main: nothing to merge" in done.stderr
    broken.git("switch", "-q", "main")
    broken.write("other.py", "x = 1\n")
    broken.commit("meanwhile")
    broken.git("switch", "-q", "topic")
    done = broken.gitindex("gate", "merge", "main")
    assert "gitindex: merged HEAD with main in memory" in done.stderr


def test_check_says_what_to_do_in_one_line(broken: Repo) -> None:
    done = broken.gitindex("gate", "check")
    assert done.returncode == 3
    assert done.stdout == "not indexed; run `gitindex index`\n"
    broken.index()
    assert broken.gitindex("gate", "check").returncode == 0


def test_the_gates_prove_which_tree_they_looked_at(project: Repo) -> None:
    replace(project, "pkg/core.py", "def build", "def make")
    answer = project.answer("impact", "--staged", "--dangling")
    told = {"path": "pkg/cli.py", "name": "build", "missingFrom": "pkg/core.py", "tier": "import"}
    assert answer["dangling"] == [
        {**told, "line": 1, "column": 22},
        {**told, "line": 6, "column": 12},
    ]
    assert answer["possible"] == []
    tests = project.answer("impact", "--staged", "--tests")
    assert answer["receipt"] == tests["receipt"]
    assert answer["receipt"]["overlayDigest"]
    assert answer["freshness"]["overlayPaths"] == 1


def test_what_is_no_code_is_no_test(project: Repo) -> None:
    project.write("tests/requirements.txt", "six\n")
    project.write("tests/test_new.py", "def test_new(): pass\n")
    project.git("add", "-A")
    assert project.answer("impact", "--staged", "--tests")["tests"] == ["tests/test_new.py"]
    assert project.answer("impact", "--staged")["tests"] == ["tests/test_new.py"]


def test_three_dots_are_not_taken_for_two(project: Repo) -> None:
    done = project.gitindex("impact", "HEAD...HEAD")
    assert (done.returncode, "merge-base" in done.stderr) == (2, True)


def test_tests_through_calls_come_first_and_have_node_ids(project: Repo) -> None:
    """`main` calls `build`: the test that calls `main` is named, its neighbours are not."""
    project.write(
        "tests/test_more.py", "import pkg.core\n\n\ndef test_more():\n    assert pkg.core\n"
    )
    project.git("add", "-A")
    project.commit("more")
    project.index()
    replace(project, "pkg/core.py", "    return LIMIT", "    return LIMIT + 1")
    answer = project.answer("impact", "--staged", "--tests")
    assert answer["ranked"] == [
        {
            "path": "tests/test_cli.py",
            "route": "calls",
            "distance": 2,
            "nodes": ["tests/test_cli.py::test_main"],
        }
    ]
    done = project.gitindex("impact", "--staged", "--tests", "--nodes")
    assert done.stdout == "tests/test_cli.py::test_main\n"
    replace(project, "pkg/core.py", "LIMIT = 3", "LIMIT = 4")
    answer = project.answer("impact", "--staged", "--tests")
    assert answer["tests"] == ["tests/test_cli.py"], "who uses the constant, not who imports it"
    with (project.path / "pkg/core.py").open("a") as file:
        file.write('\n\n__all__ = ["build"]\n')
    replace(project, "pkg/core.py", "__all__", "__all__")
    answer = project.answer("impact", "--staged", "--tests")
    assert answer["tests"] == ["tests/test_cli.py"], "a new name has no users yet"


def test_a_command_runs_with_the_affected_tests(project: Repo) -> None:
    assert project.gitindex("gate", "run", "--", "false").returncode == 0, "nothing is affected"
    replace(project, "pkg/core.py", "    return LIMIT", "    return LIMIT + 1")
    done = project.gitindex("gate", "run", "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (0, "ran tests/test_cli.py::test_main\n")
    assert project.gitindex("gate", "run", "--", "false").returncode == 1
    missing = project.gitindex("gate", "run", "--", "no-such-program")
    assert (missing.returncode, "not checked" in missing.stderr) == (0, True)
    assert project.gitindex("gate", "run").returncode == 2


def test_many_node_ids_become_files(project: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command line has a limit: files are shorter than their tests."""
    replace(project, "pkg/core.py", "    return LIMIT", "    return LIMIT + 1")
    staged = gates.Options(())
    assert gates._affected(project.worktree, staged) == ["tests/test_cli.py::test_main"]
    monkeypatch.setattr(gates, "MAX_ARGUMENTS", 10)
    assert gates._affected(project.worktree, staged) == ["tests/test_cli.py"]


def test_a_gate_that_fails_by_itself_does_not_block(project: Repo) -> None:
    replace(project, "pkg/core.py", "def build", "def make")
    assert project.gitindex("gate", "dangling").returncode == 1
    assert project.gitindex("gate", "dangling", env={"GITINDEX": "0"}).returncode == 0
    assert project.gitindex("gate", "dangling", "--nonsense").returncode == 2
    (project.path / ".git/gitindex/facts.db").write_bytes(b"not a database, whatever it says" * 99)
    done = project.gitindex("gate", "dangling")
    assert (done.returncode, "`build` is gone" in done.stdout) == (1, True), "the index is rebuilt"


@pytest.mark.parametrize("fault", [AssertionError("x"), KeyError("x"), BaseException("a panic")])
def test_no_error_of_ours_keeps_anybody_from_committing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], fault: BaseException
) -> None:
    def fail(*_: object) -> list[str]:
        raise fault

    monkeypatch.setitem(gates.GATES, "merge", fail)
    monkeypatch.setattr(gates, "_affected", fail)
    assert gates.run_gate("merge", []) == 0
    assert gates.run_gate("run", ["--", "false"]) == 0
    assert capfd.readouterr().err.count("not checked: internal error") == 2


FIXTURES = {
    "pkg/__init__.py": "",
    "pkg/app.py": "def build():\n    return 1\n\n\nclass Door:\n    def __call__(self):\n        return self.knock()\n\n    def knock(self):\n        return 1\n",
    "tests/conftest.py": "import pytest\n\nfrom pkg.app import build\n\n\n@pytest.fixture\ndef app():\n    return build()\n\n\n@pytest.fixture()\ndef client(app):\n    return app\n",
    "tests/test_uses.py": "def test_uses(client):\n    assert client\n\n\ndef test_alone():\n    pass\n",
    "tests/unit/test_deep.py": "def test_deep(tmp_path, app):\n    assert app\n",
    "tests/test_not.py": "def test_not():\n    pass\n",
    "tests/test_door.py": "import pkg.app\n\n\ndef test_door():\n    assert list(map(pkg.app.Door(), []))\n",
}


@pytest.fixture
def fixtures(repo: Repo) -> Repo:
    for name, text in FIXTURES.items():
        repo.write(name, text)
    repo.commit()
    repo.index()
    return repo


def test_a_fixture_is_used_by_the_tests_that_take_it(fixtures: Repo) -> None:
    """No call names a fixture: pytest hands it over by the name of a parameter."""
    replace(fixtures, "pkg/app.py", "def build():\n    return 1", "def build():\n    return 2")
    found = fixtures.answer("impact", "--staged", "--tests")["ranked"]
    assert [(one["path"], one["nodes"]) for one in found if one["route"] == "calls"] == [
        ("tests/unit/test_deep.py", ["tests/unit/test_deep.py::test_deep"]),
        ("tests/test_uses.py", ["tests/test_uses.py::test_uses"]),
    ]
    assert "tests/test_door.py" not in [one["path"] for one in found]


def test_what_syntax_calls_is_reached_through_its_class(fixtures: Repo) -> None:
    """`__call__` has no caller by name: who makes the object may run it."""
    old = "    def knock(self):\n        return 1"
    replace(fixtures, "pkg/app.py", old, old.replace("1", "2"))
    found = fixtures.answer("impact", "--staged", "--tests")["ranked"]
    assert [(one["route"], one["nodes"]) for one in found] == [
        ("calls", ["tests/test_door.py::test_door"])
    ]


def test_what_only_a_framework_calls_is_reached_through_its_class(repo: Repo) -> None:
    """A class with a base outside of the tree: its members may be called from there."""
    text = "import cmd\n\n\nclass Shell(cmd.Cmd):\n    def emptyline(self):\n        return 1\n"
    test = "from shell import Shell\n\n\ndef test_it():\n    Shell().onecmd('')\n"
    repo.index_files(
        {"shell.py": text, "tests/test_shell.py": test, "tests/test_no.py": "import shell\n"}
    )
    replace(repo, "shell.py", "return 1", "return 2")
    assert repo.answer("impact", "--staged", "--tests")["tests"] == ["tests/test_shell.py"]


@pytest.mark.parametrize(
    ("name", "reached"), [("load", ["own"]), ("__missing__", ["other", "own"])]
)
def test_a_base_that_python_itself_has_calls_what_it_knows(
    repo: Repo, name: str, reached: list[str]
) -> None:
    """A dict calls `__missing__` and knows no `load`: who makes the object runs only the first."""
    text = f"class Config(dict):\n    def {name}(self, key=1):\n        return 1\n"
    own = f"from config import Config\n\n\ndef test_it():\n    Config().{name}()\n"
    other = "from config import Config\n\n\ndef test_it():\n    assert not Config()\n"
    files = {"config.py": text, "tests/test_own.py": own, "tests/test_other.py": other}
    repo.index_files(files)
    replace(repo, "config.py", "return 1", "return 2")
    named = repo.answer("impact", "--staged", "--tests")["tests"]
    assert sorted(named) == [f"tests/test_{one}.py" for one in reached]


def test_an_inherited_test_runs_where_it_is_collected(repo: Repo) -> None:
    """In the file of a subclass, and in one that imports the class: pytest collects it there again."""
    base = "from lib import make\n\n\nclass TestBase:\n    def test_it(self):\n        make()\n"
    heir = "import tests.test_base\n\n\nclass TestMore(tests.test_base.TestBase):\n    pass\n"
    files = {"lib.py": "def make():\n    return 1\n", "tests/test_base.py": base}
    files |= {
        "tests/__init__.py": "",
        "tests/test_heir.py": heir,
        "tests/test_no.py": "import lib\n",
    }
    files["tests/test_again.py"] = "from tests.test_base import TestBase\n"
    repo.index_files(files)
    replace(repo, "lib.py", "return 1", "return 2")
    expected = [f"tests/test_{name}.py" for name in ("again", "base", "heir")]
    assert sorted(repo.answer("impact", "--staged", "--tests")["tests"]) == expected


def test_nobody_runs_a_method_without_its_object(repo: Repo) -> None:
    """The name of the class is rarer than `get`: who makes the object is followed, not the name."""
    files = {
        "door.py": "class Door:\n    def get(self):\n        return 1\n",
        "tests/conftest.py": "import pytest\nimport door\n\n\n@pytest.fixture\ndef way():\n    return door.Door()\n",
        "tests/test_way.py": "def test_it(way):\n    way.get()\n",
        "tests/test_no.py": "import door\n\n\ndef test_no():\n    {}.get(1)\n",
    }
    repo.index_files(files)
    replace(repo, "door.py", "return 1", "return 2")
    assert repo.answer("impact", "--staged", "--tests")["tests"] == ["tests/test_way.py"]


def test_too_wide_a_change_names_whole_files(
    fixtures: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where calls are followed no farther, a file that imports the change is named whole."""
    monkeypatch.chdir(fixtures.path)
    monkeypatch.setattr(reach, "MAX_EXAMINED", 2)
    old = "    def knock(self):\n        return 1"
    replace(fixtures, "pkg/app.py", old, old.replace("1", "2"))
    assert "tests/test_door.py" in gates._affected(fixtures.worktree, gates.Options(()))
