"""The writer's side of a worktree's public files: folder, status, progress and failure notes."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys

from gitindex import __version__
from gitindex.base.atomic_file import read_small, remove, sweep_temporaries, write_atomic
from gitindex.base.errors import GitIndexError, StoreReplaced
from gitindex.base.ownership import STORE, check_folder
from gitindex.base.runner_lock import alive_file
from gitindex.base.vocabulary import BuildKind, IndexState
from gitindex.base.worktree import FROM_TEMPLATE, LLMC, STORE_FOLDERS, Worktree
from gitindex.base.writer_version import VERSION, newer_writer
from gitindex.freshness.fingerprint import SCHEMA_VERSION, runtime_version
from gitindex.freshness.marker import CompletionMarker
from gitindex.freshness.status_file import (
    StatusRecord,
    load_record,
    render_status,
    save_record,
    utc_now,
)
from gitindex.git.command import try_git
from gitindex.git.index_file import surely_lacks
from gitindex.git.shadow_index import index_of

LITTER_SECONDS = 60.0
NOTE_BYTES = 256


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
    if read_small(version) != __version__.encode() + b"\n":
        write_atomic(version, __version__.encode() + b"\n")


def refuse_older_writer(worktree: Worktree) -> None:
    """Refuse to write if a newer installed version serves this store: they would undo each other's work."""
    newer = newer_writer(worktree)
    if newer:
        raise GitIndexError(
            f"gitindex {newer} maintains this index; this is {__version__}",
            "upgrade this version, or use the newer one: `git idx`",
        )


def ensure_folder(worktree: Worktree, make: bool = True) -> None:
    """Create `.llmc/`, or refuse one that we may not write. Never in a worktree that is gone.

    Without `make` it was there when the job began: where it is missing now, it is being removed.
    """
    if not check_folder(worktree.llmc, LLMC):
        if not (make and os.path.lexists(os.path.join(worktree.root, ".git"))):
            raise GitIndexError("the worktree was removed")
        os.mkdir(worktree.llmc, 0o700)
    if stat.S_IMODE(os.stat(worktree.llmc).st_mode) != 0o700:
        os.chmod(worktree.llmc, 0o700)
    ignore = os.path.join(worktree.llmc, ".gitignore")
    if not os.path.exists(ignore):
        _write(worktree, ignore, b"*\n")


def may_make_folder(worktree: Worktree) -> bool:
    """Whether a user asked for an index here; a git template alone is not enough."""
    return os.path.isdir(worktree.llmc) or not os.path.exists(
        os.path.join(worktree.store, FROM_TEMPLATE)
    )


def is_ours(worktree: Worktree) -> bool:
    """May a status be written, even though a refresh was refused? Never into what git tracks."""
    try:
        check_folder(worktree.llmc, LLMC)
    except GitIndexError:
        return False
    return not is_tracked(worktree)


def is_tracked(worktree: Worktree) -> bool:
    """Does git track anything in `.llmc/`? Also true where git cannot say.

    Git's index is searched for the name; only where it has it, or is of another format, git is asked.
    """
    with contextlib.suppress(OSError), open(index_of(worktree), "rb") as file:
        if surely_lacks(file.read(), LLMC.encode()):
            return False
    listed = try_git(worktree.root, "ls-files", "-z", "--", LLMC)
    return listed.returncode != 0 or bool(listed.output)


def sweep_litter(worktree: Worktree) -> None:
    """Remove old temporary files of killed writers."""
    folders = (worktree.store, *(os.path.join(worktree.store, name) for name in STORE_FOLDERS))
    for folder in (worktree.llmc, *folders):
        if not os.path.islink(folder):
            sweep_temporaries(folder, LITTER_SECONDS)


def publish_status(worktree: Worktree, marker: CompletionMarker) -> None:
    """Write the fresh status, then the stale one a hook will rename over it.

    In this order, and with the spool looked at last: a hook appends its event before it renames,
    so either we see the event here or it finds the stale file. Never is `fresh` the last word.
    A checkout may have brought a tracked `.llmc/` meanwhile: that is left alone.
    """
    if is_tracked(worktree):
        return
    fresh = _status(worktree, IndexState.FRESH, marker.completed_at, marker.head_commit)
    save_record(worktree.root, fresh, worktree.store)
    stale = fresh._replace(index_state=IndexState.STALE)
    _write(worktree, worktree.stale_status, render_status(stale))
    if os.path.exists(worktree.spool):
        mark_stale(worktree)


def mark_stale(worktree: Worktree) -> None:
    """Rename the stale status into place, as the hook does with `mv`."""
    try:
        os.replace(worktree.stale_status, os.path.join(worktree.llmc, "rag_index_status.json"))
    except FileNotFoundError:
        return  # a hook was quicker


def write_state(
    worktree: Worktree, state: IndexState, error: str | None = None, make: bool = True
) -> None:
    """Write a status that keeps what is known of the last success. Makes `.llmc/` if need be."""
    ensure_folder(worktree, make)
    last = load_record(worktree.root)
    at, commit = (last.last_indexed_at, last.last_indexed_commit) if last else ("", None)
    remove(worktree.stale_status)  # it would tell of the success before this state
    save_record(worktree.root, _status(worktree, state, at, commit, error), worktree.store)
    if state is IndexState.ERROR:  # the next event ends it: HEAD is another one then
        stale = _status(worktree, IndexState.STALE, at, commit)
        _write(worktree, worktree.stale_status, render_status(stale))
        if os.path.exists(worktree.spool):
            mark_stale(worktree)


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
    """Write a short note in place, by one write of constant length.

    No file appears or vanishes for it: a short job must not disturb whoever removes the repository.
    A reader that sees half a note takes it for none.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    fd = os.open(path, flags, 0o600)
    try:
        os.pwrite(fd, data.ljust(NOTE_BYTES), 0)
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


def _write(worktree: Worktree, path: str, data: bytes) -> None:
    """Write into `.llmc/` by one rename; the temporary file lies in the store."""
    write_atomic(path, data, scratch=worktree.store)
