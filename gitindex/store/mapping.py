"""The published mapping of each worktree: path → blob, its generation, and its run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

from gitindex.base.light_types import NamedTuple
from gitindex.base.vocabulary import FactsStatus, SkipReason
from gitindex.git.interface import Entry, Head
from gitindex.languages.facts import FactsKey
from gitindex.store.connection import Database


class Published(NamedTuple):
    """What is published for one worktree; generation 0 means nothing yet."""

    worktree_id: int
    generation: int
    tree: str | None
    head_commit: str | None
    run_id: str | None
    fingerprint: str | None


class FileRow(NamedTuple):
    """One path of a mapping: its facts, or the reason why it has none."""

    path: bytes
    oid: str
    mode: int
    blob_id: int | None
    skip: SkipReason | None


class Counts(NamedTuple):
    """The size of a published mapping."""

    files: int  # paths with facts that were read
    symbols: int


def register(database: Database, name: str, root: str) -> Published:
    """Return the worktree's row, created if needed; updates its root."""
    stored = database.row("SELECT root FROM worktrees WHERE name=?", _stored(name))
    if stored is None or stored[0] != os.fsencode(root):
        _write_root(database, name, root)
    row = published(database, name)
    assert row is not None
    return row


def _write_root(database: Database, name: str, root: str) -> None:
    with database.write():
        database.run(
            "INSERT INTO worktrees (name, root, generation) VALUES (?,?,0)"
            " ON CONFLICT (name) DO UPDATE SET root=excluded.root WHERE root<>excluded.root",
            _stored(name),
            os.fsencode(root),
        )


def published(database: Database, name: str) -> Published | None:
    """Return what is published for a worktree; None if it was never registered."""
    row = database.row(
        "SELECT id, generation, tree, head_commit, run_id, fingerprint FROM worktrees WHERE name=?",
        _stored(name),
    )
    return Published(*row) if row else None


def _stored(name: str) -> str | bytes:
    """Return a worktree's name as SQLite stores it: it may not be UTF-8."""
    return name if name.isascii() else os.fsencode(name)


def known_roots(database: Database) -> dict[str, str]:
    """Return the last known root of every registered worktree."""
    rows = database.rows("SELECT name, root FROM worktrees")
    return {os.fsdecode(name): os.fsdecode(root) for name, root in rows}


def set_generation(database: Database, name: str, generation: int) -> None:
    """Continue the generation count of a previous store of this worktree."""
    with database.write():
        database.run("UPDATE worktrees SET generation=? WHERE name=?", generation, _stored(name))


def forget(database: Database, name: str) -> None:
    """Remove a worktree that is gone, with its mapping and jobs."""
    with database.write():
        database.run("DELETE FROM worktrees WHERE name=?", _stored(name))


def read_mapping(database: Database, worktree_id: int) -> list[FileRow]:
    """Return the whole mapping of a worktree, by path."""
    rows = database.rows(
        "SELECT p.path, f.oid, f.mode, f.blob_id, f.skip FROM files f"
        " JOIN paths p ON p.id = f.path_id WHERE f.worktree_id=? ORDER BY p.path",
        worktree_id,
    )
    return [FileRow(p, o.hex(), m, b, SkipReason(s) if s else None) for p, o, m, b, s in rows]


def facts_of(database: Database, worktree_id: int) -> dict[FactsKey, int]:
    """Return the ids of all facts that a mapping refers to, without quarantined ones."""
    rows = database.rows(
        "SELECT DISTINCT b.id, b.oid, b.extractor FROM files f JOIN blobs b ON b.id=f.blob_id"
        " WHERE f.worktree_id=? AND b.status<>?",
        worktree_id,
        FactsStatus.QUARANTINED,
    )
    return {FactsKey(oid.hex(), extractor): blob_id for blob_id, oid, extractor in rows}


def policy_rows(database: Database, worktree_id: int) -> list[FileRow]:
    """Return the published files that decide what is indexed."""
    rows = database.rows(
        "SELECT p.path, f.oid, f.mode FROM paths p INDEXED BY policy_paths CROSS JOIN files f"
        " ON f.path_id = p.id WHERE p.policy=1 AND f.worktree_id=?",
        worktree_id,
    )
    return [FileRow(path, oid.hex(), mode, None, None) for path, oid, mode in rows]


def without_blob(database: Database, worktree_id: int) -> list[FileRow]:
    """Return paths whose blob git did not have when they were published."""
    rows = database.rows(
        "SELECT p.path, f.oid, f.mode FROM files f INDEXED BY files_absent"
        " JOIN paths p ON p.id = f.path_id WHERE f.worktree_id=? AND f.skip='missing_blob'",
        worktree_id,
    )
    return [
        FileRow(path, oid.hex(), mode, None, SkipReason.MISSING_BLOB) for path, oid, mode in rows
    ]


def has_left_out_folder(database: Database, worktree_id: int) -> bool:
    """Is a folder of the published tree one entry, because the tree has too many paths?"""
    sql = "SELECT 1 FROM files WHERE worktree_id=? AND skip='oversize' LIMIT 1"
    return database.row(sql, worktree_id) is not None


def count_left_out(database: Database, worktree_id: int) -> int:
    """Count published paths that are in no answer: folders and files over a limit, blobs git lacks."""
    row = database.row(
        "SELECT (SELECT count(*) FROM files WHERE worktree_id=?1 AND skip='oversize')"
        " + (SELECT count(*) FROM files WHERE worktree_id=?1 AND skip='missing_blob')"
        " + (SELECT count(*) FROM blobs b CROSS JOIN files f ON f.blob_id=b.id"
        " WHERE b.status='skipped' AND b.reason='oversize' AND f.worktree_id=?1)",
        worktree_id,
    )
    return int(row[0])


