"""The lease: flock on one file. The kernel frees it with its holder; no pid and no clock decides."""

from __future__ import annotations

import os
import time
from errno import ENOLCK, ENOSYS, EOPNOTSUPP

from gitindex.base.errors import GitIndexError
from gitindex.base.light_types import TYPE_CHECKING, Suppress
from gitindex.base.system import (
    EXCLUSIVE,
    SHARED,
    SIGKILL,
    end_when_removed,
    give_name,
    name_of,
    priority_of,
    try_lock,
    unlock,
)
from gitindex.base.worktree import Worktree

if TYPE_CHECKING:
    from collections.abc import Callable

ENDED = b"ended\n"  # instead of the pid of a runner that one of us ended

LOCK_WAIT_SECONDS = 600.0
"""Longer than the first index of the largest repository that was measured takes."""


class NoLocks(GitIndexError):
    """The file system of the store does not lock files."""

    def __init__(self) -> None:
        super().__init__(
            "the file system of .git/gitindex does not lock files (flock)",
            "move the repository to a local disk, or mount this one with locks",
        )


class RunnerLock:
    """The exclusive lock of one store's runner."""

    def __init__(self, path: str, descriptor: int | None = None) -> None:
        """`descriptor`: one that holds the lock already, inherited from the process before."""
        self._path = path
        self._fd = descriptor

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
        while not _try(fd, EXCLUSIVE):
            if not _try(fd, SHARED):  # exclusively held: by a runner
                os.close(fd)
                return False
            unlock(fd)  # only a reader's check was in the way
            time.sleep(0.001 + os.urandom(1)[0] / 100_000)
        self._fd = fd
        self._refuse_locks_without_effect()
        return True

    def _refuse_locks_without_effect(self) -> None:
        """Some network mounts grant every lock: two runners would write into each other's files."""
        other = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            if not _try(other, SHARED):
                return
        finally:
            os.close(other)
        self.release()
        raise NoLocks

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
        return not _try(fd, SHARED)
    finally:
        os.close(fd)


def _try(fd: int, kind: int) -> bool:
    try:
        return try_lock(fd, kind)
    except OSError as error:
        if error.errno in (ENOLCK, EOPNOTSUPP, ENOSYS):
            raise NoLocks from error
        raise


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
    if give_name(token):  # else every hook starts a runner, and the lock decides
        with Suppress(OSError):
            note = f"{os.getpid()} {token}\n".encode()
            if _read_alive(anchor).endswith(ENDED):
                note += ENDED  # until `was_ended` reads it
            _write_alive(anchor, note)


def end_polite_runner(anchor: Worktree) -> bool:
    """End the live runner if it has a lower priority than this process, which will do its work.

    A runner may be killed at any moment: what it has committed stays, and its job is taken over. The
    name that it has given itself says that its number was not reused. False where there is none.
    """
    try:
        line = _read_alive(anchor).partition(b"\n")[0]
        pid, _, token = line.decode("ascii", "replace").partition(" ")
        number = int(pid)
        if not token or name_of(number) != token:
            return False
        if number == os.getpid() or priority_of(number) <= priority_of(0):
            return False
        os.kill(number, SIGKILL)
        _write_alive(anchor, ENDED)
    except (OSError, ValueError):
        return False  # not Linux, or it has ended
    return True


def was_ended(anchor: Worktree) -> bool:
    """Was the last runner ended by one of us, and not by its job? True once: the note is removed."""
    try:
        note = _read_alive(anchor)
        if not note.endswith(ENDED):
            return False
        _write_alive(anchor, note.removesuffix(ENDED))
    except OSError:
        return False
    return True


def _read_alive(anchor: Worktree) -> bytes:
    with open(alive_file(anchor), "rb") as file:
        return file.read(200)


def _write_alive(anchor: Worktree, data: bytes) -> None:
    fd = os.open(alive_file(anchor), os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        os.ftruncate(fd, os.pwrite(fd, data, 0))
    finally:
        os.close(fd)


def alive_file(anchor: Worktree) -> str:
    """Where a runner says that it lives."""
    return os.path.join(anchor.store, "runner.alive")


def end_with_repository(anchor: Worktree) -> None:
    """End this process as soon as somebody removes its repository.

    A file that it made then would make `rm -rf` fail, or come back. A runner may die at any moment, so
    it does. Neither git nor gitindex removes these folders from a repository that stays.
    """
    folders = ("objects", "objects/pack", "refs", "gitindex/runner.alive")
    kept = (f"gitindex/{name}" for name in ("spool", "taken", "progress", "failure", "shadow"))
    end_when_removed(os.path.join(anchor.common_dir, name) for name in (*folders, *kept))


class StoreHeld(GitIndexError):
    """Another runner did not give the store up in time."""

    def __init__(self) -> None:
        super().__init__("another runner holds the store", "see `gitindex jobs`")


class Turn:
    """Waits for the runner's lock, longer and longer between two tries; True while there is time.

    A runner in the background has GRACE_SECONDS to end by itself; then it is ended, because nobody waits
    for a process of a lower priority than their own.
    """

    GRACE_SECONDS = 0.5
    LONGEST_SECONDS = 0.25

    def __init__(self, worktree: Worktree, seconds: float = LOCK_WAIT_SECONDS) -> None:
        self._worktree = worktree
        self._began = time.monotonic()
        self._seconds = seconds
        self.took_over = False

    def pause(self) -> bool:
        """Wait a moment; False if the time is up."""
        waited = time.monotonic() - self._began
        if waited > self._seconds:
            return False
        if waited > self.GRACE_SECONDS and is_held(self._worktree.lock):
            self.took_over |= end_polite_runner(self._worktree)
        time.sleep(min(self.LONGEST_SECONDS, max(0.02, waited / 10)))
        return True


def take_lock(
    worktree: Worktree,
    report: Callable[[str, float | None], None],
    seconds: float = LOCK_WAIT_SECONDS,
) -> RunnerLock:
    """The runner's lock, as soon as no other runner holds it."""
    lock, turn = RunnerLock(worktree.lock), Turn(worktree, seconds)
    while not lock.acquire():
        report("waiting for another runner", None)
        if not turn.pause():
            raise StoreHeld
    return lock
