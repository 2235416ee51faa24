"""Rank the parts of one file as documents: BM25 over name, signature, comment above and body. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice
from typing import NamedTuple

from gitindex.base.pattern import compile_later
from gitindex.query.search.chunks import ChunkTerm
from gitindex.query.search.definitions import (
    TYPES,
    WEAK,
    DefinitionMatcher,
    FileDefinitions,
    NamedDefinition,
)

K1, B = 1.2, 0.5
USUAL = 600
"""Bytes of a definition of usual length."""
NAMED = 5.0
"""How often a word of the name counts as text; in the qualified name around it, once."""
LESS = 0.5
"""Weight of a definition such as a variable or a field."""
OUTSIDE = 0.6
"""Weight of code outside of every definition."""
IMPORT = 0.25
"""Weight of a line that imports, when one line is chosen."""
WINDOW = 24
"""Lines of one piece of such code."""
MAX_WINDOWS = 200
"""Pieces of one file: a table of 100,000 lines is data, the rest of it is not ranked."""
MARGIN = 10
"""Lines that are shown before the first and after the last hit of a long part."""
NEAR = 3
"""Lines that one line is chosen for: a result shows so many."""
_COMMENT = compile_later(
    rb"\s*(//|#(?!\s*(include|define|if|ifdef|ifndef|else|endif|pragma|undef|!))|/\*|\*|--|;|%|@\w)"
)
_GUARD = compile_later(rb"\s*#\s*define\s+\w+\s*\Z")
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
    text: float = 0.0  # BM25 of name, comment and body


class FileLines:
    """The bytes of a file, in small letters, by lines."""

    def __init__(self, data: bytes) -> None:
        self.text = data.lower()
        sizes = map(len, data.split(b"\n"))
        self.starts = [0, *accumulate(map((1).__add__, sizes))]  # the last one is after the end
        self.count = len(self.starts) - 1 - (not data or data.endswith(b"\n"))

    def size(self, first: int, end: int) -> int:
        """Return the bytes of the lines from `first` up to `end`, which is not included."""
        last = len(self.starts) - 1
        return self.starts[min(end, last)] - self.starts[min(first, last)]

    def lines_with(self, needle: bytes) -> Counter[int]:
        """Return how often each line has a needle, for those that do."""
        find, starts, size = self.text.find, self.starts, len(needle)
        lines = []
        at = find(needle)
        while at != -1:
            lines.append(bisect_right(starts, at) - 1)
            at = find(needle, at + size)
        return Counter(lines)

    def comment_above(self, line: int) -> int:
        """Return the first line of the comment that ends directly above a line; else the line."""
        while line and _COMMENT.match(self.text, self.starts[line - 1], self.starts[line]):
            line -= 1
        return line

    def is_import(self, line: int) -> bool:
        return _IMPORT.match(self.text, self.starts[line]) is not None

    def has(self, named: NamedDefinition) -> bool:
        """Return whether a definition is in the text; a macro that is nothing only guards a header."""
        if named.kind != "macro" or named.line >= self.count:
            return named.start_line < self.count
        at = named.line
        return _GUARD.match(self.text, self.starts[at], self.starts[at + 1]) is None

    def is_blank(self, line: int) -> bool:
        return not self.text[self.starts[line] : self.starts[line + 1]].strip()

    def is_comment(self, line: int) -> bool:
        return _COMMENT.match(self.text, self.starts[line]) is not None


class _Parts:
    """The definitions of a file and the code outside of them: their sizes, and which has a line.

    A type leaves out the comments and bodies of its members.
    """

    def __init__(self, lines: FileLines, ordered: Sequence[NamedDefinition]) -> None:
        self._ordered = ordered
        self._firsts: list[int] = []
        self._around: list[int] = []  # of each definition, the one around it; -1 for none
        self.sizes: list[int] = []
        stack: list[int] = []
        for number, named in enumerate(ordered):
            while stack and ordered[stack[-1]].end_line < named.start_line:
                stack.pop()
            self._around.append(stack[-1] if stack else -1)
            self._add(lines, number, named)
            stack.append(number)
        self.outside = list(_outside(lines, ordered))
        self._pieces = {n: len(ordered) + at for at, p in enumerate(self.outside) for n in p}
        self.sizes += [sum(lines.size(n, n + 1) for n in piece) for piece in self.outside]
        self._known: dict[int, list[int]] = {}

    def _add(self, lines: FileLines, number: int, named: NamedDefinition) -> None:
        above = lines.comment_above(named.start_line)
        self._firsts.append(max(above, self._firsts[-1] if self._firsts else 0))
        self.sizes.append(lines.size(above, named.end_line + 1))
        outer = self._outer(number)
        if outer >= 0 and named.kind not in WEAK and self._ordered[outer].kind in TYPES:
            self.sizes[outer] -= lines.size(above, named.start_line)
            self.sizes[outer] -= lines.size(named.line + 1, named.end_line + 1)

    def first(self, number: int) -> int:
        """Return the first line of a definition's comment."""
        return self._firsts[number]

    def having(self, line: int) -> list[int]:
        """Return the numbers of the parts that have a line."""
        known = self._known.get(line)
        if known is None:
            known = self._known[line] = [*self._definitions_with(line)]
            if line in self._pieces:
                known.append(self._pieces[line])
        return known

    def _definitions_with(self, line: int) -> Iterator[int]:
        ordered, inner = self._ordered, None
        number = bisect_right(self._firsts, line) - 1
        while number >= 0:
            named = ordered[number]
            if line <= named.end_line:
                is_head = inner is None or inner.start_line <= line <= inner.line
                if is_head or named.kind not in TYPES:
                    yield number
                inner = inner if named.kind in WEAK else named
            number = self._around[number]

    def _outer(self, number: int) -> int:
        """Return the next function or type around a definition; -1 for none."""
        outer = self._around[number]
        while outer >= 0 and self._ordered[outer].kind in WEAK:
            outer = self._around[outer]
        return outer


