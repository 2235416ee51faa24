"""At most one heavy job per user of this machine: a lock file in the user's runtime folder."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gitindex.base.user_state import runtime_folder

POLL_SECONDS = 0.1


@contextmanager
def heavy_slot(waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the user's slot for heavy work; `waiting` is called while another repository has it.

    Politeness, not correctness: where no lock file can be had, work goes on without one.
    """
    fd = _open_slot()
    if fd is None:
        yield
        return
    try:
        while not _try_lock(fd):
            waiting()
            time.sleep(POLL_SECONDS)
        yield
    finally:
        os.close(fd)


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
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks
    return True
