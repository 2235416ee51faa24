"""Which gitindex writes a store, where several are installed: the newest that is still there."""

from __future__ import annotations

import os

from gitindex.base.atomic_file import add_checksum, read_small, strip_checksum
from gitindex.base.version import __version__
from gitindex.base.worktree import Worktree

VERSION = "version"
"""In the store, beside `python`: the version of the gitindex that hooks start."""


def is_served(worktree: Worktree) -> bool:
    """Is there an interpreter for hooks to start, of this version or a newer one?"""
    return _is_alive(worktree) and _numbers(_noted(worktree)) >= _numbers(__version__)


def newer_writer(worktree: Worktree) -> str:
    """The version of a newer gitindex that serves this store and is still there; else empty."""
    noted = _noted(worktree)
    newer = _numbers(noted) > _numbers(__version__)
    return noted if newer and _is_alive(worktree) else ""


def _noted(worktree: Worktree) -> str:
    """Stores made before the note was kept have none: of this version or older."""
    try:
        data = strip_checksum(read_small(os.path.join(worktree.store, VERSION))) or b""
    except OSError:
        data = b""
    return data.decode("ascii", "replace").strip() or "0"


def render_version(version: str) -> bytes:
    """The note's bytes. With a checksum: one damaged digit would name a newer gitindex for ever."""
    return add_checksum(version.encode() + b"\n")


def _is_alive(worktree: Worktree) -> bool:
    try:
        data = read_small(os.path.join(worktree.store, "python")) or b""
    except OSError:
        return False
    return os.access(data.removesuffix(b"\n"), os.X_OK)


def _numbers(version: str) -> tuple[int, ...]:
    """A version as it is compared; what is no number counts as nothing."""
    return tuple(int(part) if part.isdecimal() else 0 for part in version.split("."))
