"""Which blobs may contain some text: the words of blobs in segments. Candidates only, never answers.

A segment holds the distinct words of a batch of blobs, and for each word the blobs that have it. A
question is a few fragments of words: the words are looked through for them, their blobs are read.
Whatever cannot be read is a candidate: damage costs time, never a line of an answer.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from zlib import crc32

from gitindex.base.errors import CorruptStore
from gitindex.extract.fragments import Clause, words_of_blob
from gitindex.store.checksum import SIZE, checked, is_sound, with_checksum
from gitindex.store.connection import Database
from gitindex.store.text_rows import (
    SegmentHead,
    pack_head,
    pack_ordinals,
    read_head,
    unpack_ordinals,
)

CLASSES = (0, 6, 9, 13, 19)
"""Shortest word of each length class: a long fragment is looked for among long words only."""
ONE_CLASS = 2_000
"""A segment with fewer words has a single class."""
CHUNK = 64
"""Words whose blobs are stored in one row."""
MAX_HITS = 1_000
"""Words that a fragment may be part of; one with more narrows too little to be followed."""
FEW = 64
"""A word that so few blobs have is always followed, in a segment of any size."""
MERGED = 8
"""Segments of about the same size that are made into one."""
MAX_SEGMENT = 16_000
"""Blobs of a segment that is not merged any further."""

_CLASS_BITS = 3
_CHUNK_BITS = 24
_POSTINGS = "SELECT id, postings FROM text_postings WHERE id IN (SELECT value FROM json_each(?))"

Place = tuple[int, int]
"""A word of a segment's class: the chunk it is in, and its number there."""
Words = dict[bytes, list[int]]
"""The ordinals of the blobs that have each word, ascending."""


class _Damaged(Exception):
    """A row is missing or is not what was written."""


