"""Digests of the facts in a pack's database, one per blob."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from gitindex.languages.facts import FactsKey
from gitindex.store.blob_names import read_names
from gitindex.store.blob_scopes import unpack_scopes
from gitindex.store.connection import Database

BLOBS_AT_ONCE = 2_000
_HEADS = (
    "SELECT id, oid, extractor, language, status, reason, lines, symbols, interface_hash, flags,"
    " lexical FROM blobs WHERE id BETWEEN ? AND ? ORDER BY id"
)
_DEFINITIONS = (
    'SELECT blob_id, name_id, shape_id, qualified_name, line, "column", above, below, parent,'
    " exported, doc FROM definitions WHERE blob_id BETWEEN ? AND ? ORDER BY blob_id, ordinal"
)
_PLACES = (
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
    for first in range(1, last + 1, BLOBS_AT_ONCE):
        span = first, first + BLOBS_AT_ONCE - 1
        definitions, places, scopes, *others = (
            _by_blob(database.rows(sql, *span))
            for sql in (_DEFINITIONS, _PLACES, _SCOPES, *_OTHERS)
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
