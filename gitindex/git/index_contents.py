"""What git's index says of its entries beside stat data: a digest, and how two of them differ. Pure."""

from __future__ import annotations

import struct

from gitindex.base.digest import sha256
from gitindex.base.light_types import NamedTuple
from gitindex.git.index_file import (
    ENTRIES,
    EXTENDED_FLAG,
    HEADER,
    ID,
    Unreadable,
    compiled_part,
    entry_spans,
    extensions_of,
)


def digest_of(data: bytes, id_bytes: int) -> str:
    """Return a digest of all entries of an index, without the stat data of their files."""
    try:
        contents, end = _contents(data, id_bytes)
        names = [name for name, _ in extensions_of(data, end, id_bytes)]
        if b"link" in names:
            raise Unreadable  # there are more entries in another file
    except (struct.error, IndexError, ValueError) as error:
        raise Unreadable from error
    return sha256(contents).hexdigest()


def _contents(data: bytes, id_bytes: int) -> tuple[bytes, int]:
    """Return mode, id, flags and name of all entries, and the end of all entries."""
    if HEADER.unpack_from(data)[1] in (2, 3):
        entries = _list(data, id_bytes)
        contents = b"".join(entries)
        return contents, ENTRIES + len(contents) + (ID - 4) * len(entries)
    return contents_of(data, id_bytes)


def contents_of(data: bytes, id_bytes: int) -> tuple[bytes, int]:
    """Return the same for any version, in which paths may be compressed."""
    end, parts = ENTRIES, list[bytes]()
    for start, end in entry_spans(data, id_bytes):
        parts += (data[start + 24 : start + 28], data[start + 40 : end])
    return b"".join(parts), end


class IndexChange(NamedTuple):
    """An entry that one index has and another has not, or has otherwise."""

    path: bytes
    mode: int  # 0: it is gone
    oid: str
    stage: int


def changes_between(old: bytes, new: bytes, id_bytes: int, most: int) -> list[IndexChange] | None:
    """Return what makes the entries of an index those of another: first what goes, then what comes.

    None if more than `most` entries differ.
    """
    try:
        before, now = set(_list(old, id_bytes)), set(_list(new, id_bytes))
        if len(before ^ now) > 2 * most:
            return None
        gone = [_change(entry, id_bytes) for entry in before - now]
        come = [_change(entry, id_bytes) for entry in now - before]
    except (struct.error, IndexError, ValueError) as error:
        raise Unreadable from error
    paths = {change.path for change in come}
    found = [c._replace(mode=0) for c in gone if c.path not in paths] + come
    return found if len(found) <= most else None


def _list(data: bytes, id_bytes: int) -> list[bytes]:
    """Return mode, id, flags and name of each entry; of versions that spell out their paths."""
    kind, version, count = HEADER.unpack_from(data)
    if kind != b"DIRC" or version not in (2, 3):
        raise Unreadable
    compiled = compiled_part(data)
    if compiled is not None and hasattr(compiled, "entry_list"):
        found: list[bytes] = compiled.entry_list(data, ENTRIES, count, id_bytes)
        return found
    return list_of(data, id_bytes)


def list_of(data: bytes, id_bytes: int) -> list[bytes]:
    """Return the same without the compiled part."""
    return [
        data[at + 24 : at + 28] + data[at + 40 : end] for at, end in entry_spans(data, id_bytes)
    ]


def _change(entry: bytes, id_bytes: int) -> IndexChange:
    (flags,) = struct.unpack_from(">H", entry, 4 + id_bytes)
    start = 6 + id_bytes + (2 if flags & EXTENDED_FLAG else 0)
    path = entry[start : entry.index(b"\0", start)]
    return IndexChange(
        path, int.from_bytes(entry[:4]), entry[4 : 4 + id_bytes].hex(), flags >> 12 & 3
    )
