"""Writes the semantic layer: contexts and facts of files. Writing the same facts changes no row."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import NamedTuple

from gitindex.base.digest import sha256
from gitindex.languages.facts import Use
from gitindex.languages.facts import unpack_places as unpack_names
from gitindex.store.blob_names import split_places
from gitindex.store.blobs import CHUNK
from gitindex.store.connection import Database, marks
from gitindex.store.places import Dependency, FileFacts

SymbolRow = tuple[int, int, str, int, int, int]


class FactsOrigin(NamedTuple):
    """Where facts come from."""

    context_id: int
    config_hash: str
    tool_version: str


class PublishedFile(NamedTuple):
    """The published file at a path, as the syntactic layer knows it."""

    oid: str
    blob_id: int | None


def context_row(database: Database, name: str, family: str, root: bytes) -> int:
    """Return the id of a context; creates it if needed."""
    with database.joined():
        database.run(
            "INSERT INTO contexts (name, language, root, tool_version) VALUES (?,?,?,'')"
            " ON CONFLICT DO NOTHING",
            name,
            family,
            root,
        )
        return int(database.row("SELECT id FROM contexts WHERE name=?", name)[0])


def context_name(database: Database, context_id: int) -> str:
    """Return the name of a context by id."""
    return str(database.row("SELECT name FROM contexts WHERE id=?", context_id)[0])


def switch_context(database: Database, context_id: int, enabled: bool) -> None:
    """Enable or disable a context: the use of its facts, and runs of its indexers."""
    with database.joined():
        database.run("UPDATE contexts SET enabled=? WHERE id=?", int(enabled), context_id)


def known_tool(database: Database, name: str) -> str:
    """Return the version of a context's tool that ran last; '' if none did."""
    row = database.row("SELECT tool_version FROM contexts WHERE name=?", name)
    return str(row[0]) if row else ""


def note_tool(database: Database, context_id: int, version: str) -> None:
    """Record the version of a context's tool that ran last."""
    with database.joined():
        database.run(
            "UPDATE contexts SET tool_version=? WHERE id=? AND tool_version<>?",
            version,
            context_id,
            version,
        )


def known_documents(database: Database, origin: FactsOrigin) -> set[bytes]:
    """Return paths in imports of the same context, configuration and tool."""
    rows = database.rows(
        "SELECT DISTINCT p.path FROM file_semantic_facts f JOIN paths p ON p.id=f.path_id"
        " WHERE f.context_id=? AND f.config_hash=? AND f.tool_version=?",
        *origin,
    )
    return {path for (path,) in rows}


def published_files(database: Database, worktree_id: int) -> dict[bytes, PublishedFile]:
    """Return the published mapping of a worktree."""
    rows = database.rows(
        "SELECT p.path, f.oid, f.blob_id FROM files f JOIN paths p ON p.id=f.path_id"
        " WHERE f.worktree_id=?",
        worktree_id,
    )
    return {path: PublishedFile(oid.hex(), blob_id) for path, oid, blob_id in rows}


def syntactic_uses(database: Database, blob_id: int) -> dict[tuple[int, int], int]:
    """Return the syntactic uses in a blob by line and column, without plain references."""
    rows = database.rows("SELECT names, places FROM occurrences WHERE blob_id=?", blob_id)
    return {
        (place.line, place.column): place.use
        for columns in rows
        for _, packed in split_places(*columns)
        for place in unpack_names("", packed)
        if place.use != Use.REFERENCE
    }


def imported_names(database: Database, blob_id: int) -> list[tuple[str, str]]:
    """Return the names that the imports of a blob bind: the name there and the name here."""
    rows = database.rows("SELECT names FROM imports WHERE blob_id=?", blob_id)
    return [(there, here) for (names,) in rows for there, here in json.loads(names)]


def syntactic_symbols(database: Database, blob_id: int) -> list[SymbolRow]:
    """Return line, column, kind, first and last line, and exported, of a blob's definitions."""
    return database.rows(
        'SELECT line, "column", kind, start_line, end_line, exported FROM symbols WHERE blob_id=?',
        blob_id,
    )


