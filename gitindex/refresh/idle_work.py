"""What a runner does when nothing waits: derive scopes that were left for later, verify facts of packs.

Scopes cost as much as all other facts; a reader that needs one before it is stored derives it. One wrong
fact of a pack drops the whole store.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing

from gitindex.base.atomic_file import write_atomic
from gitindex.base.errors import ObjectMissing
from gitindex.base.runner_lock import take_lock
from gitindex.base.worktree import Worktree
from gitindex.extract.frames import SCOPES, WorkRequest
from gitindex.extract.policy import is_present, reader_of
from gitindex.extract.pool import Extractor, Task
from gitindex.freshness.status_file import FILE, PackNote, read_pack_note
from gitindex.git.interface import Repository
from gitindex.languages.facts import FactsKey, decode_facts
from gitindex.refresh.log import Log
from gitindex.refresh.session import Session, rebuild_store
from gitindex.refresh.worktree_writer import Report
from gitindex.store.blobs import (
    imported_facts,
    mark_verified,
    next_late,
    put_late,
    scopes_are_due,
    signers_of,
    unverified,
)
from gitindex.store.connection import Database
from gitindex.store.fact_check import Comparison, FactsCheck
from gitindex.store.lexical import LexicalReader

SCOPES_PART = 200
"""Blobs whose scopes are derived before the lock is given up."""


def derive_part(anchor: Worktree, workers: Extractor, size: int = SCOPES_PART) -> bool:
    """Derive the scopes of the next blobs; True if there are more. The caller holds the runner lock."""
    if not os.path.exists(anchor.database):
        return False
    session = Session(anchor)
    try:
        worktree = next(iter(session.worktrees().values()), None)
        if worktree is None:
            return False
        due = next_late(session.database, size)
        scopes: dict[int, bytes] = {}
        tasks = _tasks(session.repository(worktree), due)
        for task, reply in workers.extract(tasks):
            if decode_facts(reply.payload) is None:  # else it is quarantined
                scopes[due[task.key][0]] = reply.payload
        session.check_identity()
        put_late(session.database, scopes, {blob_id for blob_id, _ in due.values()} - scopes.keys())
        return bool(next_late(session.database, 1))
    finally:
        session.close()


def derive_all(worktree: Worktree, report: Report) -> None:
    """Derive all scopes that are due, for whoever needs them stored."""
    if not scopes_are_due(worktree.database):
        return
    lock = take_lock(worktree, report)
    try:
        report("scopes", None)
        with closing(Extractor()) as workers:
            while derive_part(worktree, workers):
                pass
    finally:
        lock.release()


def _tasks(repository: Repository, due: dict[FactsKey, tuple[int, str]]) -> Iterator[Task]:
    """Yield the workers' questions; blobs that git has lost are left out."""
    read = reader_of(repository)
    for key, (_, language) in due.items():
        try:
            yield Task(key, WorkRequest(language, read(key.oid) or b"", SCOPES))
        except ObjectMissing:
            continue


PART = 1_000
"""Blobs that are derived again before the lock is given up."""


def verify_part(anchor: Worktree, workers: Extractor, size: int = PART) -> bool:
    """Verify the next blobs; True if there are more. The caller holds the runner lock.

    One difference drops everything: the store is wiped and built anew from git, and the signer is
    noted. Facts that were verified before were equal, so nothing is lost but time.
    """
    if not os.path.exists(anchor.database) or not read_pack_note(anchor.store).imported:
        return False
    session = Session(anchor)
    try:
        signers, more = _verify(anchor, session, workers, size)
    finally:
        session.close()
    if signers is not None:
        _reject(anchor, signers)
    return more


def write_pack_note(store: str, note: PackNote) -> None:
    """Replace the note."""
    data = json.dumps(note._asdict() | {"rejected": list(note.rejected)})
    write_atomic(os.path.join(store, FILE), data.encode())


def note_progress_of_imports(store: str, database: Database) -> None:
    """Record how many imported blobs are verified."""
    progress, note = imported_facts(database), read_pack_note(store)
    if progress is None:
        write_pack_note(store, PackNote(rejected=note.rejected))
    else:
        write_pack_note(store, PackNote(*progress, rejected=note.rejected))


def _verify(
    anchor: Worktree, session: Session, workers: Extractor, size: int
) -> tuple[list[str] | None, bool]:
    """Signers of wrong facts, or None; and whether there is more to do."""
    database = session.database
    worktree = next(iter(session.worktrees().values()), None)
    if worktree is None:
        return None, False
    repository = session.repository(worktree)
    rows = _next(database, repository, size)
    if not rows:
        note_progress_of_imports(anchor.store, database)
        return None, False
    ids = {key: blob_id for key, (blob_id, _) in rows.items()}
    languages = {key: language for key, (_, language) in rows.items()}
    check = FactsCheck(
        database, LexicalReader(anchor.lexical), False, lambda _phase, _percent: None
    )
    comparison = check.compare(repository, workers, languages)
    if wrong := _wrong(check, comparison):
        return signers_of(database, (ids[key] for key in sorted(wrong))), False
    with database.write():
        mark_verified(
            database, (ids[key] for key in comparison.seen if key not in comparison.quarantined)
        )
    note_progress_of_imports(anchor.store, database)
    verified = len(comparison.seen) - len(comparison.quarantined)
    return None, verified > 0 and imported_facts(database) is not None


def _wrong(check: FactsCheck, comparison: Comparison) -> set[FactsKey]:
    """Blobs whose facts differ; all of them if the lexical index has terms of none."""
    wrong = comparison.differing()
    if not wrong and not comparison.quarantined and check.other_terms(comparison.seen):
        return set(comparison.seen)
    return wrong


def _next(database: Database, repository: Repository, size: int) -> dict[FactsKey, tuple[int, str]]:
    """The next blobs that git has here: those a partial clone lacks cannot be derived."""
    after, rows = 0, dict[FactsKey, tuple[int, str]]()
    while len(rows) < size and (part := unverified(database, size, after)):
        after = max(blob_id for blob_id, _ in part.values())
        rows |= {key: row for key, row in part.items() if is_present(repository, key.oid)}
    return dict(list(rows.items())[:size])


def _reject(anchor: Worktree, signers: list[str]) -> None:
    """Note who signed wrong facts, then build the store anew."""
    note = read_pack_note(anchor.store)
    rejected = tuple(dict.fromkeys([*note.rejected, *signers]))
    write_pack_note(anchor.store, PackNote(rejected=rejected))
    Log(anchor.store).write("pack rejected", signers=", ".join(signers) or "unsigned")
    rebuild_store(anchor)
