"""Makes a pack: the facts and documents of one commit's tree, and nothing else of the store."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from gitindex import __version__
from gitindex.base.errors import Exit, GitIndexError, NotIndexed
from gitindex.base.vocabulary import FactsStatus
from gitindex.base.worktree import Worktree
from gitindex.extract import policy
from gitindex.extract.plan import classify, is_present, read_present, reader_of
from gitindex.extract.terms import document_text
from gitindex.freshness.fingerprint import runtime_fingerprint
from gitindex.git.backend import open_repository
from gitindex.git.command import run_git, tree_of, try_git
from gitindex.git.interface import Repository
from gitindex.languages.facts import FactsKey
from gitindex.sharing.manifest import DATABASE, Manifest, merkle_root
from gitindex.sharing.pack_file import write_pack
from gitindex.store.blobs import BlobTable
from gitindex.store.connection import Database, open_reader
from gitindex.store.imported import imported_facts
from gitindex.store.lexical import LexicalWriter
from gitindex.store.lexical_files import make_canonical
from gitindex.store.packing import PackedBlob, open_pack_database, write_pack_database

HEAP_BYTES = 512 << 20
"""Memory for writing the documents of a pack: one segment for all but the largest repositories."""

Report = Callable[[str, float | None], None]


class CreatedPack(NamedTuple):
    """A pack file, and its manifest."""

    path: str
    manifest: Manifest


def create_pack(worktree: Worktree, rev: str, output: str, report: Report) -> CreatedPack:
    """Write the pack of a commit; `output` is a file, or a folder that gets the default name."""
    commit = _commit(worktree, rev)
    tree = tree_of(worktree.root, commit)
    source = open_reader(worktree.database)
    if source is None:
        raise NotIndexed
    repository = open_repository(worktree)
    scratch = tempfile.mkdtemp(prefix=".pack-", dir=worktree.store)
    try:
        with source.snapshot():
            _refuse_unverified(source)
            chosen = _chosen(source, repository, tree)
            report("facts", None)
            database = os.path.join(scratch, DATABASE)
            packed = write_pack_database(source, database, chosen)
        report("documents", None)
        root, names = _write_documents(repository, scratch, packed, report)
        report("compress", None)
        manifest = Manifest(
            runtime_fingerprint(),
            _root_commits(worktree, commit),
            commit,
            tree,
            len(packed),
            root,
            (),
            f"gitindex {__version__}",
        )
        if os.path.isdir(output):
            output = os.path.join(output, manifest.name)
        whole = write_pack(f"{output}.part", scratch, [DATABASE, *names], manifest)
        os.replace(f"{output}.part", output)
    finally:
        source.close()
        repository.close()
        shutil.rmtree(scratch, ignore_errors=True)
    return CreatedPack(output, whole)


def derive_root(database: Database) -> str:
    """Return the Merkle root of the facts in a pack's database."""
    table = BlobTable(database)
    leaves = []
    for oid, extractor in database.rows("SELECT oid, extractor FROM blobs"):
        payload = table.get(FactsKey(oid.hex(), extractor)) or b""
        leaves.append((oid.hex(), extractor, hashlib.sha256(payload).digest()))
    return merkle_root(leaves)


def wanted_keys(repository: Repository, tree: str) -> set[FactsKey]:
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
    held = imported_facts(source)
    if held is not None:
        left = held.imported - held.verified
        raise GitIndexError(
            f"{left} blobs came with a pack and are not verified yet",
            "run `gitindex pack check`, or wait for the runner",
        )


def _chosen(source: Database, repository: Repository, tree: str) -> dict[FactsKey, int]:
    """Return ids of the facts that the tree needs, without quarantined ones."""
    keys = wanted_keys(repository, tree)
    held = BlobTable(source).ids(keys)
    spoilt = {
        blob_id
        for (blob_id,) in source.rows(
            "SELECT id FROM blobs WHERE status=?", FactsStatus.QUARANTINED
        )
    }
    missing = [key for key in keys if key not in held and is_present(repository, key.oid)]
    if missing:
        raise GitIndexError(
            f"{len(missing)} blobs of that commit are not indexed",
            "run `gitindex index` with the commit checked out",
        )
    return {key: blob_id for key, blob_id in held.items() if blob_id not in spoilt}


def _write_documents(
    repository: Repository, scratch: str, packed: list[PackedBlob], report: Report
) -> tuple[str, list[str]]:
    """Build the lexical index of the chosen blobs: the store's own covers other branches too."""
    database = open_pack_database(os.path.join(scratch, DATABASE))
    folder = os.path.join(scratch, "lexical")
    writer = LexicalWriter(folder, HEAP_BYTES)
    table = BlobTable(database)
    leaves = []
    try:
        for number, blob in enumerate(packed):
            payload = table.get(blob.key) or b""
            leaves.append((*blob.key, hashlib.sha256(payload).digest()))
            if blob.lexical:
                names = _symbol_names(database, blob.blob_id)
                writer.add(blob.key, *document_text(repository.read(blob.key.oid), names))
            if number % 200 == 0:
                report("documents", 100.0 * number / len(packed))
        writer.commit()
    finally:
        writer.close()
        database.close()
    names = [f"lexical/{name}" for name in make_canonical(folder)]
    return merkle_root(leaves), names


def _symbol_names(database: Database, blob_id: int) -> Iterable[str]:
    rows = database.rows(
        "SELECT n.text FROM symbols JOIN names n ON n.id=name_id WHERE blob_id=? ORDER BY ordinal",
        blob_id,
    )
    return [name for (name,) in rows]


def _root_commits(worktree: Worktree, commit: str) -> tuple[str, ...]:
    """Return the sorted root commits, which clones of one repository share; none if shallow."""
    shallow = run_git(worktree.root, "rev-parse", "--is-shallow-repository").strip() == b"true"
    if shallow:
        return ()
    listed = run_git(worktree.root, "rev-list", "--max-parents=0", commit, "--")
    return tuple(sorted(listed.decode().split()))
