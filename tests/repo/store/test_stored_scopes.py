"""Scopes are facts: derived once with the others; a row that is lost is derived again for the answer."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from gitindex.extract.pool import Extractor
from gitindex.query.names.memory import Memory
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.store.connection import leave_log
from gitindex.view.tree import open_tree
from tests.support import Repo, accept_changes

FILES = {
    "a.py": "class Base:\n    def asked(self): pass\n",
    "b.py": "from a import Base\nclass Own(Base): pass\nOwn().asked()\n",
    "c.py": "def other(asked):\n    asked()\n",
    "d.js": "class One { asked() {} }\nnew One().asked();\n",
}
DAMAGE = {
    "lost": "DELETE FROM scopes",
    "cut": "UPDATE scopes SET packed=substr(packed, 1, length(packed)-3)",
    "longer": "UPDATE scopes SET packed=CAST(packed || 'x' AS BLOB)",
    "of another file": "UPDATE scopes SET packed=x'789c030000000001'",
    "other text": "UPDATE scopes SET packed=CAST('scopes' AS BLOB)",
}


def _answer(repo: Repo, workers: Extractor) -> list[Any]:
    with open_tree(repo.worktree, str(repo.path)) as view:
        told = find_references(view, ReferenceQuery("asked"), Memory(workers=workers))
    rows = [(row["path"], row["line"], row["tier"]) for row in told["references"]]
    return [sorted(rows), told["complete"]]


def _started(workers: Extractor) -> bool:
    return any(child._process is not None for child in workers._children)


@pytest.fixture
def named(repo: Repo) -> Repo:
    for path, text in FILES.items():
        repo.write(path, text)
    repo.commit()
    repo.index()
    return repo


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_row_changes_no_answer(named: Repo, damage: str) -> None:
    workers = Extractor()
    try:
        wanted = _answer(named, workers)
        assert len(wanted[0]) >= 2
        path = named.worktree.database
        with closing(sqlite3.connect(path)) as connection:
            changed = connection.execute(DAMAGE[damage]).rowcount
            connection.commit()
        leave_log(path)
        accept_changes(named.worktree.store)
        assert changed == len(FILES)
        assert _answer(named, workers) == wanted
        assert _started(workers), "it was derived again"
    finally:
        workers.close()


def test_every_parsed_blob_has_its_scopes(named: Repo) -> None:
    named.write("notes.txt", "asked\n")
    named.write("broken.py", "def asked(:\n  asked(\n")
    named.commit()
    named.index()
    with closing(sqlite3.connect(named.worktree.database)) as connection:
        rows = connection.execute(
            "SELECT language, count(*), count(packed) FROM blobs LEFT JOIN scopes ON blob_id=id GROUP BY 1"
        ).fetchall()
    assert rows == [("javascript", 1, 1), ("python", 4, 4), ("text", 1, 0)]


def test_scopes_of_an_edit_come_with_its_facts(named: Repo) -> None:
    """One parse serves both: the answer about edited files asks no worker for scopes."""
    edited = FILES["b.py"] + "def one(asked):\n    asked()\n"
    named.write("b.py", edited)
    with open_tree(named.worktree, str(named.path)) as view:
        view.ensure_facts()
        sql = "SELECT count(*) FROM {live} l JOIN {scopes} c ON c.blob_id=l.blob_id WHERE l.path=?"
        assert sum(count for (count,) in view.rows(sql, b"b.py")) == 1
    workers = Extractor()
    try:
        before = _answer(named, workers)
        named.commit()
        named.index()
        assert _answer(named, workers) == before
    finally:
        workers.close()


def test_scopes_of_a_removed_blob_are_removed(named: Repo) -> None:
    named.write("a.py", "changed = 1\n")
    named.commit()
    named.index()
    with closing(sqlite3.connect(named.worktree.database)) as connection:
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("DELETE FROM files")
        connection.execute("DELETE FROM blobs")
        assert connection.execute("SELECT count(*) FROM scopes").fetchone() == (0,)
