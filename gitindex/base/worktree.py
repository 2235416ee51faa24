"""Where things live: roots, git directories, the store's files, and whether this user may write there.

Reads the disk, never runs git.
"""

from __future__ import annotations

import os
import stat

from gitindex.base.atomic_file import read_small
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.light_types import NamedTuple

LLMC = ".llmc"
"""The public face of one worktree."""


BUILDING = "building"
"""A whole store inside the store, until it takes its place."""
READY = "ready"
"""In it, from the moment when it does."""


class Worktree(NamedTuple):
    """One checkout: its root, its own git directory, and the one it shares with its siblings."""

    root: str
    git_dir: str
    common_dir: str
    id: str  # "main", or "wt-<name git gave the linked worktree>"
    beside: bool = False  # the store that `--force` builds beside the one that is served

    @property
    def store(self) -> str:
        store = os.path.join(self.common_dir, "gitindex")
        return os.path.join(store, BUILDING) if self.beside else store

    @property
    def llmc(self) -> str:
        return os.path.join(self.store, self.id) if self.beside else os.path.join(self.root, LLMC)

    @property
    def marker(self) -> str:
        return os.path.join(self.llmc, "completion_marker.json")

    @property
    def stale_status(self) -> str:
        """Rendered in advance, so that a hook marks the status stale by one rename."""
        return os.path.join(self.llmc, "stale_status.json")

    @property
    def database(self) -> str:
        return os.path.join(self.store, "facts.db")

    @property
    def lexical(self) -> str:
        return os.path.join(self.store, "lexical")

    @property
    def lock(self) -> str:
        return os.path.join(self.store, "runner.lock")

    @property
    def spool(self) -> str:
        """Events of this worktree that no runner has taken; one appended line each."""
        return os.path.join(self.store, "spool", self.id)

    @property
    def taken(self) -> str:
        """Events that a runner took and whose refresh is not finished."""
        return os.path.join(self.store, "taken", self.id)

    @property
    def progress(self) -> str:
        """Phase and percentage of a running job; counts only while the lock is held."""
        return os.path.join(self.store, "progress", self.id)

    @property
    def failure(self) -> str:
        """Why the last attempt failed; removed by the next success."""
        return os.path.join(self.store, "failure", self.id)

    @property
    def stamp(self) -> str:
        """Run id of what the store has published: a marker without its store proves nothing."""
        return os.path.join(self.store, "published", self.id)

    @property
    def shadow(self) -> str:
        """Names the git index that the shadow index was copied from, and the copy's own file."""
        return os.path.join(self.store, "shadow", self.id)

    @property
    def edit(self) -> str:
        """What an edit of this work tree has staged, and its journal; gone when no edit is written."""
        return os.path.join(self.store, "edit", self.id)


FROM_TEMPLATE = "from-template"
"""In a store that a git template made: nobody has asked for an index in this repository itself."""

STORE_FOLDERS = ("spool", "taken", "progress", "failure", "published", "shadow")

INCOMING = "incoming"
"""Where packs are unpacked, in a folder of their own each, before they are adopted."""


def canonical_root(path: str) -> str:
    """Identity of a codebase: realpath where possible, normalised, no trailing separator."""
    return os.path.normpath(os.path.realpath(path))


MAX_PATH_BYTES = 4096
"""Linux opens no longer one."""


def normalize_rel_path(path: str) -> str:
    """A repository-relative key with forward slashes; refuses to leave the repository."""
    text = path.replace("\\", "/")
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if text.startswith("/") or (parts and parts[0][1:2] == ":" and parts[0][0].isalpha()):
        raise GitIndexError(f"not a relative path: {safe_text(path)}", code=Exit.USAGE)
    if ".." in parts:
        raise GitIndexError(f"path leaves the repository: {safe_text(path)}", code=Exit.USAGE)
    if "\0" in text:
        raise GitIndexError("path contains a NUL byte", code=Exit.USAGE)
    return "/".join(parts)


