"""Whole clones of real repositories, hooks and background runner included, in random states of git.

GITINDEX_CLONES names the repositories, else it is this one. After each change: what the work tree answers,
by the index and an overlay, is what a commit of just these files answers; a status that says fresh is of
HEAD's tree; the disk is the oracle of `grep`, `refs` and `symbols` as in `projects`; and following the
hints of `status` leads to fresh.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gitindex.base.errors import GitIndexError
from gitindex.base.vocabulary import Direction
from gitindex.query.callgraph.answer import call_graph
from gitindex.query.callgraph.walk import GraphQuery
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.query.symbols import SymbolQuery, list_symbols, outline
from gitindex.view.overlay import FactsMemory
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import TreeChoice, TreeView, open_tree
from tests.pages import ROOT
from tests.support import Repo, stop_runners
from tests.torture import Clock
from tests.torture.projects import Project, check, check_git, read_truth

STEPS, NAMES, FILES = 25, 3, 4
HINT = re.compile(r"`gitindex ([a-z][a-z -]*)`")
COMMITS = 300
OF_THE_TREE = frozenset({"freshness", "receipt", "source", "origin", "tree", "footprint"})


class Clone(Project):
    """A clone with hooks, and copies of its store from earlier states."""

    def __init__(self, source: Path, folder: Path, rng: random.Random) -> None:
        self.repo, self.rng, self.folder = Repo(folder / "clone"), rng, folder
        self.done: list[str] = []
        folder.mkdir(parents=True)
        Repo(folder).git("clone", "-q", "--shared", str(source), str(self.repo.path))
        listed = self.repo.git("rev-list", "-n", str(COMMITS), "HEAD")
        self.commits = listed.split()
        self.repo.git("branch", "other", self.commits[min(20, len(self.commits) - 1)])
        assert self.repo.gitindex("install").returncode == 0
        assert self.repo.gitindex("wait").returncode == 0

    @property
    def store(self) -> Path:
        return Path(self.repo.worktree.store)

    def file(self) -> Path | None:
        names = [n for n in self.repo.git("ls-files", "-z").split("\0") if n]
        for name in self.rng.sample(names, min(20, len(names))):
            path = self.repo.path / name
            if path.is_file() and not path.is_symlink() and path.stat().st_size < 200_000:
                return path
        return None

    def step(self) -> None:
        change: Change = self.rng.choice(CHANGES)
        self.done.append(change.__name__.strip("_"))
        change(self, self.repo, self.rng)


Change = Callable[[Clone, Repo, random.Random], None]


def _edit(clone: Clone, _repo: Repo, rng: random.Random) -> None:
    """Lines are doubled, dropped and swapped; a word takes the place of another."""
    if path := clone.file():
        lines = path.read_bytes().split(b"\n")
        at = rng.randrange(len(lines))
        words = re.findall(rb"[A-Za-z_]\w{3,}", b"\n".join(lines))
        kind = rng.randrange(4)
        if kind == 0:
            lines[at:at] = lines[at : at + 8]
        elif kind == 1:
            del lines[at : at + rng.randrange(8)]
        elif kind == 2 and words:
            lines[at] = re.sub(rb"[A-Za-z_]\w{3,}", rng.choice(words), lines[at], count=1)
        else:
            lines[at:at] = [b""] * 3
        path.write_bytes(b"\n".join(lines))


def _move(clone: Clone, repo: Repo, rng: random.Random) -> None:
    if path := clone.file():
        target = path.with_name(rng.choice([path.name.swapcase(), f"moved_{path.name}"]))
        if rng.random() < 0.5:
            repo.try_git("mv", str(path), str(target))
        elif not target.exists():
            path.rename(target)


def _remove(clone: Clone, _repo: Repo, _rng: random.Random) -> None:
    if path := clone.file():
        path.unlink()


def _move_folder(clone: Clone, _repo: Repo, rng: random.Random) -> None:
    if (path := clone.file()) and path.parent != clone.repo.path:
        target = path.parent.with_name(rng.choice([path.parent.name.swapcase(), "moved"]))
        if not target.exists():
            path.parent.rename(target)


def _git(clone: Clone, repo: Repo, rng: random.Random) -> None:
    commit = rng.choice(clone.commits[: rng.choice([3, 30, COMMITS])])
    for args in rng.choice(GIT):
        name = " ".join(args[:2])
        clone.done.append(name)
        repo.try_git(*(arg.replace("COMMIT", commit) for arg in args), env={"GIT_EDITOR": "true"})


_ADDED = (("add", "-A"), ("commit", "-q", "-m", "all"))
GIT: tuple[tuple[tuple[str, ...], ...], ...] = (
    _ADDED,
    _ADDED,
    (("commit", "-q", "-a", "--amend", "-m", "amended"),),
    (("checkout", "-q", "-f", "COMMIT"),),
    (("checkout", "-q", "COMMIT"),),
    (("checkout", "-q", "-f", "main"),),
    (("checkout", "-q", "-f", "-B", "topic", "COMMIT"),),
    (("checkout", "-q", "COMMIT", "--", "."),),
    (("switch", "-q", "-f", "other"),),
    (("reset", "-q", "--hard", "COMMIT"),),
    (("reset", "-q", "--hard"),),
    (("reset", "-q", "COMMIT"),),
    (("reset", "-q", "--soft", "COMMIT"),),
    (("stash", "-q"),),
    (("stash", "-q", "-u"),),
    (("stash", "pop", "-q"),),
    (("stash", "apply", "-q"),),
    (("rebase", "-q", "COMMIT"),),
    (("rebase", "--abort"),),
    (("rebase", "--skip"),),
    (("merge", "-q", "-m", "merged", "COMMIT"),),
    (("merge", "--abort"),),
    (("cherry-pick", "COMMIT"),),
    (("cherry-pick", "--abort"),),
    (("revert", "--no-edit", "COMMIT"),),
    (("revert", "--abort"),),
    (("read-tree", "COMMIT"),),
    (("update-ref", "refs/heads/main", "COMMIT"),),
    (("clean", "-qfd"),),
    (("gc", "-q"),),
    (("rm", "-rqf", "--cached", "."),),
    (("add", "-N", "."),),
)


def _settings(_clone: Clone, repo: Repo, rng: random.Random) -> None:
    name, value = rng.choice(
        [
            *(("core.autocrlf", "true"), ("core.autocrlf", "input"), ("core.autocrlf", "false")),
            *(("core.fileMode", "false"), ("core.ignoreCase", "true"), ("core.symlinks", "false")),
            *(("index.version", "4"), ("index.skipHash", "true"), ("core.splitIndex", "true")),
            *(
                ("core.fsmonitor", "true"),
                ("core.untrackedCache", "true"),
                ("feature.manyFiles", "true"),
            ),
            *(("core.checkStat", "minimal"), ("filter.swap.clean", "tr ab ba")),
            *(
                ("filter.swap.smudge", "tr ab ba"),
                ("gc.auto", "1"),
                ("core.sparseCheckout", "true"),
            ),
        ]
    )
    repo.git("config", name, value)


def _attributes(_clone: Clone, repo: Repo, rng: random.Random) -> None:
    rule = rng.choice(["* text=auto", "*.py eol=crlf", "*.c ident", "* filter=swap", "* -text", ""])
    where = rng.choice([".gitattributes", ".git/info/attributes"])
    if (repo.path / where).parent.is_dir():
        repo.write(where, rule + "\n")
    if rng.random() < 0.5:
        repo.try_git("rm", "-rqf", "--cached", ".")
        repo.try_git("reset", "-q", "--hard")


def _sparse(clone: Clone, repo: Repo, rng: random.Random) -> None:
    if path := clone.file():
        part = str(path.parent.relative_to(repo.path))
        how = rng.choice(
            [
                *(("set", part), ("set", "--cone", "--sparse-index", part), ("disable",)),
                ("set", "--no-cone", "/*", f"!/{part}/"),
            ]
        )
        repo.try_git("sparse-checkout", *how)


def _worktree(_clone: Clone, repo: Repo, rng: random.Random) -> None:
    name = f"../wt{rng.randrange(2)}"
    if rng.random() < 0.6:
        repo.try_git("worktree", "add", "-f", "-q", "--detach", name)
        (repo.path / name / "more.py").write_text("def more():\n    return 1\n")
    else:
        repo.try_git("worktree", "remove", "-f", name)


def _submodule(clone: Clone, repo: Repo, rng: random.Random) -> None:
    inner = Repo(clone.folder / "inner")
    if not inner.path.exists():
        inner.init()
        inner.write("inner.py", "def inside_of_a_submodule():\n    return 1\n")
        inner.commit()
    allow = ("-c", "protocol.file.allow=always", "submodule")
    what = [("add", "-f", str(inner.path), "vendored"), ("deinit", "-f", "vendored")]
    repo.try_git(*allow, *rng.choice(what))


def _keep_store(clone: Clone, repo: Repo, _rng: random.Random) -> None:
    """A backup of the store and of `.llmc`."""
    kept = clone.folder / "kept"
    shutil.rmtree(kept, ignore_errors=True)
    repo.wait_idle()
    shutil.copytree(clone.store, kept / "store")
    shutil.copytree(repo.path / ".llmc", kept / "llmc")


def _restore_store(clone: Clone, repo: Repo, rng: random.Random) -> None:
    """All of it comes back, or a part."""
    kept = clone.folder / "kept"
    if not kept.exists():
        return
    repo.wait_idle()
    what = rng.choice(["all", "store", "llmc", "facts", "lexical"])
    clone.done.append(what)
    if what in ("all", "llmc"):
        shutil.rmtree(repo.path / ".llmc", ignore_errors=True)
        shutil.copytree(kept / "llmc", repo.path / ".llmc")
    if what in ("all", "store"):
        shutil.rmtree(clone.store, ignore_errors=True)
        shutil.copytree(kept / "store", clone.store)
    for name in {"facts": ("facts.db", "facts.db-wal"), "lexical": ("lexical",)}.get(what, ()):
        there, source = clone.store / name, kept / "store" / name
        if there.is_dir():
            shutil.rmtree(there)
        there.unlink(missing_ok=True)
        if source.is_dir():
            shutil.copytree(source, there)
        elif source.exists():
            shutil.copy2(source, there)


def _kill(clone: Clone, _repo: Repo, rng: random.Random) -> None:
    time.sleep(rng.random() * 0.5)
    stop_runners(clone.store)


def _command(_clone: Clone, repo: Repo, rng: random.Random) -> None:
    repo.gitindex(*rng.choice([("index",), ("wait",), ("index",), ("index", "--force"), ("gc",)]))


def _other_version(_clone: Clone, repo: Repo, _rng: random.Random) -> None:
    """The index was made by a gitindex with another extractor."""
    path = Path(repo.worktree.marker)
    if path.exists():
        text = path.read_text()
        path.write_text(re.sub(r'("extractorVersion": ?)"[^"]*"', r'\1"0"', text))


CHANGES: tuple[Change, ...] = (
    *(_edit,) * 6,
    *(_git,) * 12,
    *(_command,) * 4,
    *(_move, _move, _remove, _move_folder, _settings, _settings, _attributes, _sparse),
    *(_worktree, _submodule, _keep_store, _restore_store, _kill, _other_version),
)


def snapshot_of(clone: Clone) -> str | None:
    """A commit of what is on disk, made beside git's own index; None where git refuses it."""
    repo, beside = clone.repo, clone.folder / "beside"
    index = repo.path / repo.git("rev-parse", "--git-path", "index").strip()
    beside.unlink(missing_ok=True)
    env = {"GIT_INDEX_FILE": str(beside)}
    if repo.try_git("config", "core.splitIndex").stdout.strip() == "true" or not index.exists():
        return None
    shutil.copy2(index, beside)
    linked = _links(repo, {})
    if repo.try_git("add", "-A", "--sparse", env=env).returncode:
        return None
    if new := sorted(_links(repo, env) - linked):  # a repository inside is no part of this one
        repo.git("update-index", "--force-remove", "--", *new, env=env)
    tree = repo.try_git("write-tree", env=env).stdout.strip()
    return repo.git("commit-tree", tree, "-m", "on disk").strip() if tree else None


