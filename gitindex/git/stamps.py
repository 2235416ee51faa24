"""The times that an index file holds: of files, and of the folders in its untracked cache. Pure."""

from __future__ import annotations

import struct
from collections.abc import Iterator

_ENTRY = struct.Struct(">I4xI")  # change time, its nanoseconds, time of modification
_STAT_BYTES = 36
_EXTENDED = 0x4000


class Unreadable(Exception):
    """Not an index file as it is known here."""


def stamps_of(data: bytes, id_bytes: int) -> Iterator[tuple[int, int]]:
    """Seconds of change and of modification, of every file and folder that git would trust."""
    try:
        signature, version, count = struct.unpack_from(">4sII", data)
        if signature != b"DIRC" or version not in (2, 3, 4):
            raise Unreadable
        at = 12
        for _ in range(count):
            yield _ENTRY.unpack_from(data, at)
            at = _next_entry(data, at, id_bytes, version)
        end = len(data) - id_bytes
        while at < end:
            name, size = struct.unpack_from(">4sI", data, at)
            if name == b"UNTR":
                yield from _folders(data[at + 8 : at + 8 + size], id_bytes)
            at += 8 + size
        if at != end:
            raise Unreadable
    except (struct.error, IndexError, ValueError) as error:
        raise Unreadable from error


def _next_entry(data: bytes, at: int, id_bytes: int, version: int) -> int:
    name = at + 42 + id_bytes
    if struct.unpack_from(">H", data, name - 2)[0] & _EXTENDED:
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
