"""Places of names in one blob, packed as three small numbers each, for speed and size."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

LEAP = 1 << 20
LEAP_MARK = 0x10FFFF
"""Column value that marks a gap of many lines instead of a place."""

_NATIVE = f"utf-32-{sys.byteorder[0]}e"
"""The memory layout of an array of numbers: the fastest way to turn numbers into characters."""

Flat = list[int]
"""Places of one name in file order, each `line * 8 + use`, `column`, `enclosing + 1` (0: none)."""


class Use:
    """The role of an occurrence at its place: stored in three bits."""

    DEFINITION = 0
    IMPORT = 1
    REFERENCE = 2
    CALL = 3
    ATTRIBUTE = 4
    TYPE = 5
    INHERIT = 6
    DECORATOR = 7


NO_SYMBOL = (1 << 18) - 1
"""Enclosing-symbol ordinal of an occurrence at module level."""


class Occurrence(NamedTuple):
    """One identifier at one place. Line and column are 0-based; the column counts UTF-8 bytes."""

    name: str
    line: int
    column: int
    use: int
    enclosing: int


class Postings(Mapping[str, bytes]):
    """Names and their packed places: one text for all, split when a name is looked up.

    Lines are stored as differences, numbers as characters: UTF-8 makes small numbers short.
    """

    def __init__(self, counts: dict[str, int], text: str) -> None:
        self.counts = counts  # count of numbers per name, three to a place
        self.text = text
        self._starts: dict[str, int] = {}

    def __getitem__(self, name: str) -> bytes:
        if not self._starts:
            ends = accumulate(self.counts.values(), initial=0)
            self._starts = dict(zip(self.counts, ends, strict=False))
        start = self._starts[name]
        return _to_bytes(self.text[start : start + self.counts[name]])

    def __iter__(self) -> Iterator[str]:
        return iter(self.counts)

    def __len__(self) -> int:
        return len(self.counts)

    def encode(self) -> bytes:
        """Return the packed places of all names, in order."""
        return _to_bytes(self.text)


def join_postings(packed: Iterable[tuple[str, bytes]]) -> Postings:
    """Return postings of names whose places are already packed."""
    texts = {name: places.decode("utf-8", "surrogatepass") for name, places in packed}
    return Postings({name: len(text) for name, text in texts.items()}, "".join(texts.values()))


def pack_postings(by_name: Mapping[str, Flat]) -> Postings:
    """Return the postings of a blob."""
    flat = list(chain.from_iterable(by_name.values()))
    heads = flat[::3]
    flat[3::3] = [head - (last & -8) for last, head in pairwise(heads)]
    at = 0
    for places in by_name.values():
        flat[at] = places[0]
        at += len(places)
    try:
        text = array("I", flat).tobytes().decode(_NATIVE, "surrogatepass")
    except UnicodeDecodeError:
        return _pack_with_leaps(by_name)
    return Postings(dict(zip(by_name, map(len, by_name.values()), strict=True)), text)


_MODULO = (3).__rmod__
"""Numbers of a name come in threes."""


def read_postings(names: list[str], counts: list[int], packed: bytes) -> Postings:
    """Decode the output of `encode`; ValueError if names, counts and text do not match."""
    text = packed.decode("utf-8", "surrogatepass")
    if sum(counts) != len(text) or min(counts, default=3) <= 0 or any(map(_MODULO, counts)):
        raise ValueError("bad postings")
    postings = Postings(dict(zip(names, counts, strict=True)), text)
    if len(postings) != len(counts):
        raise ValueError("a name twice")
    return postings


def unpack_places(name: str, packed: bytes) -> list[Occurrence]:
    """Return the occurrences of `name` in one posting, in file order."""
    numbers = map(ord, packed.decode("utf-8", "surrogatepass"))
    places = []
    line = 0
    for head, column, enclosing in zip(numbers, numbers, numbers, strict=True):
        line += head >> 3
        if column != LEAP_MARK:
            inside = enclosing - 1 if enclosing else NO_SYMBOL
            places.append(Occurrence(name, line, column, head & 7, inside))
    return places


def _pack_with_leaps(by_name: Mapping[str, Flat]) -> Postings:
    """Pack places whose line differences exceed the range of a character: long gaps are split."""
    texts = {name: "".join(map(chr, _leaping(places))) for name, places in by_name.items()}
    return join_postings((name, _to_bytes(text)) for name, text in texts.items())


def _leaping(flat: Flat) -> Iterator[int]:
    last = 0
    numbers = iter(flat)
    for head, column, enclosing in zip(numbers, numbers, numbers, strict=True):
        distance = head - (last & -8)
        last = head
        while distance > LEAP:
            yield from (LEAP, LEAP_MARK, 0)
            distance -= LEAP
        yield from (distance, min(column, LEAP_MARK - 1), enclosing)


def _to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
