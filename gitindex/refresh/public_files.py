"""The writer's side of a worktree's public files: `.llmc/` and who may write it, the store's folders, status,
progress and failure. What git tracks is left alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
import time
from errno import ENOENT

from gitindex.base.atomic_file import (
    Staging,
    add_checksum,
    read_small,
    remove,
    strip_checksum,
    sweep_temporaries,
    write_atomic,
)
from gitindex.base.errors import GitIndexError, StoreReplaced
from gitindex.base.runner_lock import alive_file
from gitindex.base.system import is_background
from gitindex.base.version import __version__
from gitindex.base.vocabulary import BuildKind, IndexState
from gitindex.base.worktree import FROM_TEMPLATE, LLMC, STORE, STORE_FOLDERS, Worktree, check_folder
from gitindex.freshness.marker import SCHEMA_VERSION, CompletionMarker, runtime_version
from gitindex.freshness.status_file import (
    StatusRecord,
    load_status,
    path_of,
    render_status,
    utc_now,
)
from gitindex.git.command import try_git
from gitindex.git.index_file import spells_out
from gitindex.git.shadow_index import index_of

VERSION = "version"
"""In the store, beside `python`: the version of the gitindex that hooks start."""


def is_served(worktree: Worktree) -> bool:
    """Is there an interpreter for hooks to start, of this version or a newer one?"""
    return _is_alive(worktree) and _numbers(_noted(worktree)) >= _numbers(__version__)


def newer_writer(worktree: Worktree) -> str:
    """The version of a newer gitindex that serves this store and is still there; else empty."""
    noted = _noted(worktree)
    newer = _numbers(noted) > _numbers(__version__)
    return noted if newer and _is_alive(worktree) else ""


def _noted(worktree: Worktree) -> str:
    """Stores made before the note was kept have none: of this version or older."""
    try:
        data = strip_checksum(read_small(os.path.join(worktree.store, VERSION))) or b""
    except OSError:
        data = b""
    return data.decode("ascii", "replace").strip() or "0"


def render_version(version: str) -> bytes:
    """The note's bytes. With a checksum: one damaged digit would name a newer gitindex for ever."""
    return add_checksum(version.encode() + b"\n")


def _is_alive(worktree: Worktree) -> bool:
    try:
        data = read_small(os.path.join(worktree.store, "python")) or b""
    except OSError:
        return False
    return os.access(data.removesuffix(b"\n"), os.X_OK)


def _numbers(version: str) -> tuple[int, ...]:
    """A version as it is compared; what is no number counts as nothing."""
    return tuple(int(part) if part.isdecimal() else 0 for part in version.split("."))


LITTER_SECONDS = 60.0
"""Age of a temporary file whose writer surely ended."""
REMOVAL_SECONDS = 0.2
"""Longer than `rm -rf` takes from the first of our files to their folder."""
QUIET_SECONDS = 1.0
"""Nothing appeared in or left a folder of a work tree for so long: nobody is removing it."""
BUSY_SECONDS = 10.0
"""A build that writes all the time is no removal: none of an ordinary repository takes so long."""
CHECKOUT_SECONDS = 1.0
"""Longer than git has its index locked for a tree of 50,000 files; a lock that it left stays for good."""
MAX_FOLDERS = 20_000
"""Of a work tree that are looked at: a fifth of a second, once in the life of a clone."""


class TrackedFolder(GitIndexError):
    """Git tracks something in `.llmc/`: nothing there is written or removed."""

    def __init__(self) -> None:
        # in one text: a failed job keeps no hint
        super().__init__(f"{LLMC} is tracked by git: `git rm -r --cached {LLMC}` ends that")


def refuse_tracked(worktree: Worktree) -> None:
    """Raise unless `.llmc/` is a folder of this user, or missing, and git tracks nothing in it.

    Asked last before each change there, after any wait. A `git add -f` in the milliseconds after it is not
    noticed before the next change; the hook changes only bytes that we wrote. A checkout puts its files in
    place before it says so in its index: until then its lock is there.
    """
    if worktree.beside:
        return
    check_folder(worktree.llmc, LLMC)
    deadline = time.monotonic() + CHECKOUT_SECONDS
    while os.path.lexists(f"{index_of(worktree)}.lock") and time.monotonic() < deadline:
        time.sleep(CHECKOUT_SECONDS / 50)
    if is_tracked(worktree):
        raise TrackedFolder


def is_tracked(worktree: Worktree) -> bool:
    """Does git track anything in `.llmc/`? Also true where git cannot say.

    Only where git's index has the name somewhere, or is of another format, git is asked.
    """
    with contextlib.suppress(OSError), open(index_of(worktree), "rb", 0) as file:
        data = file.read()
        if spells_out(data) and LLMC.encode() not in data and not _may_be_split(worktree):
            return False
    listed = try_git(worktree.root, "ls-files", "-z", "--", LLMC)
    return listed.returncode != 0 or bool(listed.output)


def _may_be_split(worktree: Worktree) -> bool:
    """Are there files that a split index has its other entries in? Git makes them before the index."""
    folders = {worktree.git_dir, worktree.common_dir}
    return any(name.startswith("sharedindex") for path in folders for name in os.listdir(path))


