"""Questions to the team's index. One's own repository is always answered locally."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gitindex.base.escape import safe_text
from gitindex.base.worktree import Worktree
from gitindex.languages.facts import FactsKey, decode_facts
from gitindex.languages.postings import unpack_places
from gitindex.sharing.membership import read_membership
from gitindex.sharing.server import Server, Unavailable, address, connected

CANDIDATES = 200
MAX_NAMES = 20
"""Names of one question that are asked of the team."""

Ask = Callable[[Server, str, int], list[dict[str, Any]]]


def add_team(
    worktree: Worktree, answer: dict[str, Any], kind: str, words: Iterable[str], limit: int
) -> dict[str, Any]:
    """A local answer with what other repositories have; status `unavailable` where nobody can say."""
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
    """Definitions of a name, or of names it is a part of."""
    rows = server.rows("SELECT * FROM gi_definitions(%s, %s)", name, limit)
    rows = rows or server.rows("SELECT * FROM gi_like(%s, %s)", name, limit)
    return [_hit(row) for row in rows]


def search(server: Server, text: str, limit: int) -> list[dict[str, Any]]:
    """Documents with all words of a query."""
    words = [word for word in text.split() if len(word) > 1][:16]
    rows = server.rows("SELECT * FROM gi_search(%s, %s)", words, limit) if words else []
    return [_hit(row) for row in rows]


def references(server: Server, name: str, limit: int) -> list[dict[str, Any]]:
    """Places of a name in other repositories: the facts of up to 200 candidates are read here."""
    rows = server.rows("SELECT * FROM gi_references(%s, %s)", name, CANDIDATES)
    keys = {FactsKey(bytes(row[12]).hex(), row[13]) for row in rows}
    places = _places(server, sorted(keys), name)
    hits = []
    for row in rows:
        for line in places.get(FactsKey(bytes(row[12]).hex(), row[13]), []):
            hits.append(_hit(row) | {"line": line})
            if len(hits) > limit:
                return hits
    return hits


def _places(server: Server, keys: list[FactsKey], name: str) -> dict[FactsKey, list[int]]:
    rows = server.rows(
        "SELECT oid, extractor, payload FROM gi_facts(%s, %s)",
        [bytes.fromhex(key.oid) for key in keys],
        [key.extractor for key in keys],
    )
    found: dict[FactsKey, list[int]] = {}
    for oid, extractor, payload in rows:
        facts = decode_facts(bytes(payload))
        if facts is not None and name in facts.postings:
            lines = [place.line + 1 for place in unpack_places(name, facts.postings[name])]
            found[FactsKey(bytes(oid).hex(), extractor)] = sorted(set(lines))
    return found


def _hit(row: tuple[Any, ...]) -> dict[str, Any]:
    repo, ref, commit, path, line, kind, name, qualified, exported, tier, writer, at, *_ = row
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
"""By the name that commands and tools use."""
