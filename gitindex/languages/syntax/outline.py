"""The outline of a blob: its symbols, exports and the lines of its surface."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from gitindex.languages.facts import Symbol
from gitindex.languages.syntax.details import Comments, Details, skip_blank, surface_of
from gitindex.languages.syntax.events import CapturedRange
from gitindex.languages.syntax.exports import (
    WORDLESS,
    Exports,
    exported_names,
    read_exports,
    rule_for,
)
from gitindex.languages.syntax.macros import define_macro_items
from gitindex.languages.syntax.source import line_starts
from gitindex.languages.syntax.sweep import sweep

if TYPE_CHECKING:
    from gitindex.languages.syntax.parser import Captures


class Outline(NamedTuple):
    """The definitions of a blob."""

    starts: list[int]
    definitions: list[CapturedRange]
    symbols: tuple[Symbol, ...]
    exports: tuple[str, ...]
    surface: list[str]


def read_outline(data: bytes, captures: Captures, language: str) -> Outline:
    """Return symbols in file order, with their visibility from outside."""
    starts = line_starts(data)
    comments = _comments(captures)
    define_macro_items(captures)
    exports = read_exports(data, captures, language)  # adds definitions, too
    definitions = sweep(data, captures, _attached(data, captures))
    details = Details(data, starts, comments)
    seen = _visible(definitions, data, exports, language)
    symbols = tuple([_symbol(scope, details, seen) for scope in definitions])
    surface = surface_of((s for s in definitions if seen[s.ordinal]), symbols, details)
    names = exported_names(exports, definitions, seen)
    return Outline(starts, definitions, symbols, tuple(names), surface)


def _comments(captures: Captures) -> Comments:
    ranges = sorted(node.byte_range for node in captures.get("comment", ()))
    return Comments([start for start, _ in ranges], [end for _, end in ranges])


def _attached(data: bytes, captures: Captures) -> dict[int, int]:
    """Map the start of each definition with attributes to the start of its first attribute."""
    anchors: dict[int, int] = {}
    for start, end in sorted(node.byte_range for node in captures.get("attached", ())):
        anchors[skip_blank(data, end)] = anchors.get(start, start)
    return anchors


def _visible(
    definitions: list[CapturedRange], data: bytes, exports: Exports, language: str
) -> list[bool]:
    """Return whether each symbol is visible from outside; nothing inside a hidden one is."""
    rule = rule_for(language)
    wordless = rule in WORDLESS
    surface = exports.surface
    seen: list[bool] = []
    for scope in definitions:
        if scope.local or (scope.parent >= 0 and not seen[scope.parent]):
            seen.append(False)
        elif wordless:
            seen.append(rule(scope, (), surface))
        else:
            words = data[scope.anchor : scope.name_start].decode("utf-8", "replace").split()
            seen.append(rule(scope, words, surface))
    return seen


def _symbol(scope: CapturedRange, details: Details, seen: list[bool]) -> Symbol:
    starts = details.starts
    line = bisect_right(starts, scope.name_start) - 1
    anchored = bisect_right(starts, scope.anchor) - 1 if scope.anchor < starts[line] else line
    last = bisect_right(starts, min(scope.end, len(details.data)) - 1) - 1
    head = scope.name, scope.qualified, scope.kind, line, scope.name_start - starts[line]
    text = details.signature(scope), details.doc(scope)
    made = tuple.__new__  # the constructor of a named tuple is slower
    return made(Symbol, (*head, anchored, last, *text, scope.parent, seen[scope.ordinal]))
