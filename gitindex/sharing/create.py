"""Makes a pack: the facts and documents of one commit's tree, and nothing else of the store."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import NamedTuple

from gitindex.base.atomic_file import remove
from gitindex.base.errors import Exit, GitIndexError, NotIndexed
from gitindex.base.escape import counted
from gitindex.base.version import __version__
from gitindex.base.vocabulary import FactsStatus
from gitindex.base.worktree import Worktree
from gitindex.extract import policy
from gitindex.extract.policy import classify, is_present, read_present, reader_of
from gitindex.extract.terms import document_text
from gitindex.freshness.marker import runtime_fingerprint
from gitindex.git.backend import open_repository
from gitindex.git.command import tree_of, try_git
from gitindex.git.interface import Repository
from gitindex.languages.facts import FactsKey
from gitindex.refresh.idle_work import derive_all
from gitindex.sharing.membership import root_commits
from gitindex.sharing.pack_file import DATABASE, Manifest, merkle_root, write_pack, zstd_library
from gitindex.store import mapping
from gitindex.store.blobs import BlobTable, imported_facts
from gitindex.store.connection import Database, open_reader
from gitindex.store.lexical import LexicalReader, LexicalWriter, copy_commit
from gitindex.store.packing import PackDatabase, fact_digests

HEAP_BYTES = 512 << 20
"""Memory for writing the documents of a pack: one segment for all but the largest repositories."""

Report = Callable[[str, float | None], None]


class CreatedPack(NamedTuple):
    """A pack file, and its manifest."""

    path: str
    manifest: Manifest


def create_pack(
    worktree: Worktree, rev: str, output: str, report: Report, base: str = ""
) -> CreatedPack:
    """Write the pack of a commit; `output` is a file, or a folder that gets the default name.

    With `base`, a tree, the pack is a delta: facts that this tree needs as well are left out.
    """
    zstd_library()  # without it nothing is started
    commit = _commit(worktree, rev)
    derive_all(worktree, report)
    tree = tree_of(worktree.root, commit)
    source = open_reader(worktree.database)
    if source is None:
        raise NotIndexed
    repository = open_repository(worktree)
    scratch = tempfile.mkdtemp(prefix=".pack-", dir=worktree.store)
    try:
        with source.snapshot():
            _refuse_unverified(source)
            chosen = _chosen(source, repository, worktree, tree)
            for key in needed_keys(repository, base) if base else ():
                chosen.pop(key, None)
            report("facts", None)
            database = PackDatabase(source, os.path.join(scratch, DATABASE), chosen)
        report("documents", None)
        lexical = os.path.join(scratch, "lexical")
        if not _copied(worktree.lexical, lexical, database):
            _write_documents(repository, lexical, database, report)
        root = derive_root(database.database)
        database.finish(LexicalReader(lexical).terms())
        files = (name for name in os.listdir(lexical) if not name.endswith(".lock"))
        names = [f"lexical/{name}" for name in sorted(files)]
        report("compress", None)
        manifest = Manifest(
            runtime_fingerprint(),
            root_commits(worktree, commit),
            commit,
            tree,
            len(database.blobs),
            root,
            (),
            f"gitindex {__version__}",
            base,
        )
        if os.path.isdir(output):
            output = os.path.join(output, manifest.name)
        part = f"{output}.part"
        try:
            whole = write_pack(part, scratch, [DATABASE, *names], manifest)
            os.replace(part, output)
        finally:
            remove(part)
    finally:
        source.close()
        repository.close()
        shutil.rmtree(scratch, ignore_errors=True)
    return CreatedPack(output, whole)


def derive_root(database: Database) -> str:
    """Return the Merkle root of the facts in a pack's database."""
    return merkle_root((*key, digest) for key, digest in fact_digests(database))


def needed_keys(repository: Repository, tree: str) -> set[FactsKey]:
    """Return the keys of all facts that a refresh to this tree needs."""
    entries = list(repository.entries(tree))
    rules = policy.of_tree(entries, partial(read_present, repository))
    planned = (classify(entry, rules, reader_of(repository)) for entry in entries)
    return {plan.key for plan in planned if plan.skip is None}


def _commit(worktree: Worktree, rev: str) -> str:
    found = try_git(
        worktree.root, "rev-parse", "--verify", "-q", "--end-of-options", f"{rev}^{{commit}}"
    )
    if found.returncode:
        raise GitIndexError("no such commit", "name a commit, tag or branch", Exit.USAGE)
    return found.output.decode().strip()


def _refuse_unverified(source: Database) -> None:
    """Refuse imported facts that are not verified here: do not pass them on under our signature."""
    imported = imported_facts(source)
    if imported is not None:
        left = imported.imported - imported.verified
        raise GitIndexError(
            f"not verified yet: {counted(left, 'blobs')} that came with a pack",
            "run `gitindex pack check`, or wait for the runner",
        )


def _chosen(
    source: Database, repository: Repository, worktree: Worktree, tree: str
) -> dict[FactsKey, int]:
    """Return ids of the facts that the tree needs, without quarantined ones."""
    row = mapping.published(source, worktree.id)
    current = json.dumps(runtime_fingerprint()._asdict())
    if row is not None and row.tree == tree and row.fingerprint == current:
        return mapping.facts_of(source, row.worktree_id)
    keys = needed_keys(repository, tree)
    ids = BlobTable(source).ids(keys)
    spoilt = {
        blob_id
        for (blob_id,) in source.rows(
            "SELECT id FROM blobs WHERE status=?", FactsStatus.QUARANTINED
        )
    }
    missing = [key for key in keys if key not in ids and is_present(repository, key.oid)]
    if missing:
        raise GitIndexError(
            f"not indexed: {counted(len(missing), 'blobs')} of that commit",
            "run `gitindex index` with the commit checked out",
        )
    return {key: blob_id for key, blob_id in ids.items() if blob_id not in spoilt}


def _copied(source: str, target: str, pack: PackDatabase) -> bool:
    """Copy the store's text index, where it has the documents of the chosen blobs and no others."""
    if not copy_commit(source, target):
        return False
    if LexicalReader(target).blob_ids() == {b.key: b.blob_id for b in pack.blobs if b.lexical}:
        return True
    shutil.rmtree(target)
    return False


def _write_documents(
    repository: Repository, folder: str, pack: PackDatabase, report: Report
) -> None:
    """Build the text index of the chosen blobs: the store's own covers other branches too."""
    with closing(LexicalWriter(folder, HEAP_BYTES, in_store=False)) as writer:
        symbols = _symbol_names(pack.database)
        for number, blob in enumerate(pack.blobs):
            if blob.lexical:
                data = repository.read(blob.key.oid)
                writer.append(
                    blob.key, blob.blob_id, *document_text(data, symbols.get(blob.blob_id, ()))
                )
            if number % 200 == 0:
                report("documents", 100.0 * number / len(pack.blobs))
        writer.commit()


def _symbol_names(database: Database) -> dict[int, list[str]]:
    """Return the names that each blob defines, in their order."""
    rows = database.rows(
        "SELECT blob_id, n.text FROM symbols JOIN names n ON n.id=name_id ORDER BY blob_id, ordinal"
    )
    found: dict[int, list[str]] = {}
    for blob_id, name in rows:
        found.setdefault(blob_id, []).append(name)
    return found
