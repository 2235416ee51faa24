"""Git's last answer about a work tree, kept by a server: git runs again only after a change.

A probe compares the stat data of everything that `git status` depends on (`tree_files.py`) with
that taken before git last ran. Where all of it is the same, git would give the same answer.
Anything else, and every doubt, is answered by git. If the folders are watched, no event came and the
last comparison is not older than RECENT, only git's own files are compared: a change that raises no
event (through a memory mapping, or another name of the same file) is seen after that time at most.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from gitindex.base.atomic_file import read_small
from gitindex.base.errors import GitIndexError
from gitindex.base.vocabulary import EditScope
from gitindex.base.worktree import Worktree
from gitindex.git.path_stats import (
    RECORD,
    FolderWatch,
    PendingStats,
    changed_since,
    differing,
    is_worth_while,
    read_stats,
    watch_folders,
)
from gitindex.git.shadow_index import MAPPED, is_trusted
from gitindex.git.tree_files import (
    RULES,
    ComparedPaths,
    has_same_folders,
    joined,
    list_tree,
    read_tracked,
)
from gitindex.git.worktree_probe import HeadState, WorktreeProbe

MAX_WORKTREES = 8
"""Each holds 48 bytes for every path, and watches: radar looks at as many at once."""
PATIENCE = 20
"""Questions after which a worktree that could not be listed is tried again."""
RECENT = 2.0
"""Seconds after which all stat data is compared again, although no event came."""
FILE_SYSTEMS = MAPPED
_REF = b"ref: refs/heads/"


class StatSnapshot(NamedTuple):
    """The stat data of all paths, and HEAD before and after it was read."""

    began: int  # nanoseconds
    head: tuple[object, ...] | None
    inside: bytes
    outside: bytes
    head_after: tuple[object, ...] | None

    @property
    def steady(self) -> bool:
        """Is HEAD readable, and was it the same before and after?"""
        return self.head is not None and self.head == self.head_after

    def equals(self, other: StatSnapshot) -> bool:
        """Is everything the same as in another snapshot?"""
        same = self.head == other.head and self.outside == other.outside
        return self.steady and other.steady and same and self.inside == other.inside


class KnownTree(NamedTuple):
    """The paths, their stat data, and the answer that git gave after it was read."""

    files: ComparedPaths
    snapshot: StatSnapshot
    state: HeadState | None  # None: not certain
    watch: FolderWatch | None = None
    events: int = 0  # of that watch before the last comparison
    checked: float = -RECENT  # when that was, if the folders were watched then

    def is_quiet(self) -> bool:
        """Is there nothing to compare: no event since a recent comparison?"""
        if self.state is None or self.watch is None:
            return False
        recent = time.monotonic() - self.checked < RECENT
        return recent and self.watch.count() == self.events and self.watch.is_whole


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
        self.known: KnownTree | None = None
        self.questions = 0
        self.patience = 2  # a process that asks once does not list the tree
        self.lock = threading.Lock()
        self.may_watch = True


class CachedProbe:
    """Like WorktreeProbe, for all edits: git runs only if something may have changed."""

    def __init__(self, worktree: Worktree, status: _CachedStatus) -> None:
        self.worktree, self._status = worktree, status
        self._known = status.known
        self._pending: _PendingSnapshot | None = None
        if self._known is not None and not self._known.is_quiet():
            self._pending = _begin(worktree, self._known)

    def result(self) -> HeadState:
        """Return HEAD and the edits: git's last answer, if it is certainly still right."""
        known, pending = self._known, self._pending
        self._known = self._pending = None  # a second result is a new probe
        if known is None:
            return self._ask_git(None)
        if known.state and not pending and self._is_unmoved(known):
            age = int((time.monotonic() - known.checked) * 1000)
            return known.state._replace(age_ms=max(1, age))
        pending = pending or _begin(self.worktree, known)
        snapshot = pending and _finish(pending)
        if pending is None or snapshot is None:
            return self._ask_git(None)
        if known.state and snapshot.equals(known.snapshot):
            self._confirm(known, pending)
            return known.state
        return self._ask_git(lambda: _renewed(self.worktree, known, pending, snapshot))

    def _ask_git(self, renew: Callable[[], KnownTree | None] | None) -> HeadState:
        """Run git, after the stat data was read by which later answers are compared with it."""
        with self._status.lock:
            base = (renew() if renew else None) or self._listed()
            state = WorktreeProbe.start(self.worktree, EditScope.ALL).result()
            self._status.known = base and self._remembered(base, state)
            return state

    def abandon(self) -> None:
        """Forget the answer."""
        self._pending = None

    def __enter__(self) -> CachedProbe:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandon()

    def _is_unmoved(self, known: KnownTree) -> bool:
        """Are HEAD and git's own files the same as at the last comparison, and still no event?"""
        try:
            outside = read_stats("/", known.files.outside, follow=True)
        except OSError:
            return False
        same = (
            outside == known.snapshot.outside and _read_head(self.worktree) == known.snapshot.head
        )
        return same and known.is_quiet()

    def _confirm(self, known: KnownTree, pending: _PendingSnapshot) -> None:
        """Remember the comparison; watch the folders from now on, if they are not watched yet."""
        if pending.watch is not None:
            new = known._replace(watch=pending.watch, events=pending.events, checked=pending.at)
        else:
            watch = self._status.may_watch and _watch(self.worktree, known.files)
            self._status.may_watch = bool(watch)
            new = known._replace(watch=watch or None, checked=-RECENT)
        with self._status.lock:
            if self._status.known is known:
                self._status.known = new

    def _listed(self) -> KnownTree | None:
        """List the tree anew; None if it cannot be compared later."""
        began = time.time_ns()
        try:
            trusted = is_trusted(self.worktree.root, FILE_SYSTEMS)
            listed = list_tree(self.worktree) if trusted else None
        except (GitIndexError, OSError):
            listed = None  # the probe that follows reports what is wrong
        pays = listed and is_worth_while(listed.files.inside)
        snapshot = _read(self.worktree, listed.files) if listed and pays else None
        if not listed or not snapshot:
            self._status.patience = self._status.questions + PATIENCE
            return None
        if not snapshot.inside.endswith(listed.before):
            return None  # a folder changed while it was listed
        return KnownTree(listed.files, snapshot._replace(began=began), None)

    def _remembered(self, base: KnownTree, state: HeadState) -> KnownTree | None:
        """Return git's answer with the stat data that was read before it, as far as it is certain.

        Young files may have changed since, within the same tick of the clock. If a folder, a rule or
        a setting is young, the list of paths itself is not certain.
        """
        files, snapshot = base.files, base.snapshot
        lists = snapshot.inside[files.rules * RECORD.size :]
        if changed_since(lists, snapshot.began) or changed_since(snapshot.outside, snapshot.began):
            return None
        is_steady = snapshot.steady and _read_head(self.worktree) == snapshot.head
        if not is_steady or changed_since(snapshot.inside, snapshot.began):
            return base
        return base._replace(state=state)


