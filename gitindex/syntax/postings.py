"""Every identifier of a blob with its use and enclosing symbol, packed by name."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from math import inf
from typing import TYPE_CHECKING

from gitindex.facts import NO_SYMBOL, Use, pack_place
from gitindex.syntax.kinds import SCOPES

if TYPE_CHECKING:
    from gitindex.syntax.macros import Span
    from gitindex.syntax.outline import Outline
    from gitindex.syntax.parser import Captures
    from gitindex.syntax.sweep import Scope

USES = {
    "use.reference": Use.REFERENCE,
    "use.attribute": Use.ATTRIBUTE,
    "use.type": Use.TYPE,
    "use.call": Use.CALL,
    "use.inherit": Use.INHERIT,
    "use.decorator": Use.DECORATOR,
    "import": Use.IMPORT,
    "def": Use.DEFINITION,
}
"""From the weakest to the strongest: an identifier caught twice keeps the last."""

_RANK = {capture: rank for rank, capture in enumerate(USES)}
_IMPORTED, _DEFINED = _RANK["import"], _RANK["def"]
_USE_BITS = tuple(use << 18 for use in USES.values())

# One identifier in one number, so that sorting is fast: start, rank, length.
_LENGTH = 21
_START = _LENGTH + 4
_LENGTH_MASK = (1 << _LENGTH) - 1

MAX_NAME = 1000
"""Longer identifiers are data."""


def build_postings(
    data: bytes, outline: Outline, captures: Captures, extra: list[Span]
) -> dict[str, bytes]:
    """Name to packed places, sorted by place; `extra` are names no query could see."""
    starts, found = outline.starts, outline.found
    keys = [start << _START | end - start for start, end in extra]
    keys += _used(captures)
    respelled = _define(data, keys, found)
    keys.sort()
    _import(keys, captures)
    by_name = _group(data, starts, keys, _boundaries(found))
    for scope in respelled:
        line = bisect_right(starts, scope.name_start) - 1
        enclosing = scope.ordinal if scope.kind in SCOPES else scope.parent
        place = pack_place(
            line, scope.name_start - starts[line], Use.DEFINITION, _bounded(enclosing)
        )
        insort(by_name[scope.name.encode()], place)
    return _pack(by_name)


def _used(captures: Captures) -> list[int]:
    # Ruby's `:name` names a method; its colon is no part of the name.
    keys = [
        (start := node.start_byte + 1) << _START | node.end_byte - start
        for node in captures.get("use.symbol", ())
    ]
    for capture, rank in _RANK.items():
        if rank < _IMPORTED and capture in captures:
            bits = rank << _LENGTH
            keys += [
                (start := node.start_byte) << _START | bits | node.end_byte - start
                for node in captures[capture]
            ]
    return keys


def _define(data: bytes, keys: list[int], found: list[Scope]) -> list[Scope]:
    """Adds the names of symbols; gives back those that are not spelled as they are named."""
    respelled = []
    bits = _DEFINED << _LENGTH
    for scope in found:
        start, end = scope.name_start, scope.name_end
        if data[start:end] == scope.name.encode():
            keys.append(start << _START | bits | end - start)
        else:
            respelled.append(scope)
    return respelled


def _import(keys: list[int], captures: Captures) -> None:
    """Whatever stands in an import statement is imported."""
    bits = _IMPORTED << _LENGTH
    for node in captures.get("import", ()):
        first = bisect_left(keys, node.start_byte << _START)
        for at in range(first, bisect_left(keys, node.end_byte << _START)):
            key = keys[at]
            if key >> _LENGTH & 15 < _IMPORTED:
                keys[at] = key >> _START << _START | bits | key & _LENGTH_MASK


def _group(
    data: bytes, starts: list[int], keys: list[int], boundaries: list[tuple[int, int]]
) -> dict[bytes, list[int]]:
    """The hot loop: walks lines and symbol boundaries along with the identifiers."""
    by_name: dict[bytes, list[int]] = defaultdict(list)
    ends = iter([*starts[1:], len(data) + 1])
    changes = iter([*boundaries, (len(data) + 1, NO_SYMBOL)])
    line, line_start, line_end = 0, 0, next(ends)
    enclosing, (change, following) = NO_SYMBOL, next(changes)
    use_bits = _USE_BITS
    for start, key in {key >> _START: key for key in keys}.items():
        while start >= line_end:
            line += 1 << 43
            line_start, line_end = line_end, next(ends)
        while start >= change:
            enclosing, (change, following) = following, next(changes)
        # pack_place, in place: a call here costs a tenth of the whole extraction.
        by_name[data[start : start + (key & _LENGTH_MASK)]].append(
            line | start - line_start << 22 | use_bits[key >> _LENGTH & 15] | enclosing
        )
    return by_name


def _boundaries(found: list[Scope]) -> list[tuple[int, int]]:
    """Offsets where the innermost symbol changes, and which one it is from there on."""
    marks: list[tuple[int, int]] = []
    stack: list[tuple[int, int]] = []

    def close(limit: float) -> None:
        while stack and stack[-1][0] <= limit:
            end, _ = stack.pop()
            marks.append((end, stack[-1][1] if stack else NO_SYMBOL))

    for scope in found:
        if scope.kind in SCOPES:
            close(scope.start)
            stack.append((scope.end, _bounded(scope.ordinal)))
            marks.append((scope.start, stack[-1][1]))
    close(inf)
    return marks


def _bounded(ordinal: int) -> int:
    return ordinal if 0 <= ordinal < NO_SYMBOL else NO_SYMBOL


def _pack(by_name: dict[bytes, list[int]]) -> dict[str, bytes]:
    names: dict[str, list[int]] = {}
    for raw, places in by_name.items():
        if len(raw) <= MAX_NAME:
            name = raw.decode("utf-8", "replace")
            # Two broken spellings can decode to one name.
            names[name] = sorted(names[name] + places) if name in names else places
    return {name: array("Q", places).tobytes() for name, places in names.items()}
