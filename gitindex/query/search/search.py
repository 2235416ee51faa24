"""Search: query → candidates → ranking → the best places, with proof. Writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from gitindex.base.errors import GitIndexError
from gitindex.base.escape import path_fields
from gitindex.base.light_types import NamedTuple
from gitindex.extract.terms import decode_text
from gitindex.git.command import try_git
from gitindex.query.search.candidates import Collector, with_facts
from gitindex.query.search.chunks import ChunkScorer
from gitindex.query.search.definitions import (
    DefinitionMatcher,
    FileDefinitions,
    NamedDefinition,
    ScoredDefinition,
    innermost,
    matching_definitions,
)
from gitindex.query.search.features import NameMatcher, path_features
from gitindex.query.search.memory import NO_TEXT, Candidate, CandidateText, SearchMemory
from gitindex.query.search.passages import Passage, PassageRanker
from gitindex.query.search.query_text import Filters, Query, split_query
from gitindex.query.search.ranking import (
    Features,
    first_features,
    headers,
    scaled,
    total,
)
from gitindex.query.search.snippets import (
    holds_phrases,
    matched_terms,
    phrase_line,
    snippet,
)
from gitindex.query.search.weights import FINAL, FIRST
from gitindex.view.tree import TreeView

if TYPE_CHECKING:
    from gitindex.base.answers import SearchAnswer

MAX_LIMIT = 200
POOL = 30
"""Candidates whose text and definitions are read, whatever the limit."""
NAMED = 8
"""Further candidates to read because they define the only word of the query."""
COMMENTED = 16
"""Candidates whose comments are searched too: costly if a `kind:` filter selects many."""
RECENT_POOL = 40
"""Candidates that are sorted by their last change."""
RECENT_COMMITS = 300
OF_KIND = 250
"""Candidates to read if a `kind:` filter selects them: more than an answer can list."""
DEFINED = 0.6
"""`named` of a file that defines the query as spelled: not as a variable or a field."""
EXACT = 0.9
CLOSE = 0.95
"""Share of the best definition's score from which on another one of the file is shown too."""
PER_FILE = 3
BEFORE, AFTER = 2, 8
"""Lines that are shown around a line outside of every definition."""
BODY_SHARE = 1.0
"""Weight of the body of a long query relative to its title."""
UNREAD_FEATURES = Features._fields.index("chunk")
"""The features before this index do not need the text."""
_FIRST_KNOWN = FIRST[:UNREAD_FEATURES]
NO_PHRASE = "no file holds the phrase: these hold its words"


class Ranked(NamedTuple):
    """A candidate with its features and score, best definitions first."""

    candidate: Candidate
    features: Features
    score: float = 0.0
    definitions: tuple[ScoredDefinition, ...] = ()
    text: CandidateText = NO_TEXT
    query: Query | None = None  # the query it was ranked for


READ_AT = Ranked._fields.index("definitions")


def search(
    view: TreeView,
    text: str,
    limit: int,
    filters: Filters = Filters(),  # noqa: B008 - a constant
    recent: bool = False,
    *,
    memory: SearchMemory | None = None,
    explain: bool = False,
) -> SearchAnswer:
    """Return the best `limit` places for a query, as an envelope; the ranking ignores `limit`."""
    count = max(1, min(limit, MAX_LIMIT))
    files = FileSearch(view, memory or SearchMemory())
    ranked = files.ranked(text, filters)
    if recent:
        ranked = _recent_first(view, ranked[:RECENT_POOL])
    results: list[dict[str, Any]] = []
    for row in files.read(ranked[: count + 1]):
        results += files.results(row, explain)
        if len(results) > count:
            break
    truncated = len(results) > count or len(ranked) > count + 1
    notes = {"warnings": files.warnings} if files.warnings else {}
    query = text.encode("utf-8", "replace").decode().strip()
    answer = view.envelope(query=query, results=results[:count], truncated=truncated, **notes)
    return cast("SearchAnswer", answer)


