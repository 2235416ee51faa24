"""The database of a pack: facts of chosen blobs in a fresh schema, with a digest each."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from gitindex.base.errors import CorruptStore, GitIndexError
from gitindex.languages.facts import FactsKey
from gitindex.store.blobs import unpack_scopes
from gitindex.store.connection import Database
from gitindex.store.name_index import DROP_NAME_INDEXES
from gitindex.store.name_rows import join_places, read_names, split_places
from gitindex.store.other_databases import open_foreign, open_fresh, schema_text
from gitindex.store.text_index import write_words

BLOBS_AT_ONCE = 500  # whose places are in memory at once
_COPIED = ("definitions", "imports", "exports", "documents", "scopes")
_FACTS = (*_COPIED, "occurrences")
"""Tables whose rows belong to a blob."""


class PackedBlob(NamedTuple):
    """A blob of a pack, by its number in the store it comes from: documents carry it as well."""

    blob_id: int
    key: FactsKey
    lexical: bool


class PackDatabase:
    """A new database with the facts of chosen blobs (key → id in the store).

    Names and shapes are numbered in their own order, so that those of the rest of the store leave no
    trace. Whoever adopts it makes the indexes by name.
    """

    def __init__(self, source: Database, path: str, chosen: dict[FactsKey, int]) -> None:
        self.database = open_fresh(path)
        try:
            self.blobs = self._copy(source, chosen)
        except BaseException:
            self.database.close()
            raise

    def finish(self, words: Iterable[str]) -> None:
        """Write the words of all documents, for grep, and close the file."""
        with self.database.write():
            write_words(self.database, words)
        self.database.close()

    def _copy(self, source: Database, chosen: dict[FactsKey, int]) -> list[PackedBlob]:
        target = self.database
        target.run("ATTACH ? AS src", f"file:{_uri(source.path)}?mode=ro")
        with target.write():
            target.run_all(DROP_NAME_INDEXES)
            _copy_tables(target, chosen.values())
            lexical = dict(target.rows("SELECT id, lexical FROM blobs"))
            target.run("UPDATE repo_state SET lexical_docs=?", sum(lexical.values()))
        target.run("DETACH src")
        if len(lexical) != len(chosen):
            raise GitIndexError("the store changed meanwhile", "try again")
        return [PackedBlob(number, key, bool(lexical[number])) for key, number in chosen.items()]


def open_pack_database(path: str) -> Database:
    """Open a pack's database read-only; checks that it is whole and has exactly our schema."""
    database = open_foreign(path)
    try:
        declared = schema_text(database)
        if declared != pack_schema_text():
            raise CorruptStore("the database of the pack has another schema", "get a new pack")
        said = str(database.row("PRAGMA integrity_check(1)")[0])
        if said != "ok" or database.rows("PRAGMA foreign_key_check"):
            raise CorruptStore(f"the database of the pack is damaged: {said}", "get a new pack")
        _refuse_other_rows(database)
        _refuse_other_types(database)
        _refuse_loops(database)
        _refuse_other_names(database)
    except BaseException:
        database.close()
        raise
    return database


def pack_schema_text() -> list[tuple[str, ...]]:
    """Return the schema of a pack, as SQLite stores it: a store's, without indexes by name."""
    database = open_fresh(":memory:")
    try:
        database.run_all(DROP_NAME_INDEXES)
        return schema_text(database)
    finally:
        database.close()


def _refuse_other_rows(database: Database) -> None:
    """Refuse rows that are not facts: worktrees, jobs, decisions, history or semantic rows."""
    allowed = {*_FACTS, "shapes", "blobs", "names", "repo_state", "text_words", "sqlite_sequence"}
    for (name,) in database.rows("SELECT name FROM sqlite_master WHERE type='table'"):
        if name not in allowed and database.row(f'SELECT 1 FROM "{name}" LIMIT 1'):
            raise CorruptStore(f"the pack has rows in {name}", "get a new pack")


def _refuse_other_types(database: Database) -> None:
    """Refuse values whose type is not that of the column: SQLite would store any."""
    for table in (*_FACTS, "shapes", "blobs", "names", "repo_state", "text_words"):
        columns = database.rows("SELECT name, type, [notnull], pk FROM pragma_table_info(?)", table)
        tests = [
            f"typeof(\"{name}\")<>'{kind.lower()}'"
            + ("" if required or key else f' AND "{name}" IS NOT NULL')
            for name, kind, required, key in columns
        ]
        if database.row(f"SELECT 1 FROM {table} WHERE {' OR '.join(tests)} LIMIT 1"):
            raise CorruptStore(f"the pack has ill-typed values in {table}", "get a new pack")
    for table, column in (("definitions", "exported"), ("blobs", "lexical")):
        if database.row(f"SELECT 1 FROM {table} WHERE {column} NOT IN (0, 1) LIMIT 1"):
            raise CorruptStore(f"the pack has ill-typed values in {table}", "get a new pack")


