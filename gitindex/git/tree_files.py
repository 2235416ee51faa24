"""Everything that `git status` of a worktree depends on, so that its answer need not be repeated.

All folders in which git looks for tracked or new files are watched; git's index, its configuration and
its rules outside of the work tree are compared (docs/internals.md, "A probe that is not repeated").
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from typing import NamedTuple

from gitindex.base.atomic_file import read_small
from gitindex.base.errors import GitIndexError
from gitindex.base.worktree import Worktree
from gitindex.git.command import check_result, clean_env, git_program, try_git
from gitindex.git.folder_watch import FolderWatch
from gitindex.git.index_file import Unreadable, paths_of
from gitindex.git.shadow_index import MAX_BYTES, index_of

MAX_NEW_FOLDERS = 20_000
"""Beyond it, folders without tracked files are not worth a list."""
NAMES_AT_ONCE = 60_000
"""Maximum number of bytes of names in one pipe."""
FINE, COARSE = 100_000_000, 2_100_000_000
"""Nanoseconds in which a file may change again and keep its times: they tick every 10 ms at most, or
every second or two on old file systems, whose times are whole seconds."""
ATTEMPTS = 5
"""How often folders that came meanwhile are watched, too, before the tree is listed anew."""
_DOT_GIT = b".git"


class Unwatchable(GitIndexError):
    """The tree is too large, or git cannot say what it ignores."""


class Moment(NamedTuple):
    """A tree at one moment: if a later one is equal, git's answer is the same."""

    events: int
    outside: list[tuple[int, ...]]  # stat data: git's index first, packed references, configuration


class WatchedTree:
    """The watched folders of a worktree, and the files outside of it that count.

    OSError or GitIndexError if it cannot be watched.
    """

    def __init__(self, worktree: Worktree) -> None:
        self._worktree, self._root = worktree, os.fsencode(worktree.root)
        self._lock = threading.Lock()
        self._watch = FolderWatch(worktree.root)
        self._listed: set[bytes] = set()
        self._nested: list[bytes] = []
        self._tracked, self._submodules = _tracked_folders(worktree)
        self._outside = [*_git_files(worktree), *_settings(worktree)]
        self._stats = _stats_of(self._outside)
        self._walk([b"."])
        self._outside += self._nested
        self._stats += _stats_of(self._nested)

    def moment(self) -> Moment | None:
        """Return the present moment, with every folder watched; None: the tree must be listed anew."""
        with self._lock:
            for _ in range(ATTEMPTS):
                events = self._watch.count()
                new, outside = self._watch.take_new(), _stats_of(self._outside)
                nested = len(self._nested)
                if outside[0] != self._stats[0]:
                    self._tracked, self._submodules = _tracked_folders(self._worktree)
                    new += self._tracked - self._listed
                if not self._watch.is_whole or outside[2:] != self._stats[2:]:
                    return None  # rules or configuration
                self._stats = outside
                if not new:
                    return Moment(events, outside)
                self._walk(self._relevant(new))
                if len(self._nested) > nested:
                    return None
            return None

    def is_quiet(self, moment: Moment) -> bool:
        """Has no event come since then?"""
        return self._watch.count() == moment.events

    def _walk(self, folders: list[bytes]) -> None:
        """Watch folders and those in them that git lists; each before it is listed."""
        while folders:
            inner: list[bytes] = []
            for folder in folders:
                self._watch.add(folder)
                listed, is_repository = _list_folder(self._root, folder)
                if is_repository and folder not in self._tracked:
                    self._nested += _nested_files(os.path.join(self._root, folder, _DOT_GIT))
                else:  # git lists a repository as one entry
                    self._listed.add(folder)
                    inner += listed
            if len(self._listed) + len(inner) > len(self._tracked) + MAX_NEW_FOLDERS:
                raise Unwatchable("too many folders")
            folders = self._relevant(inner)

    def _relevant(self, folders: list[bytes]) -> list[bytes]:
        """Return those of some folders that hold tracked files, or may hold new ones."""
        mine = [folder for folder in folders if folder not in self._submodules]
        ignored = _ignored(self._worktree, [path for path in mine if path not in self._tracked])
        return [path for path in mine if path not in ignored]


def is_young(moment: Moment) -> bool:
    """May a file outside have changed again, unseen, since this moment?"""
    now = time.time_ns()
    return any(
        changed >= now - FINE or (changed >= now - COARSE and changed % 1_000_000_000 == 0)
        for *_, changed in moment.outside
    )


def _stats_of(paths: Iterable[bytes]) -> list[tuple[int, ...]]:
    """Return what tells whether a file changed, the time of its last change at the end."""
    found: list[tuple[int, ...]] = []
    for path in paths:
        try:
            i = os.stat(path)
            found.append((i.st_dev, i.st_ino, i.st_mode, i.st_size, i.st_mtime_ns, i.st_ctime_ns))
        except OSError as error:
            found.append((error.errno or 0, 0))
    return found


