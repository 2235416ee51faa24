"""Queries to the team's index. The clone's own repository is always answered locally."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gitindex.base.escape import safe_text
from gitindex.base.worktree import Worktree
from gitindex.languages.facts import BlobFacts, decode_facts
from gitindex.languages.postings import unpack_places
from gitindex.sharing.membership import read_membership
from gitindex.sharing.packages import may_come_from
from gitindex.sharing.server import Server, Unavailable, address, connected

CANDIDATES = 200
MAX_NAMES = 20
"""Maximum number of names of one question sent to the team's index."""

Ask = Callable[[Server, str, int], list[dict[str, Any]]]


def add_team(
    worktree: Worktree, answer: dict[str, Any], kind: str, words: Iterable[str], limit: int
) -> dict[str, Any]:
    """Add the hits of other repositories to a local answer; status `unavailable` if it cannot."""
    found: list[dict[str, Any]] = []
    try:
        with connected(address(worktree)) as server:
            store = server.rows("SELECT store_id FROM gi_probe()")[0][0]
            for word in list(dict.fromkeys(words))[:MAX_NAMES]:
                found += QUESTIONS[kind](server, word, limit)
    except Unavailable as away:
        return answer | {"status": away.status, "reason": away.why, "message": away.message}
    own = read_membership(worktree)
    others = [hit for hit in found if own is None or hit["repo"] != own.name]
    team = {"storeId": str(store), "hits": others[:limit], "truncated": len(others) > limit}
    return answer | {"team": team}


def definitions(server: Server, name: str, limit: int) -> list[dict[str, Any]]:
    """Return definitions of a name, or else of names that contain it."""
    rows = server.rows("SELECT * FROM gi_definitions(%s, %s)", name, limit)
    rows = rows or server.rows("SELECT * FROM gi_like(%s, %s)", name, limit)
    return [_hit(row) for row in rows]


def search(server: Server, text: str, limit: int) -> list[dict[str, Any]]:
    """Return documents with all words of a query."""
    words = [word for word in text.split() if len(word) > 1][:16]
    rows = server.rows("SELECT * FROM gi_search(%s, %s)", words, limit) if words else []
    return [_hit(row) for row in rows]


def references(server: Server, name: str, limit: int) -> list[dict[str, Any]]:
    """Return places of a name in other repositories; decodes the facts of up to 200 candidates
    here.

    The server's tier `package` means that a file imports a package which defines the name; it is
    kept if the file's own facts agree that the name comes from there.
    """
    rows = server.rows("SELECT * FROM gi_references(%s, %s)", name, CANDIDATES)
    facts = _facts(server, [row[-1] for row in rows])
    packages = {package for (package,) in server.rows("SELECT gi_packages_of(%s)", name)}
    hits = []
    for row in rows:
        held = facts.get(row[-1])
        if held is None or name not in held.postings:
            continue
        hit = _hit(row)
        if hit["tier"] == "package" and not may_come_from(held, name, packages):
            hit["tier"] = "name"
        lines = {place.line + 1 for place in unpack_places(name, held.postings[name])}
        hits += [hit | {"line": line} for line in sorted(lines)]
    hits.sort(key=lambda hit: hit["tier"] == "name")
    return hits[: limit + 1]


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
    "definitions": definitions,
    "references": references,
    "search": search,
}
"""Queries by the name that commands and tools use."""