class FileSearch:
    """One search in one view."""

    def __init__(self, view: TreeView, memory: SearchMemory) -> None:
        self.warnings: list[str] = []
        self._view = view
        self._memory = memory
        self._passes: dict[Query, RankingPass] = {}

    def ranked(self, text: str, filters: Filters) -> list[Ranked]:
        """Return matching files, best first. A long text is searched as its title and its body."""
        parts = split_query(text, filters)
        self.warnings += parts.warnings
        rankings = [self._ranked(query) for query in parts.queries]
        return rankings[0] if len(rankings) == 1 else _fused(rankings)

    def _ranked(self, query: Query) -> list[Ranked]:
        rows = self._pass(query).ranked()
        if not rows and query.must_hold:
            rows = self._pass(query._replace(must_hold=False)).ranked()
            self.warnings += [NO_PHRASE] if rows else []
        return rows

    def _pass(self, query: Query) -> RankingPass:
        made = self._passes[query] = RankingPass(self._view, query, self._memory, self.warnings)
        return made

    def read(self, rows: list[Ranked]) -> Iterator[Ranked]:
        """Yield the same rows, after reading the text of those ranked without it."""
        unread = [row for row in rows if not row.text.data]
        for query in dict.fromkeys(row.query for row in unread if row.query):
            mine = [row for row in unread if row.query == query]
            filled = {row.candidate.path: row for row in self._passes[query].with_texts(mine)}
            rows = [filled.get(r.candidate.path, r) if r.query == query else r for r in rows]
        yield from rows

    def results(self, row: Ranked, explain: bool) -> Iterator[dict[str, Any]]:
        """Yield a file's results: its best and equally exact definitions, or its best line."""
        query = row.query
        assert query is not None
        base = path_fields(row.candidate.path)
        text = decode_text(row.text.data)
        matched = matched_terms(text, query.terms)
        for place in self._places(query, row, text):
            match = {
                "matched": matched,
                "source": row.candidate.source,
            }
            yield base | place | match | ({"features": _explained(row.features)} if explain else {})

    def _places(self, query: Query, row: Ranked, text: str) -> Iterator[dict[str, Any]]:
        for number, part in enumerate(self.shown(query, row)):
            line = self._line(query, row, text, part)
            yield _place(row.score - 0.05 * number, line, text, part.first, part.last, part.named)

    def shown(self, query: Query, row: Ranked) -> list[Passage]:
        """Return the parts of a file to show: the best, and those that match as well."""
        if query.filters.kinds:
            return [whole(d.named) for d in row.definitions]
        exact = _exact(row.definitions)
        if exact and not query.phrases:
            return [*map(whole, exact[:PER_FILE])]
        parts = [] if query.phrases else self.passages(row)[:PER_FILE]
        shown = [p for p in parts if p.named and p.score >= CLOSE * parts[0].score]
        if shown[:1] == parts[:1] != []:
            return shown
        return [self.around(row, self._line(query, row, decode_text(row.text.data)))]

    def meant(self, row: Ranked) -> list[NamedDefinition]:
        """Return the definitions of a file that the query, a name and nothing else, is the name of."""
        return [] if _is_other(row) else [d.named for d in row.definitions if d.exact >= DEFINED]

    def passages(self, row: Ranked) -> list[Passage]:
        """Return the definitions of a file and the code outside of them, best first."""
        return self.ranker(row).ranked(row.text.data, self._file(row))

    def ranker(self, row: Ranked) -> PassageRanker:
        assert row.query is not None
        return self._passes[row.query].parts

    def definitions(self, row: Ranked) -> list[NamedDefinition]:
        """Return all definitions of a file, in the order of the store."""
        file = self._file(row)
        return file.listed if file else []

    def _file(self, row: Ranked) -> FileDefinitions | None:
        return self._memory.definitions(self._view, [row.candidate]).get(row.candidate.blob_id)

    def _line(self, query: Query, row: Ranked, text: str, part: Passage | None = None) -> int:
        """Return the line to show: of the name that matches, of the phrase, or the best one."""
        if part and part.named and part.is_called:
            return part.named.line
        for phrase in (*query.phrases, *query.runs) if row.features.quoted else ():
            line = phrase_line(text, phrase)
            if line is not None and (part is None or part.first <= line <= part.last):
                return line
        if part and part.named:
            return self.ranker(row).best_lines(row.text.data, part, 1)[0]
        return self.ranker(row).best_line(row.text.data)

    def around(self, row: Ranked, line: int) -> Passage:
        """Return the innermost definition around a line, or a few lines."""
        around = innermost(self.definitions(row), line)
        if around:
            return whole(around, False)
        last = max(line, min(line + AFTER, row.text.data.rstrip().count(b"\n")))
        return Passage(0.0, max(0, line - BEFORE), last)


