"""Loose objects, read and verified here: libgit2 loops for ever on a file that was cut short."""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator
from errno import EDQUOT, EMFILE, ENFILE, ENOMEM, ENOSPC
from hashlib import sha1

from gitindex.base.errors import GitIndexError

KINDS = {b"commit": 1, b"tree": 2, b"blob": 3, b"tag": 4}
"""Git's own numbers of the kinds."""
MAX_ALTERNATES = 100
SHORTAGES = frozenset({EDQUOT, EMFILE, ENFILE, ENOMEM, ENOSPC})
"""What a machine that runs short says; of an object it says nothing, least of all that it is missing."""
_MOST_OF_A_HEADER = 64
_DIGITS_OF_A_SIZE = 18


class LooseObjects:
    """The loose objects of a sha1 repository and of those that it borrows from."""

    def __init__(self, folders: list[str]) -> None:
        self._folders = folders

    def read(self, oid: str) -> tuple[int, bytes] | None:
        """Return kind and content; None if there is no whole copy."""
        for data in self._files(oid):
            opened = _open(data)
            if opened is None:
                continue
            kind, size, begun, rest = opened
            whole = begun + _inflate(rest, size - len(begun))
            named = sha1(b"%b %d\0" % (kind, size), usedforsecurity=False)
            named.update(whole)
            if named.hexdigest() == oid:
                return KINDS[kind], whole
        return None

    def size(self, oid: str) -> int | None:
        """Return the size that the header says; None if there is no header."""
        for data in self._files(oid):
            opened = _open(data)
            if opened is not None:
                return opened[1]
        return None

    def _files(self, oid: str) -> Iterator[bytes]:
        for folder in self._folders:
            data = _content(f"{folder}/{oid[:2]}/{oid[2:]}")
            if data is not None:
                yield data


def object_folders(objects: str) -> list[str]:
    """Return an object folder and its alternates, theirs included."""
    folders = [objects]
    for folder in folders:
        listed = _content(f"{folder}/info/alternates") or b""
        for line in listed.split(b"\n"):
            named = os.path.normpath(os.path.join(folder, os.fsdecode(line.rstrip(b"\r"))))
            new = line and not line.startswith((b"#", b'"')) and b"\0" not in line
            if new and named not in folders and len(folders) < MAX_ALTERNATES:
                folders.append(named)
    return folders


def refuse_shortage(error: Exception) -> None:
    """Raise GitIndexError if the machine runs short: what could not be read may well be there.

    MemoryError is none: a damaged object may claim to be of any size.
    """
    if isinstance(error, OSError) and error.errno in SHORTAGES:
        raise GitIndexError(f"cannot read git's objects: {error.strerror}", "try again") from error


def _content(path: str) -> bytes | None:
    """Return the content of a regular file; None if there is none that can be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError:
        return None
    except OSError as error:
        refuse_shortage(error)
        return None
    try:
        told = os.fstat(fd)
        return os.read(fd, told.st_size) if stat.S_ISREG(told.st_mode) else None
    except OSError as error:
        refuse_shortage(error)
        return None
    finally:
        os.close(fd)


def _open(data: bytes) -> tuple[bytes, int, bytes, tuple[zlib._Decompress, bytes]] | None:
    """Return kind, size, the first bytes, and what the rest is made of."""
    inflater = zlib.decompressobj()
    try:
        start = inflater.decompress(data, _MOST_OF_A_HEADER)
    except zlib.error:
        return None
    header, end, begun = start.partition(b"\0")
    kind, _, size = header.partition(b" ")
    if not end or kind not in KINDS or not size.isdigit() or len(size) > _DIGITS_OF_A_SIZE:
        return None
    return kind, int(size), begun, (inflater, inflater.unconsumed_tail)


def _inflate(rest: tuple[zlib._Decompress, bytes], size: int) -> bytes:
    inflater, data = rest
    if size <= 0:
        return b""
    try:
        return inflater.decompress(data, size)
    except zlib.error:
        return b""