class PassageRanker:
    """Ranks definitions, and code outside of them, for one query."""

    def __init__(self, terms: Sequence[ChunkTerm], matcher: DefinitionMatcher) -> None:
        self._terms = [(term.needle, term.weight) for term in terms]
        self._runs = {n for n, term in enumerate(terms) if b" " in term.needle}
        self._matcher = matcher
        self._lines: dict[bytes, FileLines] = {}

    def ranked(self, data: bytes, file: FileDefinitions | None) -> list[Passage]:
        """Return the parts of a file that have a word of the query, best first.

        The best text has 1; how well the name matches is added.
        """
        lines = self._read(data)
        listed = file.listed if file else []
        chosen = [n for n, d in enumerate(listed) if lines.has(d)]
        chosen.sort(key=lambda n: (listed[n].start_line, -listed[n].end_line))
        ordered = [listed[n] for n in chosen]
        parts = _Parts(lines, ordered)
        counts = self._count_lines(lines, parts)
        self._count_names(counts, file, {n: at for at, n in enumerate(chosen)})
        texts = [*map(self._bm25, counts, parts.sizes)]
        factors = [*map(_factor, ordered), *[OUTSIDE] * len(parts.outside)]
        most = max(map(float.__mul__, factors, texts), default=0.0) or 1.0
        passages = []
        for at, one in enumerate(self._matcher.scored(ordered)):
            score, more = factors[at] * texts[at] / most, factors[at] * one.score
            if score or more:
                span = parts.first(at), one.named.end_line
                passages.append(Passage(score + more, *span, one.named, more > 0, texts[at]))
        for at, piece in enumerate(parts.outside, len(ordered)):
            if texts[at]:
                score = factors[at] * texts[at] / most
                passages.append(Passage(score, piece[0], piece[-1], text=texts[at]))
        return sorted(passages, key=lambda part: (-part.score, part.first, part.last))

    def _count_lines(self, lines: FileLines, parts: _Parts) -> list[dict[int, int]]:
        """Return how often each part has each term, by the term's number."""
        counts: list[dict[int, int]] = [{} for _ in parts.sizes]
        for number, (needle, _) in enumerate(self._terms):
            for line, many in lines.lines_with(needle).items():
                for part in parts.having(line):
                    counts[part][number] = counts[part].get(number, 0) + many
        return counts

    def _count_names(
        self, counts: list[dict[int, int]], file: FileDefinitions | None, places: dict[int, int]
    ) -> None:
        """Add the words of names and of the qualified names around them."""
        for number, (needle, _) in enumerate(self._terms if file else ()):
            assert file is not None
            for at in file.names.holding(needle):
                if at in places:
                    named = file.listed[at]
                    name = named.name.lower().encode("utf-8", "replace")
                    qualified = named.qualified.lower().encode("utf-8", "replace")
                    more = int(NAMED) * (needle in name) + (needle in qualified[: -len(name)])
                    own = counts[places[at]]
                    own[number] = own.get(number, 0) + more

    def _bm25(self, counts: dict[int, int], size: int) -> float:
        least = K1 * (1 - B + B * size / USUAL)
        terms, runs = self._terms, self._runs  # a whole message is as telling in a long function
        return sum(
            [
                terms[n][1] * (1 + K1) * c / (c + (K1 if n in runs else least))
                for n, c in counts.items()
            ],
            0.0,
        )

    def best_lines(self, data: bytes, part: Passage, most: int) -> tuple[int, int]:
        """Return the first and last of those `most` lines of a part that have most of the query."""
        lines = self._read(data)
        worth = [0.0] * (part.last - part.first + 1)
        for needle, weight in self._terms:
            for line, many in lines.lines_with(needle).items():
                if part.first <= line <= part.last:
                    worth[line - part.first] += many * weight
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

    def best_line(self, data: bytes) -> int:
        """Return the line of a file with most of the query in it and the next two."""
        return best_line(self._read(data), self._terms)

    def _read(self, data: bytes) -> FileLines:
        lines = self._lines.get(data)
        if lines is None:
            lines = self._lines[data] = FileLines(data)
        return lines


