"""Compares the published index with a clean build of the same tree in a temporary store."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gitindex.base.errors import StoreError
from gitindex.base.escape import path_fields
from gitindex.base.worktree import Worktree, canonical_root, worktree_at
from gitindex.git.command import run_git
from gitindex.languages.facts import FactsKey
from gitindex.refresh.public_files import create_store
from gitindex.refresh.queue import EMPTY
from gitindex.refresh.refresher import Refresher
from gitindex.refresh.session import Session
from gitindex.store import mapping
from gitindex.store.blobs import BlobTable, all_late, forget_scopes
from gitindex.store.connection import Database, open_reader
from gitindex.store.lexical import LexicalReader
from gitindex.store.mapping import Published
from gitindex.store.subjects import dump_counts
from gitindex.store.text_index import listed_words
from gitindex.view.tree import open_tree

SHOWN = 20
"""Paths that differ, in an answer."""

Report = Callable[[str, float | None], None]
Dump = dict[bytes, dict[str, object]]
"""By path: everything that is published of it, without row ids."""


def audit(worktree: Worktree, path: str, report: Report) -> dict[str, Any]:
    """Return an envelope with `equal` and the differences."""
    with open_tree(worktree, path) as view:
        row = view.served.published
        late = all_late(view.served.database)
        with _clean_build(worktree, row, late, report) as clean:
            report("compare", None)
            live = dump(view.served.database, worktree)
            database = open_reader(clean.database)
            if database is None:
                raise StoreError("the clean build left no store", "see `gitindex log`")
            try:
                built = dump(database, clean)
                differences = list(_differences(live, built))
                differences += _other_terms(worktree, clean, live)
                if listed_words(database) - listed_words(view.served.database):
                    differences.append({"path": "", "differs": ["words"]})
            finally:
                database.close()
        return view.envelope(
            equal=not differences,
            paths=len(built) - 1,
            differences=differences[:SHOWN],
            totalCount=len(differences),
            truncated=len(differences) > SHOWN,
        )


def dump(database: Database, worktree: Worktree) -> Dump:
    """The published content of a worktree without ids that only one store knows."""
    row = mapping.published(database, worktree.id)
    assert row is not None
    keys = LexicalReader(worktree.lexical).blob_ids()
    counts = mapping.count(database, row.worktree_id)
    found: Dump = {b"": {"tree": row.tree, "files": counts.files, "symbols": counts.symbols}}
    table = BlobTable(database)
    past = dump_counts(database, row.worktree_id)
    for path, policy, oid, mode, skip, extractor, lexical, *document in database.rows(
        "SELECT p.path, p.policy, f.oid, f.mode, f.skip, b.extractor, b.lexical,"
        " d.topics, d.tags, d.summary, d.created_at FROM files f JOIN paths p ON p.id=f.path_id"
        " LEFT JOIN blobs b ON b.id=f.blob_id LEFT JOIN documents d ON d.blob_id=b.id"
        " WHERE f.worktree_id=?",
        row.worktree_id,
    ):
        key = FactsKey(oid.hex(), extractor) if extractor else None
        facts = table.get(key) if key else None
        found[path] = {
            "policy": policy,
            "oid": oid,
            "mode": mode,
            "skip": skip,
            "extractor": extractor,
            "lexical": bool(lexical) and key in keys,
            "document": tuple(document),
            "facts": hashlib.sha256(facts or b"").digest(),
            "subjects": past.get(path, {}),
        }
    return found


@contextmanager
def _clean_build(
    worktree: Worktree, row: Published, late: set[FactsKey], report: Report
) -> Iterator[Worktree]:
    """The published commit in a repository of its own over the same objects, indexed from nothing.

    Without the scopes of `late`, which the store does not have yet.
    """
    folder = canonical_root(tempfile.mkdtemp(prefix="gitindex-audit-"))
    try:
        clean = _over_objects(worktree, row, folder)
        create_store(clean)
        session = Session(clean)
        try:
            session.jobs(clean)
            refresher = Refresher(clean, session, report, make_folder=True, all_scopes=True)
            refresher.run(os.urandom(16).hex(), EMPTY, force=False)
            forget_scopes(session.database, late)
        finally:
            session.close()
        yield clean
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _over_objects(worktree: Worktree, row: Published, folder: str) -> Worktree:
    form = ["--object-format=sha256"] if len(row.tree or "") == 64 else []
    run_git(folder, "init", "--quiet", "--template=", *form)
    info = os.path.join(folder, ".git", "objects", "info")
    os.makedirs(info, exist_ok=True)
    with open(os.path.join(info, "alternates"), "wb") as file:
        file.write(os.fsencode(os.path.join(worktree.common_dir, "objects")) + b"\n")
    if row.head_commit:
        run_git(folder, "update-ref", "--no-deref", "HEAD", row.head_commit)
    return worktree_at(folder)


def _differences(live: Dump, built: Dump) -> Iterator[dict[str, Any]]:
    for path in sorted(live.keys() | built.keys()):
        ours, theirs = live.get(path), built.get(path)
        if ours is None or theirs is None:
            yield {**path_fields(path), "differs": ["missing" if ours is None else "extra"]}
        else:
            names = [name for name in theirs if ours[name] != theirs[name]]
            if names:
                yield {**path_fields(path), "differs": names}


def _other_terms(live: Worktree, clean: Worktree, dump: Dump) -> Iterator[dict[str, Any]]:
    keys = [
        FactsKey(fields["oid"].hex(), str(fields["extractor"]))
        for fields in dump.values()
        if fields.get("lexical") and isinstance(fields["oid"], bytes)
    ]
    ours, theirs = LexicalReader(live.lexical), LexicalReader(clean.lexical)
    for field in ("body", "names"):
        if ours.terms_among(keys, field) != theirs.terms_among(keys, field):
            yield {"path": "", "differs": [f"lexical {field}"]}