def _refuse_loops(database: Database) -> None:
    """Refuse definitions that are not numbered in order below earlier ones: readers follow parents up."""
    if database.row(
        "SELECT 1 FROM symbols GROUP BY blob_id HAVING count(*)<>max(ordinal)+1 OR min(ordinal)<>0"
        " OR min(parent)<-1 OR max(parent-ordinal)>=0 LIMIT 1"
    ):
        raise CorruptStore("the pack has definitions inside themselves", "get a new pack")


def _refuse_other_names(database: Database) -> None:
    """Refuse places that cannot be read, or of names that are not in the pack."""
    last = int(database.row("SELECT coalesce(max(blob_id), 0) FROM occurrences")[0])
    known = {number for (number,) in database.rows("SELECT id FROM names")}
    for first in range(1, last + 1, BLOBS_AT_ONCE):
        sql = "SELECT names, places FROM occurrences WHERE blob_id BETWEEN ? AND ?"
        for names, places in database.rows(sql, first, first + BLOBS_AT_ONCE - 1):
            ids, lengths = read_names(names)
            if sum(lengths) != len(places) or not known.issuperset(ids):
                raise CorruptStore("the pack has places of unknown names", "get a new pack")


def _copy_tables(target: Database, blob_ids: Iterable[int]) -> None:
    target.run("CREATE TEMP TABLE chosen (id INTEGER PRIMARY KEY)")
    target.run("INSERT INTO chosen SELECT value FROM json_each(?)", str(sorted(blob_ids)))
    used = _names_used(target)
    target.run(
        "INSERT INTO names (text) SELECT DISTINCT text FROM src.names WHERE id IN"
        " (SELECT name_id FROM chosen c JOIN src.definitions ON blob_id=c.id"
        " UNION SELECT value FROM json_each(?)) ORDER BY text",
        str(sorted(used)),
    )
    target.run("CREATE TEMP TABLE name_map (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)")
    target.run(
        "INSERT INTO name_map SELECT s.id, n.id FROM names n CROSS JOIN src.names s ON s.text=n.text"
    )
    _copy_shapes(target)
    for table, key in (("blobs", "id"), *((name, "blob_id") for name in _COPIED)):
        _copy_table(target, table, key)
    _copy_places(target)


_PLACES = (
    "SELECT c.id, s.names, s.places FROM chosen c CROSS JOIN src.occurrences s ON s.blob_id=c.id"
    " WHERE c.id BETWEEN ? AND ? ORDER BY 1"
)


