"""The semantic layer: contexts and facts of files are written, and read by identity at live paths only.

Readers take `rows`, the `Lens.rows` of the requested tree: facts count only if a live path has exactly the
bytes they were computed from. `coverage` lists the paths without such facts, for which an answer falls back
to the syntactic layer and discloses it. Writing the same facts again changes no row.
"""

from __future__ import annotations

import sys
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from gitindex.base.light_types import sha256
from gitindex.base.vocabulary import Relation
from gitindex.languages.facts import Use
from gitindex.languages.facts import unpack_places as unpack_names
from gitindex.store.connection import AT_ONCE, Database, marks
from gitindex.store.name_rows import split_places

NOWHERE = (1 << 28) - 1
"""The enclosing ordinal of a place at module level."""
_WORDS = 5  # of a place


class StoredOccurrence(NamedTuple):
    """One occurrence. Lines and columns are 0-based; columns count UTF-8 bytes on disk."""

    line: int
    column: int
    end_line: int
    end_column: int
    use: int  # facts.Use
    enclosing: int  # ordinal of the innermost definition around it, or NOWHERE


class Defined(NamedTuple):
    """One definition of a file: the place of its name, and its range of lines."""

    identity: str
    kind: str
    line: int
    column: int
    end_column: int
    start_line: int
    end_line: int
    signature: str
    doc: str
    parent: int  # ordinal of the enclosing definition, -1 at module level
    exported: bool


class Related(NamedTuple):
    """The relation of a symbol of the file to another symbol."""

    identity: str
    target: str
    kind: Relation


class FileFacts(NamedTuple):
    """All facts of one path's bytes in one context."""

    definitions: tuple[Defined, ...]
    places: Mapping[str, bytes]  # identity → packed places
    relations: tuple[Related, ...]
    names: Mapping[str, str]  # identity → name, of every identity above
    interface_hash: str
    flags: tuple[str, ...] = ()
    doubtful: int = 0  # places left out, because another name is there


class Dependency(NamedTuple):
    """One edge: a file whose symbols are used, as it was when the facts were computed.

    Bytes and hash are empty if the indexer read bytes of it that are not in git.
    """

    target: bytes
    oid: str
    interface_hash: str


def pack_places(places: Iterable[tuple[int, int, int, int, int, int]]) -> bytes:
    """Return the stored form of places in file order: five little-endian 32-bit words each.

    The last word has the use in its upper four bits, and the enclosing ordinal.
    """
    packed = array("I")
    for line, column, end_line, end_column, use, enclosing in places:
        packed.extend((line, column, end_line, end_column, use << 28 | enclosing))
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def unpack_places(packed: bytes) -> list[StoredOccurrence]:
    """Return the places of one row."""
    words = array("I")
    words.frombytes(packed)
    if sys.byteorder == "big":
        words.byteswap()
    return [
        StoredOccurrence(line, column, end_line, end_column, last >> 28, last & NOWHERE)
        for line, column, end_line, end_column, last in zip(*[iter(words)] * _WORDS, strict=True)
    ]


Rows = Callable[..., list[Any]]

_LIVE = (
    " JOIN paths p ON p.id=f.path_id JOIN {live} l ON l.path=p.path AND l.oid=f.oid"
    " JOIN contexts c ON c.id=f.context_id AND c.enabled"
)
_SHARED = "s.identity NOT LIKE 'local %'"
_DEFINED = f"FROM semantic_definitions d JOIN file_semantic_facts f ON f.id=d.facts_id{_LIVE}"


class SemanticCoverage(NamedTuple):
    """The live paths that the semantic layer covers."""

    current: frozenset[bytes]  # facts of exactly their bytes
    stale: frozenset[bytes]  # facts of other bytes only: disclose it, and fall back


class SemanticDefinition(NamedTuple):
    """One definition at a live path. 0-based; columns count UTF-8 bytes."""

    identity: str
    name: str
    kind: str
    path: bytes
    source: str  # index@<tree> or worktree
    line: int
    column: int
    start_line: int  # of the whole definition
    end_line: int
    signature: str
    doc: str
    exported: bool


