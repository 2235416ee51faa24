"""The writer's side of a worktree's public files: folder, status, progress and failure notes."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time

from gitindex.base.atomic_file import remove, write_atomic
from gitindex.base.ownership import check_folder
from gitindex.base.vocabulary import BuildKind, IndexState
from gitindex.base.worktree import LLMC, STORE_FOLDERS, Worktree
from gitindex.freshness.fingerprint import SCHEMA_VERSION
from gitindex.freshness.marker import CompletionMarker
from gitindex.freshness.status_file import (
    StatusRecord,
    load_record,
    render_status,
    save_record,
    utc_now,
)
from gitindex.git.command import try_git

LITTER_SECONDS = 60.0


def create_store(worktree: Worktree) -> None:
    """Make the store's folders, private to their owner. Their existence is the opt-in.

    The interpreter is noted for the hooks: they start the one that last did the work.
    """
    for folder in (worktree.store, *(os.path.join(worktree.store, n) for n in STORE_FOLDERS)):
        if not check_folder(folder, "the store .git/gitindex"):
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder)  # never its parents: a deleted repository stays deleted
        os.chmod(folder, 0o700)
    write_atomic(os.path.join(worktree.store, "python"), os.fsencode(sys.executable) + b"\n")


def ensure_folder(worktree: Worktree) -> None:
    """Make `.llmc/`, or refuse one that is not ours to write."""
    if check_folder(worktree.llmc, LLMC):
        os.chmod(worktree.llmc, 0o700)
    else:
        os.mkdir(worktree.llmc, 0o700)
    ignore = os.path.join(worktree.llmc, ".gitignore")
    if not os.path.exists(ignore):
        write_atomic(ignore, b"*\n")


def is_ours(worktree: Worktree) -> bool:
    """May a status be written, even though a refresh was refused? Never into what git tracks."""
    if os.path.islink(worktree.llmc) or not os.path.isdir(worktree.llmc):
        return False
    listed = try_git(worktree.root, "ls-files", "-z", "--", LLMC)
    return listed.returncode == 0 and not listed.output


def sweep_litter(worktree: Worktree) -> None:
    """Remove what killed writers left behind: a live one keeps its temporary file for moments."""
    folders = (worktree.store, *(os.path.join(worktree.store, name) for name in STORE_FOLDERS))
    for folder in (worktree.llmc, *folders):
        if os.path.isdir(folder) and not os.path.islink(folder):
            for entry in list(os.scandir(folder)):
                left = entry.name.startswith(".") and entry.name.endswith((".tmp", ".tmp.lock"))
                with contextlib.suppress(FileNotFoundError):
                    if left and entry.stat().st_mtime < time.time() - LITTER_SECONDS:
                        os.unlink(entry.path)


def publish_status(worktree: Worktree, marker: CompletionMarker) -> None:
    """Write the fresh status, then the stale one a hook will rename over it.

    In this order, and with the spool looked at last: a hook appends its event before it renames,
    so either we see the event here or it finds the stale file. Never is `fresh` the last word.
    """
    fresh = _status(worktree, IndexState.FRESH, marker.completed_at, marker.head_commit)
    save_record(worktree.root, fresh)
    stale = fresh._replace(index_state=IndexState.STALE)
    write_atomic(worktree.stale_status, render_status(stale))
    if os.path.exists(worktree.spool):
        mark_stale(worktree)


def mark_stale(worktree: Worktree) -> None:
    """What the hook does by `mv`."""
    try:
        os.replace(worktree.stale_status, os.path.join(worktree.llmc, "rag_index_status.json"))
    except FileNotFoundError:
        return  # a hook was quicker


def write_state(worktree: Worktree, state: IndexState, error: str | None = None) -> None:
    """Write a status that keeps what is known of the last success."""
    last = load_record(worktree.root)
    at, commit = (last.last_indexed_at, last.last_indexed_commit) if last else ("", None)
    remove(worktree.stale_status)  # it would tell of the success before this state
    save_record(worktree.root, _status(worktree, state, at, commit, error))
    if state is IndexState.ERROR:  # the next event ends it: HEAD is another one then
        stale = _status(worktree, IndexState.STALE, at, commit)
        write_atomic(worktree.stale_status, render_status(stale))
        if os.path.exists(worktree.spool):
            mark_stale(worktree)


def note_progress(worktree: Worktree, kind: BuildKind, phase: str, percent: float | None) -> None:
    """Tell readers how far the running job is."""
    fields = {"kind": kind, "phase": phase, "progressPct": percent, "lastUpdated": utc_now()}
    write_atomic(worktree.progress, json.dumps(fields).encode(), durable=False)


def note_failure(worktree: Worktree, message: str, commit: str | None) -> None:
    """Record why the last attempt failed; removed by the next success."""
    write_atomic(worktree.failure, json.dumps({"message": message, "commit": commit}).encode())


def _status(
    worktree: Worktree, state: IndexState, at: str, commit: str | None, error: str | None = None
) -> StatusRecord:
    repo = worktree.root.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return StatusRecord(repo, state, at, commit, SCHEMA_VERSION, error)