def _packed_places(target: Database) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the names and places of the chosen blobs."""
    last = int(target.row("SELECT coalesce(max(id), 0) FROM chosen")[0])
    for first in range(1, last + 1, BLOBS_AT_ONCE):
        yield from target.rows(_PLACES, first, first + BLOBS_AT_ONCE - 1)


def _names_used(target: Database) -> set[int]:
    used: set[int] = set()
    for _, names, _ in _packed_places(target):
        used.update(read_names(names)[0])
    return used


def _copy_places(target: Database) -> None:
    """Copy names and places, with the new numbers of the names and in their order."""
    numbers = dict(target.rows("SELECT old, new FROM name_map"))
    rows = (
        (blob_id, *join_places(dict(sorted((numbers[i], at) for i, at in split_places(*columns)))))
        for blob_id, *columns in _packed_places(target)
    )
    target.run_many("INSERT INTO occurrences VALUES (?,?,?)", rows)


def _copy_shapes(target: Database) -> None:
    """Copy the shapes of the chosen definitions, each once and in their own order."""
    target.run(
        "INSERT INTO shapes (kind, before, after) SELECT DISTINCT kind, before, after"
        " FROM src.shapes WHERE id IN (SELECT shape_id FROM chosen c"
        " JOIN src.definitions ON blob_id=c.id) ORDER BY kind, before, after"
    )
    target.run("CREATE TEMP TABLE shape_map (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)")
    target.run(
        "INSERT INTO shape_map SELECT s.id, t.id FROM src.shapes s CROSS JOIN shapes t"
        " ON t.before=s.before AND t.kind=s.kind AND t.after IS s.after"
    )


def _copy_table(target: Database, table: str, blob_column: str) -> None:
    columns = _columns(target, "main", table)
    if columns != _columns(target, "src", table):
        raise GitIndexError("the store has an older shape", "run `gitindex index --force`")
    new = {"name_id": "n.new", "shape_id": "h.new"}
    selected = [new.get(column, f's."{column}"') for column in columns]
    names = "JOIN name_map n ON n.old=s.name_id" if "name_id" in columns else ""
    if table == "definitions":
        names += " JOIN shape_map h ON h.old=s.shape_id"
    target.run(
        f"INSERT INTO {table} SELECT {','.join(selected)} FROM chosen c"
        f" CROSS JOIN src.{table} s ON s.{blob_column}=c.id {names}"
    )


def _columns(database: Database, schema: str, table: str) -> list[str]:
    rows = database.rows("SELECT name FROM pragma_table_info(?, ?) ORDER BY cid", table, schema)
    return [name for (name,) in rows]


def _uri(path: str) -> str:
    from urllib.parse import quote_from_bytes

    return quote_from_bytes(os.fsencode(path))


DIGESTS_AT_ONCE = 2_000  # blobs whose facts are in memory at once
_HEADS = (
    "SELECT id, oid, extractor, language, status, reason, lines, symbols, interface_hash, flags,"
    " lexical FROM blobs WHERE id BETWEEN ? AND ? ORDER BY id"
)
_DEFINITIONS = (
    'SELECT blob_id, name_id, shape_id, qualified_name, line, "column", above, below, parent,'
    " exported, doc FROM definitions WHERE blob_id BETWEEN ? AND ? ORDER BY blob_id, ordinal"
)
_DIGESTED_PLACES = (
    "SELECT blob_id, names, places FROM occurrences WHERE blob_id BETWEEN ? AND ? ORDER BY blob_id"
)
_OTHERS = (
    "SELECT blob_id, module, names, level, line FROM imports WHERE blob_id BETWEEN ? AND ?"
    " ORDER BY blob_id, ordinal",
    "SELECT blob_id, name FROM exports WHERE blob_id BETWEEN ? AND ? ORDER BY blob_id, ordinal",
)
_SCOPES = "SELECT blob_id, packed FROM scopes WHERE blob_id BETWEEN ? AND ? ORDER BY blob_id"

_Rows = dict[int, list[tuple[Any, ...]]]


def fact_digests(database: Database) -> Iterator[tuple[FactsKey, bytes]]:
    """Yield every blob with the digest of all that is stored about it.

    The numbers of blobs, names and shapes leave no trace. Names are taken in the order of their
    numbers, which in a pack is their own order.
    """
    names: dict[int, str] = dict(database.rows("SELECT id, text FROM names"))
    shapes = {row[0]: row[1:] for row in database.rows("SELECT * FROM shapes")}
    last = int(database.row("SELECT coalesce(max(id), 0) FROM blobs")[0])
    for first in range(1, last + 1, DIGESTS_AT_ONCE):
        span = first, first + DIGESTS_AT_ONCE - 1
        definitions, places, scopes, *others = (
            _by_blob(database.rows(sql, *span))
            for sql in (_DEFINITIONS, _DIGESTED_PLACES, _SCOPES, *_OTHERS)
        )
        for blob_id, oid, extractor, *head in database.rows(_HEADS, *span):
            defined = [
                (names[row[1]], shapes[row[2]], row[3:]) for row in definitions.get(blob_id, ())
            ]
            ids, lengths, packed = _used(places.get(blob_id, ()))
            listed = [row[1:] for rows in others for row in rows.get(blob_id, ())]
            used = zip(map(names.__getitem__, ids), lengths, strict=True)
            said = head, defined, listed, list(used)
            # ascii(), not repr(): the same text in every version of Python
            text = ascii(said).encode() + packed
            # unpacked: another build of the library may compress otherwise
            text += b"".join(unpack_scopes(row[1]) for row in scopes.get(blob_id, ()))
            yield FactsKey(oid.hex(), extractor), hashlib.sha256(text).digest()


def _used(rows: Iterable[tuple[Any, ...]]) -> tuple[list[int], list[int], bytes]:
    """Return the names of a blob, the bytes of places of each, and all places."""
    for _, names, packed in rows:
        return *read_names(names), packed
    return [], [], b""


def _by_blob(rows: list[tuple[Any, ...]]) -> _Rows:
    return {blob_id: list(part) for blob_id, part in groupby(rows, itemgetter(0))}
