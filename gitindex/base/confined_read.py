"""Reads files beneath one root by directory descriptors: no link is followed, no pipe is waited for."""

from __future__ import annotations

import errno
import os
import stat

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.light_types import NamedTuple

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NOT_THERE = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.EISDIR, errno.ENAMETOOLONG}
)


class DiskFile(NamedTuple):
    """A regular file's bytes, cut at the limit it was read with, and its whole size."""

    data: bytes
    size: int
    executable: bool
    modified: int = 0  # nanoseconds


class ConfinedRoot:
    """One root, opened once: what is renamed or linked meanwhile cannot lead out of it."""

    def __init__(self, root: str) -> None:
        self._fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def read(self, path: bytes, limit: int) -> DiskFile | None:
        """A regular file, or None where there is none: missing, a link, a folder, a device."""
        parts = path.split(b"/")
        if any(part in (b"", b".", b"..") for part in parts):
            return None
        try:
            return self._read(parts, limit)
        except OSError as error:
            if error.errno in _NOT_THERE:
                return None
            raise

    def __enter__(self) -> ConfinedRoot:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    def _read(self, parts: list[bytes], limit: int) -> DiskFile | None:
        folder = self._fd
        try:
            for part in parts[:-1]:
                below = os.open(part, _FOLDER, dir_fd=folder)
                if folder != self._fd:
                    os.close(folder)
                folder = below
            fd = os.open(parts[-1], _FILE, dir_fd=folder)
        finally:
            if folder != self._fd:
                os.close(folder)
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                return None
            data = _drain(fd, limit, min(1 << 20, max(1 << 12, status.st_size + 1)))
            executable = bool(status.st_mode & stat.S_IXUSR)
            return DiskFile(data, status.st_size, executable, status.st_mtime_ns)
        finally:
            os.close(fd)


def _drain(fd: int, limit: int, room: int) -> bytes:
    """The bytes of a file. `room` is made for each read, used or not: no more than it takes."""
    chunks = []
    while limit > 0 and (chunk := os.read(fd, min(limit, room))):
        chunks.append(chunk)
        limit -= len(chunk)
    return b"".join(chunks)


def read_text(root: str, path: str, limit: int) -> bytes:
    """A regular file below the root, whole; a clear complaint for anything else."""
    shown = safe_text(path)
    try:
        with ConfinedRoot(root) as disk:
            file = disk.read(os.fsencode(path), limit)
    except (OSError, ValueError) as error:
        raise GitIndexError(f"cannot read {shown}: {error}", code=Exit.USAGE) from error
    if file is None:
        raise GitIndexError(f"no such file, or a link: {shown}", code=Exit.USAGE)
    if file.size > limit:
        raise GitIndexError(f"larger than {limit} bytes: {shown}")
    return file.data
