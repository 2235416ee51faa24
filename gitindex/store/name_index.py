"""The blobs that use each name: a table that follows the rows of `occurrences`, and other indexes by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitindex.store.connection import AT_ONCE, Database, marks, statements_of
from gitindex.store.name_rows import blobs_of, pack_numbers, read_names, steps_of

TABLE = "name_blobs"
PAIRS_AT_ONCE = 1 << 19
"""Pairs of name and blob that are kept in memory to build the table: some 60 MB."""

_MADE_LATER = {TABLE, "symbols_by_name"}
DROP_NAME_INDEXES = [f"DROP TABLE IF EXISTS {TABLE}", "DROP INDEX IF EXISTS symbols_by_name"]
"""For the first load of an empty store; `make_name_indexes` recreates them."""


def make_name_indexes(database: Database) -> None:
    """Create missing indexes by name: after a first load, or after one that was interrupted."""
    missing = _MADE_LATER - {name for (name,) in database.rows("SELECT name FROM sqlite_master")}
    if not missing:
        return
    with database.joined():
        database.run_all(s for s in statements_of("1_facts.sql") if s.split()[2] in missing)
        if TABLE in missing:
            _fill(database)


class NameIndex:
    """Follows blobs that come and go. The caller holds the write transaction.

    `prefix` selects a table of the same shape elsewhere: a reader's overlay.
    """

    def __init__(self, database: Database, prefix: str = "") -> None:
        self._db = database
        self._prefix = prefix
        self._table = f"{prefix}{TABLE}"

    def add(self, blobs: Iterable[tuple[int, bytes]]) -> None:
        """Add blobs that are not in it, given with their names as `occurrences` has them."""
        if self._is_there():
            self._db.insert_many(self._table, "(?,?,?)", rows_by_name(list(blobs)))

    def remove(self, blob_ids: list[int]) -> None:
        """Remove some blobs; their rows of `occurrences` are still there."""
        if not blob_ids or not self._is_there():
            return
        sql = f"SELECT blob_id, names FROM {self._prefix}occurrences WHERE blob_id IN ({{marks}})"
        gone = _by_name(self._db.rows_among(sql, blob_ids))
        names = sorted(gone)
        for at in range(0, len(names), AT_ONCE):
            self._remove_from(names[at : at + AT_ONCE], gone)

    def _remove_from(self, names: list[int], gone: dict[int, list[int]]) -> None:
        some = f"WHERE name_id IN ({marks(names)})"
        blobs_by_name: dict[int, set[int]] = {}
        for name_id, first, others in self._db.rows(
            f"SELECT name_id, first, others FROM {self._table} {some}", *names
        ):
            blobs_by_name.setdefault(name_id, set()).update(blobs_of(first, others))
        self._db.run(f"DELETE FROM {self._table} {some}", *names)
        left = {
            name_id: sorted(blobs_by_name[name_id].difference(gone[name_id]))
            for name_id in blobs_by_name
        }
        self._insert({name_id: blobs for name_id, blobs in left.items() if blobs})

    def _insert(self, by_name: dict[int, list[int]]) -> None:
        self._db.insert_many(self._table, "(?,?,?)", _rows_of(by_name))

    def _is_there(self) -> bool:
        """Is it kept up to date? A first load makes it in the end."""
        there = self._prefix or self._db.row("SELECT 1 FROM sqlite_master WHERE name=?", TABLE)
        return bool(there)


def name_index_faults(database: Database) -> list[int]:
    """Return the blobs whose names are not those under which the index has them."""
    indexed: dict[int, list[int]] = {}
    for name_id, first, others in database.rows(f"SELECT name_id, first, others FROM {TABLE}"):
        for blob_id in blobs_of(first, others):
            _count(indexed.setdefault(blob_id, [0, 0, 0]), name_id)
    expected: dict[int, list[int]] = {}
    for blob_id, names in _rows(database):
        sums = expected.setdefault(blob_id, [0, 0, 0])
        for name_id in read_names(names)[0]:
            _count(sums, name_id)
    return sorted(b for b in indexed.keys() | expected.keys() if indexed.get(b) != expected.get(b))


def _count(sums: list[int], name_id: int) -> None:
    """Add a name to sums that are the same for the same names in any order."""
    sums[0] += 1
    sums[1] += name_id
    sums[2] += name_id * name_id


def _fill(database: Database) -> None:
    index = NameIndex(database)
    part: list[tuple[int, bytes]] = []
    size = 0
    for row in _rows(database):
        part.append(row)
        size += len(row[1]) // 3
        if size > PAIRS_AT_ONCE:
            index.add(part)
            part, size = [], 0
    index.add(part)


def _rows(database: Database) -> Iterator[tuple[int, bytes]]:
    """Yield the blobs that have names, in their order."""
    last = int(database.row("SELECT coalesce(max(blob_id), 0) FROM occurrences")[0])
    for first in range(1, last + 1, AT_ONCE):
        sql = "SELECT blob_id, names FROM occurrences WHERE blob_id BETWEEN ? AND ? ORDER BY 1"
        yield from database.rows(sql, first, first + AT_ONCE - 1)


def rows_by_name(blobs: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, int, bytes]]:
    """Return the rows of some blobs, given with their names as `occurrences` has them."""
    return _rows_of(_by_name(blobs))


def _rows_of(by_name: dict[int, list[int]]) -> Iterator[tuple[int, int, bytes]]:
    """Yield the rows in the order of the names: the first blob, and the distances to the others."""
    for name_id, blobs in sorted(by_name.items()):
        yield name_id, blobs[0], pack_numbers(steps_of(blobs)[1:]) if blobs[1:] else b""


def _by_name(blobs: Iterable[tuple[int, bytes]]) -> dict[int, list[int]]:
    blobs_of: dict[int, list[int]] = {}
    for blob_id, names in sorted(blobs):
        for name_id in read_names(names)[0]:
            if name_id in blobs_of:
                blobs_of[name_id].append(blob_id)
            else:
                blobs_of[name_id] = [blob_id]
    return blobs_of
