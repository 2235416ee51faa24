"""Blob facts in SQLite: the row ids that the mapping refers to, blobs whose facts came with a pack, and
scopes, which a refresh may leave to the runner."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, groupby, repeat
from operator import itemgetter, sub
from typing import Any

from gitindex.base.light_types import NamedTuple
from gitindex.base.vocabulary import AGAIN, FactsStatus
from gitindex.languages.facts import (
    BlobFacts,
    FactsKey,
    Import,
    Symbol,
    decode_facts,
    encode_facts,
    join_postings,
)
from gitindex.store.connection import AT_ONCE, Database, marks, open_reader
from gitindex.store.name_index import NameIndex
from gitindex.store.name_rows import pack_names, split_places

MAX_SHAPES = 1 << 15
"""Number of shapes from which on those that were not used lately are dropped from the cache."""

Shape = tuple[str, str, str | None]
"""A kind, and a signature before and after the definition's own name; None: the name is not in it."""


class DefinitionTable:
    """Writes definitions of blobs. The caller holds the write transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._shapes: dict[Shape, int] = {}
        self._next = 1
        self._older: dict[Shape, int] = {}  # used before; half of the shapes of C are used once

    def add(self, blobs: Iterable[tuple[int, BlobFacts]], name_ids: Mapping[str, int]) -> None:
        """Store the definitions of some blobs; `name_ids` has all their names."""
        if len(self._shapes) > MAX_SHAPES:
            self._older, self._shapes = self._shapes, {}
        new: list[Shape] = []
        self._next = int(self._db.row("SELECT coalesce(max(id), 0) + 1 FROM shapes")[0])
        rows = [
            row
            for blob_id, facts in blobs
            for row in self._rows(blob_id, facts.symbols, name_ids, new)
        ]
        self._db.insert_many(
            "shapes", "(?,?,?,?)", ((i, *s) for i, s in enumerate(new, self._next))
        )
        self._db.insert_many("definitions", "(?,?,?,?,?,?,?,?,?,?,?,?)", rows)

    def forget(self) -> None:
        """Drop the cached ids: after a rollback, or when there are too many."""
        self._shapes.clear()
        self._older.clear()

    def _rows(
        self, blob_id: int, symbols: Sequence[Symbol], name_ids: Mapping[str, int], new: list[Shape]
    ) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a blob; shapes that are not stored yet are appended to `new`."""
        if not symbols:
            return iter(())
        columns = zip(*symbols, strict=True)  # by column: a step of Python for each symbol is dear
        names, _, kinds, lines, at, starts, ends, signatures, docs, parents, exported = columns
        shapes, number = self._shapes, self._number
        shape_ids = []
        for name, kind, signature in zip(names, kinds, signatures, strict=True):
            before, found, after = signature.partition(name) if name else (signature, "", "")
            shape = kind, before, after if found else None
            shape_ids.append(shapes.get(shape) or number(shape, new))
        return zip(
            repeat(blob_id),
            count(),
            map(name_ids.__getitem__, names),
            written_names(symbols),
            shape_ids,
            lines,
            at,
            map(sub, lines, starts),
            map(sub, ends, lines),
            parents,
            map(int, exported),  # a bool would be adapted
            docs,
            strict=False,
        )

    def _number(self, shape: Shape, new: list[Shape]) -> int:
        """Return the number of a shape that was not used lately."""
        number = self._older.get(shape)
        if number is None:
            number = self._next + len(new)
            new.append(shape)
        self._shapes[shape] = number
        return number


def written_names(symbols: Sequence[Symbol]) -> list[str | None]:
    """Return the qualified names of a blob that are stored: None where the view derives it."""
    written: list[str | None] = []
    for name, qualified, _, _, _, _, _, _, _, parent, _ in symbols:
        derived = None
        if parent < 0:
            derived = name
        elif parent < len(written) and (written[parent] or symbols[parent].parent < 0):
            derived = f"{symbols[parent].qualified}.{name}"
        written.append(None if qualified == derived else qualified)
    return written


MAX_NAMES = 1 << 19
"""Maximum number of name ids cached."""

