"""One segment of the text index: which of its blobs have words with some fragments."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from gitindex.extract.fragments import Clause
from gitindex.store.checksum import SIZE, checked, is_sound
from gitindex.store.connection import Database
from gitindex.store.text_rows import (
    BLOCK,
    CHUNK,
    MIN_FILTERED,
    SegmentHead,
    Words,
    blocks_with,
    filter_of,
    unpack_ordinals,
)

MAX_HITS = 1_000
"""Words that a fragment may be part of; one with more narrows too little to be followed."""
FEW = 64
"""A word that so few blobs have is always followed, in a segment of any size."""
BITS = 24
"""Of a row's id: the number of a block or a chunk in its segment."""

_POSTINGS = "SELECT id, postings FROM text_postings WHERE id IN (SELECT value FROM json_each(?))"

Place = tuple[int, int]
"""A word of a segment: the chunk it is in, and its number there."""


class Damaged(Exception):
    """A row is missing or is not what was written."""


def block_id(segment: int, number: int) -> int:
    """The row of a block; the filter has the one before the first."""
    return (segment << BITS) + 1 + number


class SegmentReader:
    """Looks up fragments in one segment; each row is read once."""

    def __init__(self, database: Database, segment: int, head: SegmentHead) -> None:
        self._db, self._segment, self._head = database, segment, head
        self._blocks = -(-head.words // BLOCK)
        self._texts: dict[int, bytes] = {}
        self._marks: bytes | None = None

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
        except Damaged:
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
        for number in blocks_with(self._filter(), self._blocks, fragment):
            places = _places(self._text(number), fragment, room, number * (BLOCK // CHUNK))
            room -= len(places)
            if room <= 0:
                return None
            for posting in self._postings(places):
                if len(posting) > most:
                    return None
                found.update(unpack_ordinals(posting))
        return found

    def _filter(self) -> bytes:
        if self._marks is None:
            row_id = self._segment << BITS
            filtered = self._blocks >= MIN_FILTERED
            self._marks = self._row("words", row_id)[SIZE:] if filtered else b""
        return self._marks

    def _text(self, number: int) -> bytes:
        """The words of a block behind their checksum."""
        if number not in self._texts:
            self._texts[number] = self._row("words", block_id(self._segment, number))
        return self._texts[number]

    def _row(self, column: str, row_id: int) -> bytes:
        table = f"text_{column}"
        row = self._db.row(f"SELECT {column} FROM {table} WHERE id=?", row_id)
        if row is None or not is_sound(row[0], table, row_id):
            raise Damaged
        return row[0]

    def _postings(self, places: list[Place]) -> Iterator[bytes]:
        """What is stored for some words, ascending by place."""
        first = self._segment << BITS
        wanted = sorted({first + chunk for chunk, _ in places})
        rows = self._db.rows(_POSTINGS, json.dumps(wanted)) if wanted else []
        stored = {row_id: _sound(row_id, packed).split(b" ") for row_id, packed in rows}
        if len(stored) != len(wanted):
            raise Damaged
        for chunk, at in places:
            yield stored[first + chunk][at]

    def everything(self) -> Words:
        """All words of the segment; raises where a row is damaged."""
        blocks = [self._text(number)[SIZE:] for number in range(self._blocks)]
        words = [word for block in blocks for word in block.split()]
        if len(words) != self._head.words or (
            self._filter() and self._filter() != filter_of(blocks)
        ):
            raise Damaged
        places = [divmod(place, CHUNK) for place in range(len(words))]
        postings = map(unpack_ordinals, self._postings(places))
        return dict(zip(words, postings, strict=True))


def _sound(row_id: int, stored: object) -> bytes:
    value = checked("text_postings", row_id, stored)
    if value is None:
        raise Damaged
    return value


def _places(text: bytes, fragment: bytes, most: int, chunk: int) -> list[Place]:
    """Which words of a block have a fragment, at most so many; `chunk` is the block's first."""
    found: list[Place] = []
    lead = 1 if fragment[:1] == b" " else 0
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
