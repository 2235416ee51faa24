"""Search without an index: read every file on disk and rank it by its words and its path."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from gitindex.base.escape import path_fields
from gitindex.base.path_kind import place_of
from gitindex.base.vocabulary import BINARY_PROBE
from gitindex.base.worktree import Worktree
from gitindex.extract.terms import decode_text
from gitindex.languages.table import language_of
from gitindex.query.search.features import NameMatcher, path_features
from gitindex.query.search.passages import FileLines, best_line
from gitindex.query.search.query_text import (
    Filters,
    Query,
    path_matches,
    split_query,
    whole_terms,
)
from gitindex.query.search.ranking import (
    Rarity,
    bm25,
    first_features,
    query_terms,
    scaled,
    total,
)
from gitindex.query.search.snippets import (
    count_terms,
    holds_phrases,
    phrase_line,
    snippet,
)
from gitindex.query.search.weights import FIRST
from gitindex.view.live_scan import fallback_envelope, live_files, live_paths
from gitindex.view.overlay import WORKTREE

if TYPE_CHECKING:
    from gitindex.base.answers import SearchAnswer

MAX_SECONDS = 20.0
"""Time limit of a scan; the answer reports files not read by then."""
MAX_LIMIT = 200


class _Seen(NamedTuple):
    """The data kept for a file that was read."""

    path: bytes
    counts: Counter[str]
    length: int

    @property
    def name(self) -> str:
        return self.path.decode("utf-8", "replace")


def search_live(
    worktree: Worktree,
    text: str,
    limit: int,
    why: str,
    filters: Filters = Filters(),  # noqa: B008
) -> SearchAnswer:
    """Return the best `limit` places for a query, as an envelope marked as a live scan."""
    query = split_query(text, filters).queries[0]
    count = max(1, min(limit, MAX_LIMIT))
    scan = _Scan(worktree, query)
    ranked = scan.ranked()
    results = [scan.result(seen, score) for score, seen in ranked[:count]]
    answer = fallback_envelope(
        worktree, why, query=query.text, results=results, truncated=len(ranked) > count
    )
    answer["warnings"] += scan.warnings
    return cast("SearchAnswer", answer)


class _Scan:
    """One scan of all files."""

    def __init__(self, worktree: Worktree, query: Query) -> None:
        self._worktree = worktree
        self._query = query
        self._terms = query_terms(query)
        filters = query.filters
        self._must = {*whole_terms(filters.must)}
        self._exclude = {*whole_terms(filters.exclude)}
        self.warnings: list[str] = []
        if filters.kinds:
            self.warnings.append(
                "without an index nothing is known of kinds: `kind:` finds nothing"
            )
        seen = [] if filters.kinds or query.is_empty else list(self._read())
        frequencies = Counter(term for one in seen for term in one.counts)
        self._rarity = Rarity(query, frequencies, len(seen))
        self._average = sum(one.length for one in seen) / max(len(seen), 1) or 1.0
        self._found = [one for one in seen if self._allows(one)]
        self._needles = [(t.needle, t.weight) for t in self._rarity.chunk_terms(query)]

    def ranked(self) -> list[tuple[float, _Seen]]:
        """Return files with a score, best first."""
        matcher = NameMatcher(self._rarity.atoms(self._query), self._rarity.lead(self._query))
        features = scaled(
            [
                first_features(
                    self._query,
                    one.name,
                    path_features(matcher, one.name),
                    self._text_score(one),
                )
                for one in self._found
            ]
        )
        scored = [
            (total(row, FIRST), one)
            for one, row in zip(self._found, features, strict=True)
            if row.text or row.path_cover or row.asked_path or self._must or not self._terms
        ]
        return sorted(scored, key=lambda row: (-row[0], row[1].path))

    def result(self, seen: _Seen, score: float) -> dict[str, Any]:
        """Return one result: the best line of a file."""
        data = dict(live_files(self._worktree, [seen.path])).get(seen.path, b"")
        text = decode_text(data)
        line = best_line(FileLines(data), self._needles)
        if self._query.phrases:
            line = phrase_line(text, self._query.phrases[0]) or 0
        return path_fields(seen.path) | {
            "startLine": line + 1,
            "endLine": line + 1,
            "line": line + 1,
            "score": round(score, 4),
            "snippet": snippet(text, line),
            "matched": [term for term in self._query.terms if term in seen.counts],
            "source": WORKTREE,
        }

    def _read(self) -> Iterator[_Seen]:
        """Read the files that pass the filters, and count the terms in each."""
        terms = {term for term, _ in self._terms} | self._must | self._exclude
        deadline = time.monotonic() + MAX_SECONDS
        paths = live_paths(self._worktree, self._covers)
        for number, (path, data) in enumerate(live_files(self._worktree, paths)):
            languages = self._query.filters.languages
            if languages and language_of(path, data[:BINARY_PROBE]) not in languages:
                continue
            text = decode_text(data)
            phrases = self._query.phrases if self._query.must_hold else ()
            if not phrases or holds_phrases(text, phrases):
                yield _Seen(path, count_terms(text, terms), len(text))
            if time.monotonic() > deadline:
                self.warnings.append(f"stopped after {number + 1} of {len(paths)} files")
                return

    def _covers(self, path: bytes) -> bool:
        filters, name = self._query.filters, path.decode("utf-8", "replace")
        return (
            (not filters.paths or path_matches(filters.paths, name))
            and not (filters.not_paths and path_matches(filters.not_paths, name))
            and (not filters.places or place_of(name) in filters.places)
        )

    def _allows(self, seen: _Seen) -> bool:
        return self._must <= seen.counts.keys() and self._exclude.isdisjoint(seen.counts)

    def _text_score(self, seen: _Seen) -> float:
        relative = seen.length / self._average
        return sum(
            boost * bm25(seen.counts[term], self._rarity.idf(term), relative)
            for term, boost in self._terms
            if term in seen.counts
        )
