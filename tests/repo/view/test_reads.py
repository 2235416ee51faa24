"""Every reader, hundreds of times, with failures thrown in: nothing is written, nothing is started."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import io
import os
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.cli.door import run_cli
from tests.support import Repo, runner_pids

READS = (
    ["status"],
    ["status", "--json"],
    ["check"],
    ["status", "--skipped"],
    ["jobs"],
    ["log"],
    ["config"],
    ["search", "helper"],
    ["search", "helper", "--json"],
    ["symbols", "helper"],
    ["symbols", "--json"],
    ["outline", "app.py"],
    ["read", "app.py:1-3", "--outline"],
    ["read", "app.py", "--at", "HEAD"],
    ["slice", "app.py:5"],
    ["grep", "help.r"],
    ["grep", "-l", "helper", "--json"],
    ["refs", "helper"],
    ["refs", "helper", "--json"],
    ["callers", "helper"],
    ["callees", "main"],
    ["graph", "helper", "--format", "mermaid"],
    ["impact"],
    ["impact", "--staged", "--json"],
    ["map"],
    ["map", "--json"],
    ["docs", "--tag", "guide"],
    ["docs", "words"],
    ["verify"],
    ["contexts"],
    ["semantic", "status"],
    ["state", "app.py"],
    ["export", "--format", "ctags"],
)
ROUNDS = 10


class _Saboteur:
    """Fails the opening of our own files, at random, while it is let loose."""

    def __init__(self) -> None:
        self.root = ""
        self.chance = 0.0
        self.struck = 0
        self._random = random.Random(20_261_116)

    def __call__(self, event: str, args: tuple[object, ...]) -> None:
        if self.chance and event in ("open", "os.listdir", "sqlite3.connect"):
            name = os.fsdecode(args[0]) if isinstance(args[0], (str, bytes)) else ""
            if self.root in name and self._random.random() < self.chance:
                self.struck += 1
                raise OSError(errno.EIO, os.strerror(errno.EIO), name)


SABOTEUR = _Saboteur()
sys.addaudithook(SABOTEUR)


@contextlib.contextmanager
def _sabotaged(repo: Repo) -> Iterator[None]:
    SABOTEUR.root, SABOTEUR.chance = repo.worktree.store, 0.3
    try:
        yield
    finally:
        SABOTEUR.chance = 0.0


def _as_is(repo: Repo) -> None:
    """Nothing is wrong."""


def _edited(repo: Repo) -> None:
    repo.write(
        "app.py", "from lib.util import helper\n\n\ndef main():\n    x = helper()\n    return x\n"
    )
    repo.write("new.md", "---\ntags: [guide]\n---\nhelper words\n")
    (repo.path / "README.md").unlink()


def _no_marker(repo: Repo) -> None:
    Path(repo.worktree.marker).unlink()


def _unreadable_marker(repo: Repo) -> None:
    _no_marker(repo)
    Path(repo.worktree.marker).mkdir()


def _event_waits(repo: Repo) -> None:
    Path(repo.worktree.spool).write_text("post-commit \n")


def _cut_database(repo: Repo) -> None:
    os.truncate(repo.worktree.database, 8192)


def _garbage_database(repo: Repo) -> None:
    size = os.path.getsize(repo.worktree.database)
    Path(repo.worktree.database).write_bytes(random.Random(1).randbytes(size))


def _no_lexical(repo: Repo) -> None:
    os.unlink(os.path.join(repo.worktree.lexical, "meta.json"))


def _no_stamp(repo: Repo) -> None:
    os.unlink(repo.worktree.stamp)


CONDITIONS = (
    _as_is,
    _edited,
    _no_marker,
    _unreadable_marker,
    _event_waits,
    _cut_database,
    _garbage_database,
    _no_lexical,
    _no_stamp,
)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda c: c.__name__.strip("_"))
def test_g15_no_reader_writes_whatever_fails(
    quiet: Repo, condition: Callable[[Repo], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    _read_often(quiet, condition, monkeypatch, ROUNDS)


@pytest.mark.torture
@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda c: c.__name__.strip("_"))
def test_g15_at_full_size(
    quiet: Repo, condition: Callable[[Repo], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    _read_often(quiet, condition, monkeypatch, 1_000)


def _read_often(
    quiet: Repo, condition: Callable[[Repo], None], monkeypatch: pytest.MonkeyPatch, rounds: int
) -> None:
    condition(quiet)
    monkeypatch.chdir(quiet.path)
    before = fingerprints(quiet)
    codes = {tuple(argv): _read(argv) for argv in READS}
    assert {code for code in codes.values() if code not in (0, 1, 3, 4)} == set(), codes
    with _held(quiet):
        for argv in READS[::5]:
            _read(argv)
    struck = SABOTEUR.struck
    with _sabotaged(quiet):
        for number in range(rounds):
            _read(READS[number * 7 % len(READS)])
    assert SABOTEUR.struck > struck
    assert fingerprints(quiet) == before
    assert runner_pids(quiet.path) == []


def _read(argv: list[str]) -> int:
    with (
        contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        try:
            return run_cli(list(argv))
        except GitIndexError as error:
            return int(error.code)
        except OSError:
            return 4  # the door makes one line of it: see __main__


@contextlib.contextmanager
def _held(repo: Repo) -> Iterator[None]:
    """Somebody holds the runner's lock, as a live job does."""
    fd = os.open(repo.worktree.lock, os.O_RDWR)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def fingerprints(repo: Repo) -> dict[str, str]:
    """Every file of ours, of git's, and of the work tree: bytes and time of change."""
    found = {}
    for path in sorted(repo.path.rglob("*")):
        if path.is_file():
            data = path.read_bytes() + str(path.stat().st_mtime_ns).encode()
            found[str(path.relative_to(repo.path))] = hashlib.sha256(data).hexdigest()
    return found