_FIRST = itemgetter(0)
"""The name of a symbol."""
_HEADS_OF_BLOBS = (
    "SELECT id, oid, extractor, language, status, lines, reason, interface_hash, flags"
    " FROM blobs WHERE id BETWEEN ? AND ? ORDER BY id"
)
_ROWS_OF_BLOBS = (
    'SELECT blob_id, ordinal, n.text, qualified_name, kind, line, "column", start_line, end_line,'
    " signature, doc, parent, exported FROM symbols JOIN names n ON n.id = name_id",
    "SELECT blob_id, ordinal, module, names, level, line FROM imports",
    "SELECT blob_id, ordinal, name FROM exports",
    "SELECT blob_id, 0, names, places FROM occurrences",
    "SELECT blob_id, 0, packed FROM scopes",
)
"""Symbols, imports, exports, places and scopes: the blob, the order of its rows, and their values."""


class AddedFacts(NamedTuple):
    """The row id of added facts, and whether the blob is new."""

    blob_id: int
    new: bool


class BlobTable:
    """The local cache of facts. `put` joins the caller's transaction if there is one.

    `prefix` selects tables of the same shape elsewhere: a reader's overlay.
    """

    def __init__(self, database: Database, prefix: str = "") -> None:
        self._db = database
        self._prefix = prefix
        self._symbols = "symbols" if prefix else "definitions"
        self._definitions = DefinitionTable(database)
        self._index = NameIndex(database, prefix)
        self._names: dict[str, int] = {}
        self._all_known = 1  # the next id of a name, if every name up to it is in the cache

    def missing(self, keys: list[FactsKey]) -> list[FactsKey]:
        stored = self.ids(keys)
        return [key for key in keys if key not in stored]

    def get(self, key: FactsKey) -> bytes | None:
        row = self._db.row(
            "SELECT id FROM blobs WHERE oid=? AND extractor=?",
            bytes.fromhex(key.oid),
            key.extractor,
        )
        return (
            next((payload for _, payload in self._payloads(row[0], row[0])), None) if row else None
        )

    def payloads(self) -> Iterator[tuple[FactsKey, bytes]]:
        """Yield the encoded facts of every blob, by id; cheaper than `get` for each."""
        for first in range(1, self._next_id("blobs"), AT_ONCE):
            yield from self._payloads(first, first + AT_ONCE - 1)

    def put(self, key: FactsKey, payload: bytes) -> None:
        facts = decode_facts(payload)
        if facts is None:
            return
        try:
            with self._db.joined():
                if self.missing([key]):
                    self.add(key, facts, lexical=False)
        except BaseException:
            self.forget_names()
            raise

    def is_unused(self) -> bool:
        """Does the store hold no facts and nothing published?"""
        sql = "SELECT 1 FROM blobs UNION ALL SELECT 1 FROM worktrees WHERE generation > 0 LIMIT 1"
        return self._db.row(sql) is None

    def ids(self, keys: Iterable[FactsKey]) -> dict[FactsKey, int]:
        """Return the row ids of the keys that are stored."""
        row_ids: dict[FactsKey, int] = {}
        for extractor, by_oid in _by_extractor(keys).items():
            sql = (
                f"SELECT oid, id FROM {self._prefix}blobs WHERE extractor=? AND oid IN ({{marks}})"
            )
            rows = self._db.rows_among(sql, by_oid, extractor)
            row_ids.update([(by_oid[oid], blob_id) for oid, blob_id in rows])
        return row_ids

    def to_retry(self, keys: Iterable[FactsKey]) -> set[FactsKey]:
        """Return the keys that are quarantined and whose retry has not failed yet."""
        rows = self._db.rows(
            "SELECT oid, extractor FROM blobs WHERE status='quarantined' AND reason NOT LIKE ?",
            f"%{AGAIN}",
        )
        return {FactsKey(oid.hex(), extractor) for oid, extractor in rows}.intersection(keys)

    def add(self, key: FactsKey, facts: BlobFacts, lexical: bool) -> AddedFacts:
        """Store the facts of one blob, replacing older ones; as `add_all`."""
        return self.add_all({key: (facts, lexical)})[key]

    def add_all(
        self, blobs: Mapping[FactsKey, tuple[BlobFacts, bool]]
    ) -> dict[FactsKey, AddedFacts]:
        """Store the facts of blobs and whether the lexical index has them, replacing older ones.

        The caller holds the write transaction.
        """
        stored = self.ids(blobs)
        self._forget(list(stored.values()))
        fresh = count(self._next_id("blobs"))
        ids = {key: stored.get(key) or next(fresh) for key in blobs}
        self._db.run_many(
            f"INSERT INTO {self._prefix}blobs VALUES (?,?,?,?,?,?,?,?,?,?,?)"
            " ON CONFLICT (id) DO UPDATE SET language=excluded.language, status=excluded.status,"
            " reason=excluded.reason, lines=excluded.lines, symbols=excluded.symbols,"
            " interface_hash=excluded.interface_hash, flags=excluded.flags,"
            " lexical=excluded.lexical",
            (_blob_row(ids[key], key, *blobs[key]) for key in blobs),
        )
        self._add_children([(ids[key], facts) for key, (facts, _) in blobs.items()])
        return {key: AddedFacts(ids[key], key not in stored) for key in blobs}

    def _forget(self, blob_ids: list[int]) -> None:
        self._index.remove(blob_ids)
        for blob_id in blob_ids:
            for table in (self._symbols, "occurrences", "imports", "exports", "scopes"):
                self._db.run(f"DELETE FROM {self._prefix}{table} WHERE blob_id=?", blob_id)

    def _add_children(self, blobs: list[tuple[int, BlobFacts]]) -> None:
        from json import dumps

        name_ids = self._name_ids(blobs)
        if self._prefix:
            self._insert(
                "symbols",
                "(?,?,?,?,?,?,?,?,?,?,?,?,?)",
                (
                    (blob_id, i, name_ids[s[0]], *s[1:])
                    for blob_id, facts in blobs
                    for i, s in enumerate(facts.symbols)
                ),
            )
        else:
            self._definitions.add(blobs, name_ids)
        self._add_names(blobs, name_ids)
        self._insert(
            "imports",
            "(?,?,?,?,?,?)",
            (
                (blob_id, i, m.module, dumps(m.names), m.level, m.line)
                for blob_id, facts in blobs
                for i, m in enumerate(facts.imports)
            ),
        )
        self._insert(
            "exports",
            "(?,?,?)",
            (
                (blob_id, i, name)
                for blob_id, facts in blobs
                for i, name in enumerate(facts.exports)
            ),
        )
        scoped = ((blob_id, pack_scopes(facts.scopes)) for blob_id, facts in blobs if facts.scopes)
        self._insert("scopes", "(?,?)", scoped)

    def _add_names(self, blobs: list[tuple[int, BlobFacts]], name_ids: dict[str, int]) -> None:
        rows = [
            (blob_id, *pack_names(facts.postings, name_ids))
            for blob_id, facts in blobs
            if facts.postings
        ]
        self._insert("occurrences", "(?,?,?)", rows)
        self._index.add((blob_id, names) for blob_id, names, _ in rows)

    def forget_names(self) -> None:
        """Drop the cache of name ids: after a rollback, or when it grew too large."""
        self._names.clear()
        self._all_known = 1
        self._definitions.forget()

    def _name_ids(self, blobs: list[tuple[int, BlobFacts]]) -> dict[str, int]:
        """Return the ids of all names of some blobs; new ones are assigned in name order."""
        if len(self._names) > MAX_NAMES:
            self.forget_names()
        names: set[str] = set()
        for _, facts in blobs:
            names.update(facts.postings.counts)
            names.update(map(_FIRST, facts.symbols))
        unknown = sorted(names.difference(self._names))  # `-` would visit every name in the cache
        first = self._next_id("names")
        cached = first == self._all_known
        sql = f"SELECT text, id FROM {self._prefix}names WHERE text IN ({{marks}})"
        self._names.update([] if cached else self._db.rows_among(sql, unknown))
        new = [name for name in unknown if name not in self._names]
        self._insert("names", "(?,?)", enumerate(new, first))
        self._names.update(zip(new, count(first), strict=False))
        self._all_known = first + len(new) if cached else 0
        return self._names

    def _next_id(self, table: str) -> int:
        row = self._db.row(f"SELECT coalesce(max(id), 0) + 1 FROM {self._prefix}{table}")
        return int(row[0])

    def _insert(self, table: str, row: str, rows: Iterable[tuple[Any, ...]]) -> None:
        self._db.insert_many(self._prefix + table, row, rows)

    def _payloads(self, first: int, last: int) -> Iterator[tuple[FactsKey, bytes]]:
        """Yield the encoded facts of the blobs in a range of ids."""
        symbols, imports, exports, packed, scopes = (
            self._rows_by_blob(sql, first, last) for sql in _ROWS_OF_BLOBS
        )
        places = {blob_id: list(split_places(*rows[0])) for blob_id, rows in packed.items()}
        texts = self._texts({name_id for pairs in places.values() for name_id, _ in pairs})
        for blob_id, oid, extractor, *head in self._db.rows(_HEADS_OF_BLOBS, first, last):
            language, status, lines, reason, interface_hash, flags = head
            facts = BlobFacts(
                language=language,
                status=FactsStatus(status),
                lines=lines,
                reason=reason,
                symbols=tuple(
                    Symbol._make((*row[:-1], bool(row[-1]))) for row in symbols.get(blob_id, ())
                ),
                imports=tuple(
                    Import(m, _pairs(n), lv, ln) for m, n, lv, ln in imports.get(blob_id, ())
                ),
                exports=tuple(name for (name,) in exports.get(blob_id, ())),
                interface_hash=interface_hash,
                flags=tuple(filter(None, flags.split(","))),
                postings=join_postings(
                    sorted((texts[i], at) for i, at in places.get(blob_id, ()) if i in texts)
                ),
                scopes=b"".join(unpack_scopes(row[0]) for row in scopes.get(blob_id, ())),
            )
            yield FactsKey(oid.hex(), extractor), encode_facts(facts)

    def _texts(self, name_ids: set[int]) -> dict[int, str]:
        """Return the names of some ids, as far as there are any."""
        sql = "SELECT id, text FROM names WHERE id IN (SELECT value FROM json_each(?))"
        return dict(self._db.rows(sql, str(sorted(name_ids))))

    def _rows_by_blob(self, sql: str, first: int, last: int) -> dict[int, list[tuple[Any, ...]]]:
        rows = self._db.rows(f"{sql} WHERE blob_id BETWEEN ? AND ? ORDER BY 1, 2", first, last)
        return {blob: [row[2:] for row in part] for blob, part in groupby(rows, itemgetter(0))}


