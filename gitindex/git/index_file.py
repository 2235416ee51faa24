"""What an index file of git's says: the times it holds, and all the rest of its entries. Pure."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator

from gitindex.base.errors import GitIndexError

_ENTRY = struct.Struct(">I4xI")  # change time, its nanoseconds, time of modification
_ENTRIES = 12
_STAT_BYTES = 36
_EXTENDED = 0x40  # of the first byte of the flags


class Unreadable(GitIndexError):
    """Not an index file as it is known here."""

    def __init__(self) -> None:
        super().__init__("git's index is of a kind that is not known here")


def stamps_of(data: bytes, id_bytes: int) -> Iterator[tuple[int, int]]:
    """Seconds of change and of modification, of every file and folder that git would trust."""
    try:
        end = _ENTRIES
        for start, end in _entries(data, id_bytes):  # noqa: B007 - the last is needed below
            yield _ENTRY.unpack_from(data, start)
        for name, content in _extensions(data, end, id_bytes):
            if name == b"UNTR":
                yield from _folders(content, id_bytes)
    except (struct.error, IndexError, ValueError) as error:
        raise Unreadable from error


def digest_of(data: bytes, id_bytes: int) -> str:
    """One name for all that an index says of its files, besides what they looked like on disk."""
    try:
        end, parts = _ENTRIES, list[bytes]()
        for start, end in _entries(data, id_bytes):
            parts += (
                data[start + 24 : start + 28],
                data[start + 40 : end],
            )  # mode; id, flags, name
        names = [name for name, _ in _extensions(data, end, id_bytes)]
        if b"link" in names:
            raise Unreadable  # there are more entries in another file
    except (struct.error, IndexError, ValueError) as error:
        raise Unreadable from error
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _entries(data: bytes, id_bytes: int) -> Iterator[tuple[int, int]]:
    """Where each entry starts and ends."""
    signature, version, count = struct.unpack_from(">4sII", data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise Unreadable
    at = _ENTRIES
    for _ in range(count):
        end = _next_entry(data, at, id_bytes, version)
        yield at, end
        at = end


def _extensions(data: bytes, at: int, id_bytes: int) -> Iterator[tuple[bytes, bytes]]:
    end = len(data) - id_bytes
    while at < end:
        name, size = struct.unpack_from(">4sI", data, at)
        yield name, data[at + 8 : at + 8 + size]
        at += 8 + size
    if at != end:
        raise Unreadable


def _next_entry(data: bytes, at: int, id_bytes: int, version: int) -> int:
    name = at + 42 + id_bytes
    if data[name - 2] & _EXTENDED:
        name += 2
    if version == 4:
        _, name = _number(data, name)
        return data.index(b"\0", name) + 1
    end = data.index(b"\0", name)
    return at + (end - at + 8) // 8 * 8


def _folders(data: bytes, id_bytes: int) -> Iterator[tuple[int, int]]:
    size, at = _number(data, 0)
    at += size + 2 * _STAT_BYTES + 4 + 2 * id_bytes
    at = data.index(b"\0", at) + 1
    folders, at = _number(data, at)
    for _ in range(folders):
        names, at = _number(data, at)
        _, at = _number(data, at)
        for _ in range(names + 1):
            at = data.index(b"\0", at) + 1
    if not folders:
        return
    valid, at = _bits(data, at)
    for _ in range(2):
        hashed, at = _bits(data, at)
    if at + valid * _STAT_BYTES + hashed * id_bytes + 1 != len(data):
        raise Unreadable
    for number in range(valid):
        yield _ENTRY.unpack_from(data, at + number * _STAT_BYTES)


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable width, and where it ends."""
    value = data[at] & 127
    while data[at] & 128:
        at += 1
        value = (value + 1 << 7) + (data[at] & 127)
    return value, at + 1


def _bits(data: bytes, at: int) -> tuple[int, int]:
    """How many bits a compressed bitmap has set, and where it ends."""
    size, words = struct.unpack_from(">II", data, at)
    at += 8
    end = at + 8 * words
    found = seen = 0
    while at < end:
        (marker,) = struct.unpack_from(">Q", data, at)
        run, literals = marker >> 1 & 0xFFFFFFFF, marker >> 33
        found += 64 * run if marker & 1 else 0
        found += int.from_bytes(data[at + 8 : at + 8 + 8 * literals]).bit_count()
        seen += 64 * (run + literals)
        at += 8 + 8 * literals
    if at != end or seen < size:
        raise Unreadable
    return found, end + 4
