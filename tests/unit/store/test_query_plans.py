"""What a refresh asks about a whole mapping begins with the few rows that matter: no scan of all files."""

from __future__ import annotations

from typing import Any

import pytest

from gitindex.store import mapping
from gitindex.store.connection import Database
from gitindex.store.other_databases import open_fresh


class _Explained(Database):
    """Returns nothing, and keeps SQLite's plans."""

    def __init__(self, inner: Database) -> None:
        self._inner = inner
        self.steps: list[str] = []

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        self.steps += [row[3] for row in self._inner.rows(f"EXPLAIN QUERY PLAN {sql}", *values)]
        return []


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (mapping.quarantined, "blobs_quarantined"),
        (mapping.policy_rows, "policy_paths"),
        (mapping.without_blob, "files_absent"),
    ],
)
def test_a_refresh_scans_no_mapping(ask: Any, index: str) -> None:
    """At 66,000 files the plans that SQLite chose by itself cost 77 ms of every commit."""
    inner = open_fresh(":memory:")
    try:
        database = _Explained(inner)
        ask(database, 1)
        assert index in database.steps[0]
        assert not any("PRIMARY KEY (worktree_id=?)" in step for step in database.steps)
    finally:
        inner.close()