def _blob_row(blob_id: int, key: FactsKey, facts: BlobFacts, lexical: bool) -> tuple[Any, ...]:
    return (
        blob_id,
        bytes.fromhex(key.oid),
        key.extractor,
        facts.language,
        facts.status,
        facts.reason,
        facts.lines,
        len(facts.symbols),
        facts.interface_hash,
        ",".join(facts.flags),
        lexical,
    )


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    from json import loads

    return tuple((a, b) for a, b in loads(text))


def _by_extractor(keys: Iterable[FactsKey]) -> dict[str, dict[bytes, FactsKey]]:
    groups: dict[str, dict[bytes, FactsKey]] = {}
    for key in keys:
        groups.setdefault(key.extractor, {})[bytes.fromhex(key.oid)] = key
    return groups


def dump(database: Database) -> Iterator[str]:
    """Return a canonical text of all facts, without row ids: equal dumps mean equal stores."""
    for key, payload in sorted(BlobTable(database).payloads()):
        yield f"{key.oid} {key.extractor} {payload.hex()}"


class ImportedFacts(NamedTuple):
    """How many blobs packs brought, how many of them are verified, and who signed the last pack."""

    imported: int
    verified: int
    signer: str


def begin_import(database: Database, manifest: str, signer: str, blobs: int) -> int:
    """Record an import and return its number. The caller holds the write transaction."""
    return database.insert(
        "INSERT INTO pack_imports (manifest, signer, blobs, at) VALUES (?,?,?,?)",
        manifest,
        signer,
        blobs,
        time.time(),
    )


