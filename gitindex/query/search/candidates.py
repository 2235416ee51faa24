"""Collect the files that may answer a query: by text, definitions, path, past subjects or edits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from operator import mul

from gitindex.base.path_kind import place_of
from gitindex.extract.terms import MAX_REPEATS, decode_text
from gitindex.languages.facts import FactsKey
from gitindex.languages.syntax.source import count_lines
from gitindex.languages.table import extractor_id
from gitindex.query.search.definitions import NO_BLOB, TYPES
from gitindex.query.search.features import needle_of
from gitindex.query.search.memory import (
    BY_PATH,
    COLUMNS,
    Candidate,
    Row,
    SearchMemory,
    TreeFiles,
    candidate_of,
)
from gitindex.query.search.past_subjects import PastSubjects
from gitindex.query.search.query_text import (
    Filters,
    Query,
    is_below,
    path_matches,
    whole_terms,
)
from gitindex.query.search.ranking import KINDS, Rarity, bm25, kinds_of, query_terms, size_of
from gitindex.query.search.snippets import count_terms, holds_phrases
from gitindex.query.search.weights import FIRST
from gitindex.store.connection import marks, rows_among
from gitindex.store.lexical import USUAL_LENGTH, LexicalQuery
from gitindex.view.tree import TreeView

BY_TEXT = 70
"""Candidates by text. Fixed: the same files are ranked whatever the limit is."""
TEXT_HITS = 200
"""Hits to request, to keep BY_TEXT candidates after documents, tests and data are ranked lower."""
SIZE_SHARE = 0.25
"""Weight of a file's size in choosing them, relative to the first score's. Set by hand on dev data."""
BY_NAME = 30
"""Candidates that define a word of the query."""
BY_WORDS = 30
"""Candidates by the words of their path."""
BY_SUBJECT = 20
"""Candidates by the subjects of past commits."""
MAX_PATH_ATOMS = 8
LESS = -1.5
"""Files of kinds that weigh less come after all others as candidates by path."""
MAX_EDITED = 2_000
"""Overlaid texts without an index entry that one answer reads."""
MAX_HITS = 20_000
TEXT_AT = Candidate._fields.index("text")
MAX_FILTERED = 1_000
"""Files to choose from if the query has only filters."""


class Collector:
    """Collects candidates for one query from one view."""

    def __init__(self, view: TreeView, query: Query, memory: SearchMemory) -> None:
        self.left_out = 0
        """Edited files that were not searched because they exceed the budget."""
        self.named: set[bytes] = set()
        """Files that define the only word of the query."""
        self._view = view
        self._query = query
        self._meant: set[bytes] = set()  # by path: edited files too, whatever they contain
        self._memory = memory
        self._files = TreeFiles(view, memory)
        self._reader = memory.lexical.reader(view.worktree.lexical)
        phrases = query.phrases if query.must_hold else ()
        self._must = whole_terms((*query.filters.must, *phrases))
        self._exclude = whole_terms(query.filters.exclude)
        self._terms = [term for term, _ in query_terms(query)]
        self._match = LexicalQuery(query_terms(query), self._must, self._exclude)
        frequencies = self._reader.frequencies(self._terms)
        self.own = memory.repository_words(view)
        """Words of the repository's name."""
        self.rarity = Rarity(query, frequencies, self._reader.documents, self.own)
        self.atoms = self.rarity.atoms(query)
        self._past = PastSubjects(view, self.atoms, memory.tree(view).subjects)

    def collect(self) -> list[Candidate]:
        """Return the candidates, with their score in the lexical index."""
        if not self._terms and not self._must:
            return list(self._filtered())
        hits, scores = self._lexical(TEXT_HITS)
        if not self._query.must_hold:
            hits = self._code_first(hits, scores)
        known = {c.path for c in hits}
        brought = (*self._defining(), *self._by_path(), *self._by_subject())
        others = {c.path: c for c in brought if c.path not in known}
        scores |= self._scores_of({c.key for c in others.values()} - scores.keys())
        indexed = self._scored([*hits, *others.values()], scores)
        edited = list(self._unindexed())
        return self._overlaid(indexed, edited) if edited else indexed

    def _overlaid(self, indexed: list[Candidate], edited: list[Candidate]) -> list[Candidate]:
        """Return the candidates of the index and the edited files, which replace those of their path."""
        paths = {c.path for c in edited}
        past = self._past.scores(paths)
        return [
            *(c for c in indexed if c.path not in paths),
            *(c._replace(subjects=past.get(c.path, 0.0)) for c in edited),
        ]

    def _scores_of(self, keys: set[FactsKey]) -> dict[FactsKey, float]:
        """Return the scores of some blobs by text."""
        hits = self._reader.search(LexicalQuery(self._match.terms), len(keys), keys) if keys else ()
        return {hit.key: hit.score for hit in hits}

    def _lexical(self, count: int) -> tuple[list[Candidate], dict[FactsKey, float]]:
        """Search the text, asking for more until enough hits are live: all commits' blobs match."""
        limit = count
        while True:
            hits = self._reader.search(self._match, limit)
            live = self._allowed_paths(self._files.with_keys([hit.key for hit in hits]))
            if len(live) >= count or len(hits) < limit or limit >= MAX_HITS:
                return live, {hit.key: hit.score for hit in hits}
            limit *= 4

    def _code_first(self, pool: list[Candidate], scores: dict[FactsKey, float]) -> list[Candidate]:
        """Return the best candidates by text; documents, tests and data count less, long files more.

        BM25 of a whole file prefers short ones, which the first score corrects in full.
        """
        most = max(scores.values(), default=0.0) or 1.0
        query, weight, size = self._query, FIRST.text / most, SIZE_SHARE * FIRST.size
        listed = [
            (
                -weight * scores.get(c.key, 0.0)
                - kinds_weight(query, c.name)
                - size * size_of(c.lines),
                c.path,
                c,
            )
            for c in pool
        ]
        listed.sort()
        return [c for _, _, c in listed[:BY_TEXT]]

    def _scored(self, pool: list[Candidate], scores: dict[FactsKey, float]) -> list[Candidate]:
        """Return the candidates that pass, with what text and history score."""
        passing = self._passing([c.key for c in pool])
        past = self._past.scores([c.path for c in pool])
        return [
            tuple.__new__(Candidate, (*c[:TEXT_AT], scores.get(c.key, 0.0), past.get(c.path, 0.0)))
            for c in pool
            if c.key in passing
        ]

    def _passing(self, keys: list[FactsKey]) -> set[FactsKey]:
        """Return the blobs with all required words and without the excluded ones."""
        passing = self._holding({*keys}, self._must) if self._must else {*keys}
        return passing.difference(*(self._holding(passing, [term]) for term in self._exclude))

    def _holding(self, keys: set[FactsKey], terms: list[str]) -> set[FactsKey]:
        """Return those of the blobs that have all of the terms."""
        return {hit.key for hit in self._reader.search(LexicalQuery((), terms), len(keys), keys)}

    def _defining(self) -> Iterator[Candidate]:
        """Yield files that define a word of the query, however common the word is."""
        shares = self.rarity.shares
        telling = [w for w in self._query.words if shares[w.text] * len(shares) >= 0.5]
        names = list(dict.fromkeys(n for w in telling for n in (w.text, w.terms[0])))
        if self._query.dotted:
            names.append(self._query.words[-1].text)
        rows = self._view.rows(
            f"SELECT {COLUMNS} FROM {{names}} n CROSS JOIN {{symbols}} s"
            " ON s.name_id=n.id CROSS JOIN {blobs} b ON b.id=s.blob_id"
            " CROSS JOIN {live} l ON l.blob_id=b.id"
            f" WHERE n.text IN ({marks(names)}) GROUP BY l.path"
            f" ORDER BY min(s.kind NOT IN ({marks(_TYPES)})), length(l.path), l.path LIMIT {BY_NAME}",
            *names,
            *_TYPES,
        )
        candidates = self._allowed_paths(map(candidate_of, rows))
        if len(self._query.words) == 1:
            self.named.update(c.path for c in candidates)
        yield from candidates

    def _by_path(self) -> Iterator[Candidate]:
        """Yield paths with words of the query: those with most of it first, then the shortest."""
        atoms = sorted(self.atoms, key=lambda atom: (-atom.share, atom.text))[:MAX_PATH_ATOMS]
        needles = [(needle_of(a.text), a.share) for a in atoms if len(a.text) > 1]
        needles = [(needle, share) for needle, share in needles if needle.isalnum()]
        if not needles:
            return
        paths = self._files.with_words(needles, 4 * BY_WORDS)
        lowered = [needle.encode() for needle, _ in needles]
        overlaid = [p for p in self._view.changed() if any(n in p.lower() for n in lowered)]
        paths += overlaid[:BY_WORDS]
        self._meant.update(overlaid)
        order = {path: place for place, path in enumerate(paths)}
        rows = self._allowed_paths(self._files.at(paths))
        weight = {c.path: kinds_weight(self._query, c.name) for c in rows}
        yield from sorted(rows, key=lambda c: (weight[c.path] < LESS, order[c.path]))[:BY_WORDS]

    def _by_subject(self) -> list[Candidate]:
        """Return paths whose past commit subjects have words of the query."""
        paths = self._past.best(BY_SUBJECT)
        self._meant.update(paths)
        return self._allowed_paths(self._files.at(paths))

    def _filtered(self) -> Iterator[Candidate]:
        """Yield every file that passes the filters, in path order, for a query of filters only."""
        if not self._query.is_empty:
            rows = self._view.rows(f"SELECT {COLUMNS}{BY_PATH}")
            allowed = sorted(self._allowed_paths(map(candidate_of, rows)))[:MAX_FILTERED]
            yield from self._scored(allowed, {})

    def _unindexed(self) -> Iterator[Candidate]:
        """Yield edited files that are not in the lexical index, scored the way the index does."""
        everything = self._allowed_paths(map(candidate_of, self._unseen()))
        unseen = everything[:MAX_EDITED]
        self.left_out = len(everything) - len(unseen)
        if not unseen:
            return
        texts = self._memory.texts(self._view, unseen)
        known = [term for term in self._terms if self.rarity.frequencies[term]]
        average = self._reader.average_length(known[0]) if known else USUAL_LENGTH
        for candidate in unseen:
            data = texts[candidate.path].data
            text = decode_text(data)
            counts = count_terms(text, [*self._terms, *self._must, *self._exclude])
            meant = counts or candidate.path in self._meant
            allowed = counts.keys() >= {*self._must} and counts.keys().isdisjoint(self._exclude)
            if meant and allowed and self._phrased(text):
                score = self._score(text, counts, average)
                yield candidate._replace(text=score, lines=count_lines(data))

    def _phrased(self, text: str) -> bool:
        return not self._query.must_hold or holds_phrases(text, self._query.phrases)

    def _unseen(self) -> Iterator[Row]:
        """Yield overlaid files that are in no index; those without facts so far have no blob."""
        view = self._view
        overlaid = {p: f for p, f in view.changed().items() if f is not None and f.skip is None}
        if overlaid and self._query.filters.kinds:
            view.ensure_facts(words=[*self._terms, *self._must])  # the query asks for definitions
        sql = f"SELECT {COLUMNS}, b.lexical{BY_PATH}"
        stored = {row[0]: row for row in view.overlay_rows(sql)} if overlaid else {}
        for path, file in overlaid.items():
            row = stored.get(path)
            if row is None:
                oid, extractor = bytes.fromhex(file.oid), extractor_id(file.language)
                yield path, oid, NO_BLOB, file.language, view.overlay.source, extractor, 0
            elif not row[-1]:
                yield row[:-1]

    def _score(self, text: str, counts: dict[str, int], average: float) -> float:
        """Return the BM25 score of a text, with the frequencies of the index; the length is estimated."""
        length = min(len(text) / 6, 13 * len(text) ** 0.5) / average
        return sum(
            boost * bm25(min(counts[term], MAX_REPEATS), self.rarity.idf(term), length)
            for term, boost in self._match.terms
            if term in counts
        )

    def _allowed_paths(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Return the candidates that pass the filters."""
        filters = self._query.filters
        if filters == _NO_FILTERS:
            return list(candidates)
        kept = [c for c in candidates if _passes(filters, c)]
        return self._of_kind(kept) if filters.kinds else kept

    def _of_kind(self, candidates: list[Candidate]) -> list[Candidate]:
        ids, kinds = [c.blob_id for c in candidates], self._query.filters.kinds
        sql = f"SELECT DISTINCT blob_id FROM {{symbols}} WHERE kind IN ({marks(kinds)})"
        sql += " AND blob_id IN ({marks})"
        matching = {blob_id for (blob_id,) in rows_among(self._view.rows, sql, ids, *kinds)}
        return [c for c in candidates if c.blob_id in matching]


def with_facts(view: TreeView, candidates: list[Candidate]) -> list[Candidate]:
    """Return the same candidates, after extracting the facts of edited files."""
    paths = [c.path for c in candidates if c.blob_id == NO_BLOB]
    if not paths:
        return candidates
    view.ensure_facts(paths=paths)
    rows = view.rows(
        f"SELECT l.path, l.blob_id FROM {{live}} l WHERE l.path IN ({marks(paths)})", *paths
    )
    ids = {path: blob_id for path, blob_id in rows if blob_id is not None}
    return [c._replace(blob_id=ids.get(c.path, c.blob_id)) for c in candidates]


def _passes(filters: Filters, one: Candidate) -> bool:
    """Return whether language, path and place of a file are among those of the filters."""
    return (
        (not filters.languages or one.language in filters.languages)
        and (not filters.below or is_below(filters.below, os.fsdecode(one.path)))
        and (not filters.paths or path_matches(filters.paths, one.name))
        and not (filters.not_paths and path_matches(filters.not_paths, one.name))
        and (not filters.places or place_of(one.name) in filters.places)
    )


_NO_FILTERS = Filters()
_TYPES = sorted(TYPES)


def kinds_weight(query: Query, path: str) -> float:
    """Return what a file's kinds add to its first score: 0 for most code, else negative."""
    return float(sum(map(mul, kinds_of(query, path), _KIND_WEIGHTS)))


_KIND_WEIGHTS = tuple(getattr(FIRST, kind) for kind in KINDS)