def _links(repo: Repo, env: dict[str, str]) -> set[str]:
    listed = repo.git("ls-files", "-s", "-z", env=env).split("\0")
    return {row.partition("\t")[2] for row in listed if row.startswith("160000")}


def compare(clone: Clone, memory: FactsMemory | None, clock: Clock) -> None:
    """The work tree's answers, and those of a commit of the same files."""
    repo, rng = clone.repo, clone.rng
    truth = read_truth(repo)
    commit = snapshot_of(clone)
    if commit is None:
        return
    try:
        with open_tree(repo.worktree, ".", memory=memory) as view:
            state: Any = view.envelope()["freshness"]
            if not state["exact"] or state.get("converted") or truth.hidden:
                clock.count("not compared")
                return
            with open_tree(repo.worktree, ".", TreeChoice(at=commit)) as other:
                for ask in _questions(view, rng, sorted(truth.texts)):
                    one, two = _answer(view, ask), _answer(other, ask)
                    assert one == two, (ask, _first_difference(one, two))
                    clock.count("answers")
    except GateClosed:
        clock.count("refused")


def _first_difference(one: Any, two: Any) -> Any:
    if isinstance(one, dict) and isinstance(two, dict):
        return {
            key: _first_difference(one.get(key), two.get(key))
            for key in one.keys() | two.keys()
            if one.get(key) != two.get(key)
        }
    if isinstance(one, list) and isinstance(two, list):
        return [a for a in one if a not in two][:3], [b for b in two if b not in one][:3]
    return one, two


