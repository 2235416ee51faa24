"""I-41: after any damage the documented remedy, `index` or else `index --force`, repairs the index.

A case damages one file of the store or of `.llmc`, or puts an older or a foreign copy of a file, or of a
half of the store, in its place; every kind of file as often as any other. Before the remedy an answer is
right or refused; after it `verify --full` holds. `kinds` on the page counts states by kind of file, and
answers by what became of them.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gitindex.base.errors import GitIndexError
from gitindex.base.vocabulary import FreshnessState
from gitindex.extract.pool import Extractor
from gitindex.maintenance.verify import verify
from gitindex.query.grep.grep import GrepQuery, grep
from gitindex.query.grep.pattern import GrepPattern
from gitindex.query.search.search import search
from gitindex.query.symbols import SymbolQuery, list_symbols
from gitindex.refresh.run import refresh_now
from gitindex.refresh.runner import RefreshRequest
from gitindex.store import checksums
from gitindex.store.connection import open_writer
from gitindex.view.snapshot import GateClosed, verdict
from gitindex.view.tree import TreeView, open_tree
from tests.support import Repo
from tests.torture import Clock
from tests.torture.damage import harm

NAMES = [f"name_{number:02d}" for number in range(4)]
WORDS = ["lantern", "harbour", "thimble", "zeppelin"]
"""A word of each file, in a comment: only the lexical index knows where it is."""
_SEGMENT = re.compile(r"[0-9a-f]{32}\.")
HALVES = {
    "facts half": ("facts.db", "facts.db-wal", "facts.db-shm", "facts.checksums"),
    "lexical half": ("lexical", "lexical.checksums"),
    "both halves": (
        "facts.db",
        "facts.db-wal",
        "facts.db-shm",
        "facts.checksums",
        "lexical",
        "lexical.checksums",
    ),
    "stamps": ("published",),
    "log": ("facts.db-wal",),
}
KEPT = ("runner.lock", "facts.checksums.lock", "log", "log.1", "spool", "taken", "runner.alive")
"""Locks and events: their content is no state of the index."""


class Subject:
    """A repository with an index, an older copy of its store, and the store of another repository."""

    def __init__(self, folder: Path) -> None:
        self.repo, foreign = Repo(folder / "repo"), Repo(folder / "other")
        for repo, shift in ((self.repo, 0), (foreign, 100)):
            repo.init()
            for number, name in enumerate(NAMES[:-1]):
                text = f"def {name}(a):\n    return {name}(a + {shift})  # {WORDS[number]}\n"
                repo.write(f"m{number}.py", text)
            repo.commit()
            repo.index()
        self.store = Path(self.repo.worktree.store)
        self.llmc = self.repo.path / ".llmc"
        self.others = {"old": folder / "old", "foreign": folder / "foreign"}
        self.workers = Extractor(workers=1)
        with self._idle():
            self._copy(self.repo, self.others["old"])
            self._copy(foreign, self.others["foreign"])
        self._version = 0
        self.grow_old()

    def grow_old(self) -> None:
        """Unless this has happened since the store was last built: keep a copy of it, and commit more.

        The log of the copy holds transactions that were undone since.
        """
        name = checksums.half_of_database(str(self.store)).id
        old = self.others["old"]
        kept = checksums.half_of_database(f"{old}/store").id
        if name == kept and self._version:
            return
        shutil.rmtree(old)
        self._copy(self.repo, old)
        database = open_writer(self.repo.worktree.database)
        with database.write():
            database.run("UPDATE names SET text='x' || text")
        shutil.copyfile(self.store / "facts.db-wal", old / "store/facts.db-wal")
        with database.write():
            database.run("UPDATE names SET text=substr(text, 2)")
        database.close()
        self._version += 1
        text = f"def {NAMES[-1]}():\n    return {NAMES[1]}({self._version})  # {WORDS[-1]}\n"
        self.repo.write("m0.py", text)
        self.repo.git("commit", "-q", "-a", "-m", "more")
        refresh_now(RefreshRequest(self.repo.worktree, "index"))

    @contextmanager
    def _idle(self) -> Iterator[None]:
        self.repo.wait_idle()
        yield

    def _copy(self, repo: Repo, target: Path) -> None:
        shutil.copytree(repo.worktree.store, target / "store")
        shutil.copytree(repo.path / ".llmc", target / "llmc")

    def files(self) -> list[Path]:
        """Every file that a damage may hit."""
        found = [p for p in self.store.rglob("*") if p.is_file() and p.suffix != ".tmp"]
        inside = [p for p in found if p.relative_to(self.store).parts[0] not in KEPT]
        return sorted(inside) + sorted(self.llmc.iterdir())

    def kind(self, path: Path) -> str:
        """The kind of a file: its name, but that of a segment, a worktree or an object."""
        where = "llmc" if path.is_relative_to(self.llmc) else ""
        if _SEGMENT.match(path.name):
            return f"lexical segment {path.suffix}"
        folder = path.parent.name if path.parent not in (self.store, self.llmc) else where
        return f"{folder} {path.name}".strip().replace("main", "").strip()

    def close(self) -> None:
        self.workers.close()


def _damage_file(subject: Subject, rng: random.Random) -> str:
    how = rng.choice(["harm"] * 5 + ["remove", "empty", "garbage", "old", "foreign"])
    if how == "old":
        subject.grow_old()
    kinds: dict[str, list[Path]] = {}
    for path in subject.files():
        kinds.setdefault(subject.kind(path), []).append(path)
    kind = rng.choice(sorted(kinds))
    path = rng.choice(kinds[kind])
    data = path.read_bytes()
    if how == "harm" and data:
        _, changed = harm(rng, data)
        path.write_bytes(changed)
    elif how in ("old", "foreign"):
        put_back(subject, rng, how, [path])
    elif how == "remove":
        path.unlink()
    else:
        path.write_bytes(b"" if how == "empty" else rng.randbytes(rng.randrange(1, 200)))
    return f"{how} {kind}"


def put_back(subject: Subject, rng: random.Random, how: str, paths: list[Path]) -> None:
    """Put an older or a foreign copy in its place: the same inode, as rsync does, or a new one."""
    in_place = rng.random() < 0.5
    for path in paths:
        root, name = (
            (subject.llmc, "llmc")
            if path.is_relative_to(subject.llmc)
            else (subject.store, "store")
        )
        source = subject.others[how] / name / path.relative_to(root)
        if path.is_dir():
            shutil.rmtree(path)
        elif path.exists() and not in_place:
            path.unlink()
        if source.is_dir():
            shutil.copytree(source, path)
        elif source.exists():
            path.write_bytes(source.read_bytes())


def _damage_half(subject: Subject, rng: random.Random) -> str:
    how, half = rng.choice(["old", "foreign"]), rng.choice(sorted(HALVES))
    if how == "old":
        subject.grow_old()
    put_back(subject, rng, how, [subject.store / name for name in HALVES[half]])
    return f"{how} {half}"


def _answers(subject: Subject, name: str) -> Iterator[tuple[str, Callable[[Any], bool]]]:
    real = {
        (path.name, number)
        for path in subject.repo.path.glob("*.py")
        for number, line in enumerate(path.read_text().split("\n"), 1)
        if name in line
    }

    def grepped(view: Any) -> bool:
        rows: Any = grep(view, GrepQuery(GrepPattern(name, fixed=True)))["results"]
        return {(row["path"], row["line"]) for row in rows} == real

    def defined(view: Any) -> bool:
        rows: Any = list_symbols(view, SymbolQuery(name))["symbols"]
        return {(row["path"], row["line"]) for row in rows} == {p for p in real if p[1] == 1}

    def searched(view: Any) -> bool:
        word = WORDS[NAMES.index(name)]
        holding = {p.name for p in subject.repo.path.glob("*.py") if word in p.read_text()}
        rows: Any = search(view, word, 10)["results"]
        return holding <= {row["path"] for row in rows}

    yield from (("grep", grepped), ("symbols", defined), ("search", searched))


def ask(subject: Subject, clock: Clock, name: str, what: str) -> None:
    """Every answer that says fresh is right."""
    checksums._intact.clear()  # as in a process that has read nothing yet
    questions = list(_answers(subject, name))
    try:
        with open_tree(subject.repo.worktree, ".") as view:
            for question, is_right in questions:
                clock.count(f"{question} {_ask(view, is_right, (what, question, name))}")
    except (GitIndexError, GateClosed):
        clock.count("all refused")


def _ask(view: TreeView, is_right: Callable[[Any], bool], what: tuple[str, ...]) -> str:
    try:
        right = is_right(view)
    except GitIndexError:
        return "refused"
    fresh = verdict(view.served).freshness is FreshnessState.FRESH
    assert right or not fresh, (what, "wrong and fresh")
    return "right" if right else "not fresh"


def _is_verified(subject: Subject) -> bool:
    checksums._intact.clear()
    try:
        found = verify(subject.repo.worktree, ".", full=True, extractor=subject.workers)
    except (GitIndexError, GateClosed):
        return False
    return bool(found["verified"])


def _repair(subject: Subject, clock: Clock, what: str) -> None:
    worktree = subject.repo.worktree
    try:
        refresh_now(RefreshRequest(worktree, "index"))
        done = _is_verified(subject)
    except GitIndexError:
        done = False
    if not done:
        clock.count("by --force")
        refresh_now(RefreshRequest(worktree, "reindex", force=True))
        assert _is_verified(subject), (what, verify(subject.repo.worktree, ".", full=True))
    state = subject.repo.verdict()
    assert state.code == 0, (what, state)


def remedies(clock: Clock, rng: random.Random, folder: Path) -> None:
    """Damage, ask, repair, verify; and the next damage to what was repaired."""
    subject = Subject(folder)
    try:
        while clock.goes_on():
            damage = _damage_half if rng.random() < 0.15 else _damage_file
            what = damage(subject, rng)
            try:
                ask(subject, clock, rng.choice(NAMES), what)
                _repair(subject, clock, what)
            except (GitIndexError, OSError, ValueError, LookupError, TypeError) as error:
                raise AssertionError(f"{what}: {error!r}") from error
            clock.count(f"state {what.partition(' ')[2]}")
            clock.count()
    finally:
        subject.close()
