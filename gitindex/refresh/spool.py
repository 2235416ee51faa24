"""Events of a worktree on their way to a runner: appended lines. Hints only, truth is HEAD's tree."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from gitindex.base.atomic_file import read_start
from gitindex.base.system import is_alive
from gitindex.base.worktree import Worktree

MAX_BYTES = 1 << 16
"""Of a spool that are read: thousands of events, which one refresh serves all the same."""
INSTALL = "install"
"""The event of a person who asks for the index: it is served at once."""
PRE_COMMIT = "pre-commit"
"""The event of a commit under way: HEAD has not moved yet, and may never."""
COMMIT_SECONDS = 600.0
"""So long a commit is waited for while its process lives: other hooks, the editor of the message."""
UNKNOWN_SECONDS = 30.0
"""The same where the process of git is not known."""


class Pace(NamedTuple):
    """How long a runner waits: seconds."""

    quiet: float = 0.08  # without a new event before the events are taken
    bound: float = 1.0  # at most, however many events come
    linger: float = 1.2  # after the last job, watching spool and HEAD
    undisturbed: float = 1.0  # without a new event before a worktree without `.llmc/` is written to


IMMEDIATE = Pace(quiet=0.0, bound=0.0, linger=0.0, undisturbed=0.0)


def append_event(worktree: Worktree, event: str) -> None:
    """What the hook does: one O_APPEND write."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    fd = os.open(worktree.spool, flags, 0o600)
    try:
        os.write(fd, f"{event}\n".encode())
    finally:
        os.close(fd)


def waiting(worktree: Worktree) -> list[str]:
    """Ids of the worktrees that have events no runner has taken."""
    try:
        return os.listdir(os.path.join(worktree.store, "spool"))
    except FileNotFoundError:
        return []


def is_too_new(worktree: Worktree, pace: Pace) -> bool:
    """Is this worktree new, and did git move it just now? Then it may be removed again at once."""
    if os.path.isdir(worktree.llmc) or _age(worktree.spool) >= pace.undisturbed:
        return False
    return INSTALL.encode() not in (read_start(worktree.spool, MAX_BYTES) or b"").splitlines()


def wait_until_quiet(worktree: Worktree, pace: Pace) -> None:
    """Let a burst of events end, so that one refresh serves it; longer while git is half-way."""
    stretch = 4.0 if _between_steps(worktree) else 1.0
    deadline = time.monotonic() + pace.bound * stretch
    seen = _size(worktree.spool)
    while time.monotonic() < deadline:
        time.sleep(pace.quiet * stretch)
        now = _size(worktree.spool)
        if now == seen:
            return
        seen = now


class TakenEvents(NamedTuple):
    """Events that were moved aside: `post-commit`, or `post-commit ×40, …`; "" if there were none."""

    summary: str
    committing: tuple[int, ...] = ()  # processes of git that may move HEAD yet; 0: one is not known


def take_events(worktree: Worktree) -> TakenEvents:
    """Move the events aside and say what they were."""
    try:
        os.replace(worktree.spool, worktree.taken)
    except FileNotFoundError:
        return TakenEvents("")
    data = read_start(worktree.taken, MAX_BYTES) or b""
    lines = [line.decode("ascii", "replace").split(" ") for line in data.splitlines()]
    return TakenEvents(_summary(lines) or "event", tuple(_committing(lines)))


def _summary(lines: list[list[str]]) -> str:
    counts = Counter(words[0] for words in lines if words[0])
    return ", ".join(event if n == 1 else f"{event} ×{n}" for event, n in counts.items())


def _committing(lines: list[list[str]]) -> Iterator[int]:
    """Yield the processes of git whose commit had not moved HEAD yet."""
    for event, *arguments in lines:
        if event == PRE_COMMIT and arguments and arguments[0].isdecimal():
            yield int(arguments[0])


class Committing:
    """Commits that were under way when their event came: HEAD moves only when they end."""

    def __init__(self) -> None:
        self._until: dict[int, float] = {}

    def add(self, pids: tuple[int, ...]) -> None:
        """Watch some processes of git, each for a bounded time."""
        for pid in pids:
            bound = COMMIT_SECONDS if pid else UNKNOWN_SECONDS
            self._until[pid] = time.monotonic() + bound

    def any_left(self) -> bool:
        """Is one of them still there?"""
        now = time.monotonic()
        self._until = {pid: t for pid, t in self._until.items() if now < t and is_alive(pid)}
        return bool(self._until)


def note_taken(worktree: Worktree) -> None:
    """Leave a trace of a request that no event asked for: it is gone when the queue is empty."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    os.close(os.open(worktree.taken, flags, 0o600))


def _between_steps(worktree: Worktree) -> bool:
    names = ("rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "BISECT_LOG")
    return any(os.path.exists(os.path.join(worktree.git_dir, name)) for name in names)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return -1


def _age(path: str) -> float:
    """Seconds since a file was written. Very old where it is gone or dated in the future."""
    try:
        age = time.time() - os.stat(path).st_mtime
    except OSError:
        return float("inf")
    return age if age >= 0 else float("inf")
