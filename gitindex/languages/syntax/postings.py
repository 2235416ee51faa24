"""Every identifier of a blob with its use and enclosing symbol, packed by name."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from itertools import chain, repeat
from math import inf
from typing import TYPE_CHECKING

from gitindex.base.compiled import LIBRARY
from gitindex.languages.facts import NO_SYMBOL, Flat, Postings, Use, pack_postings
from gitindex.languages.syntax.kinds import SCOPES

if TYPE_CHECKING:
    from gitindex.languages.syntax.events import CapturedRange
    from gitindex.languages.syntax.macros import Span
    from gitindex.languages.syntax.outline import Outline
    from gitindex.languages.syntax.parser import Captures

USES = {
    "use.attribute": Use.ATTRIBUTE,
    "use.type": Use.TYPE,
    "use.call": Use.CALL,
    "use.inherit": Use.INHERIT,
    "use.decorator": Use.DECORATOR,
}
"""From weakest to strongest: an identifier captured twice keeps the last. Default: reference."""

MAX_NAME = 1000
"""Longer identifiers are treated as data."""

Words = dict[int, int]
"""Identifiers: start offset → end offset."""


def build_postings(
    data: bytes, outline: Outline, captures: Captures, extra: list[Span]
) -> Postings:
    """Return packed places by name, in order; `extra` are names that no query can see.

    Removes plain references from the captures: a file can have half a million of them.
    """
    spelled, respelled = _spelled(data, outline.definitions)
    if LIBRARY is not None and not respelled:
        grouped = LIBRARY.group_names(
            data,
            list(chain(*extra, *_symbols(captures))),
            captures.get("use.reference", []),
            {use: captures[capture] for capture, use in USES.items() if capture in captures},
            list(chain(*sorted(node.byte_range for node in captures.get("import", ())))),
            list(chain(*[(scope.name_start, scope.name_end) for scope in spelled])),
            list(
                chain(
                    *[(s.start, s.end, s.ordinal) for s in outline.definitions if s.kind in SCOPES]
                )
            ),
        )
        if grouped is not None:
            captures.pop("use.reference", None)
            counts, packed = grouped
            return Postings(counts, packed.decode("utf-8", "surrogatepass"))
    return python_postings(data, outline, captures, extra)


def python_postings(
    data: bytes, outline: Outline, captures: Captures, extra: list[Span]
) -> Postings:
    """Do what native/names.c does, and the cases that it does not handle."""
    spelled, respelled = _spelled(data, outline.definitions)
    words, uses = _used(captures, extra)
    words.update((scope.name_start, scope.name_end) for scope in spelled)
    order = sorted(words)
    _import(order, uses, captures)
    uses.update((scope.name_start, Use.DEFINITION) for scope in spelled)
    by_name = _group(data, outline, words, order, uses)
    for scope in respelled:
        _insert(by_name[scope.name.encode()], scope, outline.starts)
    return pack_postings(_named(by_name))


def _symbols(captures: Captures) -> list[Span]:
    """Return the names in Ruby's `:name`, without the colon; they name methods."""
    return [(node.start_byte + 1, node.end_byte) for node in captures.get("use.symbol", ())]


def _used(captures: Captures, extra: list[Span]) -> tuple[Words, Words]:
    """Return all identifiers, and the uses of those that are more than references."""
    words = dict(chain(extra, _symbols(captures)))
    uses: Words = {}
    nodes = captures.pop("use.reference", [])
    starts = [node.start_byte for node in nodes]
    words.update(zip(starts, [node.end_byte for node in nodes], strict=True))
    del nodes, starts
    for capture, use in USES.items():
        if capture in captures:
            nodes = captures[capture]
            starts = [node.start_byte for node in nodes]
            uses.update(zip(starts, repeat(use)))
            if use == Use.CALL:  # nearly all were captured before, as weaker uses
                nodes = [n for n, start in zip(nodes, starts, strict=True) if start not in words]
                words.update([node.byte_range for node in nodes])
            else:
                words.update(zip(starts, [node.end_byte for node in nodes], strict=True))
    return words, uses


