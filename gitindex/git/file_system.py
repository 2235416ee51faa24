"""Which file systems have times that can be relied on, and whether a file was read."""

from __future__ import annotations

import os
import time

from gitindex.base.atomic_file import write_atomic
from gitindex.base.system import mounts

TRUSTED = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs", "overlay"})
"""File systems whose folders reliably change times and inode when an entry comes or goes."""
MAPPED = TRUSTED - {"tmpfs"}
"""Those of them where a write through a memory mapping changes the times of the file."""
_LONG_AGO = 1_000_000_000
UNKNOWN_SECONDS = 600.0
"""Age from which a file counts as read where no time of access is kept."""


def is_trusted(root: str, kinds: frozenset[str] = TRUSTED) -> bool:
    """Is the whole work tree on one file system of these kinds?"""
    mounted = mounts()
    if mounted is None:
        return False  # not Linux
    here, best, kind = os.fsencode(root), b"", ""
    for place, its_kind in mounted:
        if place.startswith(here + b"/"):
            return False
        within = place == b"/" or here == place or here.startswith(place + b"/")
        if within and len(place) >= len(best):
            best, kind = place, its_kind
    return kind in kinds


def write_unread(path: str, data: bytes) -> None:
    """Replace a file that `was_read` is asked about: its times are so old that any access is later."""
    write_atomic(path, data, durable=False)
    os.utime(path, ns=(_LONG_AGO, _LONG_AGO))


def was_read(path: str) -> bool:
    """Was a file read since it was written? Also true if it is missing, or if the file system cannot
    tell and ten minutes have passed: whoever asks may do as much again.

    Only of files by `write_unread`. Linux notes the first access after a change (`relatime`), unless
    it is told not to.
    """
    try:
        found = os.stat(path)
        if os.statvfs(path).f_flag & os.ST_NOATIME:
            return abs(time.time() - found.st_ctime) >= UNKNOWN_SECONDS
    except (OSError, AttributeError):
        return True
    return found.st_atime_ns > found.st_mtime_ns


def read_unnoticed(path: str) -> bytes:
    """Return the content of a file by `write_unread`: afterwards it was read as little as before."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_NOATIME", 0))
    with open(fd, "rb") as file:
        return file.read()
