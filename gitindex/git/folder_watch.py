"""Events of the kernel for many folders: what changed in them, and which folders came."""

from __future__ import annotations

import contextlib
import errno
import os
import struct
import threading
import weakref

from gitindex.base.system import watches_allowed

RULES = frozenset({b".gitignore", b".gitattributes"})
"""Files that decide which folders git lists."""
_DOT_GIT = b".git"
_EVENT = struct.Struct("iIII")  # watch, mask, cookie, bytes of the name
_LOST = 0x2000 | 0x4000
"""Unmounted, overflow: nobody knows what happened. A folder that is gone is its parent's event."""
_FOLDER, _CAME = 0x40000000, 0x100 | 0x80  # created or moved here
_AT_ONCE = 1 << 18
SHARE = 4
"""At most one in four of the watches that the user may have: other programs need them, too."""

_WATCHED = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800 | 0x1000000 | 0x2000000
"""Modified, attributes, written, moved from and to, created, deleted, itself deleted or moved; folders
only, links not followed."""


class FolderWatch:
    """The events of folders below a root. OSError if the system does not allow it."""

    def __init__(self, root: str) -> None:
        import ctypes  # lazily: once for a server, a microsecond for each folder

        self._root = os.fsencode(root)
        self._library = ctypes.CDLL(None, use_errno=True)
        self._errno = ctypes.get_errno
        self._folders: dict[int, bytes] = {}
        self._most = watches_allowed() // SHARE
        try:
            self._queue: int = self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        except AttributeError as error:
            raise OSError(errno.ENOSYS, "inotify_init1") from error  # not Linux
        if self._queue < 0:
            raise OSError(self._errno(), "inotify_init1")
        weakref.finalize(self, os.close, self._queue)
        self._lock = threading.Lock()
        self._count = 0
        self._came: list[bytes] = []
        self.is_whole = True
        """False: events were lost, or folders that were ignored may count now."""

    def add(self, folder: bytes) -> None:
        """Watch a folder; one that is gone is left out: its parent is watched."""
        watch = self._library.inotify_add_watch(
            self._queue, os.path.join(self._root, folder), _WATCHED
        )
        if watch >= 0:
            self._folders[watch] = folder
            if len(self._folders) > self._most:
                raise OSError(errno.ENOSPC, "too many folders")
        elif self._errno() not in (errno.ENOENT, errno.ENOTDIR):
            raise OSError(self._errno(), "inotify_add_watch")

    def count(self) -> int:
        """Return a number that changes with every event."""
        with self._lock:
            while events := _events_of(self._queue):
                self._count += 1
                for watch, mask, name in events:
                    self._note(watch, mask, name)
            return self._count

    def _note(self, watch: int, mask: int, name: bytes) -> None:
        is_new = mask & _FOLDER and mask & _CAME
        if mask & _LOST or name in RULES or (is_new and name == _DOT_GIT):
            self.is_whole = False
        elif is_new:
            above = self._folders.get(watch, b".")
            self._came.append(name if above == b"." else above + b"/" + name)

    def take_new(self) -> list[bytes]:
        """Return folders that came since the last time: nobody watches them yet."""
        with self._lock:
            came, self._came = self._came, []
            return came


def _events_of(queue: int) -> list[tuple[int, int, bytes]]:
    """Return the events that wait: whose, what happened, and the name in its folder."""
    data, at = b"", 0
    events: list[tuple[int, int, bytes]] = []
    with contextlib.suppress(BlockingIOError):
        data = os.read(queue, _AT_ONCE)
    while at < len(data):
        watch, mask, _, length = _EVENT.unpack_from(data, at)
        at += _EVENT.size + length
        events.append((watch, mask, data[at - length : at].rstrip(b"\0")))
    return events
