"""The stat data of many paths at once, packed so that two snapshots compare as bytes."""

from __future__ import annotations

import contextlib
import errno
import os
import struct
import threading
import weakref

from gitindex.base.compiled import LIBRARY
from gitindex.base.system import watches_allowed

_EVENT = struct.Struct("iIII")  # watch, mask, cookie, bytes of the name
_LOST = 0x2000 | 0x4000 | 0x8000 | 0x0800 | 0x0400
"""Unmounted, overflow, no longer watched, moved, deleted: some folder may not be watched now."""
_FOLDER, _CAME = 0x40000000, 0x100 | 0x80  # created or moved here
_AT_ONCE = 1 << 18
SHARE = 4
"""At most one in four of the watches that the user may have."""

_WATCHED = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800 | 0x1000000 | 0x2000000
"""Modified, attributes, written, moved from and to, created, deleted, itself deleted or moved; folders
only, links not followed."""


class FolderWatch:
    """A queue of events. `count` says how often something happened; several threads may ask."""

    def __init__(self, queue: int) -> None:
        self._queue = queue
        self._count = 0
        self._lock = threading.Lock()
        self.is_whole = True
        """False: a folder came or went, so that not all of them are watched any more."""
        weakref.finalize(self, os.close, queue)

    def count(self) -> int:
        """Return a number that changes with every event."""
        with self._lock:
            while events := events_of(self._queue):
                self._count += 1
                for mask, _ in events:
                    if mask & _LOST or (mask & _FOLDER and mask & _CAME):
                        self.is_whole = False
            return self._count


def events_of(queue: int) -> list[tuple[int, bytes]]:
    """Return the events that wait: what happened, and the name in its folder."""
    data, at = b"", 0
    events: list[tuple[int, bytes]] = []
    with contextlib.suppress(BlockingIOError):
        data = os.read(queue, _AT_ONCE)
    while at < len(data):
        _, mask, _, length = _EVENT.unpack_from(data, at)
        at += _EVENT.size + length
        events.append((mask, data[at - length : at].rstrip(b"\0")))
    return events


def watch_folders(root: str, folders: bytes) -> FolderWatch | None:
    """Watch folders below `root`, each ended by a zero byte; None if the system does not allow it.

    Other programs of the user need watches, too: there is none if it would take a large share.
    """
    queue = (
        None if folders.count(b"\0") > watches_allowed() // SHARE else event_queue(root, folders)
    )
    return None if queue is None else FolderWatch(queue)


def event_queue(root: str, folders: bytes) -> int | None:
    """Return a descriptor of the events of these folders; None if the system does not allow it."""
    try:
        return _watch_folders(os.fsencode(root), folders)
    except (OSError, AttributeError, ImportError):
        return None  # a limit, or not Linux


def _watch_folders(root: bytes, folders: bytes) -> int:
    """A folder that is gone is left out: its parent is watched."""
    import ctypes  # lazily: once for a server, a microsecond for each folder

    library = ctypes.CDLL(None, use_errno=True)
    queue: int = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if queue < 0:
        raise OSError(ctypes.get_errno(), "inotify_init1")
    for folder in folders.split(b"\0")[:-1]:
        if library.inotify_add_watch(queue, root + b"/" + folder, _WATCHED) < 0:
            number = ctypes.get_errno()
            if number not in (errno.ENOENT, errno.ENOTDIR):
                os.close(queue)
                raise OSError(number, "inotify_add_watch")
    return queue


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
    """Is reading the stat data of so many paths cheaper than `git status`?"""
    return _compiled is not None or paths.count(b"\0") <= MOST_IN_PYTHON


class PendingStats:
    """Stat data of paths that threads of the compiled part are reading. `result` waits for it.

    Each path is relative to `root` and ends with a zero byte.
    """

    def __init__(self, root: str, paths: bytes, follow: bool = False) -> None:
        self._arguments = root, paths, follow
        self._job: object | None = None
        if _compiled is not None:
            self._job = _compiled.start_stats(os.fsencode(root), paths, follow, _THREADS)

    def result(self) -> bytes:
        """Return one record per path."""
        if _compiled is None or self._job is None:
            return python_stats(*self._arguments)
        records: bytes = _compiled.end_stats(self._job)
        return records


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
                info = os.stat(path, dir_fd=folder, follow_symlinks=follow)
            except OSError as error:
                made += RECORD.pack(0, 0, 0, 0, 0, -(error.errno or 0))
                continue
            made += RECORD.pack(
                info.st_dev,
                info.st_ino,
                info.st_mtime_ns,
                info.st_ctime_ns,
                info.st_size,
                info.st_mode,
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
