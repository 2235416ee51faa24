"""The table of decisions: rows are added once, never changed, and removed by hand."""

from __future__ import annotations

import json
import time
from typing import Any, NamedTuple

from gitindex.store.connection import Database

_COLUMNS = "id, ambiguity_signature, repo_head, file_hashes, decision, proof_payload, created_at"


class Decision(NamedTuple):
    """One stored decision."""

    id: int
    signature: str
    repo_head: str
    file_hashes: dict[str, str]
    selected: list[str]
    proof: dict[str, Any]
    created_at: float


def add(
    database: Database,
    signature: str,
    head: str,
    file_hashes: dict[str, str],
    selected: list[str],
    proof: dict[str, Any],
) -> int | None:
    """Store a decision and return its id; None if the same question is answered already."""
    hashes = json.dumps(file_hashes, sort_keys=True)
    with database.write():
        row = database.row(
            "SELECT 1 FROM decision_cache WHERE ambiguity_signature=? AND file_hashes=?",
            signature,
            hashes,
        )
        if row:
            return None
        return database.insert(
            "INSERT INTO decision_cache (ambiguity_signature, repo_head, file_hashes, decision,"
            " proof_payload, created_at) VALUES (?,?,?,?,?,?)",
            signature,
            head,
            hashes,
            json.dumps(selected),
            json.dumps(proof),
            time.time(),
        )


def dump(database: Database) -> list[tuple[Any, ...]]:
    """Return all rows, to carry over into a rebuilt store: decisions cannot be derived."""
    return [tuple(row) for row in database.rows(f"SELECT {_COLUMNS} FROM decision_cache")]


def load(database: Database, rows: list[tuple[Any, ...]]) -> None:
    """Insert rows from `dump`."""
    with database.write():
        database.run_many(f"INSERT INTO decision_cache ({_COLUMNS}) VALUES (?,?,?,?,?,?,?)", rows)


def forget(database: Database, decision_id: int) -> bool:
    """Delete a decision; False if there is none."""
    with database.write():
        return database.run("DELETE FROM decision_cache WHERE id=?", decision_id) > 0


def of_signature(database: Database, signature: str) -> list[Decision]:
    """Return decisions about one question, newest first."""
    return _read(database, "WHERE ambiguity_signature=? ORDER BY id DESC", signature)


def newest(database: Database, limit: int) -> list[Decision]:
    """Return the newest decisions."""
    return _read(database, "ORDER BY id DESC LIMIT ?", limit)


def by_id(database: Database, decision_id: int) -> Decision | None:
    """Return one decision by id."""
    decisions = _read(database, "WHERE id=?", decision_id)
    return decisions[0] if decisions else None


def _read(database: Database, where: str, *values: str | int) -> list[Decision]:
    rows = database.rows(f"SELECT {_COLUMNS} FROM decision_cache {where}", *values)
    return [
        Decision(i, sign, head, json.loads(hashes), json.loads(chosen), json.loads(proof), at)
        for i, sign, head, hashes, chosen, proof, at in rows
    ]
