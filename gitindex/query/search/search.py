"""Search: query → candidates → rank → the best places, with proof. Writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from gitindex.base.errors import GitIndexError
from gitindex.base.escape import path_fields
from gitindex.base.path_kind import stem_of
from gitindex.extract.terms import decode_text
from gitindex.git.command import try_git
from gitindex.query.search.candidates import Candidate, Collector, with_facts
from gitindex.query.search.query_text import Filters, Query, parse_query
from gitindex.query.search.ranking import (
    MANY,
    Features,
    NamedDefinition,
    Rarity,
    SymbolMatcher,
    centrality,
    coverage,
    path_match,
    share_of,
    total,
)
from gitindex.query.search.snippets import (
    TextMatch,
    holds_phrases,
    look,
    phrase_line,
    snippet,
    sought_in,
)
from gitindex.store.connection import marks
from gitindex.store.lexical import LexicalMemory
from gitindex.view.tree import TreeView

MAX_LIMIT = 200
POOL = 15
"""Candidates whose definitions are looked at."""
COMMENTED = 6
"""The first of them, whose definitions' comments are looked at too."""
MAX_PHRASED = 400
"""Candidates whose text is read for a phrase."""
RECENT_COMMITS = 300
SHOWN = 0.4
"""A definition that matches so well is the place to show; else it is the best line."""
EXACT = 0.9
PER_FILE = 3
_NOTHING = TextMatch(0, 0.0)


class RankedDefinition(NamedTuple):
    """A definition of a candidate, and how well it is what was asked for. Lines are 0-based."""

    named: NamedDefinition
    line: int
    start_line: int
    end_line: int
    score: float


class Ranked(NamedTuple):
    """A candidate with all that is known of it, best definitions first."""

    candidate: Candidate
    features: Features
    share: float
    definitions: tuple[RankedDefinition, ...] = ()
    text: str = ""
    seen: TextMatch = _NOTHING

    @property
    def score(self) -> float:
        return total(self.features) * self.share


def search(
    view: TreeView,
    text: str,
    limit: int,
    filters: Filters = Filters(),  # noqa: B008 - a constant
    recent: bool = False,
    *,
    memory: LexicalMemory | None = None,
) -> dict[str, Any]:
    """The best `limit` places for a query, as an envelope."""
    query = parse_query(text, filters)
    wanted = max(1, min(limit, MAX_LIMIT))
    collector = Collector(view, query, memory or LexicalMemory())
    ranked = _rank(view, query, collector, wanted, recent)
    results = [result for row in ranked for result in _results(view, query, row)]
    left_out = collector.left_out
    told = {"warnings": [f"{left_out} edited files were not searched"]} if left_out else {}
    return view.envelope(
        query=query.text, results=results[:wanted], truncated=len(results) > wanted, **told
    )


