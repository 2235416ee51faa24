"""Rank the parts of one file as documents: BM25 over name, signature, comment above and body. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from gitindex.base.pattern import compile_later
from gitindex.query.search.chunks import ChunkTerm
from gitindex.query.search.definitions import TYPES, WEAK, DefinitionMatcher, NamedDefinition

K1, B = 1.2, 0.5
USUAL = 600
"""Bytes of a definition of usual length."""
NAMED = 5.0
"""How often a word of the name counts as text; in the qualified name around it, once."""
LESS = 0.5
"""Weight of a definition such as a variable or a field."""
OUTSIDE = 0.6
"""Weight of code outside of every definition."""
WINDOW = 24
"""Lines of one piece of such code."""
MAX_WINDOWS = 200
MARGIN = 10
"""Lines that are shown before the first and after the last hit of a long part."""
_COMMENT = compile_later(
    rb"\s*(//|#(?!\s*(include|define|if|ifdef|ifndef|else|endif|pragma|undef|!))|/\*|\*|--|;|%|@\w)"
)
_IMPORT = compile_later(
    rb"\s*(import\b|from\s+\S+\s+import\b|use\s|using\s|#\s*include|require\b|package\s|export\s.*\bfrom\b"
    rb"|(const|let|var)\s.*\brequire\()"
)


class Passage(NamedTuple):
    """A part of a file that may answer a query. Lines are 0-based; the last one is included."""

    score: float
    first: int  # of the comment directly above a definition
    last: int
    named: NamedDefinition | None = None  # None for code outside of definitions
    is_called: bool = False  # the name has a word of the query


class FileLines:
    """The bytes of a file, in small letters, by lines."""

    def __init__(self, data: bytes) -> None:
        self.text = data.lower()
        self.starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]
        self.count = len(self.starts) - (not data or data.endswith(b"\n"))

    def span(self, first: int, end: int) -> bytes:
        """Return the lines from `first` up to `end`, which is not included."""
        starts = self.starts
        stop = starts[end] if end < len(starts) else len(self.text)
        return self.text[starts[first] : stop] if first < end and first < len(starts) else b""

    def line_of(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1

    def comment_above(self, line: int) -> int:
        """Return the first line of the comment that ends directly above a line; else the line."""
        while line and _COMMENT.match(self.text, self.starts[line - 1], self.starts[line]):
            line -= 1
        return line

    def is_import(self, line: int) -> bool:
        return _IMPORT.match(self.text, self.starts[line]) is not None


class PassageRanker:
    """Ranks definitions, and code outside of them, for one query."""

    def __init__(self, terms: Sequence[ChunkTerm], matcher: DefinitionMatcher) -> None:
        self._terms = [(term.needle, term.weight) for term in terms]
        self._matcher = matcher

    def ranked(self, data: bytes, listed: Sequence[NamedDefinition]) -> list[Passage]:
        """Return the parts of a file that have a word of the query, best first.

        The best text has 1; how well the name matches is added.
        """
        lines = FileLines(data)
        needles = [pair for pair in self._terms if pair[0] in lines.text]
        inside = [d for d in listed if d.start_line < lines.count]
        ordered = sorted(inside, key=lambda d: (d.start_line, -d.end_line))
        parts = self._inside(lines, needles, ordered)
        for first, last, text in _outside(lines, ordered):
            parts.append(Passage(OUTSIDE * self._bm25(needles, text), first, last))
        most = max([part.score for part in parts], default=0.0) or 1.0
        added = [_factor(one.named) * one.score for one in self._matcher.scored(ordered)]
        added += [0.0] * (len(parts) - len(added))
        found = [
            part._replace(score=part.score / most + more, is_called=more > 0)
            for part, more in zip(parts, added, strict=True)
            if part.score or more
        ]
        return sorted(found, key=lambda part: (-part.score, part.first, part.last))

    def _inside(
        self,
        lines: FileLines,
        needles: list[tuple[bytes, float]],
        ordered: Iterable[NamedDefinition],
    ) -> list[Passage]:
        """Return the definitions with the score of their text, in the given order."""
        found = []
        for named, holes in _with_holes(lines, ordered):
            first = lines.comment_above(named.start_line)
            text = _without(lines, first, named.end_line + 1, holes)
            score = _factor(named) * self._bm25(needles, text, named)
            found.append(Passage(score, first, named.end_line, named))
        return found

    def _bm25(
        self, needles: list[tuple[bytes, float]], text: bytes, named: NamedDefinition | None = None
    ) -> float:
        name = named.name.lower().encode("utf-8", "replace") if named else b""
        around = named.qualified.lower().encode("utf-8", "replace")[: -len(name)] if named else b""
        least = K1 * (1 - B + B * len(text) / USUAL)
        total = 0.0
        for needle, weight in needles:
            count = text.count(needle) + NAMED * (needle in name) + (needle in around)
            total += weight * (1 + K1) * count / (count + least)
        return total

    def best_lines(self, data: bytes, part: Passage, most: int) -> tuple[int, int]:
        """Return the first and last of those `most` lines of a part that have most of the query."""
        lines = FileLines(data)
        worth = [0.0] * (part.last - part.first + 1)
        start, text = lines.starts[part.first], lines.span(part.first, part.last + 1)
        for needle, weight in self._terms:
            at = text.find(needle)
            while at != -1:
                worth[min(lines.line_of(start + at) - part.first, len(worth) - 1)] += weight
                at = text.find(needle, at + len(needle))
        best, chosen, total = -1.0, 0, sum(worth[:most])
        for at in range(max(1, len(worth) - most + 1)):
            if total > best + 1e-9:
                best, chosen = total, at
            total += (worth[at + most] if at + most < len(worth) else 0.0) - worth[at]
        hits = [n for n in range(chosen, min(len(worth), chosen + most)) if worth[n]] or [chosen]
        spare = most - (hits[-1] - hits[0] + 1)
        first = max(0, hits[0] - min(MARGIN, spare // 2))
        last = min(first + most, hits[-1] + 1 + MARGIN, len(worth)) - 1
        return part.first + first, part.first + last


def _factor(named: NamedDefinition) -> float:
    return LESS if named.kind in WEAK else 1.0


_Hole = tuple[int, int]
"""Lines of a member's body, which its class leaves out; the end is not included."""


