"""Git's last answer about a work tree, kept by a server: git runs again only after a change.

The folders that `git status` depends on are watched (`status_cache.py`). While no event comes, and HEAD
and git's own files are as they were before git last ran, git would give the same answer; for RECENT at
most, because a write through a memory mapping, or by another name of the same file, raises no event.
"""

from __future__ import annotations

import contextlib
import errno
import os
import struct
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Iterable
from typing import NamedTuple

from gitindex.base.atomic_file import read_small
from gitindex.base.errors import GitIndexError
from gitindex.base.system import watches_allowed
from gitindex.base.vocabulary import EditScope
from gitindex.base.worktree import Worktree
from gitindex.git.command import check_result, clean_env, git_program, try_git
from gitindex.git.index_file import Unreadable, paths_of
from gitindex.git.shadow_index import MAPPED, MAX_BYTES, index_of, is_trusted
from gitindex.git.worktree_probe import HeadState, WorktreeProbe

RULES = frozenset({b".gitignore", b".gitattributes"})
"""Files that decide which folders git lists."""
_DOT_GIT = b".git"
_EVENT = struct.Struct("iIII")  # watch, mask, cookie, bytes of the name
_LOST = 0x2000 | 0x4000
"""Unmounted, overflow: nobody knows what happened. A folder that is gone is its parent's event."""
_FOLDER, _CAME = 0x40000000, 0x100 | 0x80  # created or moved here
_AT_ONCE = 1 << 18  # bytes of events in one read: thousands
SHARE = 4
"""At most one in four of the watches that the user may have: other programs need them, too."""

_WATCHED = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800 | 0x1000000 | 0x2000000
"""Modified, attributes, written, moved from and to, created, deleted, itself deleted or moved; folders
only, links not followed."""


class FolderWatch:
    """The events of folders below a root. OSError if the system does not allow it."""

    def __init__(self, root: str) -> None:
        import ctypes  # lazily: once for a server, a microsecond for each folder

        self._root = os.fsencode(root)
        self._library = ctypes.CDLL(None, use_errno=True)
        self._errno = ctypes.get_errno
        self._folders: dict[int, bytes] = {}
        self._most = watches_allowed() // SHARE
        try:
            self._queue: int = self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        except AttributeError as error:
            raise OSError(errno.ENOSYS, "inotify_init1") from error  # not Linux
        if self._queue < 0:
            raise OSError(self._errno(), "inotify_init1")
        weakref.finalize(self, os.close, self._queue)
        self._lock = threading.Lock()
        self._count = 0
        self._came: list[bytes] = []
        self.is_whole = True
        """False: events were lost, or folders that were ignored may count now."""

    def add(self, folder: bytes) -> None:
        """Watch a folder; one that is gone is left out: its parent is watched."""
        watch = self._library.inotify_add_watch(
            self._queue, os.path.join(self._root, folder), _WATCHED
        )
        if watch >= 0:
            self._folders[watch] = folder
            if len(self._folders) > self._most:
                raise OSError(errno.ENOSPC, "too many folders")
        elif self._errno() not in (errno.ENOENT, errno.ENOTDIR):
            raise OSError(self._errno(), "inotify_add_watch")

    def count(self) -> int:
        """Return a number that changes with every event."""
        with self._lock:
            while events := _events_of(self._queue):
                self._count += 1
                for watch, mask, name in events:
                    self._note(watch, mask, name)
            return self._count

    def _note(self, watch: int, mask: int, name: bytes) -> None:
        is_new = mask & _FOLDER and mask & _CAME
        if mask & _LOST or name in RULES or (is_new and name == _DOT_GIT):
            self.is_whole = False
        elif is_new:
            above = self._folders.get(watch, b".")
            self._came.append(name if above == b"." else above + b"/" + name)

    def take_new(self) -> list[bytes]:
        """Return folders that came since the last time: nobody watches them yet."""
        with self._lock:
            came, self._came = self._came, []
            return came


def _events_of(queue: int) -> list[tuple[int, int, bytes]]:
    """Return the events that wait: whose, what happened, and the name in its folder."""
    data, at = b"", 0
    events: list[tuple[int, int, bytes]] = []
    with contextlib.suppress(BlockingIOError):
        data = os.read(queue, _AT_ONCE)
    while at < len(data):
        watch, mask, _, length = _EVENT.unpack_from(data, at)
        at += _EVENT.size + length
        events.append((watch, mask, data[at - length : at].rstrip(b"\0")))
    return events


MAX_NEW_FOLDERS = 20_000
"""Beyond it, folders without tracked files are not worth a list."""
NAMES_AT_ONCE = 60_000
"""Maximum number of bytes of names in one pipe."""
FINE, COARSE = 100_000_000, 2_100_000_000
"""Nanoseconds in which a file may change again and keep its times: they tick every 10 ms at most, or
every second or two on old file systems, whose times are whole seconds."""
ATTEMPTS = 5
"""How often folders that came meanwhile are watched, too, before the tree is listed anew."""


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


MAX_WORKTREES = 8
"""Each has a watch on every folder: radar looks at as many at once."""
PATIENCE = 20
"""Questions after which a worktree that could not be watched is tried again."""
RECENT = 2.0
"""Seconds after which git runs again, although no event came."""
FILE_SYSTEMS = MAPPED
_REF = b"ref: refs/heads/"


