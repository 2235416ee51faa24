"""Removes facts that no worktree and no branch needs, and worktrees that are gone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from gitindex.base.atomic_file import remove
from gitindex.base.errors import GitIndexError, NotIndexed, StoreReplaced
from gitindex.base.escape import safe_text
from gitindex.base.runner_lock import advertised, take_lock
from gitindex.base.worktree import STORE_FOLDERS, Worktree
from gitindex.git.command import run_git
from gitindex.languages.facts import FactsKey
from gitindex.languages.table import extractor_id
from gitindex.refresh.session import Session
from gitindex.store import mapping
from gitindex.store.connection import Database, marks, open_reader
from gitindex.store.entities import reconcile, remove_entities
from gitindex.store.lexical import LexicalReader
from gitindex.store.name_index import NameIndex

LOCK_WAIT_SECONDS = 60.0  # for a runner at work
MIN_FREE_BYTES = 1 << 16
"""Less is not worth writing the whole database anew: the next commits use it."""
BATCH = 500  # blobs of one transaction: other writers wait for one at most

Report = Callable[[str, float | None], None]


class Garbage(NamedTuple):
    """A blob whose facts nobody needs."""

    blob_id: int
    key: FactsKey


def survey(worktree: Worktree) -> dict[str, Any]:
    """What `collect` would remove; writes nothing."""
    database = open_reader(worktree.database)
    if database is None:
        raise NotIndexed
    try:
        with database.snapshot():
            gone = _gone_worktrees(worktree, database)
            found = list(_garbage(database, _needed(worktree, database, gone)))
            documents = len(_dead_documents(worktree, database, found))
            return _answer(worktree, database, len(found), documents, gone, True)
    finally:
        database.close()


def collect(worktree: Worktree, report: Report) -> dict[str, Any]:
    """Remove it while holding the runner's lock. Readers keep their snapshot.

    SQLite first, the lexical index after: what SQLite knows is always searchable.
    """
    if not (os.path.exists(worktree.database) and os.path.exists(worktree.lexical)):
        raise NotIndexed
    with _runner(worktree, report), _session(worktree) as session:
        database = session.database
        gone = _gone_worktrees(worktree, database)
        for name in gone:
            _forget(worktree, database, name)
        needed = _needed(worktree, database, [])
        found = list(_garbage(database, needed))
        for at in range(0, len(found), BATCH):
            report("facts", 100.0 * at / len(found))
            session.check_identity()
            _remove_blobs(database, found[at : at + BATCH])
        _remove_leftovers(database, needed)
        report("lexical index", None)
        documents = _dead_documents(worktree, database, [])
        if documents:
            session.check_identity()
            session.lexical().remove(documents)
            session.lexical().commit()
        if _free_bytes(database) >= MIN_FREE_BYTES:
            session.check_identity()
            database.vacuum()
        return _answer(worktree, database, len(found), len(documents), gone, False)


@contextmanager
def _runner(worktree: Worktree, report: Report) -> Iterator[None]:
    """The runner's lock: nothing is published meanwhile."""
    lock = take_lock(worktree, report, LOCK_WAIT_SECONDS)
    try:
        with advertised(worktree):
            yield
    finally:
        lock.release()


@contextmanager
def _session(worktree: Worktree) -> Iterator[Session]:
    session = Session(worktree)
    try:
        yield session
    except StoreReplaced:
        raise GitIndexError("the store was replaced in the meantime", "try again") from None
    finally:
        session.close()


def _gone_worktrees(worktree: Worktree, database: Database) -> list[str]:
    """Linked worktrees that git has pruned; one on an unmounted drive still counts."""
    linked = os.path.join(worktree.common_dir, "worktrees")
    return sorted(
        name
        for name in mapping.known_roots(database)
        if name.startswith("wt-")
        and not os.path.isdir(os.path.join(linked, name.removeprefix("wt-")))
    )


def _forget(worktree: Worktree, database: Database, name: str) -> None:
    mapping.forget(database, name)
    for folder in STORE_FOLDERS:
        remove(os.path.join(worktree.store, folder, name))
    for end in (".index", ".compared"):
        remove(os.path.join(worktree.store, "shadow", name + end))
    remove(os.path.join(worktree.store, f"off.{name}"))