def ensure_folder(worktree: Worktree, make: bool = True) -> None:
    """Create `.llmc/`, or refuse one that we may not write or git tracks. Never in a worktree that is gone.

    Without `make` it was there when the job began: where it is missing now, it is being removed.
    """
    if not check_folder(worktree.llmc, LLMC):
        if not make or _is_being_removed(worktree):
            raise GitIndexError("the worktree was removed")
        try:
            os.mkdir(worktree.llmc, 0o700)
        except FileExistsError:  # the thread that tells the progress made it, or a hook
            check_folder(worktree.llmc, LLMC)
    if stat.S_IMODE(os.stat(worktree.llmc).st_mode) != 0o700:
        os.chmod(worktree.llmc, 0o700)
    ignore = os.path.join(worktree.llmc, ".gitignore")
    if not os.path.isfile(ignore):
        if not make:  # somebody removed it, alone or with the rest
            time.sleep(REMOVAL_SECONDS)
            if not os.path.isdir(worktree.llmc):
                raise GitIndexError("the worktree was removed")
        write_public(worktree, ignore, b"*\n")
    refuse_tracked(worktree)
    _remove_folder_at(worktree, worktree.marker)


def _is_being_removed(worktree: Worktree) -> bool:
    """Is the work tree gone, or about to be? Whoever removes one changes its folders all the time.

    A process that a person waits for makes the folder at once where there was none before.
    """
    if not os.path.isdir(os.path.dirname(worktree.stamp)):
        return True  # the store goes first
    at_once = not is_background() and not os.path.exists(worktree.stamp)
    deadline = time.monotonic() + BUSY_SECONDS
    while os.path.lexists(os.path.join(worktree.root, ".git")):
        if at_once or _is_quiet(worktree.root) or time.monotonic() > deadline:
            return False
        time.sleep(QUIET_SECONDS / 10)
    return True


def _is_quiet(root: str) -> bool:
    """Did nothing come into or leave the folders of a work tree for a while?"""
    now, folders = time.time(), [root]
    for number, folder in enumerate(folders):
        if number >= MAX_FOLDERS:
            break
        try:
            if 0 <= now - os.stat(folder).st_mtime < QUIET_SECONDS:
                return False
            with os.scandir(folder) as entries:
                inside = [e.path for e in entries if e.is_dir(follow_symlinks=False)]
        except OSError:
            return False  # it went meanwhile
        folders += [path for path in inside if os.path.basename(path) != ".git"]
    return True


def may_make_folder(worktree: Worktree) -> bool:
    """Whether a user asked for an index here; a git template alone is not enough."""
    return os.path.isdir(worktree.llmc) or not os.path.exists(
        os.path.join(worktree.store, FROM_TEMPLATE)
    )


def write_public(worktree: Worktree, path: str, data: bytes, make: bool = True) -> None:
    """Write into `.llmc/` by one rename, unless git tracks it; the temporary file lies in the store.

    FileNotFoundError if files of ours vanish meanwhile: then the folder is being removed. Ours has
    its `.gitignore` from the first moment. Without `make` the file was there before this run.
    """
    ignore = os.path.join(worktree.llmc, ".gitignore")

    def ready() -> None:
        refuse_tracked(worktree)
        if path != ignore:
            os.lstat(ignore)

    existing = os.path.lexists(path)
    if not (existing or make) and _is_being_removed(worktree):
        raise FileNotFoundError(ENOENT, "the worktree was removed", path)
    existing = existing and not _remove_folder_at(worktree, path)
    write_atomic(path, data, existing=existing, staging=Staging(worktree.store, ready))


def _remove_folder_at(worktree: Worktree, path: str) -> bool:
    """Remove a folder in the place of one of our files, unless git tracks it."""
    if not os.path.isdir(path) or os.path.islink(path):
        return False
    refuse_tracked(worktree)
    _remove_any(path)
    return True


def sweep_litter(worktree: Worktree) -> None:
    """Remove old temporary files of killed writers, but nothing that git tracks."""
    folders = [worktree.store, *(os.path.join(worktree.store, name) for name in STORE_FOLDERS)]
    if not is_tracked(worktree):
        folders.append(worktree.llmc)
    for folder in folders:
        if not os.path.islink(folder):
            sweep_temporaries(folder, LITTER_SECONDS)


NOTE_BYTES = 1024
"""Of a progress note: longer than any phase, and one write of one block."""


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
    if check_folder(worktree.store, STORE):
        _remove_odd_entries(worktree)
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


_OUR_FILES = ("facts.", "lexical.", "runner.", "python", "version", "log", "event.sh")
"""Beginnings of names that no folder of ours has."""


def _remove_odd_entries(worktree: Worktree) -> None:
    """Remove what is no folder where we have one, and no file where we have one."""
    folders = (*STORE_FOLDERS, os.path.basename(worktree.lexical))
    with os.scandir(worktree.store) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name.startswith(_OUR_FILES):
                    _remove_any(entry.path)
                elif entry.name in folders:  # they hold files alone
                    _keep_files(entry.path)
            elif entry.name in folders or not entry.is_file(follow_symlinks=False):
                os.unlink(entry.path)


def _keep_files(folder: str) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_file(follow_symlinks=False):
                _remove_any(entry.path)


def _remove_any(path: str) -> None:
    """Remove a file, or a folder with all that is in it; links are not followed."""
    try:
        os.unlink(path)
    except IsADirectoryError:
        import shutil  # lazily: archive formats come with it

        shutil.rmtree(path, ignore_errors=True)


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
        _put(worktree, fresh, fresh._replace(index_state=IndexState.STALE), make)


def _put(worktree: Worktree, status: StatusRecord, stale: StatusRecord, make: bool) -> None:
    """Write a status, then the one that ends it.

    In this order, and with the spool checked last: a hook appends its event before it writes,
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
    refuse_tracked(worktree)
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