def _list_folder(root: bytes, folder: bytes) -> tuple[list[bytes], bool]:
    """Return the folders in a folder, and whether it is a repository of its own."""
    folders: list[bytes] = []
    is_repository = False
    above = b"" if folder == b"." else folder + b"/"
    try:
        with os.scandir(os.path.join(root, folder)) as entries:
            for entry in entries:
                if entry.name == _DOT_GIT:
                    is_repository = bool(above)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(above + entry.name)
    except OSError:
        pass  # it is gone, or not readable for git either: both are events
    return folders, is_repository


def _tracked_folders(worktree: Worktree) -> tuple[frozenset[bytes], frozenset[bytes]]:
    """Return the folders of all tracked files, the root among them, and the submodules."""
    try:
        with open(index_of(worktree), "rb") as file:
            data = file.read(MAX_BYTES)
    except FileNotFoundError:
        return frozenset({b"."}), frozenset()
    try:
        paths = paths_of(data, 20)
    except Unreadable:
        paths = paths_of(data, 32)
    folders = {b"."}
    for path in paths.files:
        folder = path.rpartition(b"/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition(b"/")[0]
    return frozenset(folders), paths.submodules


def _ignored(worktree: Worktree, folders: list[bytes]) -> frozenset[bytes]:
    """Return those of some folders that git ignores."""
    paths: list[bytes] = []
    env = clean_env(worktree.root) if folders else {}
    for part in _parts(folders):
        names = b"".join(b"%s\0" % path for path in part)
        result = try_git(worktree.root, "check-ignore", "-z", "--stdin", stdin=names, env=env)
        if result.returncode not in (0, 1):
            raise Unwatchable("git cannot say what it ignores")
        paths += result.output.split(b"\0")
    return frozenset(paths)


def _parts(paths: list[bytes]) -> list[list[bytes]]:
    parts: list[list[bytes]] = []
    room = 0
    for path in paths:
        if len(path) + 1 > room:
            parts.append([])
            room = NAMES_AT_ONCE
        parts[-1].append(path)
        room -= len(path) + 1
    return parts


def _nested_files(dot_git: bytes) -> list[bytes]:
    """Return the files by which git decides that a folder is a repository of its own."""
    place = dot_git
    if os.path.isfile(dot_git):
        pointer = _read(dot_git).removeprefix(b"gitdir: ").rstrip(b"\n")
        place = os.path.normpath(os.path.join(os.path.dirname(dot_git), pointer))
    shared = _read(os.path.join(place, b"commondir")).rstrip(b"\n")
    common = os.path.normpath(os.path.join(place, shared)) if shared else place
    names = (os.path.join(place, name) for name in (b"HEAD", b"commondir"))
    return [dot_git, *names, os.path.join(common, b"objects"), os.path.join(common, b"refs")]


def _read(path: bytes) -> bytes:
    try:
        return read_small(os.fsdecode(path), 1 << 16) or b""
    except OSError:
        return b""


def _git_files(worktree: Worktree) -> list[bytes]:
    own = [os.path.join(worktree.root, ".git"), os.path.join(worktree.git_dir, "config.worktree")]
    own.append(os.path.join(worktree.git_dir, "info", "sparse-checkout"))
    shared = ("config", "info/exclude", "info/attributes")
    own += [os.path.join(worktree.common_dir, name) for name in shared]
    # A folder's times change with every lock in it, so `.git` counts only where it is a file.
    first = own if os.path.isfile(own[0]) else own[1:]
    packed = os.path.join(worktree.common_dir, "packed-refs")
    return [os.fsencode(path) for path in (index_of(worktree), packed, *first)]


def _settings(worktree: Worktree) -> list[bytes]:
    """Return the files of git's configuration, those it includes, and the user's rules."""
    env = clean_env(worktree.root)
    result = try_git(
        worktree.root, "config", "--list", "--show-origin", "--includes", "-z", env=env
    )
    fields = check_result(("config",), result).split(b"\0")[:-1]
    home = os.fsencode(env.get("HOME", ""))
    folder = os.fsencode(env.get("XDG_CONFIG_HOME", "")) or os.path.join(home, b".config")
    prefix = os.path.dirname(os.path.dirname(os.fsencode(git_program(env))))
    paths = [os.path.join(home, b".gitconfig")]
    paths += [os.path.join(folder, b"git", name) for name in (b"config", b"ignore", b"attributes")]
    paths += [b"/etc/gitconfig", b"/etc/gitattributes"]
    paths += [os.path.join(prefix, b"etc", name) for name in (b"gitconfig", b"gitattributes")]
    root = os.fsencode(worktree.root)
    for origin, entry in zip(fields[::2], fields[1::2], strict=False):
        file = os.path.join(root, origin.removeprefix(b"file:"))
        if origin.startswith(b"file:"):
            paths.append(file)
        key, _, value = entry.partition(b"\n")
        if key in (b"core.excludesfile", b"core.attributesfile"):
            paths.append(os.path.join(root, os.path.expanduser(value)))
        elif key.startswith(b"include") and key.endswith(b".path"):
            paths.append(os.path.join(os.path.dirname(file), os.path.expanduser(value)))
    return list(dict.fromkeys(path for path in paths if b"\0" not in path))
