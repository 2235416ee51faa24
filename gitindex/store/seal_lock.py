"""The lock beside the seal of a database: who moves the log excludes who writes to it."""

from __future__ import annotations

import fcntl
import os


class LogHeld:
    """Around a transaction: blocks checkpoints, so no page of the log goes unsealed."""

    def __init__(self, path: str) -> None:
        self._seal = os.path.join(os.path.dirname(path), "facts.seal")
        self._lock = -1

    def __enter__(self) -> None:
        try:
            self._lock = open_lock(self._seal)
        except OSError:
            return  # the store is being removed or is not writable: SQLite reports it
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def __exit__(self, *_: object) -> None:
        if self._lock >= 0:
            os.close(self._lock)


class NobodyWrites:
    """Excludes all transactions while the files of a store are exchanged."""

    def __init__(self, store: str) -> None:
        self._seal = os.path.join(store, "facts.seal")

    def __enter__(self) -> None:
        self._lock = open_lock(self._seal)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)


def make_lock(path: str) -> None:
    """Create the lock file of a new database. Never later: the store may be being removed."""
    seal = os.path.join(os.path.dirname(path), "facts.seal")
    if not (os.path.exists(path) and os.path.exists(seal)):
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        os.close(os.open(f"{seal}.lock", flags, 0o600))


def open_lock(seal: str) -> int:
    """Open the lock file of a seal."""
    return os.open(f"{seal}.lock", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
