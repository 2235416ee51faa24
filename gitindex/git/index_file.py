"""The only reader of git's index file: times, entries that git does not check, a digest. Pure."""

from __future__ import annotations

import struct

from gitindex.base.digest import sha256
from gitindex.base.errors import GitIndexError
from gitindex.base.lean import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

SECOND = 1_000_000_000

_HEADER = struct.Struct(">4sII")
_ENTRY = struct.Struct(">I4xI")  # seconds of change and of modification
_ENTRIES = _HEADER.size
_STAT_BYTES = 36
_EXTENDED = 0x40  # of the first byte of the flags
_FULL = struct.Struct(">IIII8xI")  # both times with their nanoseconds, mode
_SIZE = 36  # offset of the size of an entry's file
_ID = 40  # offset of the id of an entry
_MORE = struct.Struct(">H")
_ASSUMED, _EXTENDED_FLAG, _NAME = 0x8000, 0x4000, 0x0FFF
_SKIPPED = 0x4000  # in the second flags
_WHOLE = frozenset({b"TREE", b"REUC", b"UNTR", b"FSMN", b"EOIE", b"IEOT"})
"""Extensions beside which the entries are complete; a split or sparse index has others."""


class Unreadable(GitIndexError):
    """The file is not an index of a supported format."""

    def __init__(self) -> None:
        super().__init__("git's index has a format that gitindex does not read")


class UncheckedEntry(NamedTuple):
    """An entry of git's index whose file `git status` may not have checked."""

    path: bytes
    mode: int
    oid: str
    times: tuple[int, int]  # of change and modification, in nanoseconds, when git last looked
    covered: bool  # git was told not to look
    may_miss: bool  # a sparse checkout may omit it


class SizedEntry(NamedTuple):
    """An entry of git's index with the size that its file had when git last looked."""

    path: bytes
    oid: str
    pair: bytes  # size and id, as the index has them
    size: int


def entries_beyond(data: bytes, id_bytes: int, known: frozenset[bytes]) -> list[SizedEntry]:
    """Return regular files that git checks and whose pair of size and id is not known."""
    try:
        kind, version, count = _HEADER.unpack_from(data)
        if kind != b"DIRC" or version not in (2, 3):
            raise Unreadable
        return _beyond(data, count, id_bytes, known)
    except (struct.error, IndexError, ValueError) as error:
        raise Unreadable from error


def _beyond(data: bytes, count: int, id_bytes: int, known: frozenset[bytes]) -> list[SizedEntry]:
    found = []
    at, fixed, flags_of = _ENTRIES, 42 + id_bytes, _MORE.unpack_from
    for _ in range(count):
        pair = data[at + _SIZE : at + _ID + id_bytes]
        (flags,) = flags_of(data, at + _ID + id_bytes)
        length = flags & _NAME
        if pair in known and length != _NAME and not flags & _EXTENDED_FLAG:
            at += (fixed + length + 8) & ~7
            continue
        start = at + fixed + (2 if flags & _EXTENDED_FLAG else 0)
        end = data.index(b"\0", start)
        more = flags_of(data, start - 2)[0] if flags & _EXTENDED_FLAG else 0
        mode = int.from_bytes(data[at + 24 : at + 28])
        if pair not in known and mode >> 12 == 8 and not (flags & _ASSUMED or more & _SKIPPED):
            found.append(SizedEntry(data[start:end], pair[4:].hex(), pair, _size(pair)))
        at += (end - at + 8) & ~7
    return found


def _size(pair: bytes) -> int:
    return int.from_bytes(pair[:4])


def find_unchecked(data: bytes, id_bytes: int) -> list[UncheckedEntry]:
    """Return entries git does not check, or whose times were set. Costs a fifth of a process."""
    try:
        kind, version, count = _HEADER.unpack_from(data)
        if kind != b"DIRC" or version not in (2, 3):
            raise Unreadable
        found, end = _unchecked(data, count, struct.Struct(f">I4xI{28 + id_bytes}xH"))
        names = {name for name, _ in _extensions(data, end, id_bytes)}
    except (struct.error, IndexError, ValueError) as error:
        raise Unreadable from error
    if not names <= _WHOLE:
        raise Unreadable
    return found