def _import(order: list[int], uses: Words, captures: Captures) -> None:
    """Mark every identifier in an import statement as imported."""
    for node in captures.get("import", ()):
        first = bisect_left(order, node.start_byte)
        last = bisect_left(order, node.end_byte)
        uses.update(dict.fromkeys(order[first:last], Use.IMPORT))


def _spelled(
    data: bytes, definitions: list[CapturedRange]
) -> tuple[list[CapturedRange], list[CapturedRange]]:
    """Return symbols whose name is spelled the same in the text, and those whose name is not."""
    groups: tuple[list[CapturedRange], list[CapturedRange]] = [], []
    for scope in definitions:
        spelled = data[scope.name_start : scope.name_end] == scope.name.encode()
        groups[not spelled].append(scope)
    return groups


def _group(
    data: bytes, outline: Outline, words: Words, order: list[int], uses: Words
) -> dict[bytes, Flat]:
    """Group places by name. The hot loop: walks lines and symbol boundaries in parallel."""
    by_name: dict[bytes, Flat] = defaultdict(list)
    beyond = len(data) + 1
    ends = iter([*outline.starts[1:], beyond])
    changes = iter([*_boundaries(outline.definitions), (beyond, 0)])
    line, line_start, line_end = 0, 0, next(ends)
    enclosing, (change, following) = 0, next(changes)
    for start, use in zip(order, map(uses.get, order, repeat(Use.REFERENCE)), strict=True):
        if start >= line_end:
            line, line_start = line + 8, line_end
            for line_end in ends:
                if start < line_end:
                    break
                line, line_start = line + 8, line_end
        while start >= change:
            enclosing, (change, following) = following, next(changes)
        by_name[data[start : words[start]]].extend((line | use, start - line_start, enclosing))
    return by_name


def _insert(places: Flat, scope: CapturedRange, starts: list[int]) -> None:
    """Insert a definition into the places of its name."""
    line = bisect_right(starts, scope.name_start) - 1
    inside = scope.ordinal if scope.kind in SCOPES else scope.parent
    place = (line << 3 | Use.DEFINITION, scope.name_start - starts[line], _bounded(inside))
    at = len(places)
    while at and (places[at - 3] >> 3, *places[at - 2 : at]) > (line, *place[1:]):
        at -= 3
    places[at:at] = place


def _boundaries(definitions: list[CapturedRange]) -> list[tuple[int, int]]:
    """Return offsets where the innermost symbol changes, each with the new symbol's ordinal + 1."""
    marks: list[tuple[int, int]] = []
    stack: list[tuple[int, int]] = []

    def close(limit: float) -> None:
        while stack and stack[-1][0] <= limit:
            end, _ = stack.pop()
            marks.append((end, stack[-1][1] if stack else 0))

    for scope in definitions:
        if scope.kind in SCOPES:
            close(scope.start)
            stack.append((scope.end, _bounded(scope.ordinal)))
            marks.append((scope.start, stack[-1][1]))
    close(inf)
    return marks


def _bounded(ordinal: int) -> int:
    """Return a symbol's number as the enclosing one of a place; 0 at module level."""
    return ordinal + 1 if 0 <= ordinal < NO_SYMBOL else 0


def _named(by_name: dict[bytes, Flat]) -> dict[str, Flat]:
    names: dict[str, Flat] = {}
    for raw, places in by_name.items():
        if len(raw) <= MAX_NAME:
            name = raw.decode("utf-8", "replace")
            # Two broken spellings can decode to one name.
            names[name] = _merged(names[name], places) if name in names else places
    return names


def _merged(some: Flat, others: Flat) -> Flat:
    flat = some + others
    triples = zip(flat[::3], flat[1::3], flat[2::3], strict=True)
    ordered = sorted(triples, key=lambda place: (place[0] >> 3, place[1]))
    return [number for place in ordered for number in place]
