"""The lease: flock on one file. The kernel frees it with its holder; no pid and no clock decides."""

from __future__ import annotations

import fcntl
import os
import time

from gitindex.base.worktree import Worktree


class RunnerLock:
    """The exclusive lock of one store's runner."""

    def __init__(self, path: str, held: int | None = None) -> None:
        """`held`: a descriptor that holds the lock already, inherited from the process before."""
        self._path = path
        self._fd = held

    @property
    def descriptor(self) -> int | None:
        """The descriptor that holds the lock; a child that inherits it holds the lock too."""
        return self._fd

    def acquire(self, make: bool = True) -> bool:
        """Take the lock, or keep it; False only if another runner held it at that instant.

        Without `make` also where its file is gone: then the store is being removed.
        """
        if self._fd is not None:
            return True
        flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_CREAT if make else 0)
        try:
            fd = os.open(self._path, flags, 0o600)
        except FileNotFoundError:
            if make:
                raise
            return False
        while not _try(fd, fcntl.LOCK_EX):
            if not _try(fd, fcntl.LOCK_SH):  # exclusively held: by a runner
                os.close(fd)
                return False
            fcntl.flock(fd, fcntl.LOCK_UN)  # only a reader's glance was in the way
            time.sleep(0.001 + os.urandom(1)[0] / 100_000)
        self._fd = fd
        return True

    def release(self) -> None:
        """Give the lock up."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def is_held(path: str) -> bool:
    """Does a live runner hold the lock? Creates nothing."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        return not _try(fd, fcntl.LOCK_SH)
    finally:
        os.close(fd)


def _try(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class advertised:  # noqa: N801 - not by contextlib: every prompt would import it
    """Let hooks see that a runner lives, until it does not."""

    def __init__(self, anchor: Worktree) -> None:
        self._anchor = anchor

    def __enter__(self) -> None:
        advertise(self._anchor)

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            return  # perhaps the store is being deleted; the note of a dead process says nothing
        try:
            os.truncate(alive_file(self._anchor), 0)
        except OSError:
            return


def advertise(anchor: Worktree) -> None:
    """Write down our pid and a name that only this process has given itself.

    Into the file that is there: a runner that starts makes none, for the store may be being removed.
    """
    token = f"gix{os.urandom(6).hex()}"
    try:
        with open("/proc/self/comm", "w") as comm:
            comm.write(token)
        fd = os.open(alive_file(anchor), os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            os.ftruncate(fd, os.pwrite(fd, f"{os.getpid()} {token}\n".encode(), 0))
        finally:
            os.close(fd)
    except OSError:
        return  # not Linux, or no file: every hook starts a runner, and the lock decides


def alive_file(anchor: Worktree) -> str:
    """Where a runner says that it lives."""
    return os.path.join(anchor.store, "runner.alive")
