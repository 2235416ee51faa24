"""Reads the semantic layer: symbols, references and callers by identity, at live paths only.

Every function takes `rows`, the `Lens.rows` of the requested tree: facts count only if a live path
has exactly the bytes they were computed from. `coverage` lists the paths without such facts, for
which an answer falls back to the syntactic layer and discloses it. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from gitindex.base.vocabulary import Relation
from gitindex.store.blobs import CHUNK
from gitindex.store.connection import marks
from gitindex.store.places import NOWHERE, StoredOccurrence, unpack_places

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
    found = rows(
        "SELECT DISTINCT s.identity FROM names n JOIN semantic_symbols s ON s.name_id=n.id"
        " JOIN semantic_definitions d ON d.symbol_id=s.id"
        f" JOIN file_semantic_facts f ON f.id=d.facts_id{_LIVE}"
        f" WHERE n.text=? AND {_SHARED}",
        name,
    )
    return sorted({identity for (identity,) in found})


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
    found = _chunked(
        rows,
        "SELECT s.identity FROM names n CROSS JOIN semantic_symbols s ON s.name_id=n.id"
        f" WHERE {_SHARED} AND n.text IN ({{marks}})",
        names,
    )
    return references(rows, {identity for (identity,) in found})


def symbols_at(rows: Rows, path: bytes, line: int, column: int) -> list[str]:
    """Return identities at a place of a live path, 0-based, in bytes; none for a local."""
    here = (line, column)
    return sorted({r.identity for r in _uses(rows, path) if r.place[:2] <= here < r.place[2:4]})


def places_in(rows: Rows, path: bytes) -> set[tuple[int, int]]:
    """Return line and column of places in a live path that are not external, locals too."""
    found = _references(rows, "JOIN", "p.path IN ({marks})", [path])
    outside = externals(rows, {one.identity for one in found})
    return {(one.place.line, one.place.column) for one in found if one.identity not in outside}


def identities_named(rows: Rows, name: str) -> list[str]:
    """Return identities of all symbols of this name, including those that no file defines."""
    found = rows(
        "SELECT s.identity FROM names n CROSS JOIN semantic_symbols s ON s.name_id=n.id"
        f" WHERE n.text=? AND {_SHARED}",
        name,
    )
    return sorted(identity for (identity,) in found)


def defined_at(rows: Rows, path: bytes, line: int, column: int) -> list[str]:
    """Return identities that a live path defines at a place (0-based, bytes); none for a local."""
    found = rows(
        f"SELECT s.identity {_DEFINED}"
        f" JOIN semantic_symbols s ON s.id=d.symbol_id AND {_SHARED}"
        ' WHERE p.path=? AND d.line=? AND d."column"=?',
        path,
        line,
        column,
    )
    return sorted(identity for (identity,) in found)


def callees(rows: Rows, path: bytes, lines: tuple[int, int] | None) -> list[Reference]:
    """Return places in definitions that begin in `lines` of a live path; None: module level."""
    around = {NOWHERE}
    if lines is not None:
        sql = f"SELECT d.ordinal {_DEFINED} WHERE p.path=? AND d.line BETWEEN ? AND ?"
        around = {ordinal for (ordinal,) in rows(sql, path, *lines)}
    return [found for found in _uses(rows, path) if found.place.enclosing in around]


def related(rows: Rows, identity: str) -> list[tuple[str, Relation]]:
    """Return the symbols that this one implements, overrides, …, by its live definition."""
    return _relations(rows, "target_id", "symbol_id", identity)


def relating(rows: Rows, identity: str) -> list[tuple[str, Relation]]:
    """Return the symbols of live paths that implement, override, … this one."""
    return _relations(rows, "symbol_id", "target_id", identity)


def externals(rows: Rows, identities: Iterable[str]) -> set[str]:
    """Return the external identities: used here, defined in no file of any context."""
    found = _chunked(
        rows,
        "SELECT s.identity FROM semantic_symbols s WHERE s.identity IN ({marks}) AND EXISTS"
        " (SELECT 1 FROM contexts c CROSS JOIN semantic_externals e"
        "  ON e.context_id=c.id AND e.symbol_id=s.id AND c.enabled)"
        " AND NOT EXISTS (SELECT 1 FROM semantic_definitions d WHERE d.symbol_id=s.id)",
        identities,
    )
    return {identity for (identity,) in found}


def facts_rows(rows: Rows) -> list[FactsRow]:
    """Return what is known of every live path whose bytes the layer has seen."""
    found = rows(
        "SELECT l.path, l.oid, c.name, f.semantic_interface_hash, f.ambiguity_flags,"
        " f.config_hash, f.tool_version, c.tool_version, f.id"
        f" FROM file_semantic_facts f{_LIVE}"
    )
    return [FactsRow(*row) for row in found]


def edge_rows(rows: Rows) -> list[EdgeRow]:
    """Return the dependencies of the `facts_rows` paths when their facts were computed."""
    found = rows(
        "SELECT l.path, t.path, e.target_oid, e.target_hash"
        f" FROM file_semantic_facts f{_LIVE} JOIN edges e ON e.facts_id=f.id"
        " JOIN paths t ON t.id=e.target_path"
    )
    return [EdgeRow(*row) for row in found]


def _definitions(rows: Rows, where: str, values: Iterable[Any]) -> list[SemanticDefinition]:
    found = _chunked(
        rows,
        'SELECT s.identity, n.text, d.kind, l.path, l.source, d.line, d."column",'
        " d.start_line, d.end_line, d.signature, d.doc, d.exported"
        " FROM semantic_symbols s JOIN names n ON n.id=s.name_id"
        " JOIN semantic_definitions d ON d.symbol_id=s.id"
        f" JOIN file_semantic_facts f ON f.id=d.facts_id{_LIVE} WHERE {where}",
        values,
    )
    made = (SemanticDefinition._make((*row[:-1], bool(row[-1]))) for row in found)
    return sorted(made, key=lambda d: (d.path, d.line, d.column, d.identity))


def _relations(rows: Rows, wanted: str, given: str, identity: str) -> list[tuple[str, Relation]]:
    found = rows(
        "SELECT DISTINCT o.identity, r.kind FROM semantic_symbols s"
        f" JOIN semantic_relations r ON r.{given}=s.id JOIN semantic_symbols o ON o.id=r.{wanted}"
        f" JOIN file_semantic_facts f ON f.id=r.facts_id{_LIVE} WHERE s.identity=?",
        identity,
    )
    return sorted({(other, Relation(kind)) for other, kind in found})


def _references(rows: Rows, join: str, where: str, values: Iterable[Any]) -> list[Reference]:
    """Return places by condition; with CROSS JOIN, SQLite always goes from symbols to files."""
    found = _chunked(
        rows,
        "SELECT s.identity, l.path, o.places"
        f" FROM semantic_symbols s {join} semantic_occurrences o ON o.symbol_id=s.id"
        f" {join} file_semantic_facts f ON f.id=o.facts_id{_LIVE} WHERE {where}",
        values,
    )
    return sorted(
        Reference(identity, path, place)
        for identity, path, packed in found
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
    wanted = sorted(set(values))
    return (tuple(wanted[at : at + CHUNK]) for at in range(0, len(wanted), CHUNK))