Probe = WorktreeProbe | CachedProbe


class _PendingSnapshot(NamedTuple):
    worktree: Worktree
    files: ComparedPaths
    began: int
    head: tuple[object, ...] | None
    inside: PendingStats
    at: float
    watch: FolderWatch | None  # if all folders were watched when it began
    events: int


def _begin(worktree: Worktree, known: KnownTree) -> _PendingSnapshot | None:
    """Start to compare; None if the work tree is not there."""
    watch = known.watch
    events = watch.count() if watch else 0
    return _start(worktree, known.files, watch if watch and watch.is_whole else None, events)


def _start(
    worktree: Worktree, files: ComparedPaths, watch: FolderWatch | None = None, events: int = 0
) -> _PendingSnapshot | None:
    at, began, head = time.monotonic(), time.time_ns(), _read_head(worktree)
    try:
        inside = PendingStats(worktree.root, files.inside)
    except OSError:
        return None
    return _PendingSnapshot(worktree, files, began, head, inside, at, watch, events)


def _finish(pending: _PendingSnapshot) -> StatSnapshot | None:
    try:
        inside = pending.inside.result()
        outside = read_stats("/", pending.files.outside, follow=True)
    except OSError:
        return None
    return StatSnapshot(pending.began, pending.head, inside, outside, _read_head(pending.worktree))


def _read(worktree: Worktree, files: ComparedPaths) -> StatSnapshot | None:
    pending = _start(worktree, files)
    return pending and _finish(pending)


def _watch(worktree: Worktree, files: ComparedPaths) -> FolderWatch | None:
    folders = files.inside.split(b"\0")[files.folders : -1]
    return watch_folders(worktree.root, joined(folders))


def _renewed(
    worktree: Worktree, known: KnownTree, pending: _PendingSnapshot, snapshot: StatSnapshot
) -> KnownTree | None:
    """Return the same paths with new stat data; None if they must be listed anew."""
    files = known.files
    others = differing(known.snapshot.outside, snapshot.outside)
    if any(number > 1 for number in others):
        return None  # configuration or rules
    index = files.inside[: files.tracked], files.submodules
    if 0 in others and read_tracked(worktree) != index:
        return None
    changed = differing(known.snapshot.inside, snapshot.inside)
    if changed:
        paths = files.inside.split(b"\0")
        if any(os.path.basename(paths[number]) in RULES for number in changed):
            return None
        folders = [paths[number] for number in changed if number >= files.folders]
        if not all(has_same_folders(worktree, files, folder) for folder in folders):
            return None
    return KnownTree(files, snapshot, None, pending.watch, pending.events, pending.at)


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
