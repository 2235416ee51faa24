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
}
"""Captures from the weakest to the strongest: a node caught twice keeps the last."""

MAX_NAME = 1000
"""Longer identifiers are data."""

MAX_COLUMN = 0x1FFFFF


def build_postings(
    data: bytes, outline: Outline, captures: Captures, extra: list[Span]
) -> dict[str, bytes]:
    """Name to packed places, sorted by place; `extra` are names no query could see."""
    starts, found = outline.starts, outline.found
    places = {start: end << 4 | Use.REFERENCE for start, end in extra}
    _use(places, captures)
    _import(places, captures)
    respelled = _define(data, places, found)
    by_name = _group(data, starts, places, _boundaries(found))
    for scope in respelled:
        line = bisect_right(starts, scope.name_start) - 1
        enclosing = scope.ordinal if scope.kind in SCOPES else scope.parent
        place = pack_place(
            line, scope.name_start - starts[line], Use.DEFINITION, _bounded(enclosing)
        )
        insort(by_name[scope.name.encode()], place)
    return _pack(by_name)


def _group(
    data: bytes, starts: list[int], places: dict[int, int], boundaries: list[tuple[int, int]]
) -> dict[bytes, list[int]]:
    """The hot loop: walks lines and symbol boundaries along with the places."""
    by_name: dict[bytes, list[int]] = defaultdict(list)
    ends = iter([*starts[1:], len(data) + 1])
    changes = iter([*boundaries, (len(data) + 1, NO_SYMBOL)])
    line, line_start, line_end = 0, 0, next(ends)
    enclosing, (change, following) = NO_SYMBOL, next(changes)
    for start in sorted(places):
        while start >= line_end:
            line += 1
            line_start, line_end = line_end, next(ends)
        while start >= change:
            enclosing, (change, following) = following, next(changes)
        end_use = places[start]
        # pack_place, in place: a call here costs a tenth of the whole extraction.
        column = min(start - line_start, MAX_COLUMN)
        by_name[data[start : end_use >> 4]].append(
            line << 43 | column << 22 | (end_use & 15) << 18 | enclosing
        )
    return by_name


def _use(places: dict[int, int], captures: Captures) -> None:
    """Start of every captured identifier, to its end and use: `end << 4 | use`."""
    for capture, use in USES.items():
        for node in captures.get(capture, ()):
            places[node.start_byte] = node.end_byte << 4 | use
    for node in captures.get("use.symbol", ()):
        places.setdefault(node.start_byte + 1, node.end_byte << 4 | Use.REFERENCE)


def _import(places: dict[int, int], captures: Captures) -> None:
    """Whatever stands in an import statement is imported."""
    spans = sorted(node.byte_range for node in captures.get("import", ()))
    if not spans:
        return
    order = sorted(places)
    for start, end in spans:
        for at in order[bisect_left(order, start) : bisect_left(order, end)]:
            places[at] = places[at] & ~15 | Use.IMPORT


def _define(data: bytes, places: dict[int, int], found: list[Scope]) -> list[Scope]:
    """Marks the names of symbols; gives back those that are not spelled as they are named."""
    respelled = []
    for scope in found:
        if data[scope.name_start : scope.name_end] == scope.name.encode():
            places[scope.name_start] = scope.name_end << 4 | Use.DEFINITION
        else:
            respelled.append(scope)
    return respelled


def _boundaries(found: list[Scope]) -> list[tuple[int, int]]:
    """Offsets where the innermost symbol changes, and which one it is from there on."""
    marks: list[tuple[int, int]] = []
    stack: list[tuple[int, int]] = []

    def close(limit: float) -> None:
        while stack and stack[-1][0] <= limit:
            end, _ = stack.pop()
            marks.append((end, stack[-1][1] if stack else NO_SYMBOL))

    for scope in sorted((s for s in found if s.kind in SCOPES), key=lambda s: (s.start, -s.end)):
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