def replace_rows(
    database: Database,
    worktree_id: int,
    gone: list[bytes],
    rows: list[FileRow],
    is_policy: Callable[[bytes], bool],
    path_ids: Mapping[bytes, int],
) -> dict[bytes, int]:
    """Apply a difference to the mapping; return the ids of its paths. The caller holds the write transaction.

    `path_ids`: ids of paths that are known already, with those of `gone`.
    """
    unsure = [row.path for row in rows if row.path not in path_ids]
    known = {**path_ids, **ids_of_paths(database, unsure, is_policy)}
    touched = list(known.values())
    before = _weigh(database, worktree_id, touched)
    database.run_many(
        "DELETE FROM files WHERE worktree_id=? AND path_id=?",
        ((worktree_id, known[path]) for path in gone if path in known),
    )
    database.insert_many(
        "files (worktree_id, path_id, oid, mode, blob_id, skip)",
        "(?,?,?,?,?,?)",
        [
            (worktree_id, known[path], bytes.fromhex(oid), mode, blob_id, skip)
            for path, oid, mode, blob_id, skip in rows
        ],
        "ON CONFLICT DO UPDATE SET oid=excluded.oid, mode=excluded.mode,"
        " blob_id=excluded.blob_id, skip=excluded.skip",
    )
    after = _weigh(database, worktree_id, touched)
    database.run(
        "UPDATE worktrees SET files=files+?, symbols=symbols+? WHERE id=?",
        after.files - before.files,
        after.symbols - before.symbols,
        worktree_id,
    )
    return known


def ids_of_paths(
    database: Database, paths: list[bytes], is_policy: Callable[[bytes], bool]
) -> dict[bytes, int]:
    """Return the ids of paths; adds those that the store has not seen."""
    ids = _known_ids(database, paths)
    new = [path for path in paths if path not in ids]
    database.run_many(
        "INSERT INTO paths (path, policy) VALUES (?,?)", ((p, is_policy(p)) for p in new)
    )
    return ids | _known_ids(database, new)


def _known_ids(database: Database, paths: list[bytes]) -> dict[bytes, int]:
    return dict(database.rows_among("SELECT path, id FROM paths WHERE path IN ({marks})", paths))


def _weigh(database: Database, worktree_id: int, path_ids: list[int]) -> Counts:
    parts = database.rows_among(
        "SELECT count(*), coalesce(sum(b.symbols), 0) FROM files f JOIN blobs b ON b.id=f.blob_id"
        " WHERE f.worktree_id=? AND b.status<>'skipped' AND f.path_id IN ({marks})",
        path_ids,
        worktree_id,
    )
    return Counts(sum(files for files, _ in parts), sum(symbols for _, symbols in parts))


def raise_generation(
    database: Database, worktree_id: int, head: Head, run_id: str, fingerprint: str
) -> int:
    """Make the mapping the next generation, of this tree. The caller holds the transaction."""
    database.run(
        "UPDATE worktrees SET generation=generation+1, tree=?, head_commit=?, run_id=?,"
        " fingerprint=?, published_at=? WHERE id=?",
        head.tree,
        head.commit,
        run_id,
        fingerprint,
        time.time(),
        worktree_id,
    )
    return int(database.row("SELECT generation FROM worktrees WHERE id=?", worktree_id)[0])


def note_seen(database: Database, head: Head, index_mtime: float | None) -> None:
    """Record HEAD and git's index at this publish. The caller holds the write transaction."""
    database.run(
        "UPDATE repo_state SET last_seen_head=?, last_seen_index_mtime=?, checked_at=?",
        head.commit,
        index_mtime,
        time.time(),
    )


def count(database: Database, worktree_id: int) -> Counts:
    """Return the size of the published mapping."""
    return Counts(*database.row("SELECT files, symbols FROM worktrees WHERE id=?", worktree_id))


def recount(database: Database, worktree_id: int) -> None:
    """Count the mapping again, after facts of its blobs have changed."""
    database.run(
        "UPDATE worktrees SET (files, symbols) = (SELECT count(*), coalesce(sum(b.symbols), 0)"
        " FROM files f JOIN blobs b ON b.id=f.blob_id"
        " WHERE f.worktree_id=worktrees.id AND b.status<>'skipped') WHERE id=?",
        worktree_id,
    )


def skipped(database: Database, worktree_id: int) -> list[tuple[bytes, str]]:
    """Return every path without content or facts in the index, with its recorded reason."""
    return database.rows(
        "SELECT p.path, coalesce(f.skip, iif(b.status='quarantined', 'quarantined: ', '') || b.reason)"
        " FROM files f JOIN paths p ON p.id=f.path_id LEFT JOIN blobs b ON b.id=f.blob_id"
        " WHERE f.worktree_id=? AND (f.skip IS NOT NULL OR b.status IN ('skipped', 'quarantined'))"
        " ORDER BY p.path",
        worktree_id,
    )


def quarantined(database: Database, worktree_id: int) -> dict[bytes, tuple[Entry, str]]:
    """Return published paths whose blob no parser survived, with the cause.

    Such blobs are few: the query must begin with them, not with the files.
    """
    rows = database.rows(
        "SELECT p.path, f.mode, f.oid, b.reason FROM blobs b INDEXED BY blobs_quarantined"
        " CROSS JOIN files f ON f.blob_id=b.id CROSS JOIN paths p ON p.id=f.path_id"
        " WHERE b.status='quarantined' AND f.worktree_id=?",
        worktree_id,
    )
    return {path: (Entry(path, mode, oid.hex()), cause) for path, mode, oid, cause in rows}