class TextIndexWriter:
    """Collects the words of blobs and writes them as one segment. The caller holds the transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._blobs: list[int] = []
        self._wide: set[int] = set()
        self._words: Words = {}
        self._again: list[int] = []  # blobs that an older segment may name

    def add(self, blob_id: int, data: bytes, new: bool = False) -> None:
        """Keep a blob's words; of a blob that is left out there are none. Written by `flush`.

        `new`: no blob had this id before, or `remove_blobs` was called for it.
        """
        ordinal = len(self._blobs)
        self._blobs.append(blob_id)
        if not new:
            self._again.append(blob_id)
        words = words_of_blob(data)
        if words is None:
            self._wide.add(ordinal)
            return
        held = self._words
        for word in words:
            if word in held:
                held[word].append(ordinal)
            else:
                held[word] = [ordinal]

    def flush(self) -> None:
        """Write what was added since the last time, and replace what was held of the same blobs."""
        if self._again:
            remove_blobs(self._db, self._again)
        if self._blobs:
            _write(self._db, self._blobs, self._wide, self._words)
        self.discard()

    def discard(self) -> None:
        """Forget what was added: its transaction was rolled back."""
        self._blobs, self._wide, self._words, self._again = [], set(), {}, []


def remove_blobs(database: Database, blob_ids: Iterable[int]) -> None:
    """Forget blobs, so that their ids can be used again. The caller holds the transaction."""
    gone = set(blob_ids)
    for segment, head in _heads(database):
        if head is None or gone.isdisjoint(head.blobs):
            continue
        left = head._replace(blobs=[0 if blob in gone else blob for blob in head.blobs])
        if any(left.blobs):
            _put(database, "text_segments", segment, pack_head(left))
        else:
            _drop(database, segment, head)


def merge_segments(database: Database) -> None:
    """Make many small segments a few larger ones: every question looks at each of them."""
    tiers: dict[int, list[tuple[int, SegmentHead]]] = {}
    for segment, head in _heads(database):
        if head is not None and len(head.blobs) < MAX_SEGMENT // MERGED:
            tiers.setdefault(len(head.blobs).bit_length() // 3, []).append((segment, head))
    for group in tiers.values():
        if len(group) >= MERGED:
            with database.write():
                _merge(database, group)


def copy_blobs(source: Database, target: Database, new_ids: dict[int, int]) -> None:
    """Copy what is held of some blobs under other ids: in segments that depend on nothing else.

    A blob whose segment is damaged has no words in the copy: it stays a candidate for any text.
    """
    ordered = sorted(new_ids.values())
    for at in range(0, len(ordered), MAX_SEGMENT):
        part = ordered[at : at + MAX_SEGMENT]
        _copy_part(source, target, new_ids, {blob: n for n, blob in enumerate(part)})


def _copy_part(
    source: Database, target: Database, new_ids: dict[int, int], ordinals: dict[int, int]
) -> None:
    known: set[int] = set()
    wide: set[int] = set()
    words: Words = {}
    for segment, head in _heads(source):
        if head is None:
            continue
        new = {
            old: ordinals[new_ids[blob]]
            for old, blob in enumerate(head.blobs)
            if blob in new_ids and new_ids[blob] in ordinals
        }
        if not new:
            continue
        try:
            held = _SegmentReader(source, segment, head).everything()
        except (_Damaged, ValueError):
            continue
        known.update(new.values())
        wide.update(new[old] for old in head.wide if old in new)
        for word, holders in held.items():
            words.setdefault(word, []).extend(new[old] for old in holders if old in new)
    if known:
        blobs = [blob if n in known else 0 for blob, n in ordinals.items()]
        _write(target, blobs, wide, {word: sorted(at) for word, at in words.items() if at})


def candidates(database: Database, clauses: Iterable[Clause]) -> set[int] | None:
    """Blobs that may match; None where nothing narrows and any blob may."""
    asked = tuple(clauses)
    if not asked:
        return None
    found: set[int] = set()
    known: list[int] = []
    narrowed = False
    try:
        for segment, head in _heads(database):
            if head is None:
                continue  # its blobs are known to nobody, and candidates for that
            held = _SegmentReader(database, segment, head).holders(asked)
            narrowed = narrowed or held is not None
            live = [blob for blob in head.blobs if blob]
            known += live
            found.update(live if held is None else filter(None, map(head.blobs.__getitem__, held)))
        return found | _unknown(database, known) if narrowed else None
    except CorruptStore:
        return None


class _SegmentReader:
    """Looks up fragments in one segment; each row is read once."""

    def __init__(self, database: Database, segment: int, head: SegmentHead) -> None:
        self._db, self._segment, self._head = database, segment, head
        self._texts: dict[int, bytes] = {}

    def holders(self, clauses: Iterable[Clause]) -> set[int] | None:
        """Ordinals of the blobs that may match; None for all of them."""
        found: set[int] | None = None
        try:
            for clause in clauses:
                part = self._any_form(clause)
                if part is not None:
                    found = part if found is None else found & part
                if found is not None and not found:
                    break
        except _Damaged:
            return None
        return None if found is None else found | self._head.wide

    def _any_form(self, clause: Clause) -> set[int] | None:
        found: set[int] = set()
        for form in clause:
            part = self._all_of(form)
            if part is None:
                return None
            found |= part
        return found

    def _all_of(self, form: Iterable[bytes]) -> set[int] | None:
        found: set[int] | None = None
        for fragment in sorted(form, key=len, reverse=True):
            part = self._holding(fragment)
            if part is not None:
                found = part if found is None else found & part
            if found is not None and len(found) <= 2:
                break
        return found

    def _holding(self, fragment: bytes) -> set[int] | None:
        """Ordinals of the blobs with a word that has this fragment; None where that is most of them."""
        found: set[int] = set()
        room, most = MAX_HITS, max(FEW, len(self._head.blobs) // 2)
        for number in _classes_for(self._head.classes, fragment):
            places = _places(self._text(number), fragment, room)
            room -= len(places)
            if room <= 0:
                return None
            for posting in self._postings(number, places):
                if len(posting) > most:
                    return None
                found.update(unpack_ordinals(posting))
        return found

    def _text(self, number: int) -> bytes:
        """The words of a class behind their checksum: not copied, for they are megabytes."""
        if number not in self._texts:
            row_id = self._segment << _CLASS_BITS | number
            row = self._db.row("SELECT words FROM text_words WHERE id=?", row_id)
            if row is None or not is_sound(row[0], "text_words", row_id):
                raise _Damaged
            self._texts[number] = row[0]
        return self._texts[number]

    def _postings(self, number: int, places: list[Place]) -> Iterator[bytes]:
        """What is stored for some words, ascending by place."""
        first = (self._segment << _CLASS_BITS | number) << _CHUNK_BITS
        wanted = sorted({first + chunk for chunk, _ in places})
        rows = self._db.rows(_POSTINGS, json.dumps(wanted)) if wanted else []
        stored = {i: _sound("text_postings", i, packed).split(b" ") for i, packed in rows}
        if len(stored) != len(wanted):
            raise _Damaged
        for chunk, at in places:
            yield stored[first + chunk][at]

    def everything(self) -> Words:
        """All words of the segment; raises where a row is damaged."""
        found: Words = {}
        for number, (_, count) in enumerate(self._head.classes):
            words = self._text(number)[SIZE:].split() if count else []
            places = [divmod(place, CHUNK) for place in range(count)]
            for word, posting in zip(words, self._postings(number, places), strict=True):
                found[word] = unpack_ordinals(posting)
        return found


def damage(database: Database) -> str:
    """What is wrong with the text index; empty where every row is as it was written."""
    for segment, head in _heads(database):
        if head is None:
            return f"text segment {segment} is damaged"
        try:
            _SegmentReader(database, segment, head).everything()
        except (_Damaged, ValueError):
            return f"text segment {segment} is damaged"
    return ""


class WordSums(NamedTuple):
    """The words of a blob as numbers: how many, and a sum of their checksums."""

    held: int
    mixed: int


def stored_sums(database: Database) -> dict[int, WordSums | None]:
    """What is kept of every blob; None of one with too many words, no entry where nothing is known."""
    sums: dict[int, WordSums | None] = {}
    for segment, head in _heads(database):
        if head is None:
            continue
        counts: Counter[int] = Counter()
        mixed: Counter[int] = Counter()
        try:
            words = _SegmentReader(database, segment, head).everything()
        except _Damaged:
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
    """The same of a blob's bytes."""
    words = words_of_blob(data)
    return None if words is None else WordSums(len(words), sum(map(crc32, words)))