Question = tuple[Callable[[TreeView, Any], Any], Any]


def _questions(view: TreeView, rng: random.Random, names: list[str]) -> list[Question]:
    asks: list[Question] = []
    words: list[str] = []
    for name in rng.sample(names, min(FILES, len(names))):
        asks.append((outline, name))
        listed = _answer(view, asks[-1])
        if isinstance(listed, dict):
            words += [row["name"] for row in listed["symbols"]]
    for word in rng.sample(words, min(NAMES, len(words))):
        asks += [
            (find_references, ReferenceQuery(word)),
            (list_symbols, SymbolQuery(word, limit=100)),
            (call_graph, GraphQuery(word, Direction.CALLERS)),
        ]
    return asks


def _answer(view: TreeView, question: Question) -> Any:
    """The answer without what says of which tree it is; a refusal is its message."""
    ask, query = question
    try:
        return _without(dict(ask(view, query)), OF_THE_TREE)
    except GitIndexError as error:
        return error.message


def _without(value: Any, names: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {k: _without(v, names) for k, v in value.items() if k not in names}
    return [_without(item, names) for item in value] if isinstance(value, list) else value


def follow_hints(clone: Clone, clock: Clock) -> None:
    """What `status` advises leads to fresh, unless the work tree refuses to be indexed."""
    repo = clone.repo
    if repo.try_git("rev-parse", "-q", "--verify", "HEAD^{tree}").returncode:
        return
    said: list[Any] = []
    for _ in range(4):
        done = repo.gitindex("status")
        said.append((done.returncode, done.stdout, done.stderr))
        if done.returncode == 0:
            status = repo.answer("status")
            assert status["state"] == "fresh", status
            clock.count("led to fresh")
            return
        hint = HINT.search(done.stdout + done.stderr)
        args = hint[1].split() if hint else ["wait"]
        done = repo.gitindex(*args)
        said.append((args, done.returncode, done.stdout[-500:], done.stderr[-500:]))
    raise AssertionError(("the hints do not lead to fresh", said))


def clones(clock: Clock, rng: random.Random, folder: Path) -> None:
    """Clones in turn, each changed twenty-five times and asked after every change."""
    named = os.environ.get("GITINDEX_CLONES", str(ROOT))
    number = 0
    while clock.goes_on():
        number += 1
        source = Path(rng.choice(named.split(os.pathsep)))
        clone = Clone(source, folder / str(number), rng)
        try:
            _one(clone, source, FactsMemory() if number % 2 else None, clock)
        finally:
            stop_runners(clone.folder)
        shutil.rmtree(clone.folder)


def _one(clone: Clone, source: Path, memory: FactsMemory | None, clock: Clock) -> None:
    for _ in range(STEPS):
        for _ in range(clone.rng.choice((1, 1, 2, 4))):
            clone.step()
        try:
            check(clone, memory, clock)
            check_git(clone, clock)
            compare(clone, memory, clock)
            if clone.rng.random() < 0.3:
                follow_hints(clone, clock)
        except (AssertionError, GitIndexError, OSError, ValueError, LookupError) as error:
            status = clone.repo.git("status", "--porcelain", check=False)
            story = (source.name, clone.repo.path, clone.done[-25:], status[:1500])
            raise AssertionError(f"{error!r}: {story}") from error
        clock.count()
        if not clock.goes_on():
            return
