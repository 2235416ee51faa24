"""Scopes of blobs: compressed rows, and the blobs whose scopes a refresh left to the runner."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from gitindex.languages.facts import FactsKey
from gitindex.store.connection import Database, open_reader

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