class RankingPass:
    """One query in one view."""

    def __init__(
        self, view: TreeView, query: Query, memory: SearchMemory, warnings: list[str]
    ) -> None:
        self._view = view
        self._query = query
        self._memory = memory
        self._collector = Collector(view, query, memory)
        self._rarity = self._collector.rarity
        self._atoms = self._collector.atoms
        self._names = NameMatcher(self._atoms, self._rarity.lead(query))
        terms = self._rarity.chunk_terms(query)
        self._chunks = ChunkScorer(terms)
        self._definitions = DefinitionMatcher(query, self._atoms, self._rarity.shares, self._names)
        self.parts = PassageRanker(terms, self._definitions)
        self._warnings = warnings

    def ranked(self) -> list[Ranked]:
        """Return candidates, best first.

        The candidates that were read come first, by final score; the rest follow in their order.
        """
        query = self._query
        first = self.first()
        if query.must_hold:
            first = list(self._with_phrases(first))
        kinds = query.filters.kinds
        chosen, others = (first[:OF_KIND], []) if kinds else self.chosen(first)
        pool = self._with_texts_scaled(chosen)
        if kinds:
            pool = [row for row in pool if row.definitions]
        best = sorted(_sorted(pool), key=_is_other)
        least = best[-1].score if best else 0.0
        rest = [r if r.score <= least else Ranked._make((*r[:2], least, *r[3:])) for r in others]
        return best + rest

    def chosen(self, first: list[Ranked]) -> tuple[list[Ranked], list[Ranked]]:
        """Split the candidates into those to read, and the others."""
        chosen, others, named = first[:POOL], list[Ranked](), self._collector.named
        for row in first[POOL:]:
            more = row.candidate.path in named and len(chosen) < POOL + NAMED
            (chosen if more else others).append(row)
        return chosen, others

    def first(self) -> list[Ranked]:
        """Return all candidates by the first score, from index and path."""
        candidates = self._collector.collect()
        if self._collector.left_out:
            self._warnings.append(f"{self._collector.left_out} edited files were not searched")
        return self._first(candidates)

    def with_texts(self, rows: list[Ranked]) -> list[Ranked]:
        """Return the rows with text, chunks and definitions; order and scores are unchanged."""
        candidates = with_facts(self._view, [row.candidate for row in rows])
        texts = self._memory.texts(self._view, candidates)
        ids = [c.blob_id for c in candidates]
        files = self._memory.definitions(self._view, candidates)
        kinds = self._query.filters.kinds
        defined = matching_definitions(files, self._atoms, kinds, ids[:COMMENTED])
        return [
            self._with_text(row, c, texts[c.path], defined.get(c.blob_id, ()))
            for row, c in zip(rows, candidates, strict=True)
        ]

    def _with_texts_scaled(self, rows: list[Ranked]) -> list[Ranked]:
        filled = self.with_texts(rows)
        features = scaled([row.features for row in filled])
        pairs = zip(filled, features, strict=True)
        return [Ranked._make((row[0], f, total(f, FINAL), *row[READ_AT:])) for row, f in pairs]

    def _with_text(
        self,
        row: Ranked,
        candidate: Candidate,
        text: CandidateText,
        definitions: Iterable[NamedDefinition],
    ) -> Ranked:
        defined, scored = self._definitions.features(definitions)
        features = Features._make(
            (
                *row.features[:UNREAD_FEATURES],
                self._chunks.best(text.data, candidate.name),
                *defined,
                self._quoted(text.data),
            )
        )
        if text.generated:
            features = features._replace(aside=1.0)
        best = tuple(scored[:PER_FILE])
        return Ranked(candidate, features, row.score, best, text, row.query)

    def _quoted(self, data: bytes) -> float:
        """Return the share of the quoted phrases that a text has; else of the query's fixed parts."""
        phrases, runs = self._query.phrases, self._query.runs
        if phrases:
            text = decode_text(data)
            return sum(holds_phrases(text, [phrase]) for phrase in phrases) / len(phrases)
        lowered = data.lower() if runs else b""
        return sum(run.encode() in lowered for run in runs) / len(runs) if runs else 0.0

    def _first(self, candidates: list[Candidate]) -> list[Ranked]:
        """Return the candidates with the features that index and path give, best first."""
        query, matcher = self._query, self._names
        declared = headers(c.name for c in candidates)
        text = max([c.text for c in candidates], default=0.0) or 1.0
        subjects = max([c.subjects for c in candidates], default=0.0) or 1.0
        rows = []
        for c in candidates:
            said = path_features(matcher, c.name)
            row = first_features(query, c.name, said, c.text / text, c.subjects / subjects, c.lines)
            if c.name in declared:
                row = row._replace(stub=1.0)
            score = total(row, _FIRST_KNOWN)
            rows.append(tuple.__new__(Ranked, (c, row, score, (), NO_TEXT, query)))
        return _sorted(rows)

    def _with_phrases(self, rows: list[Ranked]) -> Iterator[Ranked]:
        """Yield rows whose text contains the phrases, up to the limit."""
        count = 0
        for at in range(0, len(rows), 50):
            part = rows[at : at + 50]
            texts = self._memory.texts(self._view, (row.candidate for row in part))
            for row in part:
                text = decode_text(texts[row.candidate.path].data)
                if holds_phrases(text, self._query.phrases):
                    count += 1
                    yield row
            if count >= MAX_LIMIT:
                return


