"""The store's log: one JSON line per event, rotated. A log that cannot be written is not an error."""

from __future__ import annotations

import json
import os

from gitindex.freshness.status_file import utc_now

MAX_BYTES = 500_000
"""Of one file: about 2,000 jobs; `gitindex log` reads both files whole."""


class Log:
    """Appends to `<store>/log`; the older half is in `log.1`."""

    def __init__(self, store: str) -> None:
        self._path = os.path.join(store, "log")
        self._mark = os.path.join(store, "python")  # every store has it
        self._is_there = os.path.exists(self._path)

    def write(self, event: str, **fields: object) -> None:
        """One event with root, job and run id where known."""
        line = {"at": utc_now(), "pid": os.getpid(), "event": event, **fields}
        try:
            self._rotate()
            flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            if not self._is_there and os.path.exists(self._mark):
                flags |= os.O_CREAT  # one that has vanished is in a store that is being deleted
            fd = os.open(self._path, flags, 0o600)
            try:
                os.write(fd, json.dumps(line, default=str).encode() + b"\n")
            finally:
                os.close(fd)
        except OSError:
            return

    def _rotate(self) -> None:
        if os.path.exists(self._path) and os.path.getsize(self._path) > MAX_BYTES:
            os.replace(self._path, f"{self._path}.1")
            self._is_there = False


def read_log(store: str, limit: int) -> list[str]:
    """The last lines of the log, oldest first."""
    lines: list[str] = []
    for name in ("log.1", "log"):
        try:
            with open(os.path.join(store, name), encoding="utf-8", errors="replace") as file:
                lines += file.read().splitlines()
        except FileNotFoundError:
            continue
    return lines[-limit:]
