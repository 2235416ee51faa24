"""Search: query → gate → one snapshot → candidates → rank → answer with proof. Writes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from gitindex.answer import Served, freshness_fields, receipt_fields
from gitindex.git.command import read_blobs
from gitindex.lexical import Hit, LexicalReader
from gitindex.paths import safe_text
from gitindex.tokens import decode_text, terms_of, words_of

MAX_QUERY = 1_000
MAX_TERMS = 32
MAX_LIMIT = 200
SNIPPET_LINES = 3
MAX_LINE = 240
MAX_PLACES = 2_000

_WHOLE_WORD = re.compile(r"\w+")


class Candidate(NamedTuple):
    """A path of the served tree that may answer the query."""

    path: bytes
    oid: str
    blob_id: int
    score: float


class Query(NamedTuple):
    """A query as words and terms. Any text is a valid one."""

    text: str
    words: list[str]
    terms: list[str]


def parse_query(text: str) -> Query:
    """Words of a query and the terms they are looked up by."""
    asked = text[:MAX_QUERY].encode("utf-8", "replace").decode()  # an argument may be any bytes
    words = words_of(asked)[:MAX_TERMS]
    terms = dict.fromkeys(term for word in words for term in terms_of(word))
    return Query(asked.strip(), words, list(terms)[: 2 * MAX_TERMS])


def search(served: Served, text: str, limit: int) -> dict[str, Any]:
    """The best `limit` places for a query, as an envelope."""
    query = parse_query(text)
    wanted = max(1, min(limit, MAX_LIMIT))
    found = _candidates(served, query, wanted)
    ranked = sorted(found, key=lambda c: (-c.score, c.path))[:wanted]
    results = list(_results(served, query, ranked))
    return {
        "status": "ok",
        "codebaseRoot": safe_text(served.worktree.root),
        "query": query.text,
        "results": results,
        "truncated": len(found) > wanted,
        "freshness": freshness_fields(served),
        "receipt": receipt_fields(served),
    }


def _candidates(served: Served, query: Query, wanted: int) -> list[Candidate]:
    by_path = {c.path: c for c in _lexical_candidates(served, query, wanted)}
    for candidate in _path_candidates(served, query):
        known = by_path.get(candidate.path)
        score = candidate.score + (known.score if known else 0.0)
        by_path[candidate.path] = candidate._replace(score=score)
    return [_prefer_definitions(served, query, c) for c in by_path.values()]


def _lexical_candidates(served: Served, query: Query, wanted: int) -> list[Candidate]:
    """Blobs of other branches and older commits match too: ask for more until enough are here."""
    reader = LexicalReader(served.worktree.lexical)
    limit = 4 * wanted
    while True:
        hits = reader.search(query.terms, limit)
        live = [c for hit in hits for c in _live(served, hit)]
        if len(live) >= 2 * wanted or len(hits) < limit:
            return live
        limit *= 8


def _live(served: Served, hit: Hit) -> Iterator[Candidate]:
    rows = served.database.rows(
        "SELECT p.path, b.id FROM blobs b JOIN files f ON f.blob_id=b.id"
        " JOIN paths p ON p.id=f.path_id WHERE b.oid=? AND b.extractor=? AND f.worktree_id=?",
        bytes.fromhex(hit.key.oid), hit.key.extractor, served.published.worktree_id,
    )  # fmt: skip
    for path, blob_id in rows:
        yield Candidate(path, hit.key.oid, blob_id, hit.score)


def _path_candidates(served: Served, query: Query) -> Iterator[Candidate]:
    """Paths that contain the query: `foo.py`, `pkg/foo`, `foo`."""
    needle = query.text.lower()
    if not needle or any(c.isspace() for c in needle):
        return
    rows = served.database.rows(
        "SELECT p.path, f.oid, f.blob_id FROM files f JOIN paths p ON p.id=f.path_id"
        " WHERE f.worktree_id=? AND f.blob_id IS NOT NULL AND instr(lower(CAST(p.path AS TEXT)), ?)",
        served.published.worktree_id, needle,
    )  # fmt: skip
    for path, oid, blob_id in rows:
        name = path.lower().rpartition(b"/")[2]
        stem = name.rpartition(b".")[0] or name
        exact = needle.encode() in (name, stem)
        yield Candidate(path, oid.hex(), blob_id, 8.0 if exact else 3.0)


def _prefer_definitions(served: Served, query: Query, candidate: Candidate) -> Candidate:
    """A blob that defines what was asked for stands above those that mention it."""
    bonus = 0.0
    for name, _, _, _ in _definitions(served, query, candidate.blob_id):
        bonus = max(bonus, 6.0 if name in query.words else 3.0)
    return candidate._replace(score=candidate.score + bonus)


def _definitions(served: Served, query: Query, blob_id: int) -> list[tuple[str, str, int, int]]:
    """Symbols of a blob whose whole name was asked for, the exact spelling first."""
    asked = dict.fromkeys([*query.words, *query.terms])
    marks = ",".join("?" * len(asked))
    rows = served.database.rows(
        "SELECT n.text, s.kind, s.line, s.end_line FROM symbols s JOIN names n ON n.id=s.name_id"
        f" WHERE s.blob_id=? AND (n.text IN ({marks}) OR lower(n.text) IN ({marks}))"
        " ORDER BY s.line",
        blob_id, *asked, *asked,
    )  # fmt: skip
    return sorted(rows, key=lambda row: (row[0] not in query.words, row[2]))


def _results(served: Served, query: Query, ranked: list[Candidate]) -> Iterator[dict[str, Any]]:
    contents = read_blobs(served.worktree.root, [c.oid for c in ranked])
    for candidate in ranked:
        text = decode_text(contents.get(candidate.oid, b""))
        best, matched = _look(text, query)
        definitions = _definitions(served, query, candidate.blob_id)
        place = definitions[0][2] if definitions else best
        result: dict[str, Any] = {
            "path": safe_text(candidate.path),
            "startLine": place + 1,
            "endLine": (definitions[0][3] if definitions else place) + 1,
        }
        if definitions:
            result |= {"name": definitions[0][0], "kind": definitions[0][1]}
        lines = text.split("\n")[place : place + SNIPPET_LINES]
        yield result | {
            "score": round(candidate.score, 4),
            "snippet": "\n".join(line.rstrip("\r")[:MAX_LINE] for line in lines),
            "matched": [term for term in query.terms if term in matched],
            "source": f"index@{served.published.tree}",
        }


def _look(text: str, query: Query) -> tuple[int, set[str]]:
    """The first line with the most of what was asked, and the terms that are there at all.

    A word as it was asked for counts three times a part of one.
    """
    asked, terms = set(query.words), set(query.terms)
    matched: set[str] = set()
    found: dict[int, set[str]] = {}
    line = at = 0
    for start, word in sorted(_words_with(text, query.terms)):
        line += text.count("\n", at, start)
        at = start
        hits = terms.intersection(terms_of(word))
        matched |= hits
        found.setdefault(line, set()).update(hits, asked & {word})
    scores = {n: len(words & terms) + 2 * len(words & asked) for n, words in found.items()}
    return max(scores, key=lambda n: (scores[n], -n), default=0), matched


def _words_with(text: str, terms: list[str]) -> set[tuple[int, str]]:
    """The words of a text that contain a term, with their places: `find` is what is fast here."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters grow: then only the spelling asked for is seen
        lowered = text
    found: set[tuple[int, str]] = set()
    for term in terms:
        at = lowered.find(term)
        while at != -1 and len(found) < MAX_PLACES:
            match = _WHOLE_WORD.match(text, _word_start(text, at))
            end = match.end() if match else at + len(term)
            if match:
                found.add((match.start(), match.group()))
            at = lowered.find(term, max(end, at + 1))
    return found


def _word_start(text: str, at: int) -> int:
    while at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_"):
        at -= 1
    return at
