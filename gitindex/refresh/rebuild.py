"""`--force`: a new store is built beside the one that is served, then takes its place by renames.

Nothing of the old files is read but what cannot be derived again. Until the file `ready` is there, a
death leaves the old store as it was; from then on whoever opens the store ends the exchange. The stamps
go first and come last: in between no marker proves anything, and readers scan the files on disk.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import NamedTuple

from gitindex.base.atomic_file import read_small, remove, write_atomic
from gitindex.base.errors import GitIndexError
from gitindex.base.vocabulary import BuildKind
from gitindex.base.worktree import BUILDING, READY, STORE, Worktree, check_folder, worktree_at
from gitindex.freshness.marker import is_newer
from gitindex.freshness.observation import prove
from gitindex.refresh import public_files
from gitindex.refresh.log import Log
from gitindex.refresh.public_files import ensure_folder, refuse_tracked, write_public
from gitindex.refresh.queue import FULL, RefreshJobService
from gitindex.refresh.refresher import Refresher
from gitindex.refresh.session import Session, remove_tree
from gitindex.refresh.worktree_writer import LongJobStatus, ProgressNotes, Report
from gitindex.store import decisions, mapping
from gitindex.store.checksums import CHECKSUM_FILES, LogLock, renew

ROOT = "root"
"""Beside a marker that waits: the root of its worktree."""


class RebuildPlan(NamedTuple):
    """What a new store must hold: worktrees with the generation each has, and decisions."""

    requested: Worktree
    reason: str
    generations: dict[Worktree, int]
    decided: list[tuple[object, ...]]


def plan_rebuild(session: Session, requested: Worktree, reason: str) -> RebuildPlan | None:
    """What a rebuild must keep; None if the store holds facts that cannot be derived here (SCIP, packs).

    And where a refresh would be refused: then it says why.
    """
    database = session.database
    try:
        refuse_tracked(requested)
    except GitIndexError:
        return None
    if is_newer(prove(requested)):
        return None
    for table in ("contexts", "pack_imports"):
        if database.row(f"SELECT 1 FROM {table} LIMIT 1"):
            return None
    generations = {}
    for name, worktree in session.worktrees().items():
        row = mapping.published(database, name)
        if row is not None and (row.generation or name == requested.id):
            generations[worktree] = row.generation
    return RebuildPlan(requested, reason, generations, decisions.dump(database))


def rebuild(plan: RebuildPlan, report: Report) -> bool:
    """Build a new store and put it in place; False if that failed and the old store is unchanged."""
    clear_building(plan.requested)
    try:
        _build(plan, report)
    except (GitIndexError, OSError):
        clear_building(plan.requested)
        return False
    finally:
        public_files.end_progress(plan.requested)
    write_atomic(_inside(plan.requested, READY), b"")
    finish_exchange(plan.requested)
    Log(plan.requested.store).write("store rebuilt", root=plan.requested.root, status="completed")
    remove(plan.requested.taken)  # what was asked for is done
    return True


def _build(plan: RebuildPlan, report: Report) -> None:
    first = plan.requested._replace(beside=True)
    public_files.note_progress(plan.requested, BuildKind.REINDEX, "starting", None)
    os.mkdir(first.store, 0o700)
    public_files.create_store(first)
    session = Session(first)
    try:
        decisions.load(session.database, plan.decided)
        notes = ProgressNotes(plan.requested, BuildKind.REINDEX, report)
        with LongJobStatus(plan.requested, not os.path.isdir(plan.requested.llmc)):
            for worktree, generation in plan.generations.items():
                _index(worktree, generation, session, plan, notes)
    finally:
        session.close()


def _index(
    worktree: Worktree, generation: int, session: Session, plan: RebuildPlan, notes: ProgressNotes
) -> None:
    beside = worktree._replace(beside=True)
    jobs: RefreshJobService = session.jobs(beside)
    mapping.set_generation(session.database, beside.id, generation)
    reason = plan.reason if worktree.id == plan.requested.id else "store-rebuilt"
    job_id = jobs.enqueue_refresh(FULL, reason).job_id
    refresher = Refresher(beside, session, notes, make_folder=True)
    job = jobs.claim(os.urandom(16).hex(), job_id)
    assert job is not None
    assert job.run_id is not None
    extracted = refresher.run(job.run_id, FULL, force=False)
    write_atomic(os.path.join(beside.llmc, ROOT), os.fsencode(worktree.root))
    jobs.complete(job, extracted)


def finish_exchange(worktree: Worktree) -> None:
    """Move a finished store into place; continues where a killed process stopped."""
    store, building = worktree.store, _inside(worktree)
    with LogLock(f"{store}/facts.db", exclusive=True):  # no writer is in a transaction
        _remove_stamps(worktree, building)
        _exchange_files(store, building)
        renew(store)
    for name in os.listdir(os.path.join(building, "published")):
        _put_marker(worktree, name)
        os.replace(f"{building}/published/{name}", f"{store}/published/{name}")
    clear_building(worktree)


def _remove_stamps(worktree: Worktree, building: str) -> None:
    if os.path.exists(f"{building}/facts.db"):
        for name in os.listdir(f"{worktree.store}/published"):
            remove(f"{worktree.store}/published/{name}")


def _exchange_files(store: str, building: str) -> None:
    """Readers that have the old files open keep them; a new one finds the log missing, and waits."""
    if os.path.exists(f"{building}/facts.db"):
        for suffix in ("-wal", "-shm"):
            remove(f"{store}/facts.db{suffix}")
        os.replace(f"{building}/facts.db", f"{store}/facts.db")
    if os.path.isdir(f"{building}/lexical"):
        _remove_folder(store, "lexical")
        os.rename(f"{building}/lexical", f"{store}/lexical")
    for name in CHECKSUM_FILES:
        with suppress(FileNotFoundError):
            os.replace(f"{building}/{name}", f"{store}/{name}")
    for suffix in ("-wal", "-shm"):
        with suppress(FileExistsError):
            os.mknod(f"{store}/facts.db{suffix}", 0o600 | stat.S_IFREG)


def _put_marker(worktree: Worktree, name: str) -> None:
    """The marker of one worktree; where its folder is gone or tracked, the next refresh writes one."""
    data = read_small(_inside(worktree, name, "completion_marker.json"))
    root = read_small(_inside(worktree, name, ROOT))
    if data is None or root is None:
        return
    with suppress(GitIndexError, FileNotFoundError):
        target = worktree_at(os.fsdecode(root))
        ensure_folder(target)
        write_public(target, target.marker, data)


def clear_building(worktree: Worktree) -> None:
    """Remove what an exchange, or a process that died before one, left."""
    if os.path.isdir(_inside(worktree)):
        remove(_inside(worktree, READY))
        _remove_folder(worktree.store, BUILDING)
    if os.path.isdir(_inside(worktree)):  # a file appeared in it while it was removed
        _remove_folder(worktree.store, BUILDING)


def finish_rebuild(worktree: Worktree) -> None:
    """Clean up after a killed process: finish an exchange that was ready, remove anything less."""
    check_folder(_inside(worktree), STORE)
    if os.path.exists(_inside(worktree, READY)):
        finish_exchange(worktree)
    else:
        clear_building(worktree)


def _remove_folder(store: str, name: str) -> None:
    """Remove a folder by its descriptor, so that nothing that replaces it meanwhile is removed."""
    fd = os.open(store, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        remove_tree(name, fd)
    finally:
        os.close(fd)


def _inside(worktree: Worktree, *names: str) -> str:
    return os.path.join(worktree.store, BUILDING, *names)
