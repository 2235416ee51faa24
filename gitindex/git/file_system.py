"""Which file systems have times that can be relied on."""

from __future__ import annotations

import os

TRUSTED = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs", "overlay"})
"""File systems whose folders reliably change times and inode when an entry comes or goes."""
MAPPED = TRUSTED - {"tmpfs"}
"""Those of them where a write through a memory mapping changes the times of the file."""
_MOUNTS = "/proc/self/mountinfo"


def is_trusted(root: str, kinds: frozenset[str] = TRUSTED) -> bool:
    """Is the whole work tree on one file system of these kinds?"""
    try:
        with open(_MOUNTS, "rb") as file:
            mounts = [line.split() for line in file]
    except OSError:
        return False  # not Linux
    here, best, kind = os.fsencode(root), b"", b""
    for fields in mounts:
        place = fields[4].decode("unicode_escape").encode("latin-1")
        if place.startswith(here + b"/"):
            return False
        within = place == b"/" or here == place or here.startswith(place + b"/")
        if within and len(place) >= len(best):
            best, kind = place, fields[fields.index(b"-") + 1]
    return kind.decode() in kinds
