"""Trigrams of blobs in FTS5: which blobs may contain some text. Candidates only, never answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gitindex.extract.trigrams import Clause, fold, plain_bytes
from gitindex.store.connection import Database

TABLE = "trigrams"
CHECKED = 100
"""Trigrams of a blob that one question asks for."""
_PRIME = 1_000_003
_CREATE = (
    f"CREATE VIRTUAL TABLE IF NOT EXISTS {TABLE} USING fts5(text, content='', detail=none,"
    " columnsize=0, tokenize='trigram case_sensitive 1')"
)
_KNOWN = "INSERT INTO trigram_blobs VALUES (?) ON CONFLICT DO NOTHING"
_NUL_TO_BLANK = bytes.maketrans(b"\0", b" ")


class TrigramTable:
    """Keeps the trigrams of blobs. Without FTS5 it keeps nothing, and every blob is a candidate."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._usable = has_fts5(database)

    def add(self, blob_id: int, data: bytes) -> None:
        """Keep a blob's trigrams; what was kept once is not kept again.

        The caller holds the write transaction. A blob that is left out has no bytes to look in.
        """
        if not self._usable:
            return
        self._db.run(_CREATE)  # every time: a transaction that made it may have been rolled back
        if self._db.run(_KNOWN, blob_id) and data:
            self._db.run(f"INSERT INTO {TABLE} (rowid, text) VALUES (?,?)", blob_id, distinct(data))

    def remove(self, blob_id: int, data: bytes) -> None:
        """Take a blob's trigrams out again, by the very bytes they were kept of."""
        known = self._db.row("SELECT 1 FROM trigram_blobs WHERE blob_id=?", blob_id)
        if self._usable and known is not None and data:
            sql = f"INSERT INTO {TABLE} ({TABLE}, rowid, text) VALUES ('delete',?,?)"
            self._db.run(sql, blob_id, distinct(data))
            self._db.run("DELETE FROM trigram_blobs WHERE blob_id=?", blob_id)


def distinct(data: bytes) -> str:
    """All that a trigram of a literal can come from: what stands between blanks, each once, folded, a
    character per byte. Less than half of a text is left; literals.py asks for no trigram across a blank.

    A tokenizer stops at a NUL; no literal that is looked up has one.
    """
    folded = fold(plain_bytes(data)).translate(_NUL_TO_BLANK)
    return b" ".join([b"", *dict.fromkeys(folded.split()), b""]).decode("latin-1")


def has_fts5(database: Database) -> bool:
    """Does this SQLite have FTS5?"""
    return database.row("SELECT 1 FROM pragma_module_list WHERE name='fts5'") is not None


def candidates(database: Database, clauses: Iterable[Clause]) -> set[int] | None:
    """Blobs that may match; None where nothing narrows and any blob may."""
    query = match_expression(clauses)
    if not query or not has_fts5(database) or not _exists(database):
        return None
    found = {row[0] for row in database.rows(f"SELECT rowid FROM {TABLE}(?)", query)}
    return found | _unknown(database)


class Sums(NamedTuple):
    """Some trigrams as numbers: how many, their sum, and one that tells other sets of equal sum."""

    held: int
    plain: int
    mixed: int


def stored_sums(database: Database) -> dict[int, Sums]:
    """What is kept of every blob. A reader's own look."""
    if not has_fts5(database) or not _exists(database):
        return {}
    number = "(unicode(term)*65536 + unicode(substr(term,2))*256 + unicode(substr(term,3)))"
    with database.scratch():
        database.run(f"CREATE VIRTUAL TABLE temp.held USING fts5vocab(main, {TABLE}, instance)")
        rows = database.rows(
            f"SELECT doc, count(*), sum({number}), sum({number}*{number} % {_PRIME})"
            " FROM temp.held GROUP BY doc"
        )
        database.run("DROP TABLE temp.held")
    return {blob_id: Sums(*sums) for blob_id, *sums in rows}


def sums_of(data: bytes) -> Sums:
    """The same of a blob's bytes."""
    text = distinct(data).encode("latin-1")
    found = [int.from_bytes(part) for part in {text[i : i + 3] for i in range(len(text) - 2)}]
    return Sums(len(found), sum(found), sum(number * number % _PRIME for number in found))


def lacks_trigrams(database: Database, blob_id: int, data: bytes, every: bool) -> bool:
    """Is a trigram of a blob's bytes not found, though they are known? A sample, or every one."""
    from random import sample  # lazily: hashes and more come with it

    known = database.row("SELECT 1 FROM trigram_blobs WHERE blob_id=?", blob_id)
    if known is None or not has_fts5(database) or not _exists(database):
        return False
    text = distinct(data)
    found = {text[i : i + 3] for i in range(len(text) - 2)}
    some = sorted(found) if every else sample(sorted(found), min(CHECKED, len(found)))
    for at in range(0, len(some), CHECKED):
        query = " AND ".join(_quoted(text.encode("latin-1")) for text in some[at : at + CHECKED])
        sql = f"SELECT 1 FROM {TABLE} WHERE {TABLE} MATCH ? AND rowid=?"
        if database.row(sql, query, blob_id) is None:
            return True
    return False


def match_expression(clauses: Iterable[Clause]) -> str:
    """The clauses in FTS5's language, in an order of their own: equal questions are equal."""
    return " AND ".join(sorted(f"({_any_of(clause)})" for clause in clauses))


def _any_of(clause: Clause) -> str:
    return " OR ".join(sorted(f"({_all_of(form)})" for form in clause))


def _all_of(form: Iterable[bytes]) -> str:
    return " AND ".join(map(_quoted, sorted(form)))


def _quoted(trigram: bytes) -> str:
    text = trigram.decode("latin-1").replace('"', '""')
    return f'"{text}"'


def _exists(database: Database) -> bool:
    return database.row("SELECT 1 FROM sqlite_master WHERE name=?", TABLE) is not None


def _unknown(database: Database) -> set[int]:
    """Blobs without known trigrams: an older store, or one written where there was no FTS5."""
    counts = "SELECT (SELECT count(*) FROM blobs), (SELECT count(*) FROM trigram_blobs)"
    held, known = database.row(counts)
    if held == known:
        return set()
    sql = "SELECT id FROM blobs WHERE id NOT IN (SELECT blob_id FROM trigram_blobs)"
    return {row[0] for row in database.rows(sql)}
