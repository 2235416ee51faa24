"""Tracks blobs whose facts came with a pack and have not been derived here yet."""

from __future__ import annotations

import time
from collections.abc import Iterable

from gitindex.base.light_types import NamedTuple
from gitindex.languages.facts import FactsKey
from gitindex.store.connection import Database, marks

CHUNK = 400  # values bound in one statement: some builds of SQLite allow 999


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
    ids = list(blob_ids)[:CHUNK]
    rows = database.rows(
        "SELECT DISTINCT i.signer FROM pack_blobs p JOIN pack_imports i ON i.id=p.import_id"
        f" WHERE p.blob_id IN ({marks(ids)}) ORDER BY 1",
        *ids,
    )
    return [str(signer) for (signer,) in rows]