class Reference(NamedTuple):
    """One occurrence of a symbol at a live path; definitions are included (place.use)."""

    identity: str
    path: bytes
    place: StoredOccurrence


class FactsRow(NamedTuple):
    """What is known of one live path: for file states."""

    path: bytes
    oid: bytes
    context: str
    interface_hash: str
    flags: str  # JSON list
    config_hash: str
    tool_version: str
    seen_tool_version: str  # of the context's tool when it ran last
    facts_id: int


class EdgeRow(NamedTuple):
    """A dependency of a file when its facts were computed."""

    path: bytes
    target: bytes
    target_oid: bytes  # empty: the indexer read bytes of it that are not in git
    target_hash: str  # its semantic interface hash then


def switched_off(rows: Rows) -> set[str]:
    """Return the names of the contexts that the user switched off."""
    return {name for (name,) in rows("SELECT name FROM contexts WHERE NOT enabled")}


def has_facts(rows: Rows) -> bool:
    """Does the semantic layer hold any facts? Cheap: call it first."""
    return bool(rows("SELECT 1 FROM file_semantic_facts LIMIT 1"))


def coverage(rows: Rows) -> SemanticCoverage:
    """Return the live paths with facts of their bytes, and those with facts of other bytes only."""
    known = rows(
        "SELECT l.path, max(l.oid=f.oid) FROM file_semantic_facts f"
        " JOIN contexts c ON c.id=f.context_id AND c.enabled"
        " JOIN paths p ON p.id=f.path_id JOIN {live} l ON l.path=p.path GROUP BY l.path"
    )
    current = frozenset(path for path, matches in known if matches)
    return SemanticCoverage(current, frozenset(path for path, _ in known) - current)


def find_identities(rows: Rows, name: str) -> list[str]:
    """Return identities of this name that a live path defines, sorted, without locals of a file."""
    matches = rows(
        "SELECT DISTINCT s.identity FROM names n JOIN semantic_symbols s ON s.name_id=n.id"
        " JOIN semantic_definitions d ON d.symbol_id=s.id"
        f" JOIN file_semantic_facts f ON f.id=d.facts_id{_LIVE}"
        f" WHERE n.text=? AND {_SHARED}",
        name,
    )
    return sorted({identity for (identity,) in matches})


def definitions(rows: Rows, identities: Iterable[str]) -> list[SemanticDefinition]:
    """Return the definitions of these symbols, by path and line."""
    return _definitions(rows, "s.identity IN ({marks})", identities)


def file_definitions(rows: Rows, paths: Iterable[bytes]) -> list[SemanticDefinition]:
    """Return all definitions of some live paths, in order; locals and parameters too."""
    return _definitions(rows, "p.path IN ({marks})", paths)


def references(rows: Rows, identities: Iterable[str]) -> list[Reference]:
    """Return every place of these symbols, by path and line.

    `place.use` is facts.Use: DEFINITION, IMPORT, CALL, …; REFERENCE if the grammar says no more.
    """
    return _references(rows, "CROSS JOIN", "s.identity IN ({marks})", identities)


def named(rows: Rows, names: Iterable[str]) -> list[Reference]:
    """Return every place of all symbols of this name."""
    matches = _chunked(
        rows,
        "SELECT s.identity FROM names n CROSS JOIN semantic_symbols s ON s.name_id=n.id"
        f" WHERE {_SHARED} AND n.text IN ({{marks}})",
        names,
    )
    return references(rows, {identity for (identity,) in matches})


def symbols_at(rows: Rows, path: bytes, line: int, column: int) -> list[str]:
    """Return identities at a place of a live path, 0-based, in bytes; none for a local."""
    here = (line, column)
    return sorted({r.identity for r in _uses(rows, path) if r.place[:2] <= here < r.place[2:4]})


