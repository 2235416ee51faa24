"""The history layer's own database: facts of every blob of the first-parent history, and its life
span.

Opt-in and derived: `history.db` beside the store, made by `gitindex history index`, never needed
for fresh. A blob is live at a path from one commit of the history up to another; commits are
numbered from the oldest.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from gitindex.base.worktree import Worktree
from gitindex.languages.facts import FactsKey
from gitindex.store.connection import Database
from gitindex.store.other_databases import open_other

FORMAT = 1
NOW = 1 << 40
"""The `last` commit of a span that is still live."""
_SCHEMA = (
    "CREATE TABLE commits (number INTEGER PRIMARY KEY, oid BLOB NOT NULL, tree TEXT NOT NULL,"
    " at INTEGER NOT NULL, subject TEXT NOT NULL)",
    "CREATE TABLE names (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)",
    "CREATE TABLE blobs (id INTEGER PRIMARY KEY, oid BLOB NOT NULL, extractor TEXT NOT NULL,"
    " UNIQUE (oid, extractor))",
    # Definitions; the digest is of their text.
    "CREATE TABLE symbols (blob_id INTEGER NOT NULL, name_id INTEGER NOT NULL,"
    " qualified_id INTEGER NOT NULL, kind TEXT NOT NULL, digest INTEGER NOT NULL)",
    "CREATE TABLE calls (blob_id INTEGER NOT NULL, caller_id INTEGER NOT NULL,"
    " qualified_id INTEGER NOT NULL, callee_id INTEGER NOT NULL)",
    "CREATE TABLE spans (path BLOB NOT NULL, blob_id INTEGER NOT NULL, first INTEGER NOT NULL,"
    " last INTEGER NOT NULL, PRIMARY KEY (path, first)) WITHOUT ROWID",
    "CREATE INDEX symbols_by_name ON symbols (name_id)",
    "CREATE INDEX calls_by_callee ON calls (callee_id, caller_id)",
    "CREATE INDEX calls_by_caller ON calls (caller_id)",
    "CREATE INDEX spans_by_blob ON spans (blob_id)",
    "CREATE UNIQUE INDEX commits_by_id ON commits (oid)",
    f"PRAGMA user_version={FORMAT}",
)


class HistoryCommit(NamedTuple):
    """One commit of the first-parent history."""

    number: int
    oid: str
    tree: str
    at: int  # seconds since 1970, of the committer
    subject: str


class BlobHistory(NamedTuple):
    """What is stored of one blob: its definitions, and the names that each calls."""

    key: FactsKey
    symbols: list[tuple[str, str, str, int]]  # name, qualified name, kind, digest of the text
    calls: set[tuple[str, str, str]]  # name and qualified name of the caller, name that it calls


def history_file(worktree: Worktree) -> str:
    """Return the path of a repository's history database."""
    return os.path.join(worktree.store, "history.db")