def best_line(lines: FileLines, terms: Sequence[tuple[bytes, float]]) -> int:
    """Return the line with most of some weighted terms in it and the next two; imports count less."""
    having: dict[int, dict[bytes, float]] = {}
    for needle, weight in terms:
        for line in lines.lines_with(needle):
            having.setdefault(line, {})[needle] = weight

    def worth(line: int) -> tuple[float, int]:
        near = {n: w for at in range(line, line + NEAR) for n, w in having.get(at, {}).items()}
        total = sum(near.values()) + 0.5 * sum(having[line].values())
        return total * (IMPORT if lines.is_import(line) else 1.0), -line

    return max(having, key=worth, default=0)


def _factor(named: NamedDefinition) -> float:
    return LESS if named.kind in WEAK else 1.0


def _outside(lines: FileLines, ordered: Iterable[NamedDefinition]) -> Iterator[list[int]]:
    """Yield the lines of pieces of code outside of functions and types, without imports."""
    gaps = _gaps(lines, ordered)
    pieces = ((n, min(n + WINDOW, end)) for first, end in gaps for n in range(first, end, WINDOW))
    for first, end in islice(pieces, MAX_WINDOWS):
        kept = [n for n in range(first, end) if not lines.is_import(n)]
        if len(kept) > 1 and not all(map(lines.is_blank, kept)):
            yield kept


def _gaps(lines: FileLines, ordered: Iterable[NamedDefinition]) -> Iterator[tuple[int, int]]:
    """Yield the lines between functions and types, without the licence at the top."""
    at = 0
    while at < lines.count and (lines.is_comment(at) or lines.is_blank(at)):
        at += 1
    for named in ordered:
        if named.kind not in WEAK:
            yield at, lines.comment_above(named.start_line)
            at = max(at, named.end_line + 1)
    yield at, lines.count
