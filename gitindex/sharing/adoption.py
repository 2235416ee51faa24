"""Adopts a pack under the runner's lock: checks everything first, then puts it in place."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

from gitindex.base.errors import GitIndexError, ObjectMissing, StoreError
from gitindex.base.system import is_alive
from gitindex.base.worktree import INCOMING, Worktree, check_owner
from gitindex.extract.policy import is_present, reader_of
from gitindex.extract.pool import ExtractedBlob
from gitindex.extract.terms import document_text
from gitindex.freshness.marker import runtime_fingerprint
from gitindex.freshness.status_file import read_pack_note
from gitindex.git.backend import open_repository
from gitindex.git.interface import Repository
from gitindex.git.settings import user_setting
from gitindex.languages.facts import BlobFacts, FactsKey, decode_facts
from gitindex.languages.table import extractor_id
from gitindex.refresh import public_files
from gitindex.refresh.idle_work import note_progress_of_imports
from gitindex.refresh.refresher import Ingest
from gitindex.refresh.session import Session, wipe_store
from gitindex.sharing.create import needed_keys
from gitindex.sharing.pack_file import DATABASE, BadPack, Manifest, find_signer, render, unpack
from gitindex.store.blobs import BlobTable, begin_import
from gitindex.store.connection import Database, leave_log, open_reader, open_writer
from gitindex.store.lexical import LexicalReader
from gitindex.store.name_index import make_name_indexes
from gitindex.store.packing import open_pack_database

Report = Callable[[str, float | None], None]


class Adopted(NamedTuple):
    """The result of an adoption."""

    name: str
    signer: str
    blobs: int
    whole: bool  # adopted as a whole; False: only facts were taken, the rest was built here


@contextmanager
def incoming_folder(worktree: Worktree) -> Iterator[str]:
    """Return a private folder of the store for one pack; removes folders of dead processes."""
    check_owner(worktree)
    public_files.create_store(worktree)
    parent = os.path.join(worktree.store, INCOMING)
    os.makedirs(parent, 0o700, exist_ok=True)
    for name in os.listdir(parent):
        pid = name.partition("-")[0]
        if not pid.isdecimal() or not is_alive(int(pid)):
            shutil.rmtree(os.path.join(parent, name), ignore_errors=True)
    folder = os.path.join(parent, f"{os.getpid()}-{os.urandom(8).hex()}")
    os.mkdir(folder, 0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_signer(worktree: Worktree, pack: str) -> str:
    """Return who signed a pack; BadPack unless this user trusts the signer."""
    allowed = user_setting(worktree, "gitindex.pack.signers")
    signer = find_signer(pack, allowed or user_setting(worktree, "gpg.ssh.allowedSignersFile"))
    if not signer and user_setting(worktree, "gitindex.pack.trust") != "any":
        raise BadPack("it is not signed by an allowed signer")
    if signer in read_pack_note(worktree.store).rejected:
        who = f"of {signer}" if signer else "without a signature"
        raise BadPack(f"a pack {who} had wrong facts before (see `gitindex status`)")
    return signer


def adopt(worktree: Worktree, pack: str, folder: str, report: Report) -> Adopted | None:
    """Adopt a pack; None if it was adopted before. The caller holds the runner lock.

    A signed pack is put into an empty store as a whole. Otherwise only its facts are taken, through
    the decoder, and documents and the text index are built here from git's bytes.
    """
    report("pack", None)
    signer = check_signer(worktree, pack)
    manifest = unpack(pack, folder)
    if manifest.fingerprint != runtime_fingerprint():
        raise BadPack("it was made by another version of gitindex")
    digest = hashlib.sha256(render(manifest)).hexdigest()
    if _ask_store(worktree, "SELECT 1 FROM pack_imports WHERE manifest=?", digest):
        return None
    found = _checked(folder, manifest)
    if signer and has_no_facts(worktree):
        found.close()
        _put_in_place(worktree, folder, digest, signer)
        return Adopted(manifest.name, signer, manifest.blobs, True)
    with closing(found):
        taken = _take_facts(worktree, found, manifest, (digest, signer), report)
    return Adopted(manifest.name, signer, taken, False)


def _checked(folder: str, manifest: Manifest) -> Database:
    """Return the pack's database after all checks of its members."""
    try:
        database = open_pack_database(os.path.join(folder, DATABASE))
    except StoreError as error:
        raise BadPack(error.message) from error
    try:
        blobs, documents = database.row("SELECT count(*), coalesce(sum(lexical), 0) FROM blobs")
        promised = database.row("SELECT lexical_docs FROM repo_state")[0]
        indexed = LexicalReader(os.path.join(folder, "lexical")).documents if documents else 0
        if blobs != manifest.blobs or not documents == promised == indexed:
            raise BadPack("its halves do not fit together")
    except (StoreError, TypeError) as error:
        database.close()
        raise BadPack(getattr(error, "message", str(error))) from error
    except BaseException:
        database.close()
        raise
    return database