def inside_root(root: str, start: str, file: str, folder: bool = False) -> str:
    """A file's path below the root, by its words alone: links are refused later, not followed.

    `folder`: the root itself is a path, too, and is named by a dot."""
    if len(os.fsencode(file)) > MAX_PATH_BYTES:
        raise GitIndexError("the path is too long", code=Exit.USAGE)
    named = os.path.normpath(os.path.join(os.path.realpath(start), file))
    above = named
    is_root = folder and os.path.isdir(named) and os.path.realpath(named) == root
    outermost = named if is_root else ""
    while above != os.path.dirname(above):
        above = os.path.dirname(above)
        if os.path.lexists(above) and os.path.realpath(above) == root:
            outermost = above
    if not outermost:
        raise GitIndexError(f"outside the repository: {safe_text(file)}", code=Exit.USAGE)
    return os.path.relpath(named, outermost)


def find_worktree(start: str) -> Worktree:
    """The worktree that contains `start`; a nested bare repository is never discovered."""
    here = canonical_root(start)
    if not os.path.exists(here):
        raise GitIndexError(f"no such folder: {safe_text(start)}", "check the path", Exit.USAGE)
    folder = here
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            return worktree_at(folder)
        if _is_bare(folder) and os.path.basename(folder) != ".git":
            raise _no_repository(folder)  # the enclosing one is another repository
        parent = os.path.dirname(folder)
        if parent == folder:
            raise _no_repository(here)
        folder = parent


def worktree_at(root: str) -> Worktree:
    """The worktree whose root is exactly `root`."""
    dot_git = os.path.join(root, ".git")
    git_dir = dot_git if os.path.isdir(dot_git) else _linked_git_dir(root, dot_git)
    shared = _pointer(os.path.join(git_dir, "commondir"))
    common = os.path.normpath(os.path.join(git_dir, shared)) if shared else git_dir
    if not os.path.isfile(os.path.join(common, "config")):
        raise GitIndexError(
            f"not a usable git repository: {safe_text(root)}", "check it with `git fsck`"
        )
    worktree_id = f"wt-{os.path.basename(git_dir)}" if shared else "main"
    return Worktree(root, git_dir, canonical_root(common), worktree_id)


def _linked_git_dir(root: str, dot_git: str) -> str:
    text = _pointer(dot_git)
    if not text.startswith("gitdir: "):
        raise GitIndexError(
            f"unreadable .git file in {safe_text(root)}", "check it with `git fsck`"
        )
    return os.path.normpath(os.path.join(root, text.removeprefix("gitdir: ")))


def _pointer(path: str) -> str:
    try:
        data = read_small(path, 1 << 16)
    except OSError as error:
        raise GitIndexError(f"cannot read {safe_text(path)}: {error.strerror}") from error
    return os.fsdecode(data or b"").removesuffix("\n")


def _is_bare(folder: str) -> bool:
    return all(os.path.exists(os.path.join(folder, name)) for name in ("HEAD", "objects", "refs"))


def _no_repository(here: str) -> GitIndexError:
    if _is_bare(here):
        return GitIndexError(
            f"bare repository, nothing to index: {safe_text(here)}", "run it in a work tree"
        )
    return GitIndexError(
        f"not inside a git repository: {safe_text(here)}", "run it in a work tree, or `git init`"
    )


STORE = "the store .git/gitindex"


def check_owner(worktree: Worktree) -> None:
    """Refuse a repository of another user, as git does, and folders of ours that are not ours."""
    for path in (worktree.root, worktree.git_dir, worktree.common_dir):
        if os.stat(path).st_uid != os.geteuid():
            raise GitIndexError(
                "this repository belongs to another user", "run gitindex as that user"
            )
    check_folder(worktree.store, STORE)
    check_folder(worktree.llmc, LLMC)


def check_folder(path: str, name: str) -> bool:
    """Refuse anything but a real folder of this user. False if there is nothing at all."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return False
    if not stat.S_ISDIR(status.st_mode):
        raise GitIndexError(f"{name} is not a folder", "move it away: gitindex writes there")
    if status.st_uid != os.geteuid():
        raise GitIndexError(f"{name} belongs to another user", "run gitindex as that user")
    return True