class _Needed(NamedTuple):
    blob_ids: frozenset[int]  # of published mappings
    oids: frozenset[bytes]  # of published mappings, and of the trees of all local branches


def _needed(worktree: Worktree, database: Database, gone: list[str]) -> _Needed:
    roots = {mapping.published(database, name) for name in gone}
    ignored = {row.worktree_id for row in roots if row is not None}
    blob_ids, oids = set(), _branch_objects(worktree)
    for worktree_id, blob_id, oid in database.rows("SELECT worktree_id, blob_id, oid FROM files"):
        if worktree_id not in ignored:
            blob_ids.add(blob_id)
            oids.add(oid)
    return _Needed(frozenset(blob_ids), frozenset(oids))


def _branch_objects(worktree: Worktree) -> set[bytes]:
    """Ids of everything in the trees of the local branches; no history."""
    listed = run_git(
        worktree.root,
        "rev-list",
        "--objects",
        "--no-object-names",
        "--no-walk",
        "--missing=allow-any",
        "--branches",
    )
    return {bytes.fromhex(line.decode()) for line in listed.split()}


def _garbage(database: Database, needed: _Needed) -> Iterator[Garbage]:
    for blob_id, oid, extractor, language in database.rows(
        "SELECT id, oid, extractor, language FROM blobs"
    ):
        current = extractor_id(language) == extractor
        if blob_id not in needed.blob_ids and not (current and oid in needed.oids):
            yield Garbage(blob_id, FactsKey(oid.hex(), extractor))


def _remove_blobs(database: Database, part: list[Garbage]) -> None:
    ids = [garbage.blob_id for garbage in part]
    with database.write():
        NameIndex(database).remove(ids)
        remove_entities(database, ids)
        database.run(
            "UPDATE repo_state SET lexical_docs=lexical_docs-"
            f"(SELECT coalesce(sum(lexical), 0) FROM blobs WHERE id IN ({marks(ids)}))",
            *ids,
        )
        database.run(f"DELETE FROM blobs WHERE id IN ({marks(ids)})", *ids)


def _remove_leftovers(database: Database, needed: _Needed) -> None:
    """Semantic facts of bytes that are not needed, and names that nothing bears any more."""
    with database.write():
        reconcile(database)
        rows = database.rows("SELECT id, oid FROM file_semantic_facts")
        database.run_many(
            "DELETE FROM file_semantic_facts WHERE id=?",
            ((facts_id,) for facts_id, oid in rows if oid not in needed.oids),
        )
        database.run(
            "DELETE FROM names WHERE"
            " NOT EXISTS (SELECT 1 FROM name_blobs b WHERE b.name_id=names.id)"
            " AND NOT EXISTS (SELECT 1 FROM symbols s WHERE s.name_id=names.id)"
            " AND NOT EXISTS (SELECT 1 FROM semantic_symbols y WHERE y.name_id=names.id)"
        )
    with database.unchecked_references(), database.write():  # only definitions refer to them
        database.run("DELETE FROM shapes WHERE id NOT IN (SELECT shape_id FROM definitions)")


def _dead_documents(
    worktree: Worktree, database: Database, doomed: list[Garbage]
) -> list[FactsKey]:
    """Lexical documents of no blob that SQLite will know; a killed collector may have left some."""
    known = {
        FactsKey(oid.hex(), extractor)
        for oid, extractor in database.rows("SELECT oid, extractor FROM blobs WHERE lexical=1")
    }
    kept = known.difference(garbage.key for garbage in doomed)
    return sorted(LexicalReader(worktree.lexical).blob_ids().keys() - kept)


def _free_bytes(database: Database) -> int:
    free, page = (database.row(f"PRAGMA {name}")[0] for name in ("freelist_count", "page_size"))
    return int(free * page)


def _answer(
    worktree: Worktree, database: Database, blobs: int, documents: int, gone: list[str], dry: bool
) -> dict[str, Any]:
    return {
        "status": "ok",
        "codebaseRoot": safe_text(worktree.root),
        "dryRun": dry,
        "removedBlobs": blobs,
        "removedDocuments": documents,
        "forgottenWorktrees": [safe_text(name) for name in gone],
        "keptBlobs": database.row("SELECT count(*) FROM blobs")[0] - (blobs if dry else 0),
        "reusableBytes": _free_bytes(database),
    }