def _rank(
    view: TreeView, query: Query, collector: Collector, wanted: int, recent: bool
) -> list[Ranked]:
    """Files that answer the query, best first; a few more than wanted."""
    pool = max(POOL, wanted + wanted // 2)
    found = collector.collect(MAX_PHRASED if query.phrases else 2 * pool)
    first = _best(_weighed(query, collector.rarity, found), MAX_PHRASED if query.phrases else pool)
    if query.phrases:
        first = list(_with_phrases(view, query, first, pool))
    facts = with_facts(view, [row.candidate for row in first])
    first = [row._replace(candidate=c) for row, c in zip(first, facts, strict=True)]
    defined = _best(_with_definitions(view, query, collector.rarity, first), pool)
    if recent:
        defined = _recent_first(view, defined)[: wanted + 1]
    read = defined[: wanted + 1]
    looked = list(_with_texts(view, query, collector.rarity, read))
    return looked if recent else _best(looked, len(looked))


def _best(rows: Iterable[Ranked], count: int) -> list[Ranked]:
    return sorted(rows, key=lambda row: (-row.score, row.candidate.path))[:count]


def _weighed(query: Query, rarity: Rarity, found: list[Candidate]) -> Iterator[Ranked]:
    most = max((c.text for c in found), default=0.0) or 1.0
    for c in found:
        name = c.name
        path = path_match(query, rarity, name)
        features = Features(text=c.text / most, cover=coverage(query, rarity, c.held), path=path)
        yield Ranked(c, features, share_of(query, name))


def _with_phrases(view: TreeView, query: Query, rows: list[Ranked], most: int) -> Iterator[Ranked]:
    found = 0
    for at in range(0, len(rows), 50):
        part = rows[at : at + 50]
        texts = view.read(row.candidate.path for row in part)
        for row in part:
            text = decode_text(texts.get(row.candidate.path, b""))
            if holds_phrases(text, query.phrases):
                found += 1
                yield row
        if found >= most:
            return


def _with_definitions(
    view: TreeView, query: Query, rarity: Rarity, rows: list[Ranked]
) -> Iterator[Ranked]:
    defined = _definitions(view, query, rarity, [row.candidate.blob_id for row in rows])
    mentions = _mentions(view, rows)
    for row in rows:
        found = sorted(
            defined.get(row.candidate.blob_id, ()), key=lambda d: (-d.score, d.line, d.named.name)
        )
        if query.filters.kinds and not found:
            continue
        features = row.features._replace(
            symbol=found[0].score if found else 0.0,
            central=centrality(mentions.get(stem_of(row.candidate.name), 0)),
        )
        yield row._replace(features=features, definitions=tuple(found[:PER_FILE]))


def _definitions(
    view: TreeView, query: Query, rarity: Rarity, ids: list[int]
) -> dict[int, list[RankedDefinition]]:
    """The definitions of some blobs that have to do with the query."""
    kinds, needles = query.filters.kinds, _needles(query, rarity)
    values: list[Any] = [*ids]
    tests = []
    if needles:
        called = " OR ".join(["s.qualified_name LIKE ?"] * len(needles))
        said = "+".join(["(s.doc LIKE ?)"] * len(needles))  # two words of a comment are a hint
        first = ids[:COMMENTED] if len(query.words) > 1 else []
        commented = f"s.doc<>'' AND s.blob_id IN ({marks(first)}) AND ({said})>1"  # most have none
        tests.append(f"({called} OR ({commented}))")
        patterns = [f"%{needle}%" for needle in needles]
        values += [*patterns, *first, *patterns]
    elif not kinds:
        return {}
    if kinds:
        tests.append(f"s.kind IN ({marks(kinds)})")
        values += kinds
    rows = view.rows(
        "SELECT s.blob_id, (SELECT text FROM {names} WHERE id=s.name_id), s.qualified_name, s.kind,"
        " s.doc, s.line, s.start_line, s.end_line FROM {symbols} s"
        f" WHERE s.blob_id IN ({marks(ids)}) AND {' AND '.join(tests)}",
        *values,
    )
    matcher = SymbolMatcher(query, rarity)
    found: dict[int, list[RankedDefinition]] = {}
    for blob_id, name, qualified, kind, doc, line, start, end in rows:
        if needles and not doc and not any(needle in name.lower() for needle in needles):
            continue  # only what it is in is called so
        named = NamedDefinition(name, qualified, kind, doc)
        score = matcher.match(named) if needles else 0.0
        if score or not needles:
            found.setdefault(blob_id, []).append(RankedDefinition(named, line, start, end, score))
    return found


def _needles(query: Query, rarity: Rarity) -> list[str]:
    """Terms to look for in definitions: those that tell something."""
    found: dict[str, float] = {}
    for word in query.words:
        share = rarity.shares[word.text]
        inner = word.terms[2:] or word.terms[1:] if len(word.terms) > 1 else word.terms
        for term in (*inner, *word.forms):
            if len(term) > 1 or len(query.words) == 1:
                found[term] = max(found.get(term, 0.0), share)
    most = max(found.values(), default=0.0)
    chosen = sorted((t for t, s in found.items() if s >= most / 8), key=lambda t: (-found[t], t))
    return [t for t in chosen if not any(o in t and o != t for o in chosen)][:12]


def _mentions(view: TreeView, rows: list[Ranked]) -> dict[str, int]:
    """How many blobs mention each file by its name: a cheap likeness of the import graph."""
    stems = list({stem_of(row.candidate.name) for row in rows})
    counted = view.rows(
        "SELECT n.text, (SELECT count(*) FROM"
        f" (SELECT 1 FROM {{occurrences}} o WHERE o.name_id=n.id LIMIT {MANY}))"
        f" FROM {{names}} n WHERE n.text IN ({marks(stems)})",
        *stems,
    )
    found: dict[str, int] = {}
    for stem, count in counted:
        found[stem] = found.get(stem, 0) + count
    return found


def _recent_first(view: TreeView, rows: list[Ranked]) -> list[Ranked]:
    """Edited files, then those of the latest commits, then the rest as they are."""
    log = try_git(
        view.worktree.root,
        "log",
        "-z",
        "--name-only",
        "--format=",
        "-n",
        str(RECENT_COMMITS),
        "--no-renames",
        "--end-of-options",
        view.overlay.commit or "HEAD",
        "--",
    )
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


def _with_texts(
    view: TreeView, query: Query, rarity: Rarity, rows: list[Ranked]
) -> Iterator[Ranked]:
    texts = view.read(row.candidate.path for row in rows)
    for row in rows:
        text = decode_text(texts.get(row.candidate.path, b""))
        seen = look(text, sought_in(query, rarity.shares, row.candidate.held))
        features = row.features._replace(near=seen.near)
        yield row._replace(features=features, text=text, seen=seen)


def _results(view: TreeView, query: Query, row: Ranked) -> Iterator[dict[str, Any]]:
    """The places of one file: its best definition, others as exact, or its best line."""
    base = path_fields(row.candidate.path)
    for place in _places(view, query, row):
        yield (
            base
            | place
            | {
                "matched": [term for term in query.terms if term in row.candidate.held],
                "source": row.candidate.source,
            }
        )


def _places(view: TreeView, query: Query, row: Ranked) -> Iterator[dict[str, Any]]:
    asked = bool(query.filters.kinds)
    shown = [d for d in row.definitions if d.score >= SHOWN or asked] if not query.phrases else []
    exact = [d for d in shown[1:] if d.score >= EXACT * shown[0].score >= EXACT * EXACT or asked]
    for number, found in enumerate([*shown[:1], *exact]):
        score = row.score * (1 - 0.05 * number)
        yield _place(score, found.line, row.text, found.start_line, found.end_line, found.named)
    if not shown:
        line = row.seen.line
        if query.phrases:
            line = phrase_line(row.text, query.phrases[0]) or 0
        around = _enclosing(view, row.candidate.blob_id, line)
        if around is None:
            yield _place(row.score, line, row.text, line, line, None)
        else:
            yield _place(row.score, line, row.text, *around)


def _place(
    score: float, line: int, text: str, start: int, end: int, named: NamedDefinition | None
) -> dict[str, Any]:
    fields: dict[str, Any] = {"startLine": start + 1, "endLine": end + 1, "line": line + 1}
    if named is not None:
        fields |= {"name": named.name, "kind": named.kind}
    return fields | {"score": round(score, 4), "snippet": snippet(text, line)}


def _enclosing(view: TreeView, blob_id: int, line: int) -> tuple[int, int, NamedDefinition] | None:
    """The innermost definition around a line."""
    rows = view.rows(
        "SELECT s.start_line, s.end_line, n.text, s.qualified_name, s.kind FROM {symbols} s"
        " JOIN {names} n ON n.id=s.name_id WHERE s.blob_id=? AND s.start_line<=? AND s.end_line>=?"
        " ORDER BY s.start_line DESC, s.end_line LIMIT 1",
        blob_id,
        line,
        line,
    )
    if not rows:
        return None
    start, end, name, qualified, kind = rows[0]
    return start, end, NamedDefinition(name, qualified, kind, "")
