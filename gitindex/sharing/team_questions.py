"""Queries to the team's index. The clone's own repository is always answered locally."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.pattern import compile_later
from gitindex.base.worktree import Worktree
from gitindex.extract.fragments import parse, spellings
from gitindex.languages.facts import BlobFacts, decode_facts, unpack_places
from gitindex.languages.table import BY_NAME
from gitindex.query.grep.pattern import GrepPattern, understand
from gitindex.query.search.query_text import parse_query
from gitindex.sharing.membership import read_membership
from gitindex.sharing.packages import may_come_from
from gitindex.sharing.server import Server, Unavailable, address, connected

CANDIDATES = 200
"""Documents of one question that are decoded here: a few ms each, within the 2 s of a question."""
MAX_NAMES = 20
"""Maximum number of names of one question sent to the team's index."""

MAX_CLAUSES = 4
"""The server's index is asked for no more parts of one pattern."""
MAX_SPELLINGS = 8
"""Of one part, which are looked up one by one: a part with more narrows little."""
MAX_LINE = 200
"""Characters of a matching line that are shown: minified files have lines of a megabyte."""
_PART = compile_later(r"[A-Za-z0-9]{3}")
_EDGES = compile_later(r"^[^\w]+|[^\w]+$")
_ASCII = compile_later(r"[ -~]+")
_SCOPED_CASE = compile_later(r"\(\?[a-z]*i")
_LIKE = compile_later(r"[\\%_]")
_REPO = compile_later(r"(?<!\S)repo:(\S+)")


class Hits(list[dict[str, Any]]):
    """Hits of a question; `cut` where the server had more candidates than are read here."""

    cut = False


Ask = Callable[[Server, Any, int], list[dict[str, Any]]]


def add_team(
    worktree: Worktree, answer: dict[str, Any], kind: str, words: Iterable[Any], limit: int
) -> dict[str, Any]:
    """Add the hits of other repositories to a local answer; status `unavailable` if it cannot."""
    found: list[dict[str, Any]] = []
    cut = False
    try:
        with connected(address(worktree)) as server:
            store = server.rows("SELECT store_id FROM gi_probe()")[0][0]
            for word in list(dict.fromkeys(words))[:MAX_NAMES]:
                if kind in ("definitions", "references"):
                    word = word.rpartition("#")[2].rpartition(".")[2]
                hits = QUESTIONS[kind](server, word, limit)
                found += hits
                cut = cut or (isinstance(hits, Hits) and hits.cut)
    except Unavailable as away:
        return answer | {"status": away.status, "reason": away.why, "message": away.message}
    own = read_membership(worktree)
    others = [hit for hit in found if own is None or hit["repo"] != own.name]
    team = {"storeId": str(store), "hits": others[:limit], "truncated": cut or len(others) > limit}
    return answer | {"team": team}


def definitions(server: Server, name: str, limit: int) -> list[dict[str, Any]]:
    """Return definitions of a name, or else of names that contain it."""
    rows = server.rows("SELECT * FROM gi_definitions(%s, %s)", name, limit)
    rows = rows or server.rows("SELECT * FROM gi_like(%s, %s)", name, limit)
    return [_hit(row) for row in rows]


def search(server: Server, text: str, limit: int) -> list[dict[str, Any]]:
    """Return documents with all words of a query; `repo:`, `lang:`, `path:`, `kind:` filter them."""
    query = parse_query(_REPO.sub(" ", text))
    quoted = {word for phrase in query.phrases for word in phrase.split()}
    words = [word.text for word in query.words if word.text.lower() not in quoted]
    words = [word for word in [*query.phrases, *words] if len(word) > 1][:16]
    if not words:
        return []
    extensions = [BY_NAME[name].extensions.replace(" ", "|") for name in query.filters.languages]
    filters = {
        "repo": next(iter(_REPO.findall(text)), ""),
        "lang": "|".join(extensions),
        "path": next(iter(query.filters.paths), ""),
        "kind": next(iter(query.filters.kinds), ""),
    }
    given = json.dumps({name: value for name, value in filters.items() if value})
    rows = server.rows("SELECT * FROM gi_search(%s, %s, %s::jsonb)", words, limit, given)
    return [_hit(row) for row in rows]


