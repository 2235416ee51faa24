"""Operations on an index that users and agents ask for: create, reindex, sync, repair, clear, status."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from typing import Any, NamedTuple

from gitindex.base.atomic_file import read_small, remove
from gitindex.base.errors import CorruptStore, Exit, GitIndexError, StoreError
from gitindex.base.escape import safe_text
from gitindex.base.runner_lock import RunnerLock, is_held
from gitindex.base.tree_edit import undo_unfinished
from gitindex.base.vocabulary import BuildKind, EditScope, IndexState, ManageOutcome, ProofOutcome
from gitindex.base.worktree import INCOMING, STORE_FOLDERS, Worktree, check_owner
from gitindex.freshness.envelope import status_envelope
from gitindex.freshness.marker import (
    CompletionMarker,
    identify_for_stamp,
    identify_store,
    is_newer,
    parse_fingerprint,
    publish_marker,
    read_stamp,
)
from gitindex.freshness.observation import Observation, observe, prove
from gitindex.freshness.status_file import FILE as PACK_NOTE
from gitindex.freshness.status_file import parse_object, path_of
from gitindex.freshness.verdict import STALE_CREATE, judge
from gitindex.git.command import try_git
from gitindex.refresh import public_files
from gitindex.refresh.detached import TEAM_FILE, start_runner
from gitindex.refresh.public_files import VERSION, TrackedFolder, ensure_folder, refuse_tracked
from gitindex.refresh.queue import KEEP_ENDED, read_history
from gitindex.refresh.refresher import completion_marker
from gitindex.refresh.run import start_refresh
from gitindex.refresh.session import wipe_store
from gitindex.refresh.spool import waiting
from gitindex.store import mapping
from gitindex.store.checksums import CheckLevel, damage_of_store
from gitindex.store.connection import open_reader, open_writer
from gitindex.store.mapping import Published
from gitindex.store.scrub import SCRUBBED, check_store

Process = subprocess.Popen[bytes]


class ManageResult(NamedTuple):
    """What became of a request; `process` works on it where one was started, as `operation`."""

    outcome: ManageOutcome
    message: str
    process: Process | None = None
    operation: str = ""


BEING_BUILT = ManageResult(ManageOutcome.COALESCED, "The index is being built already.")


def create(worktree: Worktree) -> ManageResult:
    """Build the index. Only a valid proof means that there is one already."""
    check_owner(worktree)
    seen = observe(worktree)
    _refuse_newer(seen)
    if _is_being_built(seen):
        return BEING_BUILT
    if seen.proof.outcome is ProofOutcome.VALID and not damage_of_store(
        worktree.store, CheckLevel.FULL
    ):
        return ManageResult(ManageOutcome.ALREADY_INDEXED, "Already indexed, with a valid proof.")
    message = STALE_CREATE if seen.searchable else "Indexing has started."
    return _start(worktree, BuildKind.CREATE, "create", message)


def reindex(worktree: Worktree) -> ManageResult:
    """Extract everything again."""
    check_owner(worktree)
    seen = observe(worktree)
    _refuse_newer(seen)
    if _is_being_built(seen):
        return BEING_BUILT
    return _start(worktree, BuildKind.REINDEX, "reindex", "Reindexing has started.")


def sync(worktree: Worktree) -> ManageResult:
    """Bring a proven index up to HEAD, unless it is fresh or a job is running."""
    check_owner(worktree)
    seen = observe(worktree)
    if seen.progress is not None:
        return ManageResult(ManageOutcome.SKIPPED_INDEXING, "A job runs; nothing was started.")
    if judge(seen).state is IndexState.FRESH:
        return ManageResult(ManageOutcome.SKIPPED_FRESH, "The index is of HEAD's tree already.")
    if seen.pending and is_held(worktree.lock):
        return ManageResult(
            ManageOutcome.COALESCED, "A refresh is queued already, and a runner is there."
        )
    return _start(worktree, BuildKind.REFRESH, "sync", "A refresh has started.")


def repair(worktree: Worktree) -> ManageResult:
    """Adopt a generation that the store proves, if its marker is gone. Deletes nothing."""
    check_owner(worktree)
    proof = prove(worktree)
    if proof.outcome is ProofOutcome.VALID and not damage_of_store(worktree.store, CheckLevel.FULL):
        return ManageResult(
            ManageOutcome.ALREADY_PROVEN, "The index is proven; nothing was changed."
        )
    if is_newer(proof):
        return ManageResult(ManageOutcome.NOT_ADOPTABLE, proof.message)
    if not os.path.isdir(worktree.store):
        return ManageResult(ManageOutcome.NOT_ADOPTABLE, "There is no store; create the index.")
    lock = RunnerLock(worktree.lock)
    if not lock.acquire():
        return ManageResult(ManageOutcome.SKIPPED_INDEXING, "A job runs; nothing was changed.")
    try:
        marker = _adoptable(worktree)
        ensure_folder(worktree)
        publish_marker(worktree, marker, identify_for_stamp(worktree))
        public_files.publish_status(worktree, marker)
        if observe(worktree).head_tree != marker.tree_id:
            public_files.mark_stale(worktree)
    except (CorruptStore, _NotAdoptable) as why:
        return ManageResult(
            ManageOutcome.NOT_ADOPTABLE, f"Nothing to adopt: {why}. Create the index."
        )
    finally:
        _release(worktree, lock)
    return ManageResult(ManageOutcome.ADOPTED, f"Generation {marker.generation} is proven again.")


def clear(worktree: Worktree, root: str) -> ManageResult:
    """Remove the index of exactly `root`: only our own files. The hooks stay."""
    if root != worktree.root:
        raise GitIndexError(
            "clear needs the exact root of the codebase",
            f"say {safe_text(worktree.root)}",
            Exit.USAGE,
        )
    check_owner(worktree)
    undo_unfinished(worktree)  # its journal is in the store
    if os.path.isdir(worktree.store):
        lock = RunnerLock(worktree.lock)
        if not lock.acquire():
            return ManageResult(ManageOutcome.SKIPPED_INDEXING, "A job runs; nothing was removed.")
        try:
            _remove_index(worktree)
        finally:
            _release(worktree, lock)
    _remove_face(worktree)
    return ManageResult(ManageOutcome.CLEARED, "The index was removed.")


def describe(worktree: Worktree, path: str) -> dict[str, Any]:
    """The status of one codebase, as `gitindex status --json` has it, and what its proof says."""
    seen = observe(worktree, EditScope.ALL)
    envelope = status_envelope(worktree, seen, judge(seen), path)
    reason = seen.proof.reason
    proof = {"outcome": str(seen.proof.outcome), "reason": str(reason) if reason else None}
    envelope["proof"] = proof
    if seen.searchable and seen.proof.outcome is ProofOutcome.STALE_LOCAL:
        envelope["warning"] = (
            f"The local index claims to be complete but its proof is not valid ({reason}): "
            "readers treat it as not indexed; use action create, or repair."
        )
    return envelope


def _release(worktree: Worktree, lock: RunnerLock) -> None:
    """Release the lock and serve the events of runners that found it taken."""
    lock.release()
    if waiting(worktree):
        start_runner(worktree)


def new_operation(action: str) -> str:
    """A unique name for the operation that is about to start."""
    return f"{action}-{os.urandom(6).hex()}"


def was_asked_for(worktree: Worktree, operation: str) -> bool:
    """Whether the queue has a job of this operation; it records the operation of every job."""
    jobs = read_history(worktree, KEEP_ENDED) or []
    return any(job.trigger_reason == operation for job in jobs)


def _start(worktree: Worktree, kind: BuildKind, action: str, message: str) -> ManageResult:
    public_files.create_store(worktree)
    name = new_operation(action)
    return ManageResult(ManageOutcome.STARTED, message, start_refresh(worktree, kind, name), name)


def _is_being_built(seen: Observation) -> bool:
    return seen.progress is not None and seen.progress.kind is not BuildKind.REFRESH


def _refuse_newer(seen: Observation) -> None:
    if is_newer(seen.proof):
        raise GitIndexError(f"the marker was {seen.proof.message}", "upgrade gitindex")


class _NotAdoptable(Exception):
    """The store holds no generation that can be proven."""


def _adoptable(worktree: Worktree) -> CompletionMarker:
    """What the store holds, checked as a publish checks it before it writes its marker."""
    try:
        store = identify_store(worktree)
        stamp = read_stamp(worktree.stamp)
        row, marker = _read_published(worktree)
    except (OSError, StoreError) as error:
        raise _NotAdoptable(getattr(error, "message", str(error))) from error
    if stamp is None or not stamp.run(marker.run_id) or stamp.store.inode != store.inode:
        raise _NotAdoptable("the store has no finished generation")
    if parse_fingerprint(parse_object((row.fingerprint or "").encode())) != marker.fingerprint:
        raise _NotAdoptable("it was made by another version")
    if try_git(worktree.root, "cat-file", "-e", marker.tree_id).returncode:
        raise _NotAdoptable("git does not have its tree any more")
    check_store(worktree.store)
    return marker


def _read_published(worktree: Worktree) -> tuple[Published, CompletionMarker]:
    database = open_reader(worktree.database)
    if database is None:
        raise _NotAdoptable("there is no store")
    try:
        with database.snapshot():
            row = mapping.published(database, worktree.id)
            if row is None or row.generation == 0 or row.tree is None or row.run_id is None:
                raise _NotAdoptable("nothing was ever published")
            return row, completion_marker(database, worktree.root, row)
    finally:
        database.close()


def _remove_index(worktree: Worktree) -> None:
    """Remove the whole store, or only this worktree's part if others use it."""
    remove(worktree.stamp)  # first: no marker outlives its facts
    if _others(worktree):
        database = open_writer(worktree.database)
        try:
            mapping.forget(database, worktree.id)
        finally:
            database.close()
        notes = (worktree.spool, worktree.taken, worktree.progress, worktree.failure)
        for path in notes:
            remove(path)
        return
    names = ("runner.lock", "runner.alive", "python", "log", "log.1", "facts.checksums.lock")
    files = (*names, VERSION, PACK_NOTE, TEAM_FILE, SCRUBBED, f"off.{worktree.id}")
    wipe_store(worktree, (*STORE_FOLDERS, INCOMING), files)
    _remove_if_empty(worktree.store)


def _others(worktree: Worktree) -> bool:
    try:
        return bool(os.listdir(os.path.join(worktree.store, "published")))
    except FileNotFoundError:
        return False


def _remove_face(worktree: Worktree) -> None:
    """Remove our files from `.llmc/`, unless git tracks any, and the folder if nothing is left."""
    if os.path.islink(worktree.llmc) or not os.path.isdir(worktree.llmc):
        return
    with suppress(TrackedFolder):
        refuse_tracked(worktree)
        remove(worktree.marker)
        remove(worktree.stale_status)
        remove(path_of(worktree.root))
        ignore = os.path.join(worktree.llmc, ".gitignore")
        if os.listdir(worktree.llmc) == [".gitignore"] and read_small(ignore) == b"*\n":
            remove(ignore)
    _remove_if_empty(worktree.llmc)


def _remove_if_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        return  # something in it is not ours
