"""Export the index as an SQLite file in the schema of seed 001, for SQL users.

The store packs occurrences and keeps no edges, so a view of it could not show them: this is a copy
of one tree that any SQLite tool opens. It has the syntactic layer only; lines and columns are
1-based, as in editors.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from gitindex.base.errors import GitIndexError
from gitindex.base.vocabulary import Layer
from gitindex.languages.facts import BlobFacts, Symbol, Use, unpack_places
from gitindex.languages.syntax.details import interface_hash, tokens
from gitindex.query.map.file_graph import FileGraph
from gitindex.store.other_databases import open_plain
from gitindex.view.tree import TreeView

if TYPE_CHECKING:
    from sqlite3 import Connection

Files = Iterable[tuple[bytes, str, BlobFacts]]

_SCHEMA = """
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT UNIQUE NOT NULL, language TEXT, content_hash TEXT NOT NULL,
    syntactic_interface_hash TEXT, indexed_at REAL);
CREATE TABLE symbols (
    id INTEGER PRIMARY KEY, file_id INTEGER NOT NULL REFERENCES files(id), context_id INTEGER,
    name TEXT NOT NULL, qualified_name TEXT, kind TEXT NOT NULL, line INTEGER NOT NULL,
    "column" INTEGER, signature TEXT, layer TEXT NOT NULL);
CREATE TABLE occurrences (
    id INTEGER PRIMARY KEY, file_id INTEGER NOT NULL REFERENCES files(id),
    symbol_id INTEGER REFERENCES symbols(id), context_id INTEGER, name TEXT NOT NULL,
    start_line INTEGER, start_col INTEGER, end_line INTEGER, end_col INTEGER, role TEXT,
    layer TEXT NOT NULL);
CREATE TABLE edges (
    id INTEGER PRIMARY KEY, source_file INTEGER NOT NULL REFERENCES files(id),
    target_file INTEGER NOT NULL REFERENCES files(id), dependency_type TEXT NOT NULL,
    context_id INTEGER, layer TEXT NOT NULL);
CREATE TABLE symbol_interface_hashes (
    symbol_id INTEGER PRIMARY KEY REFERENCES symbols(id), interface_hash TEXT NOT NULL);
"""
_INDEXES = """
CREATE INDEX symbols_by_name ON symbols (name);
CREATE INDEX occurrences_by_name ON occurrences (name);
CREATE INDEX edges_by_target ON edges (target_file);
"""
_ROLES = {number: name.lower() for name, number in vars(Use).items() if isinstance(number, int)}
_SYNTACTIC = str(Layer.SYNTACTIC)


def tables(view: TreeView, files: Files) -> bytes:
    """Return the bytes of the database."""
    connection = open_plain(":memory:", _prepare)
    if connection is None:
        raise GitIndexError("SQLite cannot make a database in memory", "run `gitindex doctor`")
    try:
        content = _Content(view, list(files))
        for table, rows in content.rows():
            connection.executemany(
                f"INSERT INTO {table} VALUES ({','.join('?' * len(rows[0]))})", rows
            )
        connection.executescript(_INDEXES)
        return connection.serialize()
    finally:
        connection.close()


def _prepare(connection: Connection) -> None:
    connection.executescript(_SCHEMA)


def symbol_interface_hash(symbol: Symbol) -> str:
    """Return a digest of what other files see of one exported definition."""
    return interface_hash([f"{symbol.kind} {symbol.qualified} {tokens(symbol.signature)}"])


class _Content:
    """The rows of every table, numbered in the order of paths."""

    def __init__(self, view: TreeView, files: list[tuple[bytes, str, BlobFacts]]) -> None:
        self._view = view
        self._files = files
        self._ids = {os.fsdecode(path): at for at, (path, _, _) in enumerate(files, 1)}

    def rows(self) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
        """Yield each table that is not empty, with its rows."""
        now = time.time()
        files = [
            (at, _text(path), facts.language, oid, facts.interface_hash or None, now)
            for at, (path, oid, facts) in enumerate(self._files, 1)
        ]
        symbols: list[tuple[Any, ...]] = []
        occurrences: list[tuple[Any, ...]] = []
        hashes: list[tuple[Any, ...]] = []
        for at, (_, _, facts) in enumerate(self._files, 1):
            first = len(symbols) + 1
            symbols += [_symbol_row(first + i, at, s) for i, s in enumerate(facts.symbols)]
            hashes += [
                (first + i, symbol_interface_hash(s))
                for i, s in enumerate(facts.symbols)
                if s.exported
            ]
            numbers = {(s.line, s.column): first + i for i, s in enumerate(facts.symbols)}
            occurrences += _occurrence_rows(len(occurrences) + 1, at, facts, numbers)
        found = {
            "files": files,
            "symbols": symbols,
            "occurrences": occurrences,
            "edges": list(self._edges()),
            "symbol_interface_hashes": hashes,
        }
        return ((table, rows) for table, rows in found.items() if rows)

    def _edges(self) -> Iterator[tuple[Any, ...]]:
        pairs = ((a, b) for a, reached in FileGraph(self._view).imports.items() for b in reached)
        known = ((a, b) for a, b in pairs if {a, b} <= self._ids.keys())
        for number, (path, target) in enumerate(known, 1):
            yield number, self._ids[path], self._ids[target], "import", None, _SYNTACTIC


def _symbol_row(number: int, file: int, symbol: Symbol) -> tuple[Any, ...]:
    place = (symbol.line + 1, symbol.column + 1)
    name = (symbol.name, symbol.qualified, symbol.kind)
    return (number, file, None, *name, *place, symbol.signature, _SYNTACTIC)


def _occurrence_rows(
    first: int, file: int, facts: BlobFacts, numbers: dict[tuple[int, int], int]
) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for name, packed in facts.postings.items():
        width = len(name.encode())
        for found in unpack_places(name, packed):
            line, column, role = found.line + 1, found.column + 1, _ROLES[found.use]
            symbol = (
                numbers.get((found.line, found.column)) if found.use == Use.DEFINITION else None
            )
            place = (line, column, line, column + width)
            rows.append((first + len(rows), file, symbol, None, name, *place, role, _SYNTACTIC))
    return rows


def _text(path: bytes) -> str:
    return path.decode("utf-8", "backslashreplace")