class HistoryDatabase:
    """Reads and writes the layer. A writer holds the history lock."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._names: dict[str, int] = {}

    @classmethod
    def create(cls, worktree: Worktree) -> HistoryDatabase:
        """Open the layer for writing; recreates one of another format."""
        path = history_file(worktree)
        database = open_other(path)
        if database.rows("PRAGMA user_version") != [(FORMAT,)]:
            database.close()
            for name in (path, f"{path}-journal"):
                if os.path.exists(name):
                    os.unlink(name)
            database = open_other(path)
            with database.write():
                for statement in _SCHEMA:
                    database.rows(statement)
        return cls(database)

    @classmethod
    def read(cls, worktree: Worktree) -> HistoryDatabase | None:
        """Open the layer for reading; None if there is none of this format."""
        path = history_file(worktree)
        if not os.path.exists(path):
            return None
        database = open_other(path, writes=False)
        if database.rows("PRAGMA user_version") != [(FORMAT,)]:
            database.close()
            return None
        return cls(database)

    def close(self) -> None:
        self._db.close()

    def commits(self) -> list[HistoryCommit]:
        """Return all stored commits, oldest first."""
        rows = self._db.rows("SELECT number, oid, tree, at, subject FROM commits ORDER BY number")
        return [HistoryCommit(n, oid.hex(), *rest) for n, oid, *rest in rows]

    def newest(self) -> HistoryCommit | None:
        rows = self._db.rows(
            "SELECT number, oid, tree, at, subject FROM commits ORDER BY number DESC LIMIT 1"
        )
        return HistoryCommit(rows[0][0], rows[0][1].hex(), *rows[0][2:]) if rows else None

    def number_of(self, oid: str) -> int | None:
        """Return the number of a commit; None if it is not stored."""
        rows = self._db.rows("SELECT number FROM commits WHERE oid=?", bytes.fromhex(oid))
        return int(rows[0][0]) if rows else None

    def counts(self) -> dict[str, int]:
        """Return the row counts that `history status` shows."""
        tables = ("commits", "blobs", "symbols", "calls")
        return {table: self._db.rows(f"SELECT count(*) FROM {table}")[0][0] for table in tables}

    def cut(self, number: int) -> None:
        """Remove every commit after this one: the history was rewritten."""
        with self._db.write():
            self._db.rows("DELETE FROM spans WHERE first > ?", number)
            self._db.rows("UPDATE spans SET last=? WHERE last >= ?", NOW, number)
            self._db.rows("DELETE FROM commits WHERE number > ?", number)

    def stored_blobs(self) -> dict[FactsKey, int]:
        rows = self._db.rows("SELECT oid, extractor, id FROM blobs")
        return {FactsKey(oid.hex(), extractor): number for oid, extractor, number in rows}

    def add_blobs(self, blobs: Iterable[BlobHistory]) -> dict[FactsKey, int]:
        """Store the facts of some blobs; returns their numbers."""
        added: dict[FactsKey, int] = {}
        with self._db.write():
            for blob in blobs:
                number = self._insert("blobs (oid, extractor)", _raw(blob.key), blob.key.extractor)
                added[blob.key] = number
                name = self._name_id
                self._db.run_many(
                    "INSERT INTO symbols VALUES (?,?,?,?,?)",
                    [
                        (number, name(n), name(q), kind, digest)
                        for n, q, kind, digest in blob.symbols
                    ],
                )
                self._db.run_many(
                    "INSERT INTO calls VALUES (?,?,?,?)",
                    [(number, *map(name, call)) for call in sorted(blob.calls)],
                )
        return added

    def add_commit(self, commit: HistoryCommit, changed: dict[bytes, int | None]) -> None:
        """Store one commit: for every changed path its new blob, None if it was removed."""
        number = commit.number
        self._db.run_many(
            "UPDATE spans SET last=? WHERE path=? AND last=?",
            [(number - 1, path, NOW) for path in changed],
        )
        self._db.run_many(
            "INSERT INTO spans VALUES (?,?,?,?)",
            [(path, blob, number, NOW) for path, blob in changed.items() if blob is not None],
        )
        self._insert(
            "commits (number, oid, tree, at, subject)",
            number,
            bytes.fromhex(commit.oid),
            *commit[2:],
        )

    def transaction(self) -> Any:
        return self._db.write()

    def definitions(self, name: str) -> list[tuple[bytes, int, int, str, str, int]]:
        """Return path, first and last commit, qualified name, kind, digest of each definition."""
        return self._db.rows(
            "SELECT sp.path, sp.first, sp.last, q.text, s.kind, s.digest FROM names n"
            " JOIN symbols s ON s.name_id = n.id JOIN names q ON q.id = s.qualified_id"
            " JOIN spans sp ON sp.blob_id = s.blob_id WHERE n.text=? ORDER BY sp.path, sp.first",
            _last_part(name),
        )

    def callers(self, callee: str, caller: str = "") -> list[tuple[bytes, int, int, str]]:
        """Return path, first and last commit and qualified name of callers, or of `caller` only."""
        only = " AND c.caller_id = (SELECT id FROM names WHERE text=?)" if caller else ""
        values = (_last_part(callee), *([_last_part(caller)] if caller else ()))
        return self._db.rows(
            "SELECT sp.path, sp.first, sp.last, q.text FROM calls c"
            " JOIN names q ON q.id = c.qualified_id JOIN spans sp ON sp.blob_id = c.blob_id"
            f" WHERE c.callee_id = (SELECT id FROM names WHERE text=?){only}"
            " ORDER BY sp.path, sp.first",
            *values,
        )

    def commit(self, number: int) -> HistoryCommit:
        rows = self._db.rows(
            "SELECT number, oid, tree, at, subject FROM commits WHERE number=?", number
        )
        return HistoryCommit(rows[0][0], rows[0][1].hex(), *rows[0][2:])

    def _name_id(self, text: str) -> int:
        number = self._names.get(text)
        if number is None:
            rows = self._db.rows("SELECT id FROM names WHERE text=?", text)
            number = self._names[text] = rows[0][0] if rows else self._insert("names (text)", text)
        return number

    def _insert(self, into: str, *values: object) -> int:
        marks = ",".join("?" * len(values))
        return self._db.insert(f"INSERT INTO {into} VALUES ({marks})", *values)


def _raw(key: FactsKey) -> bytes:
    return bytes.fromhex(key.oid)


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]