def _is_other(row: Ranked) -> bool:
    """Return whether a file does not define the name that the query is, or is a test or an example."""
    features = row.features
    is_aside = bool(features.test or features.aside)
    return is_aside or (features.named < DEFINED and not features.qualified)


def _sorted(rows: list[Ranked]) -> list[Ranked]:
    """Return the rows, best first; equal ones by path."""
    return sorted(rows, key=lambda row: (-row.score, row.candidate.path))


def _fused(parts: list[list[Ranked]]) -> list[Ranked]:
    """Merge the rankings of a title and a body into one."""
    kept: dict[bytes, Ranked] = {}
    scores: dict[bytes, float] = {}
    for number, rows in enumerate(parts):
        most = max((row.score for row in rows), default=0.0)
        for row in rows:
            path = row.candidate.path
            share = (BODY_SHARE if number else 1.0) / most if most > 0 else 0.0
            scores[path] = scores.get(path, 0.0) + max(row.score, 0.0) * share
            if path not in kept or (row.text.data and not kept[path].text.data):
                kept[path] = row
    fused = [row._replace(score=scores[path]) for path, row in kept.items()]
    return sorted(fused, key=lambda row: (-row.score, row.candidate.path))


def _recent_first(view: TreeView, rows: list[Ranked]) -> list[Ranked]:
    """Sort edited files first, then files of the latest commits, then the rest in their order."""
    words = (
        f"log -z --name-only --format= -n {RECENT_COMMITS} --no-renames --end-of-options".split()
    )
    log = try_git(view.worktree.root, *words, view.overlay.commit or "HEAD", "--")
    if log.returncode:
        raise GitIndexError("the history cannot be read", "run `git fsck`")
    order: dict[bytes, int] = {}
    for path in log.output.split(b"\0"):
        order.setdefault(path.strip(b"\n"), len(order))
    edited = view.changed().keys() if view.overlay.digest else ()
    return sorted(
        rows,
        key=lambda row: (
            -1 if row.candidate.path in edited else order.get(row.candidate.path, len(order))
        ),
    )


def _explained(features: Features) -> dict[str, dict[str, float]]:
    """Return the features that are not 0: the value, and what it adds to the score."""
    pairs = zip(features._fields, features, FINAL, strict=True)
    return {
        name: {"value": round(value, 4), "adds": round(value * weight, 4)}
        for name, value, weight in pairs
        if value
    }


def _exact(definitions: Sequence[ScoredDefinition]) -> list[NamedDefinition]:
    """Return the definitions that the query names, best first."""
    most = definitions[0].exact if definitions else 0.0
    return [d.named for d in definitions if most >= EXACT and d.exact >= EXACT * most]


def whole(named: NamedDefinition, is_called: bool = True) -> Passage:
    """Return all of a definition as a part of its file."""
    return Passage(1.0, named.start_line, named.end_line, named, is_called)


def _place(
    score: float, line: int, text: str, start: int, end: int, named: NamedDefinition | None
) -> dict[str, Any]:
    fields: dict[str, Any] = {"startLine": start + 1, "endLine": end + 1, "line": line + 1}
    if named is not None:
        fields |= {"name": named.name, "kind": named.kind}
    return fields | {"score": round(score, 4), "snippet": snippet(text, line)}