def _with_holes(
    lines: FileLines, ordered: Iterable[NamedDefinition]
) -> list[tuple[NamedDefinition, list[_Hole]]]:
    """Return definitions with the comments and bodies of members, which their type leaves out."""
    found: list[tuple[NamedDefinition, list[_Hole]]] = []
    around: list[tuple[NamedDefinition, list[_Hole]]] = []
    for named in ordered:
        while around and around[-1][0].end_line < named.start_line:
            around.pop()
        row = (named, list[_Hole]())
        if around and named.kind not in WEAK and around[-1][0].kind in TYPES:
            above = lines.comment_above(named.start_line)
            around[-1][1].extend([(above, named.start_line), (named.line + 1, named.end_line + 1)])
        found.append(row)
        if named.kind not in WEAK:
            around.append(row)
    return found


def _without(lines: FileLines, first: int, end: int, holes: list[_Hole]) -> bytes:
    if not holes:
        return lines.span(first, end)
    kept = []
    for start, stop in holes:
        kept.append(lines.span(first, start))
        first = max(first, stop)
    return b"".join([*kept, lines.span(first, end)])


def _outside(
    lines: FileLines, ordered: Iterable[NamedDefinition]
) -> Iterator[tuple[int, int, bytes]]:
    """Yield pieces of code outside of functions and types: first and last line, text without imports."""
    gaps = _gaps(lines, ordered)
    pieces = ((n, min(n + WINDOW, end)) for first, end in gaps for n in range(first, end, WINDOW))
    for first, end in islice(pieces, MAX_WINDOWS):
        kept = [n for n in range(first, end) if not lines.is_import(n)]
        text = b"".join(lines.span(n, n + 1) for n in kept)
        if len(kept) > 1 and text.strip():
            yield kept[0], kept[-1], text


def _gaps(lines: FileLines, ordered: Iterable[NamedDefinition]) -> Iterator[_Hole]:
    """Yield the lines between functions and types, without the licence at the top."""
    at = 0
    while at < lines.count and (_is_comment(lines, at) or not lines.span(at, at + 1).strip()):
        at += 1
    for named in ordered:
        if named.kind not in WEAK:
            yield at, lines.comment_above(named.start_line)
            at = max(at, named.end_line + 1)
    yield at, lines.count


def _is_comment(lines: FileLines, line: int) -> bool:
    return _COMMENT.match(lines.text, lines.starts[line]) is not None
