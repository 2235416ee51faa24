"""Seed 003's index of documents, for programs that keep one of their own: a file, four functions.

Our own commands do not use it: their documents are in the store, keyed by blob. The schema and the
calls are the seed's; topics are matched whole, and a full-text row is removed with its row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.extract.frontmatter import parse_day, same_topic
from gitindex.store.other_databases import open_plain

if TYPE_CHECKING:
    from sqlite3 import Connection

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS entities (path TEXT PRIMARY KEY, mtime REAL NOT NULL,"
    " topics TEXT, summary TEXT, created_at TEXT)",
    "CREATE INDEX IF NOT EXISTS idx_created ON entities(created_at)",
    "CREATE INDEX IF NOT EXISTS idx_mtime ON entities(mtime)",
)
_FTS = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS entities_fts USING fts5(path, topics, summary,"
    " content='entities', content_rowid='rowid')"
)
_OUT = (
    "INSERT INTO entities_fts(entities_fts, rowid, path, topics, summary)"
    " SELECT 'delete', rowid, path, topics, summary FROM entities WHERE path=?"
)
_IN = (
    "INSERT INTO entities_fts(rowid, path, topics, summary)"
    " SELECT rowid, path, topics, summary FROM entities WHERE path=?"
)
_UPSERT = (
    "INSERT INTO entities VALUES (?,?,?,?,?) ON CONFLICT (path) DO UPDATE SET mtime=excluded.mtime,"
    " topics=excluded.topics, summary=excluded.summary, created_at=excluded.created_at"
)


def open_index(path: str | Path) -> Connection | None:
    """Open or create the index; None if it is damaged or cannot be made: then search without it."""
    return open_plain(str(path), _make_schema)


def upsert_entity(
    conn: Connection,
    rel_path: str,
    mtime: float,
    topics: Iterable[str],
    summary: str,
    created_at: str,
) -> None:
    """Insert or replace one document and its full-text row. The caller commits."""
    followed = _has_fts(conn)
    if followed:
        conn.execute(_OUT, (rel_path,))
    listed = json.dumps(list(topics), ensure_ascii=False)
    conn.execute(_UPSERT, (rel_path, mtime, listed, summary, created_at))
    if followed:
        conn.execute(_IN, (rel_path,))


def query_index(
    conn: Connection,
    tags: Iterable[str] | None = None,
    date_from: str | None = None,
    date_to: str | None = None,
) -> list[str]:
    """Return the paths of documents with all of the tags and a day within the bounds, sorted."""
    required = {same_topic(tag) for tag in tags or ()}
    conditions, values = ["1"], list[str]()
    for bound, sign in ((date_from, ">="), (date_to, "<=")):
        if bound:
            if parse_day(bound) is None:
                shown = safe_text(bound)
                raise GitIndexError(f"not a date: {shown}", "write it as YYYY-MM-DD", Exit.USAGE)
            conditions.append(f"created_at<>'' AND substr(created_at, 1, 10){sign}?")
            values.append(bound)
    for tag in sorted(required):
        condition, value = _narrowing(conn, tag)
        conditions.append(condition)
        values += value
    where = " AND ".join(conditions)
    rows = conn.execute(f"SELECT path, topics FROM entities WHERE {where} ORDER BY path", values)
    return [path for path, topics in rows if required <= set(map(same_topic, json.loads(topics)))]


def reconcile(conn: Connection, entities_root: str | Path) -> int:
    """Remove the rows whose file is gone, commit, and return how many there were."""
    root = Path(entities_root)
    paths = [path for (path,) in conn.execute("SELECT path FROM entities")]
    orphans = [path for path in paths if not (root / path).exists()]
    for path in orphans:
        if _has_fts(conn):
            conn.execute(_OUT, (path,))
        conn.execute("DELETE FROM entities WHERE path=?", (path,))
    conn.commit()
    return len(orphans)


def _make_schema(conn: Connection) -> None:
    for statement in _SCHEMA:
        conn.execute(statement)
    if conn.execute("SELECT 1 FROM pragma_module_list WHERE name='fts5'").fetchone():
        conn.execute(_FTS)
    conn.execute("SELECT path, mtime, topics, summary, created_at FROM entities LIMIT 1")
    conn.commit()


def _narrowing(conn: Connection, tag: str) -> tuple[str, list[str]]:
    """Return SQL that matches every row with a tag and few others; callers compare rows."""
    if not (tag.isascii() and tag.isalnum()):
        return "1", []
    if _has_fts(conn):
        return (
            "rowid IN (SELECT rowid FROM entities_fts WHERE entities_fts MATCH ?)",
            [f'topics : "{tag}"'],
        )
    return "topics LIKE ?", [f"%{tag}%"]


def _has_fts(conn: Connection) -> bool:
    table = conn.execute("SELECT 1 FROM sqlite_master WHERE name='entities_fts'").fetchone()
    able = conn.execute("SELECT 1 FROM pragma_module_list WHERE name='fts5'").fetchone()
    return table is not None and able is not None
