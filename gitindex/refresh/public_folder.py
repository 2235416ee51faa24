"""The folder `.llmc/` of a worktree: who may write into it, and that what git tracks is left alone."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from errno import ENOENT
from io import FileIO

from gitindex.base.atomic_file import sweep_temporaries, write_atomic
from gitindex.base.errors import GitIndexError
from gitindex.base.ownership import check_folder
from gitindex.base.system import is_background
from gitindex.base.worktree import FROM_TEMPLATE, LLMC, STORE_FOLDERS, Worktree
from gitindex.git.command import try_git
from gitindex.git.index_file import surely_lacks
from gitindex.git.shadow_index import identity_from, identity_of, index_of

LITTER_SECONDS = 60.0
"""Age of a temporary file whose writer surely ended."""
REMOVAL_SECONDS = 0.2
"""Longer than `rm -rf` takes from the first of our files to their folder."""
QUIET_SECONDS = 1.0
"""Nothing appeared in or left a folder of a work tree for so long: nobody is removing it."""
BUSY_SECONDS = 10.0
"""A build that writes all the time is no removal: none of an ordinary repository takes so long."""
MAX_FOLDERS = 20_000
"""Of a work tree that are looked at: a fifth of a second, once in the life of a clone."""
PIECE = 1 << 16
"""Bytes of git's index that are read at first; then as many as were read so far."""
_lacking: dict[str, tuple[int, ...]] = {}
"""Indexes of git that had nothing of `.llmc/`, as they were then."""


class TrackedFolder(GitIndexError):
    """Git tracks something in `.llmc/`: nothing there is written or removed."""

    def __init__(self) -> None:
        super().__init__(f"{LLMC} is tracked by git", f"`git rm -r --cached {LLMC}`")


def refuse_tracked(worktree: Worktree) -> None:
    """Raise unless `.llmc/` is a folder of this user, or missing, and git tracks nothing in it.

    Asked before each change there. A `git add -f` in the milliseconds after it is not noticed before the
    next change; the hook changes only bytes that we wrote.
    """
    if worktree.beside:
        return
    check_folder(worktree.llmc, LLMC)
    if is_tracked(worktree):
        raise TrackedFolder


def is_tracked(worktree: Worktree) -> bool:
    """Does git track anything in `.llmc/`? Also true where git cannot say.

    The beginning of git's index is read, whose paths are sorted; only where it has the name, or is of
    another format, git is asked. A runner asks several times for one commit: an index that lacked it is
    not read again.
    """
    index = index_of(worktree)
    now = identity_of(index)
    if now is not None and _lacking.get(index) == now:
        return False
    with contextlib.suppress(OSError), open(index, "rb", 0) as file:
        read = identity_from(os.fstat(file.fileno()))
        if _lacks_folder(file, read[-1]) and not _may_be_split(worktree):
            _lacking[index] = read
            return False
    listed = try_git(worktree.root, "ls-files", "-z", "--", LLMC)
    return listed.returncode != 0 or bool(listed.output)


def _lacks_folder(index: FileIO, size: int) -> bool:
    data, lacks = b"", None
    while lacks is None and (piece := index.read(max(PIECE, len(data)))):
        data += piece
        lacks = surely_lacks(data, LLMC.encode(), whole=len(data) >= size)
    return bool(lacks)


def _may_be_split(worktree: Worktree) -> bool:
    """Are there files that a split index has its other entries in? Git makes them before the index."""
    folders = {worktree.git_dir, worktree.common_dir}
    return any(name.startswith("sharedindex") for path in folders for name in os.listdir(path))


def is_ours(worktree: Worktree) -> bool:
    """May this user write into `.llmc/`, and is nothing in it tracked?"""
    try:
        check_folder(worktree.llmc, LLMC)
    except GitIndexError:
        return False
    return not is_tracked(worktree)


def ensure_folder(worktree: Worktree, make: bool = True) -> None:
    """Create `.llmc/`, or refuse one that we may not write. Never in a worktree that is gone.

    Without `make` it was there when the job began: where it is missing now, it is being removed.
    """
    if not check_folder(worktree.llmc, LLMC):
        if not make or _is_being_removed(worktree):
            raise GitIndexError("the worktree was removed")
        os.mkdir(worktree.llmc, 0o700)
    if stat.S_IMODE(os.stat(worktree.llmc).st_mode) != 0o700:
        os.chmod(worktree.llmc, 0o700)
    ignore = os.path.join(worktree.llmc, ".gitignore")
    if not os.path.exists(ignore):
        if not make:  # somebody removed it, alone or with the rest
            time.sleep(REMOVAL_SECONDS)
            if not os.path.isdir(worktree.llmc):
                raise GitIndexError("the worktree was removed")
        write_public(worktree, ignore, b"*\n")


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
            return False  # it went while we looked
        folders += [path for path in inside if os.path.basename(path) != ".git"]
    return True


def may_make_folder(worktree: Worktree) -> bool:
    """Whether a user asked for an index here; a git template alone is not enough."""
    return os.path.isdir(worktree.llmc) or not os.path.exists(
        os.path.join(worktree.store, FROM_TEMPLATE)
    )


def write_public(worktree: Worktree, path: str, data: bytes, make: bool = True) -> None:
    """Write into `.llmc/` by one rename; the temporary file lies in the store.

    FileNotFoundError if files of ours vanish meanwhile: then the folder is being removed. Ours has
    its `.gitignore` from the first moment. Without `make` the file was there before this run.
    """
    ignore = os.path.join(worktree.llmc, ".gitignore")

    def ready() -> None:
        if path != ignore:
            os.lstat(ignore)

    existing = os.path.lexists(path)
    if not (existing or make) and _is_being_removed(worktree):
        raise FileNotFoundError(ENOENT, "the worktree was removed", path)
    write_atomic(path, data, scratch=worktree.store, ready=ready, existing=existing)


def sweep_litter(worktree: Worktree) -> None:
    """Remove old temporary files of killed writers, but nothing that git tracks."""
    folders = [worktree.store, *(os.path.join(worktree.store, name) for name in STORE_FOLDERS)]
    if not is_tracked(worktree):
        folders.append(worktree.llmc)
    for folder in folders:
        if not os.path.islink(folder):
            sweep_temporaries(folder, LITTER_SECONDS)
