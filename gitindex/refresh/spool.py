"""Events of a worktree on their way to a runner: appended lines. Hints only, truth is HEAD's tree."""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import NamedTuple

from gitindex.base.atomic_file import read_small
from gitindex.base.worktree import Worktree

MAX_BYTES = 1 << 16
INSTALL = "install"
"""The event of a person who asks for the index: it is served at once."""


class Pace(NamedTuple):
    """How long a runner waits: seconds."""

    quiet: float = 0.08  # without a new event before the events are taken
    bound: float = 1.0  # at most, however many events come
    linger: float = 1.2  # after the last job, watching spool and HEAD
    settle: float = 1.0  # without a new event before a worktree without `.llmc/` is written to


IMMEDIATE = Pace(quiet=0.0, bound=0.0, linger=0.0, settle=0.0)


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


def is_settling(worktree: Worktree, pace: Pace) -> bool:
    """Is this worktree new, and did git move it just now? Then it may be removed again at once."""
    if os.path.isdir(worktree.llmc) or _age(worktree.spool) >= pace.settle:
        return False
    return INSTALL.encode() not in (read_small(worktree.spool, MAX_BYTES) or b"").splitlines()


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


def take_events(worktree: Worktree) -> str:
    """Move the events aside and say what they were: `post-commit`, or `post-commit ×40, …`."""
    try:
        os.replace(worktree.spool, worktree.taken)
    except FileNotFoundError:
        return ""
    data = read_small(worktree.taken, MAX_BYTES) or b""
    words = (line.split(b" ", 1)[0].decode("ascii", "replace") for line in data.splitlines())
    counts = Counter(word for word in words if word)
    return ", ".join(w if n == 1 else f"{w} ×{n}" for w, n in counts.items()) or "event"


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
