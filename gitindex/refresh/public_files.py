"""The writer's side of a worktree's public files: the store's folders, status, progress and failure."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys

from gitindex import __version__
from gitindex.base.atomic_file import read_small, remove, write_atomic
from gitindex.base.errors import GitIndexError, StoreReplaced
from gitindex.base.ownership import STORE, check_folder
from gitindex.base.runner_lock import alive_file
from gitindex.base.vocabulary import BuildKind, IndexState
from gitindex.base.worktree import FROM_TEMPLATE, STORE_FOLDERS, Worktree
from gitindex.base.writer_version import VERSION, newer_writer, render_version
from gitindex.freshness.fingerprint import SCHEMA_VERSION, runtime_version
from gitindex.freshness.marker import CompletionMarker
from gitindex.freshness.status_file import (
    StatusRecord,
    load_status,
    path_of,
    render_status,
    utc_now,
)
from gitindex.refresh.public_folder import (
    TrackedFolder,
    ensure_folder,
    refuse_tracked,
    write_public,
)

NOTE_BYTES = 1024


def create_store(worktree: Worktree) -> None:
    """Create the store. Its existence is the user's opt-in."""
    if not check_folder(worktree.store, STORE):
        with contextlib.suppress(FileExistsError):
            os.mkdir(worktree.store, 0o700)  # never its parents
    remove(os.path.join(worktree.store, FROM_TEMPLATE))
    _fill_store(worktree)


def prepare_store(worktree: Worktree) -> None:
    """Create what is missing in a store, but never the store itself: it may be being deleted."""
    if not os.path.isdir(os.path.join(worktree.store, "spool")):
        raise StoreReplaced
    _fill_store(worktree)


def _fill_store(worktree: Worktree) -> None:
    """Create the folders, private to their owner, and record the interpreter that hooks start."""
    for folder in (worktree.store, *(os.path.join(worktree.store, n) for n in STORE_FOLDERS)):
        if not check_folder(folder, STORE):
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, 0o700)
        elif stat.S_IMODE(os.stat(folder).st_mode) != 0o700:
            os.chmod(folder, 0o700)
    for file in (worktree.lock, alive_file(worktree)):
        if not os.path.lexists(file):
            os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    _note_interpreter(worktree)


def _note_interpreter(worktree: Worktree) -> None:
    """Make hooks start this gitindex, unless a newer one already serves the store."""
    if newer_writer(worktree):
        return
    interpreter = os.path.join(worktree.store, "python")
    name = os.fsencode(sys.executable) + b"\n"
    if read_small(interpreter) != name:
        write_atomic(interpreter, name)
    version = os.path.join(worktree.store, VERSION)
    if read_small(version) != render_version(__version__):
        write_atomic(version, render_version(__version__))


def refuse_older_writer(worktree: Worktree) -> None:
    """Refuse to write if a newer installed version serves this store: they would undo each other's work."""
    newer = newer_writer(worktree)
    if newer:
        raise GitIndexError(
            f"gitindex {newer} maintains this index; this is {__version__}",
            "upgrade this version, or use the newer one: `git idx`",
        )


def publish_status(worktree: Worktree, marker: CompletionMarker, make: bool = True) -> None:
    """Write the fresh status, then the stale one that a hook writes over it; see `write_public`.

    A checkout may have brought a tracked `.llmc/` meanwhile: that is left alone.
    """
    fresh = _status(worktree, IndexState.FRESH, marker.completed_at, marker.head_commit)
    with contextlib.suppress(TrackedFolder):
        refuse_tracked(worktree)
        _put(worktree, fresh, fresh._replace(index_state=IndexState.STALE), make)


def _put(worktree: Worktree, status: StatusRecord, stale: StatusRecord, make: bool) -> None:
    """Write a status, then the one that ends it.

    In this order, and with the spool looked at last: a hook appends its event before it writes,
    so either we see the event here or it finds the stale file. Never is `fresh` the last word. An error
    stays: where the store cannot be opened, the event that failed is still in the spool.
    Both are equally long: a hook writes the one over the other, and nothing may be left behind it.
    """
    text = render_status(status)
    write_public(worktree, path_of(worktree.root), text, make)
    ends = render_status(stale).rstrip().ljust(len(text) - 1) + b"\n"
    write_public(worktree, worktree.stale_status, ends, make)
    if status.index_state is not IndexState.ERROR and os.path.exists(worktree.spool):
        mark_stale(worktree)


def mark_stale(worktree: Worktree) -> None:
    """Rename the stale status into place."""
    status = os.path.join(worktree.llmc, "rag_index_status.json")
    try:
        os.lstat(status)  # one that is gone is not made anew: the folder may be being removed
        os.replace(worktree.stale_status, status)
    except FileNotFoundError:
        return  # a hook was quicker


def write_state(
    worktree: Worktree, state: IndexState, error: str | None = None, make: bool = True
) -> None:
    """Write a status that keeps what is known of the last success. Makes `.llmc/` if need be."""
    refuse_tracked(worktree)
    ensure_folder(worktree, make)
    last = load_status(worktree.root)
    at, commit = (last.last_indexed_at, last.last_indexed_commit) if last else ("", None)
    with contextlib.suppress(FileNotFoundError):  # it would tell of the success before this state
        os.truncate(worktree.stale_status, 0)  # and a removed one would have to be made again
    status = _status(worktree, state, at, commit, error)
    if state is IndexState.ERROR:  # the next event ends it: HEAD is another one then
        _put(worktree, status, _status(worktree, IndexState.STALE, at, commit), make)
    else:
        write_public(worktree, path_of(worktree.root), render_status(status), make)


def note_progress(worktree: Worktree, kind: BuildKind, phase: str, percent: float | None) -> None:
    """Write the progress of the running job, for readers."""
    fields = {
        "kind": kind,
        "phase": phase,
        "progressPct": percent,
        "lastUpdated": utc_now(),
        "towards": runtime_version(),
    }
    _overwrite(worktree.progress, json.dumps(fields).encode())


def end_progress(worktree: Worktree) -> None:
    """Remove the progress note: no job runs."""
    with contextlib.suppress(FileNotFoundError):
        os.truncate(worktree.progress, 0)


def _overwrite(path: str, data: bytes) -> None:
    """Write a short note in place, by one write of constant length, and cut what is behind it.

    No file appears or vanishes for it: a short job must not disturb whoever removes the repository.
    A reader that sees half a note takes it for none.
    """
    flags = os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        fd = os.open(path, flags)
    except FileNotFoundError:
        if not os.path.exists(os.path.join(os.path.dirname(path), os.pardir, "python")):
            raise  # a store that is being deleted: every other one has it
        fd = os.open(path, flags | os.O_CREAT, 0o600)
    try:
        os.ftruncate(fd, os.pwrite(fd, data.ljust(NOTE_BYTES), 0))
    finally:
        os.close(fd)


def note_failure(worktree: Worktree, message: str, commit: str | None) -> None:
    """Record why the last attempt failed; removed by the next success."""
    write_atomic(worktree.failure, json.dumps({"message": message, "commit": commit}).encode())


def _status(
    worktree: Worktree, state: IndexState, at: str, commit: str | None, error: str | None = None
) -> StatusRecord:
    repo = worktree.root.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return StatusRecord(repo, state, at, commit, SCHEMA_VERSION, error)
