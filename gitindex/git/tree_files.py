"""Every file and folder that `git status` of a worktree depends on: what a later probe compares.

Tracked files, all folders in which git looks for new files, the files with ignore rules and
attributes, git's index, configuration. If the stat data of all of them is the same as before,
`git status` would print the same (docs/internals.md, "A probe that is not repeated").
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from gitindex.base.atomic_file import read_small
from gitindex.base.worktree import Worktree
from gitindex.git.command import check_result, clean_env, git_program, try_git
from gitindex.git.index_file import Unreadable, paths_of
from gitindex.git.path_stats import RECORD, modes, read_stats
from gitindex.git.shadow_index import MAX_BYTES, index_of

MAX_PATHS = 1_000_000
MAX_NEW_FOLDERS = 20_000
"""Beyond it, folders without tracked files are not worth a list."""
NAMES_AT_ONCE = 60_000
"""Maximum number of bytes of names in one pipe."""
RULES = frozenset({b".gitignore", b".gitattributes"})
_DOT_GIT = b".git"


class ComparedPaths(NamedTuple):
    """The paths to compare. Those of the tree are relative to its root, the others absolute.

    Every path ends with a zero byte.
    """

    inside: bytes  # tracked files, files with rules that are not tracked, folders
    tracked: int  # bytes of the tracked ones
    rules: int  # number of the first path that is not tracked
    folders: int  # number of the first folder
    submodules: frozenset[bytes]
    known: frozenset[bytes]  # folders of tracked files, and submodules
    found: dict[bytes, frozenset[bytes]]  # per folder, what is not tracked: folders and rules
    outside: bytes  # git's index first, packed references, then configuration


class ListedTree(NamedTuple):
    """The paths, and the stat data of the folders before they were listed."""

    files: ComparedPaths
    before: bytes


def list_tree(worktree: Worktree) -> ListedTree | None:
    """List the paths of a worktree; None if its index or its size does not allow it."""
    index = read_tracked(worktree)
    if index is None:
        return None
    tracked, submodules = index
    folders = _folders_of(tracked)
    walk = _FolderWalk(worktree, folders, submodules)
    if not walk.run():
        return None
    paths = frozenset(tracked.split(b"\0"))
    rules = sorted(path for path in walk.rules if path not in paths)
    inside = b"".join((tracked, joined(rules), joined(walk.before)))
    outside = joined([*_git_files(worktree), *_settings(worktree), *walk.nested])
    first = tracked.count(b"\0")
    files = ComparedPaths(
        inside,
        len(tracked),
        first,
        first + len(rules),
        submodules,
        walk.known,
        walk.found,
        outside,
    )
    return ListedTree(files, b"".join(walk.before.values()))


def read_tracked(worktree: Worktree) -> tuple[bytes, frozenset[bytes]] | None:
    """Return the paths of git's index, and its submodules; None if it cannot be read here."""
    try:
        with open(index_of(worktree), "rb") as file:
            data = file.read(MAX_BYTES)
    except OSError:
        return None
    for id_bytes in (20, 32):
        with suppress(Unreadable):
            paths = paths_of(data, id_bytes)
            if len(paths.files) <= MAX_PATHS:
                return joined(dict.fromkeys(paths.files)), paths.submodules
    return None


def has_same_folders(worktree: Worktree, files: ComparedPaths, folder: bytes) -> bool:
    """Does a folder hold nothing new that git would list, and no new rules?"""
    listed = _list_folder(os.fsencode(worktree.root), folder)
    new = {path for path in listed.folders if path not in files.known}.union(listed.rules)
    is_repository = listed.nested and folder not in files.known
    return not is_repository and new <= files.found.get(folder, frozenset())


class _ListedFolder(NamedTuple):
    """The folders and the rules in a folder, and whether it is a repository of its own."""

    folders: list[bytes]
    rules: list[bytes]
    nested: bool


def _list_folder(root: bytes, folder: bytes) -> _ListedFolder:
    folders: list[bytes] = []
    rules: list[bytes] = []
    nested = False
    above = b"" if folder == b"." else folder + b"/"
    try:
        with os.scandir(os.path.join(root, folder)) as entries:
            for entry in entries:
                if entry.name == _DOT_GIT:
                    nested = bool(above)
                elif entry.is_dir(follow_symlinks=False):  # also one called `.gitignore`
                    folders.append(above + entry.name)
                elif entry.name in RULES:
                    rules.append(above + entry.name)
    except OSError:
        pass  # its stat data is compared: git reads it if that changes
    return _ListedFolder(folders, rules, nested)


def joined(paths: Iterable[bytes]) -> bytes:
    """Return paths as one string: each ends with a zero byte."""
    return b"".join(b"%s\0" % path for path in paths)


class _FolderWalk:
    """Lists all folders that git lists; each has its stat data taken before it is listed."""

    def __init__(
        self, worktree: Worktree, tracked: frozenset[bytes], submodules: frozenset[bytes]
    ) -> None:
        self.worktree, self.tracked, self.known = worktree, tracked, tracked | submodules
        self.root = os.fsencode(worktree.root)
        self.before: dict[bytes, bytes] = {}
        self.found: dict[bytes, frozenset[bytes]] = {}
        self.rules: list[bytes] = []
        self.nested: list[bytes] = []

    def run(self) -> bool:
        """Walk; False if there are too many folders or git cannot say what it ignores."""
        pending = sorted(self.tracked)
        while pending:
            if len(self.before) + len(pending) > len(self.tracked) + MAX_NEW_FOLDERS:
                return False
            new = self._visit(pending)
            ignored = _ignored(self.worktree, new)
            if ignored is None:
                return False
            pending = [folder for folder in new if folder not in ignored]
        return True

    def _visit(self, folders: list[bytes]) -> list[bytes]:
        """List some folders; return those in them that hold no tracked file."""
        stats = read_stats(self.worktree.root, joined(folders))
        new: list[bytes] = []
        for number, (folder, mode) in enumerate(zip(folders, modes(stats), strict=True)):
            is_folder = mode > 0 and stat.S_ISDIR(mode)
            listed = _list_folder(self.root, folder) if is_folder else _ListedFolder([], [], False)
            if listed.nested and folder not in self.tracked:
                self.nested += _nested_files(os.path.join(self.root, folder, _DOT_GIT))
                continue  # git lists it as one entry
            self.before[folder] = stats[number * RECORD.size : (number + 1) * RECORD.size]
            inner = [path for path in listed.folders if path not in self.known]
            if inner or listed.rules:
                self.found[folder] = frozenset((*inner, *listed.rules))
            self.rules += listed.rules
            new += inner
        return new


def _folders_of(tracked: bytes) -> frozenset[bytes]:
    """Return the folders of all tracked files, the root among them."""
    folders = {b"."}
    for path in tracked.split(b"\0"):
        folder = path.rpartition(b"/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition(b"/")[0]
    return frozenset(folders)


def _ignored(worktree: Worktree, folders: list[bytes]) -> frozenset[bytes] | None:
    """Return those of some folders that git ignores; None if git cannot say."""
    paths: list[bytes] = []
    env = clean_env(worktree.root)
    for part in _parts(folders):
        result = try_git(
            worktree.root, "check-ignore", "-z", "--stdin", stdin=joined(part), env=env
        )
        if result.returncode not in (0, 1):
            return None
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