def _heads(database: Database) -> list[tuple[int, SegmentHead | None]]:
    rows = database.rows("SELECT id, head FROM text_segments ORDER BY id")
    return [(row_id, read_head(checked("text_segments", row_id, head))) for row_id, head in rows]


def _unknown(database: Database, known: list[int]) -> set[int]:
    """Blobs that no readable segment names."""
    stored = database.row("SELECT count(*), coalesce(sum(id), 0) FROM blobs")
    if stored == (len(known), sum(known)):
        return set()
    return {blob for (blob,) in database.rows("SELECT id FROM blobs")}.difference(known)


def _classes_for(classes: list[tuple[int, int]], fragment: bytes) -> Iterator[int]:
    """The classes whose words are long enough for a fragment, or just as long if it is a whole word."""
    length = len(fragment.strip())
    first = bisect_right([shortest for shortest, _ in classes], length) - 1
    whole = fragment[:1] == fragment[-1:] == b" "
    for number in range(max(first, 0), first + 1 if whole else len(classes)):
        if classes[number][1]:
            yield number


def _places(text: bytes, fragment: bytes, most: int) -> list[Place]:
    """Which words of a stored text have a fragment, at most so many: chunk, and number in the chunk."""
    found: list[Place] = []
    lead = 1 if fragment[:1] == b" " else 0
    chunk = 0
    counted = line = SIZE
    at = text.find(fragment, SIZE)
    while at >= 0 and len(found) < most:
        start = at + lead
        ends = text.count(b"\n", counted, start)
        if ends:
            chunk += ends
            line = text.rfind(b"\n", counted, start) + 1
        counted = start
        found.append((chunk, text.count(b" ", line, start) - 1))
        at = text.find(fragment, text.find(b" ", start))
    return found


def _merge(database: Database, group: list[tuple[int, SegmentHead]]) -> None:
    blobs: list[int] = []
    wide: set[int] = set()
    words: Words = {}
    for segment, head in group:
        try:
            held = _SegmentReader(database, segment, head).everything()
        except (_Damaged, ValueError):
            continue
        new = {
            old: len(blobs) + n for n, old in enumerate(o for o, b in enumerate(head.blobs) if b)
        }
        blobs += filter(None, head.blobs)
        wide.update(new[old] for old in head.wide if old in new)
        for word, ordinals in held.items():
            words.setdefault(word, []).extend(new[old] for old in ordinals if old in new)
        _drop(database, segment, head)
    _write(database, blobs, wide, {word: found for word, found in words.items() if found})


def _write(database: Database, blobs: list[int], wide: set[int], words: Words) -> None:
    row = database.row("SELECT coalesce(max(id), 0) + 1 FROM text_segments")
    segment = int(row[0])
    shortest = CLASSES if len(words) >= ONE_CLASS else CLASSES[:1]
    classes: list[list[bytes]] = [[] for _ in shortest]
    for word in sorted(words):
        classes[bisect_right(shortest, len(word)) - 1].append(word)
    sizes = list(zip(shortest, map(len, classes), strict=True))
    _put(database, "text_segments", segment, pack_head(SegmentHead(blobs, wide, sizes)))
    for number, chosen in enumerate(classes):
        row_id = segment << _CLASS_BITS | number
        chunks = [chosen[at : at + CHUNK] for at in range(0, len(chosen), CHUNK)]
        if chunks:
            lines = (b" ".join([b"", *chunk, b""]) for chunk in chunks)
            _put(database, "text_words", row_id, b"\n".join(lines))
        for chunk_id, chunk in enumerate(chunks, row_id << _CHUNK_BITS):
            packed = [pack_ordinals(words[word]) for word in chunk]
            _put(database, "text_postings", chunk_id, b" ".join(packed))


def _drop(database: Database, segment: int, head: SegmentHead) -> None:
    first = segment << _CLASS_BITS
    end = first + len(head.classes)
    database.run("DELETE FROM text_segments WHERE id=?", segment)
    database.run("DELETE FROM text_words WHERE id>=? AND id<?", first, end)
    database.run(
        "DELETE FROM text_postings WHERE id>=? AND id<?", first << _CHUNK_BITS, end << _CHUNK_BITS
    )


def _put(database: Database, table: str, row_id: int, value: bytes) -> None:
    database.run(
        f"INSERT OR REPLACE INTO {table} VALUES (?,?)", row_id, with_checksum(table, row_id, value)
    )


def _sound(table: str, row_id: int, stored: object) -> bytes:
    value = checked(table, row_id, stored)
    if value is None:
        raise _Damaged
    return value
