"""The semantic facts of one file as values: definitions, packed places, relations, dependencies."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gitindex.base.vocabulary import Relation

NOWHERE = (1 << 28) - 1
"""The enclosing ordinal of a place at module level."""
_WORDS = 5


class StoredOccurrence(NamedTuple):
    """One occurrence. Lines and columns are 0-based; columns count UTF-8 bytes on disk."""

    line: int
    column: int
    end_line: int
    end_column: int
    use: int  # facts.Use
    enclosing: int  # ordinal of the innermost definition around it, or NOWHERE


class Defined(NamedTuple):
    """One definition of a file: the place of its name, and its range of lines."""

    identity: str
    kind: str
    line: int
    column: int
    end_column: int
    start_line: int
    end_line: int
    signature: str
    doc: str
    parent: int  # ordinal of the enclosing definition, -1 at module level
    exported: bool


class Related(NamedTuple):
    """The relation of a symbol of the file to another symbol."""

    identity: str
    target: str
    kind: Relation


class FileFacts(NamedTuple):
    """All facts of one path's bytes in one context."""

    definitions: tuple[Defined, ...]
    places: Mapping[str, bytes]  # identity → packed places
    relations: tuple[Related, ...]
    names: Mapping[str, str]  # identity → name, of every identity above
    interface_hash: str
    flags: tuple[str, ...] = ()
    doubtful: int = 0  # places left out, because another name is there


class Dependency(NamedTuple):
    """One edge: a file whose symbols are used, as it was when the facts were computed.

    Bytes and hash are empty if the indexer read bytes of it that are not in git.
    """

    target: bytes
    oid: str
    interface_hash: str


def pack_places(places: Iterable[tuple[int, int, int, int, int, int]]) -> bytes:
    """Return the stored form of places in file order: five little-endian 32-bit words each.

    The last word has the use in its upper four bits, and the enclosing ordinal.
    """
    packed = array("I")
    for line, column, end_line, end_column, use, enclosing in places:
        packed.extend((line, column, end_line, end_column, use << 28 | enclosing))
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def unpack_places(packed: bytes) -> list[StoredOccurrence]:
    """Return the places of one row."""
    words = array("I")
    words.frombytes(packed)
    if sys.byteorder == "big":
        words.byteswap()
    return [
        StoredOccurrence(line, column, end_line, end_column, last >> 28, last & NOWHERE)
        for line, column, end_line, end_column, last in zip(*[iter(words)] * _WORDS, strict=True)
    ]