def mark_imported(database: Database, import_id: int, blob_ids: Iterable[int]) -> None:
    """Mark blobs whose facts came with an import. The caller holds the write transaction."""
    database.run_many(
        "INSERT OR REPLACE INTO pack_blobs VALUES (?,?)",
        ((blob_id, import_id) for blob_id in blob_ids),
    )


def mark_verified(database: Database, blob_ids: Iterable[int]) -> None:
    """Mark blobs whose facts were derived here. The caller holds the write transaction."""
    database.run_many(
        "DELETE FROM pack_blobs WHERE blob_id=?", ((blob_id,) for blob_id in blob_ids)
    )


def imported_facts(database: Database) -> ImportedFacts | None:
    """Return the progress of verification; None if every blob is verified."""
    left = int(database.row("SELECT count(*) FROM pack_blobs")[0])
    if not left:
        return None
    total, signer = database.row(
        "SELECT sum(blobs), (SELECT signer FROM pack_imports ORDER BY id DESC LIMIT 1)"
        " FROM pack_imports"
    )
    return ImportedFacts(int(total), max(0, int(total) - left), str(signer))


def unverified(database: Database, limit: int, after: int = 0) -> dict[FactsKey, tuple[int, str]]:
    """Return the next blobs that are not verified, by id: id and language."""
    rows = database.rows(
        "SELECT b.id, b.oid, b.extractor, b.language FROM pack_blobs p JOIN blobs b ON b.id=p.blob_id"
        " WHERE p.blob_id>? ORDER BY p.blob_id LIMIT ?",
        after,
        limit,
    )
    return {FactsKey(oid.hex(), ext): (blob_id, language) for blob_id, oid, ext, language in rows}