def references(server: Server, name: str, limit: int) -> list[dict[str, Any]]:
    """Return places of a name in other repositories; decodes the facts of up to 200 candidates
    here.

    The server's tier `package` means that a file imports a package which defines the name; it is
    kept if the file's own facts agree that the name comes from there.
    """
    rows = server.rows("SELECT * FROM gi_references(%s, %s)", name, CANDIDATES)
    documents = [row[-1] for row in rows]
    facts = _facts(server, documents)
    named = server.rows("SELECT gi_packages_of(%s, %s)", name, documents)
    packages = {package for (package,) in named}
    hits = Hits()
    hits.cut = len(rows) >= CANDIDATES
    for row in rows:
        blob = facts.get(row[-1])
        if blob is None or name not in blob.postings:
            continue
        hit = _hit(row)
        if hit["tier"] == "package" and not may_come_from(blob, name, packages):
            hit["tier"] = "name"
        lines = {place.line + 1 for place in unpack_places(name, blob.postings[name])}
        hits += [hit | {"line": line} for line in sorted(lines)]
    hits.sort(key=lambda hit: hit["tier"] == "name")
    del hits[limit + 1 :]
    return hits


def grep(server: Server, text: str | GrepPattern, limit: int) -> list[dict[str, Any]]:
    """Return lines of other repositories that match a pattern, compared here with the pattern itself.

    The server narrows by parts that a match needs; a pattern without one is refused.
    """
    pattern = text if isinstance(text, GrepPattern) else GrepPattern(text)
    any_case = understand(pattern).any_case or bool(_SCOPED_CASE.search(pattern.expression))
    needed = _needed(pattern, any_case)
    if not needed:
        raise GitIndexError(
            "the pattern has no part of three letters that every match contains",
            "make it longer",
            Exit.USAGE,
        )
    compiled = pattern.compiled()
    hits = Hits()
    given = json.dumps(needed), any_case, CANDIDATES
    rows = server.rows("SELECT * FROM gi_texts(%s::jsonb, %s, %s)", *given)
    hits.cut = len(rows) >= CANDIDATES
    for row in rows:
        repo, ref, commit, path, writer, at, first, content = row
        hit = _hit((repo, ref, commit, path, 1, "line", "", "", False, "text", writer, at, 0))
        lines = enumerate(content.split("\n"), first)
        found = [(number, line) for number, line in lines if compiled.search(line)]
        hits += [hit | {"line": n, "text": safe_text(line[:MAX_LINE])} for n, line in found]
        if len(hits) > limit:
            break
    return hits


def _needed(pattern: GrepPattern, any_case: bool) -> list[list[str]]:
    """Return what every match contains, one of each list: patterns of LIKE, or a regular expression.

    LIKE compares twice as fast, but heeds case.
    """
    if pattern.invert:
        return []
    groups = []
    for group in spellings(parse(pattern.expression, pattern.flags)):
        words = sorted({_looked_up(text, any_case) for text in group})
        if all(map(_is_indexed, words)) and len(words) <= MAX_SPELLINGS:
            groups.append(words)
    groups.sort(key=lambda words: (len(words), -min(map(len, words))))
    chosen = groups[:MAX_CLAUSES]
    if any_case:
        return [["|".join(map(re.escape, words))] for words in chosen]
    return [["%" + _LIKE.sub(r"\\\g<0>", word) + "%" for word in words] for words in chosen]


def _looked_up(text: str, any_case: bool) -> str:
    """Return the part that is looked up: other letters have other cases here and on the server."""
    return _EDGES.sub("", max(_ASCII.findall(text), key=len, default="") if any_case else text)


def _is_indexed(word: str) -> bool:
    """Has the server's index parts of it, and can the server be asked for it at all?"""
    return bool(_PART.search(word)) and word.isprintable()


def _facts(server: Server, documents: list[int]) -> dict[int, BlobFacts]:
    rows = server.rows("SELECT doc_id, payload FROM gi_facts(%s)", documents)
    read = {document: decode_facts(bytes(payload)) for document, payload in rows}
    return {document: facts for document, facts in read.items() if facts is not None}


def _hit(row: tuple[Any, ...]) -> dict[str, Any]:
    repo, ref, commit, path, line, kind, name, qualified, exported, tier, writer, at, _ = row
    return {
        "repo": safe_text(repo),
        "ref": safe_text(ref),
        "commit": commit,
        "path": safe_text(path),
        "line": line,
        "kind": safe_text(kind),
        "name": safe_text(name),
        "qualifiedName": safe_text(qualified),
        "exported": exported,
        "tier": tier,
        "trust": {"writer": safe_text(writer)},
        "indexedAt": at.isoformat() if at else None,
    }


QUESTIONS: dict[str, Ask] = {
    "grep": grep,
    "definitions": definitions,
    "references": references,
    "search": search,
}
"""Queries by the name that commands and tools use."""
