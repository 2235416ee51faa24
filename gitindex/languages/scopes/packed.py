"""The stored form of a file's scopes: a JSON head, then columns of numbers. Pure.

Texts that stand in the file are spans of it; numbers that grow are stored as distances; chains, types
and words are stored once, and referred to by their number.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

_WIDTHS = (
    ("B", 0, 1 << 8),
    ("H", 0, 1 << 16),
    ("b", -(1 << 7), 1 << 7),
    ("h", -(1 << 15), 1 << 15),
)
_ABSENT = "0"
"""The code of a column of zeros, which takes no room."""
_SWAPPED = sys.byteorder == "big"
_NEXT, _CALLED = "\x1f", "\x1e"
"""In a chain: before the next link, and before what a call loads."""
_COMPACT = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode

KNOWN_WORDS = (
    *("var", "param", "rest", "function", "class", "import", "type", "typeparam", "enum", "own"),
    *("member", "pattern", "hoisted", "comment", "string", "docstring", "dynamic", "exported"),
    *("evaluated", "annotation", "named", "code"),
)
"""Words that every payload can refer to: kinds of declarations, comments and strings."""

Column = Sequence[int]
Link = tuple[str, bool, str]


class ScopesWriter:
    """Collects columns in a fixed order, and tables of what occurs often."""

    def __init__(self) -> None:
        self._chains: dict[str, int] = {"": 0}
        self._types: dict[str, int] = {"null": 0}
        self._words = {word: number for number, word in enumerate(KNOWN_WORDS)}
        self._codes: list[str] = []
        self._counts: list[int] = []
        self._data: list[bytes] = []

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
        columns: list[Sequence[int]] = list(zip(*rows, strict=True)) or [()] * width
        self._counts.append(len(columns[0]))
        first = columns[0]
        self._add(list(map(int.__sub__, first, (0, *first[:-1]))))
        for column in columns[1:]:
            self._add(column)

    def _add(self, column: Sequence[int]) -> None:
        low, high = (min(column), max(column)) if column else (0, 0)
        if low == high == 0:
            self._codes.append(_ABSENT)
            return
        code = next((c for c, least, most in _WIDTHS if least <= low and high < most), "i")
        numbers = array(code, column)
        if _SWAPPED:
            numbers.byteswap()
        self._codes.append(code)
        self._data.append(numbers.tobytes())

    def finish(self, *rest: Any) -> bytes:
        """Return the payload; `rest` are further values of the head."""
        types = [json.loads(text) for text in self._types]
        words = list(self._words)[len(KNOWN_WORDS) :]
        head = [list(self._chains), types, words, "".join(self._codes), self._counts, *rest]
        return b"\n".join((_COMPACT(head).encode(), b"".join(self._data)))


class ScopesReader:
    """Reads a payload column by column. Raises ValueError if it is not one."""

    def __init__(self, payload: bytes, rest: int) -> None:
        text, _, self._data = payload.partition(b"\n")
        head = json.loads(text)
        if not isinstance(head, list) or len(head) != 5 + rest:
            raise ValueError("no scopes")
        self.chains: list[str]
        self.chains, self.types, words, codes, counts, *self.rest = head
        self.words: list[str] = [*KNOWN_WORDS, *words]
        self._codes, self._counts = iter(codes), iter(counts)
        self._at = 0

    def columns(self, width: int) -> list[Column]:
        """Return the next columns; the first of them grows."""
        count = next(self._counts, 0)
        first, *others = [self._column(next(self._codes, ""), count) for _ in range(width)]
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

    def _column(self, code: str, count: int) -> Column:
        if code == _ABSENT:
            return bytes(count)
        numbers = array(code)
        end = self._at + count * numbers.itemsize
        numbers.frombytes(self._data[self._at : end])
        self._at = end
        if len(numbers) != count:
            raise ValueError("scopes are cut")
        if _SWAPPED:
            numbers.byteswap()
        return numbers


def read_links(chain: str) -> list[Link]:
    """Return the links of a written chain: name, is it called, what it loads; empty for none."""
    cut = (link.partition(_CALLED) for link in chain.split(_NEXT)) if chain else ()
    return [(name, bool(called), load) for name, called, load in cut]


def _relative(row: list[Any], base: int) -> list[Any]:
    at, form, name, *inner = row
    return [at - base, form, name, *(_relative(one, base) for one in inner)]