def places_in(rows: Rows, path: bytes) -> set[tuple[int, int]]:
    """Return line and column of places in a live path that are not external, locals too."""
    uses = _references(rows, "JOIN", "p.path IN ({marks})", [path])
    outside = externals(rows, {one.identity for one in uses})
    return {(one.place.line, one.place.column) for one in uses if one.identity not in outside}


def identities_named(rows: Rows, name: str) -> list[str]:
    """Return identities of all symbols of this name, including those that no file defines."""
    matches = rows(
        "SELECT s.identity FROM names n CROSS JOIN semantic_symbols s ON s.name_id=n.id"
        f" WHERE n.text=? AND {_SHARED}",
        name,
    )
    return sorted(identity for (identity,) in matches)


def defined_at(rows: Rows, path: bytes, line: int, column: int) -> list[str]:
    """Return identities that a live path defines at a place (0-based, bytes); none for a local."""
    matches = rows(
        f"SELECT s.identity {_DEFINED}"
        f" JOIN semantic_symbols s ON s.id=d.symbol_id AND {_SHARED}"
        ' WHERE p.path=? AND d.line=? AND d."column"=?',
        path,
        line,
        column,
    )
    return sorted(identity for (identity,) in matches)


def callees(rows: Rows, path: bytes, lines: tuple[int, int] | None) -> list[Reference]:
    """Return places in definitions that begin in `lines` of a live path; None: module level."""
    around = {NOWHERE}
    if lines is not None:
        sql = f"SELECT d.ordinal {_DEFINED} WHERE p.path=? AND d.line BETWEEN ? AND ?"
        around = {ordinal for (ordinal,) in rows(sql, path, *lines)}
    return [use for use in _uses(rows, path) if use.place.enclosing in around]


def related(rows: Rows, identity: str) -> list[tuple[str, Relation]]:
    """Return the symbols that this one implements, overrides, …, by its live definition."""
    return _relations(rows, "target_id", "symbol_id", identity)


def relating(rows: Rows, identity: str) -> list[tuple[str, Relation]]:
    """Return the symbols of live paths that implement, override, … this one."""
    return _relations(rows, "symbol_id", "target_id", identity)


def externals(rows: Rows, identities: Iterable[str]) -> set[str]:
    """Return the external identities: used here, defined in no file of any context."""
    matches = _chunked(
        rows,
        "SELECT s.identity FROM semantic_symbols s WHERE s.identity IN ({marks}) AND EXISTS"
        " (SELECT 1 FROM contexts c CROSS JOIN semantic_externals e"
        "  ON e.context_id=c.id AND e.symbol_id=s.id AND c.enabled)"
        " AND NOT EXISTS (SELECT 1 FROM semantic_definitions d WHERE d.symbol_id=s.id)",
        identities,
    )
    return {identity for (identity,) in matches}


def facts_rows(rows: Rows) -> list[FactsRow]:
    """Return what is known of every live path whose bytes the layer has seen."""
    facts = rows(
        "SELECT l.path, l.oid, c.name, f.semantic_interface_hash, f.ambiguity_flags,"
        " f.config_hash, f.tool_version, c.tool_version, f.id"
        f" FROM file_semantic_facts f{_LIVE}"
    )
    return [FactsRow(*row) for row in facts]


def edge_rows(rows: Rows) -> list[EdgeRow]:
    """Return the dependencies of the `facts_rows` paths when their facts were computed."""
    edges = rows(
        "SELECT l.path, t.path, e.target_oid, e.target_hash"
        f" FROM file_semantic_facts f{_LIVE} JOIN edges e ON e.facts_id=f.id"
        " JOIN paths t ON t.id=e.target_path"
    )
    return [EdgeRow(*row) for row in edges]