class SemanticWriter:
    """Stores facts. The caller holds the write transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._ids: dict[str, int] = {}

    def save(
        self,
        origin: FactsOrigin,
        path: bytes,
        oid: str,
        facts: FileFacts,
        edges: Iterable[Dependency],
    ) -> bool:
        """Store the facts of a path's bytes, replacing older ones. False if nothing changed."""
        wanted = sorted(edges)
        digest = _digest(origin, facts, wanted)
        raw = bytes.fromhex(oid)
        path_id = self._db.row("SELECT id FROM paths WHERE path=?", path)[0]
        held = self._db.rows(
            "SELECT context_id, digest FROM file_semantic_facts WHERE path_id=? AND oid=?",
            path_id,
            raw,
        )
        if held == [(origin.context_id, digest)]:
            return False
        self._db.run("DELETE FROM file_semantic_facts WHERE path_id=? AND oid=?", path_id, raw)
        facts_id = self._db.insert(
            "INSERT INTO file_semantic_facts (path_id, context_id, oid, semantic_interface_hash,"
            " ambiguity_flags, config_hash, tool_version, digest, refreshed_at)"
            " VALUES (?,?,?,?,?,?,?,?,?)",
            path_id,
            origin.context_id,
            raw,
            facts.interface_hash,
            json.dumps(facts.flags),
            origin.config_hash,
            origin.tool_version,
            digest,
            time.time(),
        )
        self._add_children(facts_id, facts, wanted)
        return True

    def add_externals(self, context_id: int, names: dict[str, str]) -> None:
        """Store symbols that are used but not defined, by identity and name."""
        ids = self._symbol_ids(names)
        self._db.run_many(
            "INSERT INTO semantic_externals VALUES (?,?) ON CONFLICT DO NOTHING",
            ((context_id, ids[identity]) for identity in names),
        )

    def _add_children(self, facts_id: int, facts: FileFacts, edges: list[Dependency]) -> None:
        ids = self._symbol_ids(dict(facts.names))
        self._db.run_many(
            "INSERT INTO semantic_definitions VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            ((facts_id, i, ids[d.identity], *d[1:]) for i, d in enumerate(facts.definitions)),
        )
        self._db.run_many(
            "INSERT INTO semantic_occurrences VALUES (?,?,?)",
            sorted((ids[identity], facts_id, places) for identity, places in facts.places.items()),
        )
        self._db.run_many(
            "INSERT INTO semantic_relations VALUES (?,?,?,?)",
            ((facts_id, ids[r.identity], ids[r.target], r.kind) for r in facts.relations),
        )
        self._db.run_many(
            "INSERT INTO edges VALUES (?,(SELECT id FROM paths WHERE path=?),?,?)",
            ((facts_id, e.target, bytes.fromhex(e.oid), e.interface_hash) for e in edges),
        )

    def _symbol_ids(self, names: dict[str, str]) -> dict[str, int]:
        unknown = sorted(identity for identity in names if identity not in self._ids)
        if unknown:
            self._db.run_many(
                "INSERT INTO names (text) VALUES (?) ON CONFLICT DO NOTHING",
                ((name,) for name in sorted({names[identity] for identity in unknown})),
            )
            self._db.run_many(
                "INSERT INTO semantic_symbols (identity, name_id)"
                " VALUES (?, (SELECT id FROM names WHERE text=?)) ON CONFLICT DO NOTHING",
                ((identity, names[identity]) for identity in unknown),
            )
            for at in range(0, len(unknown), CHUNK):
                part = unknown[at : at + CHUNK]
                sql = f"SELECT identity, id FROM semantic_symbols WHERE identity IN ({marks(part)})"
                self._ids.update(self._db.rows(sql, *part))
        return self._ids


def _digest(origin: FactsOrigin, facts: FileFacts, edges: list[Dependency]) -> bytes:
    digest = sha256(repr((origin[1:], facts.interface_hash, facts.flags)).encode())
    for part in (facts.definitions, facts.relations, edges):
        digest.update(repr(part).encode("utf-8", "surrogatepass"))
    for identity, places in sorted(facts.places.items()):
        digest.update(f"{identity}\0{len(places)}\0".encode("utf-8", "surrogatepass"))
        digest.update(places)
    return digest.digest()