def has_no_facts(worktree: Worktree) -> bool:
    """Return whether the store holds no facts at all."""
    return not _ask_store(worktree, "SELECT 1 FROM blobs LIMIT 1")


def _ask_store(worktree: Worktree, sql: str, *values: object) -> object:
    """Return a row of the store; None without one, or where the next session rebuilds the store."""
    try:
        database = open_reader(worktree.database)
    except StoreError:
        return None
    if database is None:
        return None
    with closing(database):
        return database.row(sql, *values)


def _put_in_place(worktree: Worktree, folder: str, digest: str, signer: str) -> None:
    """Move both halves into the empty store. After a kill in between, the store is rebuilt."""
    path = os.path.join(folder, DATABASE)
    with closing(open_writer(path)) as database, database.write():
        blobs = int(database.row("SELECT count(*) FROM blobs")[0])
        number = begin_import(database, digest, signer, blobs)
        database.run("INSERT INTO pack_blobs SELECT id, ? FROM blobs", number)
        make_name_indexes(database)
    for name in (DATABASE, *(f"lexical/{name}" for name in os.listdir(f"{folder}/lexical"))):
        _sync(os.path.join(folder, name))
    wipe_store(worktree)
    public_files.create_store(worktree)
    os.rename(os.path.join(folder, "lexical"), worktree.lexical)
    os.rename(path, worktree.database)
    leave_log(worktree.database)
    reader = open_reader(worktree.database)
    assert reader is not None
    with closing(reader):
        note_progress_of_imports(worktree.store, reader)


def _sync(path: str) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _take_facts(
    worktree: Worktree,
    pack: Database,
    manifest: Manifest,
    origin: tuple[str, str],
    report: Report,
) -> int:
    """Add facts that the tree needs and the store lacks; returns their number."""
    session = Session(worktree)
    repository = open_repository(worktree)
    try:
        try:
            needed = needed_keys(repository, manifest.tree)
        except (ObjectMissing, GitIndexError) as error:
            raise BadPack("its tree is not one of this repository") from error
        keys = BlobTable(session.database).missing(sorted(needed))
        with session.database.write():
            number = begin_import(session.database, *origin, 0)
        with Ingest(session, number) as ingest:
            for at, key in enumerate(keys):
                blob = _read_blob(pack, repository, key)
                if blob is not None:
                    ingest.add(blob)
                report("facts", 100.0 * at / len(keys))
        session.database.run("UPDATE pack_imports SET blobs=? WHERE id=?", ingest.count, number)
        note_progress_of_imports(worktree.store, session.database)
        return ingest.count
    finally:
        repository.close()
        session.close()


def _read_blob(pack: Database, repository: Repository, key: FactsKey) -> ExtractedBlob | None:
    """Return a blob with the pack's facts and the rest from git; None if either lacks it."""
    if not is_present(repository, key.oid):
        return None
    facts = read_facts(pack, key)
    data = reader_of(repository)(key.oid)
    if facts is None or data is None or extractor_id(facts.language) != key.extractor:
        return None
    blob = ExtractedBlob(key, facts)
    if not blob.is_searched:
        return blob
    return ExtractedBlob(key, facts, data, *document_text(data, [s.name for s in facts.symbols]))


def read_facts(pack: Database, key: FactsKey) -> BlobFacts | None:
    """Decode the facts of a pack; anything the decoder rejects is a miss."""
    try:
        return decode_facts(BlobTable(pack).get(key) or b"")
    except (ValueError, TypeError, KeyError, StoreError):
        return None