class StatusCache:
    """Keeps the last answer about each of a few worktrees. Several threads may ask."""

    def __init__(self) -> None:
        self._statuses: OrderedDict[Worktree, _CachedStatus] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, worktree: Worktree) -> WorktreeProbe | CachedProbe:
        """Start a probe of all edits. The first one of a worktree is git's own."""
        with self._lock:
            status = self._statuses.setdefault(worktree, _CachedStatus())
            self._statuses.move_to_end(worktree)
            if len(self._statuses) > MAX_WORKTREES:
                self._statuses.popitem(last=False)
            status.questions += 1
        if status.questions < status.patience:
            return WorktreeProbe.start(worktree, EditScope.ALL)
        return CachedProbe(worktree, status)

    def forget(self) -> None:
        """Forget everything: the next probe of a worktree is git's own."""
        with self._lock:
            self._statuses.clear()


class _CachedStatus:
    def __init__(self) -> None:
        self.tree: WatchedTree | None = None
        self.answer: _Answer | None = None
        self.questions = 0
        self.patience = 2  # a process that asks once does not list the tree
        self.lock = threading.Lock()


class _Before(NamedTuple):
    """The tree and HEAD before git ran."""

    tree: WatchedTree
    moment: Moment
    head: tuple[object, ...] | None
    at: float


class _Answer(NamedTuple):
    """What git said, and of which moment."""

    before: _Before
    state: HeadState

    def is_recent(self) -> bool:
        """Is there no event since, and not much time?"""
        recent = time.monotonic() - self.before.at < RECENT
        return recent and self.before.tree.is_quiet(self.before.moment)


class CachedProbe:
    """Like WorktreeProbe, for all edits: git runs only if something may have changed."""

    def __init__(self, worktree: Worktree, status: _CachedStatus) -> None:
        self.worktree, self._status = worktree, status
        self._running: WorktreeProbe | None = None
        answer = status.answer
        if answer is None or not answer.is_recent():
            self._running = self._begin()

    def result(self) -> HeadState:
        """Return HEAD and the edits: git's last answer, if it is certainly still right."""
        answer = self._status.answer
        if self._running is None and answer is not None and self._is_unmoved(answer):
            age = int((time.monotonic() - answer.before.at) * 1000)
            return answer.state._replace(age_ms=max(1, age))
        running = self._running or self._begin()
        self._running, before = None, self._before  # a second result is a new probe
        state = running.result()
        if before is None:
            self._list_tree()
        elif before.head is not None and before.head == _read_head(self.worktree):
            certain = not is_young(before.moment)
            self._status.answer = _Answer(before, state) if certain else None
        return state

    def abandon(self) -> None:
        """End git: the answer is not needed any more."""
        if self._running is not None:
            self._running.abandon()
            self._running = None

    def __enter__(self) -> CachedProbe:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandon()

    def _begin(self) -> WorktreeProbe:
        """Start git, after the moment was noted of which its answer will be."""
        self._before = self._look()
        return WorktreeProbe.start(self.worktree, EditScope.ALL)

    def _look(self) -> _Before | None:
        tree = self._status.tree
        if tree is None:
            return None
        at, head = time.monotonic(), _read_head(self.worktree)
        try:
            moment = tree.moment()
        except (GitIndexError, OSError):
            moment = None
        if moment is None:
            self._status.tree = self._status.answer = None
            return None
        return _Before(tree, moment, head, at)

    def _is_unmoved(self, answer: _Answer) -> bool:
        """Are HEAD and git's own files as they were, and is there still no event?"""
        now = self._look()
        before = answer.before
        same = now is not None and (now.tree, now.moment, now.head) == before[:3]
        return same and before.head is not None and answer.is_recent()

    def _list_tree(self) -> None:
        """Watch the tree for the questions that follow."""
        status = self._status
        with status.lock:
            if status.tree is None and status.questions >= status.patience:
                try:
                    if is_trusted(self.worktree.root, FILE_SYSTEMS):
                        status.tree = WatchedTree(self.worktree)
                except (GitIndexError, OSError):
                    status.tree = None  # git reports what is wrong
                if status.tree is None:
                    status.patience = status.questions + PATIENCE


Probe = WorktreeProbe | CachedProbe


def _read_head(worktree: Worktree) -> tuple[object, ...] | None:
    """Return what HEAD's commit depends on, besides packed references; None if it is not certain."""
    head = os.path.join(worktree.git_dir, "HEAD")
    try:
        text = read_small(head)
        owner = os.stat(worktree.git_dir).st_uid
        if text is None or not text.startswith(b"ref:"):
            return (text, owner) if text else None
        name = text.removeprefix(_REF).strip()
        if not text.startswith(_REF) or name == b".invalid":  # another kind of references
            return None
        loose = os.path.join(os.fsencode(worktree.common_dir), b"refs/heads", name)
        target = read_small(os.fsdecode(loose))
    except OSError:  # a link, among others
        return None
    return None if (target or b"").startswith(b"ref:") else (text, target, owner)
