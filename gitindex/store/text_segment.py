"""One segment of the text index: finds its blobs by fragments of words."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from gitindex.extract.fragments import Clause
from gitindex.store.connection import Database
from gitindex.store.text_rows import (
    BLOCK,
    CHUNK,
    MIN_FILTERED,
    SegmentHead,
    SegmentPart,
    Words,
    blocks_with,
    filter_of,
    unpack_ordinals,
)

MAX_HITS = 1_000
"""A fragment of more words than this is not followed: it narrows too little."""
FEW = 64
"""A word with so few blobs is always followed, in a segment of any size."""
BITS = 24
"""Bits of a row's id for the number of a block or chunk in its segment."""

Place = tuple[int, int]
"""A word of a segment: its chunk, and its number there."""


class Damaged(Exception):
    """A row is missing."""


def block_id(segment: int, number: int) -> int:
    """Return the row id of a block; the filter's row precedes the first block."""
    return (segment << BITS) + 1 + number


class SegmentReader:
    """Looks up fragments in one segment; each row is read once."""

    def __init__(self, database: Database, segment: int, head: SegmentHead) -> None:
        self._db, self._segment, self._head = database, segment, head
        self._blocks = -(-head.words // BLOCK)
        self._texts: dict[int, bytes] = {}
        self._marks: bytes | None = None

    def holders(self, clauses: Iterable[Clause]) -> set[int] | None:
        """Return ordinals of the blobs that may match; None for all of them."""
        found: set[int] | None = None
        try:
            for clause in clauses:
                part = self._any_form(clause)
                if part is not None:
                    found = part if found is None else found & part
                if found is not None and not found:
                    break
        except (Damaged, IndexError):
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
        """Return ordinals of blobs with a word that has this fragment; None if they are most."""
        numbers = blocks_with(self._filter(), self._blocks, fragment)
        self._read_blocks(numbers)
        places: list[Place] = []
        for number in numbers:
            room = MAX_HITS - len(places)
            places += _places(self._texts[number], fragment, room, number * (BLOCK // CHUNK))
            if len(places) >= MAX_HITS:
                return None
        found: set[int] = set()
        most = max(FEW, len(self._head.blobs) // 2)
        for posting in self._postings(places):
            if len(posting) > most:
                return None
            found.update(unpack_ordinals(posting))
        return found

    def _filter(self) -> bytes:
        if self._marks is None:
            row_id = self._segment << BITS
            filtered = self._blocks >= MIN_FILTERED
            self._marks = self._rows("words", [row_id])[0] if filtered else b""
        return self._marks

    def _read_blocks(self, numbers: Iterable[int]) -> None:
        """Read the words of some blocks."""
        missing = [number for number in numbers if number not in self._texts]
        rows = self._rows("words", [block_id(self._segment, number) for number in missing])
        self._texts.update(zip(missing, rows, strict=True))

    def _rows(self, column: str, row_ids: list[int]) -> list[bytes]:
        """Return rows by ascending id; raises if one is missing."""
        table = f"text_{column}"
        sql = f"SELECT id, {column} FROM {table} WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"
        rows = self._db.rows(sql, str(row_ids)) if row_ids else []
        if len(rows) != len(row_ids):
            raise Damaged
        return [value for _, value in rows]

    def _postings(self, places: list[Place]) -> Iterator[bytes]:
        """Yield the postings of some words, ascending by place."""
        first = self._segment << BITS
        wanted = sorted({first + chunk for chunk, _ in places})
        rows = self._rows("postings", wanted)
        stored = {row_id: row.split(b" ") for row_id, row in zip(wanted, rows, strict=True)}
        for chunk, at in places:
            yield stored[first + chunk][at]

    def part(self, ordinals: array[int]) -> SegmentPart:
        """Return all words and postings for a merge; raises if a row is damaged."""
        words, first = self._head.words, self._segment << BITS
        self._read_blocks(range(self._blocks))
        blocks = tuple(self._texts.pop(number) for number in range(self._blocks))
        rows = self._rows("postings", list(range(first, first + -(-words // CHUNK))))
        listed = [sum(map(len, map(bytes.split, part))) for part in (blocks, rows)]
        if listed != [words, words]:
            raise Damaged
        return SegmentPart(blocks, tuple(rows), ordinals)

    def everything(self) -> Words:
        """Return all words of the segment; raises if a row is damaged."""
        self._read_blocks(range(self._blocks))
        blocks = [self._texts[number] for number in range(self._blocks)]
        words = [word for block in blocks for word in block.split()]
        if len(words) != self._head.words or (
            self._filter() and self._filter() != filter_of(blocks)
        ):
            raise Damaged
        places = [divmod(place, CHUNK) for place in range(len(words))]
        postings = map(unpack_ordinals, self._postings(places))
        return dict(zip(words, postings, strict=True))


def _places(text: bytes, fragment: bytes, most: int, chunk: int) -> list[Place]:
    """Return at most so many words of a block with a fragment; `chunk` is the block's first."""
    found: list[Place] = []
    lead = 1 if fragment[:1] == b" " else 0
    counted = line = 0
    at = text.find(fragment)
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