def signers_of(database: Database, blob_ids: Iterable[int]) -> list[str]:
    """Return who signed the packs that some blobs came with."""
    ids = list(blob_ids)[:AT_ONCE]
    rows = database.rows(
        "SELECT DISTINCT i.signer FROM pack_blobs p JOIN pack_imports i ON i.id=p.import_id"
        f" WHERE p.blob_id IN ({marks(ids)}) ORDER BY 1",
        *ids,
    )
    return [str(signer) for (signer,) in rows]


MAX_BYTES = 1 << 24
"""Most bytes of a row once it is unpacked: a row of a foreign pack may claim to be any size."""


def pack_scopes(scopes: bytes) -> bytes:
    """Return the value that is stored."""
    return zlib.compress(scopes)


def unpack_scopes(stored: bytes) -> bytes:
    """Return the scopes of a stored value; empty if it is damaged."""
    inflating = zlib.decompressobj()
    try:
        data = inflating.decompress(stored, MAX_BYTES)
    except zlib.error:
        return b""
    return data if inflating.eof and not inflating.unused_data else b""


def note_late(database: Database, blob_ids: Iterable[int], late: bool) -> None:
    """Note whether the scopes of added blobs come later. The caller holds the write transaction."""
    rows = [(blob_id,) for blob_id in blob_ids]
    if late:
        database.run_many("INSERT OR REPLACE INTO late_scopes (blob_id) VALUES (?)", rows)
    else:
        database.run_many("DELETE FROM late_scopes WHERE blob_id=?", rows)


def next_late(database: Database, limit: int) -> dict[FactsKey, tuple[int, str]]:
    """Return the next blobs whose scopes are to be derived: id and language."""
    rows = database.rows(
        "SELECT b.id, b.oid, b.extractor, b.language FROM late_scopes l JOIN blobs b ON b.id=l.blob_id"
        " WHERE NOT l.failed ORDER BY l.blob_id LIMIT ?",
        limit,
    )
    return {FactsKey(oid.hex(), ext): (blob_id, language) for blob_id, oid, ext, language in rows}


def all_late(database: Database) -> set[FactsKey]:
    """Return the blobs that have no scopes yet, also those whose derivation failed."""
    rows = database.rows(
        "SELECT oid, extractor FROM blobs WHERE id IN (SELECT blob_id FROM late_scopes)"
    )
    return {FactsKey(oid.hex(), extractor) for oid, extractor in rows}


def forget_scopes(database: Database, keys: Iterable[FactsKey]) -> None:
    """Remove the scopes of blobs, as if they were not derived yet."""
    with database.write():
        database.run_many(
            "DELETE FROM scopes WHERE blob_id IN (SELECT id FROM blobs WHERE oid=? AND extractor=?)",
            [(bytes.fromhex(key.oid), key.extractor) for key in keys],
        )


def scopes_are_due(path: str) -> bool:
    """Does the store at this path have blobs whose scopes are to be derived?"""
    database = open_reader(path)
    if database is None:
        return False
    try:
        return bool(next_late(database, 1))
    finally:
        database.close()


def put_late(database: Database, by_blob: dict[int, bytes], failed: Iterable[int]) -> None:
    """Store scopes that were derived later, and note which could not be. In one transaction."""
    with database.write():
        rows = [(blob_id, pack_scopes(scopes)) for blob_id, scopes in by_blob.items() if scopes]
        database.run_many("INSERT OR REPLACE INTO scopes VALUES (?,?)", rows)
        note_late(database, by_blob, late=False)
        gone = [(blob_id,) for blob_id in failed]
        database.run_many("UPDATE late_scopes SET failed=1 WHERE blob_id=?", gone)
