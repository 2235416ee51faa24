"""The ranges of a text that are scopes, and the names declared in them, while a worker reads it."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from gitindex.languages.scopes.model import BLOCK, COMPREHENSION, OUTER, nest_ranges
from gitindex.languages.scopes.packed import ScopesWriter

if TYPE_CHECKING:
    from tree_sitter import Node

Spans = tuple[tuple[int, int], tuple[int, int]]  # of the annotation and of the value
Told = tuple[int, int, int]

_AROUND = frozenset({"function", "class", "type", "enum"})
"""Their name is inside the scope they open, but belongs to the surrounding one."""


class ScopeReading:
    """The ranges of one text, and the declarations found in them."""

    def __init__(self, text: bytes, language: str) -> None:
        self.language = language
        self.size = len(text)
        self.out = ScopesWriter(text)
        self.ranges: list[list[int]] = []
        self.names: dict[tuple[int, int], tuple[int, ...]] = {}
        self.moved: list[list[Any]] = []

    def nest(self, found: dict[tuple[int, int], int]) -> None:
        """Sort the ranges and record which range contains which."""
        ranges = [(start, -minus_end, kind) for (start, minus_end), kind in sorted(found.items())]
        self.ranges = nest_ranges(self.size, ranges)
        self._starts = [row[0] for row in self.ranges]

    def at(self, offset: int) -> int:
        """Return the innermost range around an offset."""
        low = max(bisect_right(self._starts, offset) - 1, 0)
        while low > 0 and self.ranges[low][1] <= offset:
            low = self.ranges[low][3]
        return low

    def home(self, offset: int, how: str) -> int:
        """Return the scope that a declaration at an offset belongs to."""
        return self._home(self.at(offset), how)

    def _home(self, scope: int, how: str) -> int:
        ranges = self.ranges
        while ranges[scope][2] == OUTER:
            scope = ranges[scope][5] if how in ("param", "rest") else ranges[scope][4]
        if how in _AROUND:
            return max(ranges[scope][4], 0)
        if how == "hoist":
            while scope > 0 and ranges[scope][2] in (BLOCK, COMPREHENSION, OUTER):
                scope = ranges[scope][4]
        return scope

    def declare(
        self, node: Node, how: str, start: int, spans: Spans, pick: int, told: Told = (0, 0, 0)
    ) -> None:
        """Add a declaration; for the same name and place, keep the one with more information.

        `told` are the numbers of the value's chain and of the declared type, and the type's place.
        """
        at, end = node.start_byte, node.end_byte
        inner = self.at(at)
        scope = self._home(inner, how)
        (first, close), (value, last) = spans
        chain, declared, far = told
        rest = (
            *(start - at, first - end if close else 0, close - first),
            *(value - end if last else 0, last - value, pick),
            *(chain, declared, far - at if declared else 0),
        )
        known = (close > 0) + (last > 0)
        kind = self.out.word("var" if how == "hoist" else how)
        self._keep((at, end - at, inner - scope, kind, *rest), scope, known)
        if how == "function" and self.ranges[scope][2] == BLOCK:
            # in sloppy JavaScript, and only there, also in the enclosing function
            while scope > 0 and self.ranges[scope][2] == BLOCK:
                scope = self.ranges[scope][4]
            kind = self.out.word("hoisted")
            self._keep((at, end - at, inner - scope, kind, *rest), scope, known)

    def _keep(self, row: tuple[int, ...], scope: int, known: int) -> None:
        key = (row[0], scope)
        old = self.names.get(key)
        if old is None or (old[6] > 0) + (old[8] > 0) < known:
            self.names[key] = row
