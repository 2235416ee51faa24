"""Front matter in SQLite: one row per blob, its topics found through FTS5 or, without it, LIKE.

A topic is one word of the `tags` column: the hexadecimal of its normalized spelling. It is matched
whole, it contains no character that is special in a query language, and both ways give the same
answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from gitindex.extract.terms import decode_text
from gitindex.store.connection import Database

if TYPE_CHECKING:
    from gitindex.extract.frontmatter import FrontMatter

LANGUAGES = ("markdown", "text")
"""Languages of documents; the file name decides whether a file is one."""
HEAD_BYTES = 1 << 17
"""Bytes of a blob that are searched for front matter; more than its characters can take."""

_FTS = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS documents_fts USING fts5(tags, content='documents',"
    " content_rowid='blob_id', tokenize='ascii', detail='none')"
)
_OUT = "INSERT INTO documents_fts(documents_fts, rowid, tags) VALUES ('delete',?,?)"
_IN_STEP = "documents_in_step"
"""An empty table: while it exists, the full-text index matches `documents`.

Triggers would do it, but SQLite before 3.42 refuses FTS5 in one if the schema is not trusted.
"""


class Filter(NamedTuple):
    """The required properties of a document: all of the topics, and a day within the bounds."""

    tags: tuple[str, ...] = ()
    date_from: str = ""
    date_to: str = ""


def put_document(
    database: Database, blob_id: int, language: str, data: bytes, new: bool = False
) -> None:
    """Store the front matter of a blob. The caller holds the write transaction.

    `new`: nothing is stored for this blob.
    """
    front = front_matter_of(language, data)
    if front is not None:
        upsert_entity(database, blob_id, front)
    elif not new:
        remove_entities(database, [blob_id])


def front_matter_of(language: str, data: bytes) -> FrontMatter | None:
    """Return the front matter of a blob's bytes, parsed as one language."""
    if language not in LANGUAGES:
        return None
    from gitindex.extract.frontmatter import (
        read_front_matter,  # lazily: most commits have no document
    )

    return read_front_matter(decode_text(data[:HEAD_BYTES]), language)


def upsert_entity(database: Database, blob_id: int, front: FrontMatter) -> None:
    """Insert or replace one row and its full-text entry.

    The caller holds the write transaction. FTS5 needs the old words to remove a row: a DELETE by
    content would damage the index.
    """
    remove_entities(database, [blob_id])
    row = row_of(front)
    followed = prepare(database)
    database.run("INSERT INTO documents VALUES (?,?,?,?,?)", blob_id, *row)
    if followed:
        database.run("INSERT INTO documents_fts(rowid, tags) VALUES (?,?)", blob_id, row[1])


def remove_entities(database: Database, blob_ids: Iterable[int]) -> int:
    """Remove some rows; returns how many there were. The caller holds the write transaction."""
    count = 0
    for blob_id in blob_ids:
        row = database.row("SELECT tags FROM documents WHERE blob_id=?", blob_id)
        if row is not None:
            count += 1
            if prepare(database):
                database.run(_OUT, blob_id, row[0])
            database.run("DELETE FROM documents WHERE blob_id=?", blob_id)
    return count


def row_of(front: FrontMatter) -> tuple[str, str, str, str]:
    """Return topics, tags, summary and date as they are stored."""
    tags = "".join(f" {tag_word(topic)}" for topic in front.topics)
    return json.dumps(front.topics), f"{tags} ", front.summary, front.created_at


def tag_word(topic: str) -> str:
    """Return the word that a topic is looked up by."""
    from gitindex.extract.frontmatter import same_topic

    return "x" + same_topic(topic).encode("utf-8", "replace").hex()


def conditions(database: Database, query: Filter) -> tuple[str, list[str]]:
    """Return an SQL condition on rows of `documents d` for a filter, and its values."""
    parts: list[str] = ["1"]
    values: list[str] = []
    words = [tag_word(tag) for tag in query.tags]
    if words and has_index(database):
        parts.append("d.blob_id IN (SELECT rowid FROM documents_fts WHERE documents_fts MATCH ?)")
        values.append(" AND ".join(words))
    else:
        parts += ["d.tags LIKE ?"] * len(words)
        values += [f"% {word} %" for word in words]
    day = "substr(d.created_at, 1, 10)"  # a bound includes its whole day
    for bound, sign in ((query.date_from, ">="), (query.date_to, "<=")):
        if bound:
            parts.append(f"d.created_at<>'' AND {day}{sign}?")
            values.append(bound)
    return " AND ".join(parts), values


def matches(front: FrontMatter | None, query: Filter) -> bool:
    """Does front matter that is not in a table match a filter?"""
    if front is None:
        return query == Filter()
    from gitindex.extract.frontmatter import same_topic

    topics = {same_topic(topic) for topic in front.topics}
    day = front.created_at[:10]
    return (
        topics.issuperset(map(same_topic, query.tags))
        and (not query.date_from or day >= query.date_from)
        and (not query.date_to or "" < day <= query.date_to)
    )


def reconcile(database: Database) -> int:
    """Remove rows whose blob is gone; returns their number."""
    with database.joined():
        orphans = database.rows(
            "SELECT blob_id FROM documents WHERE blob_id NOT IN (SELECT id FROM blobs)"
        )
        return remove_entities(database, [blob_id for (blob_id,) in orphans])


def prepare(database: Database) -> bool:
    """Bring the full-text index in step; False if this SQLite has no FTS5.

    In that case the marker table is dropped, and the next SQLite with FTS5 rebuilds the index.
    """
    able, there = _has_fts5(database), _says_in_step(database)
    if able and not there:
        database.run(_FTS)
        database.run("INSERT INTO documents_fts(documents_fts) VALUES ('rebuild')")
        database.run(f"CREATE TABLE {_IN_STEP} (unused)")
    elif there and not able:
        database.run(f"DROP TABLE {_IN_STEP}")
    return able


def has_index(database: Database) -> bool:
    """Can the full-text index be used?"""
    return _says_in_step(database) and _has_fts5(database)


def index_faults(database: Database) -> Iterable[int]:
    """Return row ids for which the full-text index differs from the table. Works for readers."""
    if not has_index(database):
        return ()
    with database.scratch():
        database.run(
            "CREATE VIRTUAL TABLE temp.documents_words USING fts5vocab(main, documents_fts, instance)"
        )
        indexed = set(database.rows("SELECT doc, term FROM temp.documents_words"))
        database.run("DROP TABLE temp.documents_words")
    rows = database.rows("SELECT blob_id, tags FROM documents")
    expected = {(blob_id, word) for blob_id, tags in rows for word in tags.split()}
    return sorted({blob_id for blob_id, _ in indexed ^ expected})


def _says_in_step(database: Database) -> bool:
    row = database.row("SELECT 1 FROM main.sqlite_master WHERE name=?", _IN_STEP)
    return row is not None


def _has_fts5(database: Database) -> bool:
    return database.row("SELECT 1 FROM pragma_module_list WHERE name='fts5'") is not None
