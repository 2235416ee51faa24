"""The ranges of a text that are scopes, and the names declared in them, while a worker reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gitindex.languages.scopes.model import BLOCK, COMPREHENSION, MODULE, OUTER

if TYPE_CHECKING:
    from tree_sitter import Node

_AROUND = frozenset({"function", "class", "type", "enum"})
"""Their name is inside the scope they open, but belongs to the surrounding one."""


class ScopeReading:
    """The ranges of one text, and the declarations found in them."""

    def __init__(self, size: int, language: str) -> None:
        self.language = language
        self.ranges: list[list[int]] = [[0, size + 1, MODULE, -1, -1, -1]]
        self.names: dict[tuple[int, str, int], list[Any]] = {}
        self.moved: list[list[Any]] = []

    def nest(self, found: dict[tuple[int, int], int]) -> None:
        """Sort the ranges and record which range contains which."""
        stack = [0]
        for (start, minus_end), kind in sorted(found.items()):
            while self.ranges[stack[-1]][1] <= start:
                stack.pop()
            around = stack[-1]
            outer, head = around, -1
            if kind == OUTER:
                head = around
                while head > 0 and self.ranges[head][2] == OUTER:
                    head = self.ranges[head][3]
                outer = max(self.ranges[head][4], 0)
            self.ranges.append([start, -minus_end, kind, around, outer, head])
            stack.append(len(self.ranges) - 1)

    def at(self, offset: int) -> int:
        """Return the innermost range around an offset."""
        low, high = 0, len(self.ranges)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.ranges[middle][0] <= offset else (low, middle)
        while low > 0 and self.ranges[low][1] <= offset:
            low = self.ranges[low][3]
        return low

    def home(self, offset: int, how: str) -> int:
        """Return the scope that a declaration at an offset belongs to."""
        scope = self.at(offset)
        while self.ranges[scope][2] == OUTER:
            scope = self.ranges[scope][5] if how in ("param", "rest") else self.ranges[scope][4]
        if how in _AROUND:
            return max(self.ranges[scope][4], 0)
        if how == "hoist":
            while scope > 0 and self.ranges[scope][2] in (BLOCK, COMPREHENSION, OUTER):
                scope = self.ranges[scope][4]
        return scope

    def declare(
        self,
        node: Node,
        how: str,
        start: int,
        spans: tuple[Any, ...],
        pick: int,
        chain: list[Any] | None = None,
        kind_of: list[Any] | None = None,
    ) -> None:
        """Add a declaration; for the same name and place, keep the one with more information."""
        name = (node.text or b"").decode("utf-8", "replace")
        offset = node.start_byte
        for scope in self._homes(offset, how):
            key = (offset, name, scope)
            kind = "var" if how == "hoist" else how
            if how == "function" and scope != self.home(offset, how):
                kind = "hoisted"
            row = [name, offset, scope, kind, start, *spans, pick, chain, kind_of]
            old = self.names.get(key)
            if old is None or (old[5][1] > 0) + (old[6][1] > 0) < (spans[0][1] > 0) + (
                spans[1][1] > 0
            ):
                self.names[key] = row

    def _homes(self, offset: int, how: str) -> set[int]:
        homes = {self.home(offset, how)}
        if (
            how == "function"
        ):  # in sloppy JavaScript, and only there, also in the enclosing function
            [block] = homes
            if self.ranges[block][2] == BLOCK:
                while block > 0 and self.ranges[block][2] == BLOCK:
                    block = self.ranges[block][4]
                homes.add(block)
        return homes
