"""Which blobs may contain some text: a list of all words, and the lexical index, which has the blobs of
each. Candidates only, never answers.

A question is a few fragments of words. The list is scanned for the words that contain them, and Tantivy
is queried for the blobs of these words. The list only grows: a word of no blob costs a few bytes.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain

from gitindex.base.errors import CorruptStore, StoreError
from gitindex.base.light_types import sha256
from gitindex.extract.fragments import Clause
from gitindex.extract.terms import MARK
from gitindex.store.checksums import GONE, UNKNOWN, half_of_database
from gitindex.store.connection import Database
from gitindex.store.lexical import TermClauses, lexical_beside

MAX_WORDS = 1_000
"""A fragment of more words than this narrows too little: their postings cost more than reading files."""
FEW_WORDS = 2
"""A fragment of so few words names few files."""
MAX_ROWS = 8
"""Rows of small commits: as many are merged into one after a refresh."""
MAX_MERGED_BYTES = 1 << 18
"""A larger row is not merged again, so that the work after a commit does not grow with the repository."""
MAX_PACKED_BYTES = 1 << 19
"""A row up to this size is compressed to a third: it matters to a small store, and costs a question 1 ms."""
MAX_KNOWN = 1 << 18
"""Words that a writer remembers, about 20 MB; beyond them a word may be listed twice."""
MAX_KEPT_BYTES = 1 << 24
"""Of rows that a server keeps between questions; reading those of Django takes 3 ms."""
_MARK = MARK.decode()
_kept: dict[tuple[str, int], bytes] = {}
"""Words of rows, by the name that the database file was given and the id of the row."""


class WordListWriter:
    """Collects the words of blobs and writes those that it has not written. The caller holds the
    transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._known: set[str] = set()
        self._new: set[str] = set()

    def add(self, body: str) -> None:
        """Add the terms of a blob; a marked blob is always a candidate, and its words are not needed."""
        if not body.endswith(_MARK):
            self._new.update(body.partition("  ")[0].split())  # without repetitions

    def flush(self) -> None:
        """Write the words that were added since the last flush."""
        new = self._new - self._known
        if new:
            write_words(self._db, new)
        self._known = self._known | new if len(self._known) < MAX_KNOWN else new
        self._new = set()


def merge_word_lists(database: Database) -> None:
    """Merge the rows of small commits: their words are mostly the same."""
    small = database.rows("SELECT id FROM text_words WHERE size<?", MAX_MERGED_BYTES)
    if len(small) >= MAX_ROWS:
        with database.write():
            ids = str([row_id for (row_id,) in small])
            chosen = "WHERE id IN (SELECT value FROM json_each(?))"
            rows = database.rows(f"SELECT words FROM text_words {chosen}", ids)
            database.run(f"DELETE FROM text_words {chosen}", ids)
            write_words(
                database, set(chain.from_iterable(_split(_unpacked(words)) for (words,) in rows))
            )


def listed_words(database: Database) -> set[str]:
    """Return all words of the list."""
    rows = database.rows("SELECT words FROM text_words")
    return set(chain.from_iterable(_split(_unpacked(words)) for (words,) in rows))


def candidates(database: Database, clauses: Iterable[Clause]) -> set[int] | None:
    """Return blobs that may match; None if any blob may. CorruptStore if the index is damaged."""
    texts = _texts(database)
    terms: TermClauses = []
    for clause in clauses:
        forms = [_words_of_form(texts, form) for form in clause]
        if forms and all(forms):
            terms.append(forms)
    if not terms or not texts:
        return None
    promised = int(database.row("SELECT lexical_docs FROM repo_state")[0])
    try:
        lexical = lexical_beside(database.path)
        # fewer: documents of this snapshot were removed meanwhile
        return lexical.blobs_with(terms) if lexical.documents >= promised else None
    except CorruptStore:
        raise
    except StoreError:
        return None  # its files were merged away while they were opened


def _words_of_form(texts: list[bytes], form: Iterable[bytes]) -> list[list[str]]:
    """Return for each fragment the words that contain it, without fragments of too many words.

    A fragment of few words is enough: each scan costs more than the files that another would spare.
    """
    lists: list[list[str]] = []
    for fragment in sorted(form, key=lambda part: (-len(part), part)):
        words = _words_with(texts, fragment)
        if words is not None:
            lists.append([*words, _MARK])
            if len(words) <= FEW_WORDS:
                break
    return lists


def _words_with(texts: list[bytes], fragment: bytes) -> set[str] | None:
    words: set[str] = set()
    for text in texts:
        for word in _matches(text, fragment):
            words.add(word.decode("utf-8", "replace"))
            if len(words) > MAX_WORDS:
                return None
    return words


def _matches(text: bytes, fragment: bytes) -> Iterator[bytes]:
    lead = fragment[:1] == b" "
    at = text.find(fragment)
    while at >= 0:
        start = at + 1 if lead else text.rfind(b" ", 0, at) + 1
        end = text.find(b" ", at + lead)
        yield text[start:end]
        at = text.find(fragment, end)


def _texts(database: Database) -> list[bytes]:
    """Return the words of each row; those that this process has read from the same file are kept.

    A row's id is made from its words, and a file that is built anew has another name.
    """
    name = half_of_database(os.path.dirname(database.path)).id
    lists: dict[tuple[str, int], bytes] = {}
    for (row_id,) in database.rows("SELECT id FROM text_words"):
        key = name, row_id
        if key in _kept and name not in (UNKNOWN, GONE.id):
            lists[key] = _kept[key]
        else:
            (words,) = database.row("SELECT words FROM text_words WHERE id=?", row_id)
            lists[key] = _unpacked(words)
    _kept.clear()  # of older lists
    if sum(map(len, lists.values())) <= MAX_KEPT_BYTES:
        _kept.update(lists)
    return list(lists.values())


def _unpacked(words: bytes) -> bytes:
    """Return the words of a row, which begin with a blank."""
    try:
        if words.startswith(b" "):
            return words
        return zlib.decompressobj().decompress(words, MAX_PACKED_BYTES)
    except zlib.error as error:
        message = "the store is damaged: the list of words cannot be read"
        raise CorruptStore(message, "run `gitindex index --force`") from error


def _split(words: bytes) -> list[str]:
    return words.decode("utf-8", "replace").split()


def write_words(database: Database, words: Iterable[str]) -> None:
    """Write a row: sorted, so that equal words make equal bytes; a blank before and after each word."""
    listed = " ".join(["", *sorted(words), ""]).encode()
    row = zlib.compress(listed) if len(listed) <= MAX_PACKED_BYTES else listed
    row_id = int.from_bytes(sha256(listed).digest()[:8], "big") >> 1
    database.run("INSERT OR IGNORE INTO text_words VALUES (?,?,?)", row_id, len(listed), row)
