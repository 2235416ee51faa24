"""The stored form of a file's scopes: tables, then columns of numbers, as JSON. Pure.

Texts that stand in the file are spans of it; numbers that grow are stored as distances; chains, types
and words are stored once, and referred to by their number.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

_NEXT, _CALLED = "\x1f", "\x1e"
"""In a chain: before the next link, and before what a call loads."""
_COMPACT = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode

KNOWN_WORDS = (
    *("var", "param", "rest", "function", "class", "import", "type", "typeparam", "enum", "own"),
    *("member", "pattern", "hoisted", "comment", "string", "docstring", "dynamic", "exported"),
    *("evaluated", "annotation", "named", "code"),
)
"""Words that every payload can refer to: kinds of declarations, comments and strings."""

MAX_ROWS = 1 << 24
"""Most rows of a table: no stored payload has more bytes."""

Column = Sequence[int]
Link = tuple[str, bool, str]


class ScopesWriter:
    """Collects columns in a fixed order, and tables of what occurs often."""

    def __init__(self) -> None:
        self._chains: dict[str, int] = {"": 0}
        self._types: dict[str, int] = {"null": 0}
        self._words = {word: number for number, word in enumerate(KNOWN_WORDS)}
        self._columns: list[Sequence[int] | int] = []

    def chain(self, parts: Iterable[Sequence[Any]] | None) -> int:
        """Return the number of a chain; 0 for none, and for one that cannot be written."""
        if not parts:
            return 0
        links = [name + _CALLED + load if called else name for name, called, load in parts]
        text = _NEXT.join(links)
        readable = text.count(_NEXT) == len(links) - 1 and text.count(_CALLED) <= len(links)
        return self._chains.setdefault(text, len(self._chains)) if readable else 0

    def type(self, row: list[Any] | None) -> int:
        """Return the number of a declared type, without its place; 0 for none."""
        if row is None:
            return 0
        return self._types.setdefault(_COMPACT(_relative(row, row[0])), len(self._types))

    def word(self, text: str) -> int:
        """Return the number of a word."""
        return self._words.setdefault(text, len(self._words))

    def add_growing(self, values: Sequence[int]) -> None:
        """Add places that grow."""
        self.add_rows([(value,) for value in values], 1)

    def add_rows(self, rows: Iterable[Sequence[int]], width: int) -> None:
        """Add rows of so many numbers as columns; the first of them grows."""
        first, *others = list(zip(*rows, strict=True)) or [()] * width
        grown = list(map(int.__sub__, first, (0, *first[:-1])))
        self._columns += [column if any(column) else len(column) for column in (grown, *others)]

    def finish(self, *rest: Any) -> bytes:
        """Return the payload; `rest` are further values of the head."""
        types = [json.loads(text) for text in self._types]
        words = list(self._words)[len(KNOWN_WORDS) :]
        fields = [list(self._chains), types, words, self._columns, *rest]
        return _COMPACT(fields).encode()


class ScopesReader:
    """Reads a payload column by column. Raises ValueError if it is not one."""

    def __init__(self, payload: bytes, rest: int) -> None:
        fields = json.loads(payload)
        if not isinstance(fields, list) or len(fields) != 4 + rest:
            raise ValueError("no scopes")
        self.chains: list[str]
        self.chains, self.types, words, columns, *self.rest = fields
        self.words: list[str] = [*KNOWN_WORDS, *words]
        self._columns = iter(columns)

    def columns(self, width: int) -> list[Column]:
        """Return the next columns; the first of them grows."""
        first, *others = [_numbers(next(self._columns, 0)) for _ in range(width)]
        return [list(accumulate(first)), *others]

    def rows(self, width: int) -> list[tuple[int, ...]]:
        """Return the next columns as rows."""
        return list(zip(*self.columns(width), strict=True))

    def numbered(self, most: int, width: int = 2, column: int = 1) -> list[tuple[int, ...]]:
        """Return rows with a column of numbers below a limit."""
        columns = self.columns(width)
        if columns[0] and not 0 <= min(columns[column]) <= max(columns[column]) < most:
            raise ValueError("a number is out of range")
        return list(zip(*columns, strict=True))


def _numbers(column: Sequence[int] | int) -> Column:
    """Return the numbers of a column, which is as long as its numbers are, or has so many zeros."""
    if isinstance(column, int):
        return bytes(min(column, MAX_ROWS))
    try:
        return array("q", column)
    except OverflowError:
        raise ValueError("a number is out of range") from None


def read_links(chain: str) -> list[Link]:
    """Return the links of a written chain: name, is it called, what it loads; empty for none."""
    cut = (link.partition(_CALLED) for link in chain.split(_NEXT)) if chain else ()
    return [(name, bool(called), load) for name, called, load in cut]


def _relative(row: list[Any], base: int) -> list[Any]:
    at, form, name, *inner = row
    return [at - base, form, name, *(_relative(one, base) for one in inner)]