def _unchecked(data: bytes, count: int, layout: struct.Struct) -> tuple[list[UncheckedEntry], int]:
    """Return those entries, and the end of all entries. Most need one look at times and flags."""
    found = []
    at, glance, fixed = _ENTRIES, layout.unpack_from, layout.size
    for _ in range(count):
        changed, modified, flags = glance(data, at)
        size = fixed + (flags & _NAME)
        if flags > _NAME or changed != modified or size == fixed + _NAME:
            start = at + fixed + (2 if flags & _EXTENDED_FLAG else 0)
            end = data.index(b"\0", start)
            skipped = bool(
                flags & _EXTENDED_FLAG and _MORE.unpack_from(data, start - 2)[0] & _SKIPPED
            )
            covered = skipped or bool(flags & _ASSUMED)
            if covered or changed != modified:
                found.append(
                    _entry(data, at, fixed, data[start:end])._replace(
                        covered=covered, may_miss=skipped
                    )
                )
            size = end - at
        at += (size + 8) & ~7
    return found, at


def _entry(data: bytes, at: int, fixed: int, path: bytes) -> UncheckedEntry:
    changed, changed_ns, modified, modified_ns, mode = _FULL.unpack_from(data, at)
    times = changed * SECOND + changed_ns, modified * SECOND + modified_ns
    oid = data[at + _ID : at + fixed - 2].hex()
    return UncheckedEntry(path, mode, oid, times, covered=False, may_miss=False)


class IndexPaths(NamedTuple):
    """The paths of an index; those of submodules apart."""

    files: list[bytes]
    submodules: frozenset[bytes]


def paths_of(data: bytes, id_bytes: int) -> IndexPaths:
    """Return all paths, in git's order; an unmerged one may be there twice."""
    try:
        kind, version, count = _HEADER.unpack_from(data)
        if kind != b"DIRC" or version not in (2, 3):
            raise Unreadable
        found, end = _paths(data, count, id_bytes)
        if not {name for name, _ in _extensions(data, end, id_bytes)} <= _WHOLE:
            raise Unreadable
    except (struct.error, IndexError, ValueError) as error:
        raise Unreadable from error
    return found


def _paths(data: bytes, count: int, id_bytes: int) -> tuple[IndexPaths, int]:
    files: list[bytes] = []
    submodules: set[bytes] = set()
    at, fixed, flags_at, flags_of = _ENTRIES, 42 + id_bytes, 40 + id_bytes, _MORE.unpack_from
    for _ in range(count):
        (flags,) = flags_of(data, at + flags_at)
        start = at + fixed + (2 if flags & _EXTENDED_FLAG else 0)
        length = flags & _NAME
        end = start + length if length != _NAME else data.index(b"\0", start)
        if data[at + 26] >> 4 == 0xE:
            submodules.add(data[start:end])
        else:
            files.append(data[start:end])
        at += (end - at + 8) & ~7
    return IndexPaths(files, frozenset(submodules)), at


def surely_lacks(data: bytes, name: bytes) -> bool:
    """True if no entry's path can contain `name`; False if a byte search cannot decide.

    Versions 2 and 3 spell out every path. Version 4 does not, and a split index has entries
    elsewhere.
    """
    if len(data) < _ENTRIES or name in data:
        return False
    signature, version, _ = _HEADER.unpack_from(data)
    if signature != b"DIRC" or version not in (2, 3):
        return False
    at = data.rfind(b"link")
    while at >= 0:
        if any(_is_chain(data, at, len(data) - id_bytes) for id_bytes in (20, 32)):
            return False
        at = data.rfind(b"link", 0, at)
    return True


def _is_chain(data: bytes, at: int, end: int) -> bool:
    """Do extensions that start here end at the index's checksum?"""
    while at <= end - 8:
        at += 8 + int.from_bytes(data[at + 4 : at + 8])
    return at == end


def stamps_of(data: bytes, id_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield the seconds of change and modification of all files and folders git would trust."""
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
    """Return a digest of all entries of an index, without the stat data of their files."""
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
    return sha256(b"".join(parts)).hexdigest()


def _entries(data: bytes, id_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of each entry."""
    signature, version, count = _HEADER.unpack_from(data)
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
    """Return a number of variable width, and its end."""
    value = data[at] & 127
    while data[at] & 128:
        at += 1
        value = (value + 1 << 7) + (data[at] & 127)
    return value, at + 1


def _bits(data: bytes, at: int) -> tuple[int, int]:
    """Return how many bits a compressed bitmap has set, and its end."""
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
