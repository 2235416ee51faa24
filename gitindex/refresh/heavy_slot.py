"""At most one heavy background job per user of this machine: a lock file in the user's runtime folder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gitindex.base.escape import safe_text
from gitindex.base.locations import runtime_folder
from gitindex.base.system import try_lock

POLL_SECONDS = 0.1
"""Between two tries for the slot: nobody waits for this process, and a try is one system call."""

MAX_OWNER = 100
"""Bytes of the owner's name that are shown: the end of a path says more than its start."""


@contextmanager
def heavy_slot(owner: str, waiting: Callable[[str], None]) -> Iterator[None]:
    """Hold the user's slot for heavy work; `waiting` is called with the owner while another job holds it.

    Politeness, not correctness: where no lock file can be had, work goes on without one.
    """
    fd = _open_slot()
    if fd is None:
        yield
        return
    try:
        while not _try_lock(fd):
            waiting(_read_owner(fd))
            time.sleep(POLL_SECONDS)
        _write_owner(fd, owner)
        yield
    finally:
        os.close(fd)


def _read_owner(fd: int) -> str:
    """The name of the slot's holder, for display."""
    try:
        name = os.pread(fd, MAX_OWNER, 0)
    except OSError:
        name = b""
    return safe_text(name.decode("utf-8", "replace")) or "another repository"


def _write_owner(fd: int, owner: str) -> None:
    name = os.fsencode(owner)
    try:
        os.ftruncate(fd, 0)
        os.pwrite(fd, name if len(name) <= MAX_OWNER else b"..." + name[3 - MAX_OWNER :], 0)
    except OSError:
        return  # a full disk: the waiting process cannot show the owner


def _open_slot() -> int | None:
    folder = runtime_folder()
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.open(os.path.join(folder, "heavy.lock"), flags, 0o600)
    except OSError:
        return None


def _try_lock(fd: int) -> bool:
    try:
        return try_lock(fd)
    except OSError:
        return True  # a file system without locks
