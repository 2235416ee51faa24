"""Front matter in SQLite: one row per blob, its topics found by LIKE.

A topic is one word of the `tags` column: the hexadecimal of its normalized spelling. It is matched
whole, and contains no character that is special in a pattern. A table of 20,000 documents is scanned
in 2 ms, so an index of topics would not pay.
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
    """Insert or replace one row. The caller holds the write transaction."""
    database.run("INSERT OR REPLACE INTO documents VALUES (?,?,?,?,?)", blob_id, *row_of(front))


def remove_entities(database: Database, blob_ids: Iterable[int]) -> None:
    """Remove the rows of some blobs. The caller holds the write transaction."""
    database.run_many("DELETE FROM documents WHERE blob_id=?", ((one,) for one in blob_ids))


def row_of(front: FrontMatter) -> tuple[str, str, str, str]:
    """Return topics, tags, summary and date as they are stored."""
    tags = "".join(f" {tag_word(topic)}" for topic in front.topics)
    return json.dumps(front.topics), f"{tags} ", front.summary, front.created_at


def tag_word(topic: str) -> str:
    """Return the word that a topic is looked up by."""
    from gitindex.extract.frontmatter import same_topic

    return "x" + same_topic(topic).encode("utf-8", "replace").hex()


def conditions(query: Filter) -> tuple[str, list[str]]:
    """Return an SQL condition on rows of `documents d` for a filter, and its values."""
    parts: list[str] = ["1"]
    values: list[str] = []
    words = [tag_word(tag) for tag in query.tags]
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
        return database.run("DELETE FROM documents WHERE blob_id NOT IN (SELECT id FROM blobs)")
