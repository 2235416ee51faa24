"""Derives the scopes that a refresh of many blobs left for later: they cost as much as all other facts,
and a reader that needs one before it is stored derives it for its answer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing

from gitindex.base.errors import ObjectMissing
from gitindex.base.worktree import Worktree
from gitindex.extract.frames import SCOPES, WorkRequest
from gitindex.extract.plan import reader_of
from gitindex.extract.pool import Extractor, Task
from gitindex.git.interface import Repository
from gitindex.languages.facts import FactsKey, decode_facts
from gitindex.refresh.run import take_lock
from gitindex.refresh.session import Session
from gitindex.refresh.worktree_writer import Report
from gitindex.store.late_scopes import next_late, put_late, scopes_are_due

PART = 200
"""Blobs whose scopes are derived before the lock is given up."""


def derive_part(anchor: Worktree, workers: Extractor, size: int = PART) -> bool:
    """Derive the scopes of the next blobs; True if there are more. The caller holds the runner lock."""
    if not os.path.exists(anchor.database):
        return False
    session = Session(anchor)
    try:
        worktree = next(iter(session.worktrees().values()), None)
        if worktree is None:
            return False
        due = next_late(session.database, size)
        found: dict[int, bytes] = {}
        tasks = _tasks(session.repository(worktree), due)
        for task, reply in workers.extract(tasks):
            if decode_facts(reply.payload) is None:  # else it is quarantined
                found[due[task.key][0]] = reply.payload
        session.check_identity()
        put_late(session.database, found, {blob_id for blob_id, _ in due.values()} - found.keys())
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
    """Yield what the workers are asked; blobs that git has lost are left out."""
    read = reader_of(repository)
    for key, (_, language) in due.items():
        try:
            yield Task(key, WorkRequest(language, read(key.oid) or b"", SCOPES))
        except ObjectMissing:
            continue
