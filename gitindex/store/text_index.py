"""Which blobs may contain some text: the words of blobs in segments. Candidates only, never
answers.

A segment holds the distinct words of a batch of blobs, and for each word the blobs that have it. A
question is a few fragments of words: the words are scanned for them, and their blobs are read.
Whatever cannot be read is a candidate. Damage is found by the checksums of the database, not here.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from typing import NamedTuple
from zlib import crc32

from gitindex.base.errors import CorruptStore
from gitindex.extract.fragments import Clause, folded_text, words_of_blob
from gitindex.store.connection import Database
from gitindex.store.text_rows import (
    GONE,
    SegmentHead,
    SegmentPart,
    TextRows,
    merge_rows,
    pack_head,
    pack_texts,
    read_head,
)
from gitindex.store.text_segment import BITS, Damaged, SegmentReader, block_id

MERGED = 8
"""Number of segments of similar size that are merged into one."""
MAX_SEGMENT = 16_000
"""Blobs of one segment of a pack, which is written at once."""
MAX_MERGED = 2_000
"""Segments of more blobs are not merged: a merge costs 0.4 ms for each blob, and one segment more costs a
question 0.2 ms. Batches of a first index have 4,000."""


class TextIndexWriter:
    """Collects texts and writes their words as one segment. The caller holds the transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._blobs: list[int] = []
        self._texts: list[bytes] = []
        self._again: list[int] = []  # blobs that an older segment may list

    def add(self, blob_id: int, data: bytes, new: bool = False) -> None:
        """Add a blob's words; a blob that is left out has none. Written by `flush`.

        `new`: no blob had this id before, or `remove_blobs` was called for it.
        """
        self._blobs.append(blob_id)
        self._texts.append(folded_text(data))
        if not new:
            self._again.append(blob_id)

    def flush(self) -> None:
        """Write what was added since the last flush, replacing older words of the same blobs."""
        if self._again:
            remove_blobs(self._db, self._again)
        if self._blobs:
            wide, rows = pack_texts(self._texts)
            _write(self._db, self._blobs, wide, rows)
        self.discard()

    def discard(self) -> None:
        """Discard what was added: its transaction was rolled back."""
        self._blobs, self._texts, self._again = [], [], []


def remove_blobs(database: Database, blob_ids: Iterable[int]) -> None:
    """Remove blobs, so that their ids can be reused. The caller holds the transaction."""
    gone = set(blob_ids)
    for segment, head in _heads(database):
        if head is None or gone.isdisjoint(head.blobs):
            continue
        left = head._replace(blobs=[0 if blob in gone else blob for blob in head.blobs])
        if any(left.blobs):
            _put(database, "text_segments", [(segment, pack_head(left))])
        else:
            _drop(database, segment)


