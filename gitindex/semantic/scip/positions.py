"""Converts an indexer's lines and columns, in its units, to lines and byte columns on disk."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

from gitindex.base.pattern import compile_later

UTF8, UTF16, UTF32 = 1, 2, 3
"""SCIP's position encodings; 0 means unspecified, and then the tool's default applies."""

LINES = compile_later(rb"\r\n|\n|\r")
ECMA_LINES = compile_later(rb"\r\n|\n|\r|\xe2\x80[\xa8\xa9]")
"""ECMAScript also ends lines at U+2028 and U+2029; lines on disk do not end there."""

_NEWLINE = compile_later(rb"\n")


class OutsideFile(ValueError):
    """A position outside the bytes on disk: the indexer read other bytes."""


class Positions:
    """Converts positions in one file's bytes."""

    def __init__(self, data: bytes, encoding: int, breaks: re.Pattern[bytes] = LINES) -> None:
        self._data = data
        self._encoding = encoding
        self._breaks = breaks
        self._tables: dict[int, list[int]] = {}

    def place(self, line: int, column: int) -> tuple[int, int]:
        """Return line and byte column on disk; both 0-based."""
        if not 0 <= line < len(self._lines) or column < 0:
            raise OutsideFile(f"line {line}, column {column}")
        start, end = self._lines[line]
        offset = start + self._bytes(line, column, start, end)
        at = line if self._same_lines else bisect_right(self._line_starts, offset) - 1
        return at, offset - self._line_starts[at]

    def span(self, numbers: Sequence[int]) -> tuple[int, int, int, int]:
        """Convert a SCIP range of three or four numbers to lines and byte columns."""
        if len(numbers) == 3:
            line, column, end_column = numbers
            if 0 <= line < len(self._simple) and 0 <= column <= end_column <= self._simple[line]:
                return line, column, line, end_column
            end_line = line
        elif len(numbers) == 4:
            line, column, end_line, end_column = numbers
        else:
            raise OutsideFile(f"a range of {len(numbers)} numbers")
        found = (*self.place(line, column), *self.place(end_line, end_column))
        if found[2:] < found[:2]:
            raise OutsideFile(f"a range that ends before it starts: {list(numbers)}")
        return found

    def text(self, span: tuple[int, int, int, int]) -> bytes:
        """Return the bytes of a span."""
        line, column, end_line, end_column = span
        starts = self._line_starts
        return self._data[starts[line] + column : starts[end_line] + end_column]

    @cached_property
    def lossy(self) -> bool:
        """Are there bytes that are not valid UTF-8?"""
        try:
            self._data.decode()
        except UnicodeDecodeError:
            return True
        return False

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(gap.end() for gap in _NEWLINE.finditer(self._data))]

    @cached_property
    def _simple(self) -> list[int]:
        """Lengths of the lines whose columns are already bytes; -1 for the others."""
        if not self._same_lines or self._lines[0][0]:
            return []
        data = self._data
        if data.isascii():
            return [end - start for start, end in self._lines]
        return [end - start if data[start:end].isascii() else -1 for start, end in self._lines]

    @cached_property
    def _same_lines(self) -> bool:
        """Does the indexer count the same lines as there are on disk?"""
        return len(self._lines) == len(self._line_starts)

    @cached_property
    def _lines(self) -> list[tuple[int, int]]:
        """Start and end of each line as the indexer sees it, without a byte order mark."""
        mark = len(codecs.BOM_UTF8) if self._data.startswith(codecs.BOM_UTF8) else 0
        found, start = [], mark
        for gap in self._breaks.finditer(self._data):
            found.append((start, gap.start()))
            start = gap.end()
        found.append((start, len(self._data)))
        return found

    def _bytes(self, line: int, column: int, start: int, end: int) -> int:
        table = self._tables.get(line)
        if table is None:
            table = self._tables[line] = _offsets(self._data[start:end], self._encoding)
        if not table:
            if column > end - start:
                raise OutsideFile(f"line {line}, column {column}")
            return column
        if column >= len(table):
            raise OutsideFile(f"line {line}, column {column}")
        return table[column]


def _offsets(line: bytes, encoding: int) -> list[int]:
    """Return the byte offset of every unit of a line, and of its end; empty if units are bytes."""
    if encoding == UTF8 or line.isascii():
        return []
    found, at = [], 0
    for char in line.decode("utf-8", "surrogateescape"):
        found.append(at)
        if encoding == UTF16 and char > "\uffff":
            found.append(at)  # between two surrogates: indexers should not point here
        at += len(char.encode("utf-8", "surrogateescape"))
    found.append(at)
    return found