def _definitions(rows: Rows, where: str, values: Iterable[Any]) -> list[SemanticDefinition]:
    matches = _chunked(
        rows,
        'SELECT s.identity, n.text, d.kind, l.path, l.source, d.line, d."column",'
        " d.start_line, d.end_line, d.signature, d.doc, d.exported"
        " FROM semantic_symbols s JOIN names n ON n.id=s.name_id"
        " JOIN semantic_definitions d ON d.symbol_id=s.id"
        f" JOIN file_semantic_facts f ON f.id=d.facts_id{_LIVE} WHERE {where}",
        values,
    )
    made = (SemanticDefinition._make((*row[:-1], bool(row[-1]))) for row in matches)
    return sorted(made, key=lambda d: (d.path, d.line, d.column, d.identity))


def _relations(rows: Rows, target: str, given: str, identity: str) -> list[tuple[str, Relation]]:
    matches = rows(
        "SELECT DISTINCT o.identity, r.kind FROM semantic_symbols s"
        f" JOIN semantic_relations r ON r.{given}=s.id JOIN semantic_symbols o ON o.id=r.{target}"
        f" JOIN file_semantic_facts f ON f.id=r.facts_id{_LIVE} WHERE s.identity=?",
        identity,
    )
    return sorted({(other, Relation(kind)) for other, kind in matches})


def _references(rows: Rows, join: str, where: str, values: Iterable[Any]) -> list[Reference]:
    """Return places by condition; with CROSS JOIN, SQLite always goes from symbols to files."""
    matches = _chunked(
        rows,
        "SELECT s.identity, l.path, o.places"
        f" FROM semantic_symbols s {join} semantic_occurrences o ON o.symbol_id=s.id"
        f" {join} file_semantic_facts f ON f.id=o.facts_id{_LIVE} WHERE {where}",
        values,
    )
    return sorted(
        Reference(identity, path, place)
        for identity, path, packed in matches
        for place in unpack_places(packed)
    )


def _uses(rows: Rows, path: bytes) -> list[Reference]:
    """Return every place of one live path with its symbol, without locals."""
    return _references(rows, "JOIN", f"{_SHARED} AND p.path IN ({{marks}})", [path])


def _chunked(rows: Rows, sql: str, values: Iterable[Any]) -> list[Any]:
    return [
        row for part in _parts(values) for row in rows(sql.replace("{marks}", marks(part)), *part)
    ]


def _parts(values: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    ordered = sorted(set(values))
    return (tuple(ordered[at : at + AT_ONCE]) for at in range(0, len(ordered), AT_ONCE))


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
    from json import loads  # lazily: cold questions import this module

    rows = database.rows("SELECT names FROM imports WHERE blob_id=?", blob_id)
    return [(there, here) for (names,) in rows for there, here in loads(names)]


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
        from json import dumps

        ordered = sorted(edges)
        digest = _digest(origin, facts, ordered)
        raw = bytes.fromhex(oid)
        path_id = self._db.row("SELECT id FROM paths WHERE path=?", path)[0]
        stored = self._db.rows(
            "SELECT context_id, digest FROM file_semantic_facts WHERE path_id=? AND oid=?",
            path_id,
            raw,
        )
        if stored == [(origin.context_id, digest)]:
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
            dumps(facts.flags),
            origin.config_hash,
            origin.tool_version,
            digest,
            time.time(),
        )
        self._add_children(facts_id, facts, ordered)
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
            sql = "SELECT identity, id FROM semantic_symbols WHERE identity IN ({marks})"
            self._ids.update(self._db.rows_among(sql, unknown))
        return self._ids


def _digest(origin: FactsOrigin, facts: FileFacts, edges: list[Dependency]) -> bytes:
    digest = sha256(repr((origin[1:], facts.interface_hash, facts.flags)).encode())
    for part in (facts.definitions, facts.relations, edges):
        digest.update(repr(part).encode("utf-8", "surrogatepass"))
    for identity, places in sorted(facts.places.items()):
        digest.update(f"{identity}\0{len(places)}\0".encode("utf-8", "surrogatepass"))
        digest.update(places)
    return digest.digest()
