"""The stat data of many paths at once, packed so that two looks compare as bytes."""

from __future__ import annotations

import os
import struct

from gitindex.base.compiled import LIBRARY

RECORD = struct.Struct("=6q")
"""Device, inode, times of modification and change in nanoseconds, size, mode; -errno as mode."""
FIELDS = 6
CHANGED, MODE = 3, 5  # fields of a record
MAX_THREADS = 4
MOST_IN_PYTHON = 5_000
"""Without the compiled part, git is faster with more paths."""

_compiled = LIBRARY if hasattr(LIBRARY, "start_stats") else None
_THREADS = min(MAX_THREADS, os.cpu_count() or 1)


def is_worth_while(paths: bytes) -> bool:
    """Is reading the stat data of so many paths cheaper than a look by git?"""
    return _compiled is not None or paths.count(b"\0") <= MOST_IN_PYTHON


class PendingStats:
    """Stat data of paths that threads of the compiled part are reading. `result` waits for it.

    Each path is relative to `root` and ends with a zero byte.
    """

    def __init__(self, root: str, paths: bytes, follow: bool = False) -> None:
        self._asked = root, paths, follow
        self._job: object | None = None
        if _compiled is not None:
            self._job = _compiled.start_stats(os.fsencode(root), paths, follow, _THREADS)

    def result(self) -> bytes:
        """Return one record per path."""
        if _compiled is None or self._job is None:
            return python_stats(*self._asked)
        found: bytes = _compiled.end_stats(self._job)
        return found


def read_stats(root: str, paths: bytes, follow: bool = False) -> bytes:
    """Return one record per path, now."""
    return PendingStats(root, paths, follow).result()


def python_stats(root: str, paths: bytes, follow: bool = False) -> bytes:
    """Return the same without the compiled part."""
    made = bytearray()
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for path in paths.split(b"\0")[:-1]:
            try:
                found = os.stat(path, dir_fd=folder, follow_symlinks=follow)
            except OSError as error:
                made += RECORD.pack(0, 0, 0, 0, 0, -(error.errno or 0))
                continue
            made += RECORD.pack(
                found.st_dev,
                found.st_ino,
                found.st_mtime_ns,
                found.st_ctime_ns,
                found.st_size,
                found.st_mode,
            )
    finally:
        os.close(folder)
    return bytes(made)


def differing(old: bytes, new: bytes) -> list[int]:
    """Return the numbers of the paths whose records differ; both have the same paths."""
    if old == new:
        return []
    size = RECORD.size
    steps = range(0, len(new), size)
    return [at // size for at in steps if old[at : at + size] != new[at : at + size]]


def modes(stats: bytes) -> list[int]:
    """Return the mode of every path; not positive where there is none."""
    return memoryview(stats).cast("q")[MODE::FIELDS].tolist()


def changed_since(stats: bytes, began: int) -> bool:
    """Is a path so young that it may have changed again, unseen, after `began` (nanoseconds)?

    Times of files tick: every 10 ms at most, or every second or two on old file systems, whose times
    are whole seconds.
    """
    fine, coarse = began - 100_000_000, began - 2_100_000_000
    times = memoryview(stats).cast("q")[CHANGED::FIELDS].tolist()
    if not times or max(times) < coarse:
        return False
    return any(at >= fine or (at >= coarse and at % 1_000_000_000 == 0) for at in times)