def merge_segments(database: Database) -> None:
    """Merge small segments into larger ones: every question reads each segment."""
    tiers: dict[int, list[tuple[int, SegmentHead]]] = {}
    for segment, head in _heads(database):
        if head is not None and len(head.blobs) < MAX_MERGED:
            tiers.setdefault(len(head.blobs).bit_length() // 3, []).append((segment, head))
    for group in tiers.values():
        if len(group) >= MERGED:
            with suppress(ValueError, IndexError), database.write():  # not written by us
                _merge(database, group)


def candidates(database: Database, clauses: Iterable[Clause]) -> set[int] | None:
    """Return blobs that may match; None if any blob may."""
    asked = tuple(clauses)
    if not asked:
        return None
    found: set[int] = set()
    known: list[int] = []
    narrowed = False
    try:
        for segment, head in _heads(database):
            if head is None:
                continue  # its blobs are unknown, and therefore candidates
            held = SegmentReader(database, segment, head).holders(asked)
            narrowed = narrowed or held is not None
            live = head.blobs if all(head.blobs) else [blob for blob in head.blobs if blob]
            known += live
            found.update(live if held is None else filter(None, map(head.blobs.__getitem__, held)))
        return found | _unknown(database, known) if narrowed else None
    except CorruptStore:
        return None


def damage(database: Database) -> str:
    """Describe what is wrong with the text index; empty if every row is as written."""
    for segment, head in _heads(database):
        if head is None:
            return f"text segment {segment} is damaged"
        try:
            SegmentReader(database, segment, head).everything()
        except (Damaged, ValueError):
            return f"text segment {segment} is damaged"
    return ""


class WordSums(NamedTuple):
    """A digest of a blob's words: their number, and the sum of their checksums."""

    held: int
    mixed: int


def stored_sums(database: Database) -> dict[int, WordSums | None]:
    """Return the sums of every known blob; None for one with too many words."""
    sums: dict[int, WordSums | None] = {}
    for segment, head in _heads(database):
        if head is None:
            continue
        counts: Counter[int] = Counter()
        mixed: Counter[int] = Counter()
        try:
            words = SegmentReader(database, segment, head).everything()
        except Damaged:
            continue
        for word, ordinals in words.items():
            counts.update(ordinals)
            number = crc32(word)
            for ordinal in ordinals:
                mixed[ordinal] += number
        for ordinal, blob in enumerate(head.blobs):
            if blob:
                wide = ordinal in head.wide
                sums[blob] = None if wide else WordSums(counts[ordinal], mixed[ordinal])
    return sums


def sums_of(data: bytes) -> WordSums | None:
    """The same, computed from a blob's bytes."""
    words = words_of_blob(data)
    return None if words is None else WordSums(len(words), sum(map(crc32, words)))


def _heads(database: Database) -> list[tuple[int, SegmentHead | None]]:
    rows = database.rows("SELECT id, head FROM text_segments ORDER BY id")
    return [(row_id, read_head(head)) for row_id, head in rows]


def _unknown(database: Database, known: list[int]) -> set[int]:
    """Return blobs that no readable segment lists."""
    stored = database.row("SELECT count(*), coalesce(sum(id), 0) FROM blobs")
    if stored == (len(known), sum(known)):
        return set()
    return {blob for (blob,) in database.rows("SELECT id FROM blobs")}.difference(known)


def _merge(database: Database, group: list[tuple[int, SegmentHead]]) -> None:
    """Write some segments as one; those that are damaged stay as they are."""
    blobs: list[int] = []
    wide: set[int] = set()
    parts: list[SegmentPart] = []
    for segment, head in group:
        fresh = count(len(blobs))
        new = array("I", [next(fresh) if blob else GONE for blob in head.blobs])
        try:
            parts.append(SegmentReader(database, segment, head).part(new))
        except Damaged:
            continue
        blobs += filter(None, head.blobs)
        wide.update(new[old] for old in head.wide if head.blobs[old])
        _drop(database, segment)
    _write(database, blobs, wide, merge_rows(parts))


def _write(database: Database, blobs: list[int], wide: set[int], rows: TextRows) -> None:
    segment = int(database.row("SELECT coalesce(max(id), 0) + 1 FROM text_segments")[0])
    _put(database, "text_segments", [(segment, pack_head(SegmentHead(blobs, wide, rows.words)))])
    words = [(block_id(segment, number), block) for number, block in enumerate(rows.blocks)]
    if rows.filter:
        words.insert(0, (segment << BITS, rows.filter))
    _put(database, "text_words", words)
    _put(database, "text_postings", list(enumerate(rows.postings, segment << BITS)))


def _drop(database: Database, segment: int) -> None:
    database.run("DELETE FROM text_segments WHERE id=?", segment)
    for table in ("text_words", "text_postings"):
        first, end = segment << BITS, segment + 1 << BITS
        database.run(f"DELETE FROM {table} WHERE id>=? AND id<?", first, end)


def _put(database: Database, table: str, rows: list[tuple[int, bytes]]) -> None:
    database.run_many(
        f"INSERT OR REPLACE INTO {table} VALUES (?,?)",
        rows,
    )
