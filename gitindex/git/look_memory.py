"""What a server knows about a work tree since its last look: the look is repeated only after a change.

A probe compares the stat data of everything that `git status` depends on (`tree_files.py`) with
that taken before git last looked. Where all of it is the same, git would give the same answer.
Anything else, and every doubt, is answered by git. If the folders are watched, no event came and the
last comparison is not older than RECENT, only git's own files are compared: a change that raises no
event (through a memory mapping, or another name of the same file) is seen after that time at most.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from typing import NamedTuple

from gitindex.base.atomic_file import read_small
from gitindex.base.errors import GitIndexError
from gitindex.base.vocabulary import EditScope
from gitindex.base.worktree import Worktree
from gitindex.git.file_system import MAPPED, is_trusted
from gitindex.git.folder_watch import FolderWatch, watch_folders
from gitindex.git.path_stats import (
    RECORD,
    PendingStats,
    changed_since,
    differing,
    is_worth_while,
    read_stats,
)
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
PATIENCE = 20
"""Questions after which a worktree that could not be listed is tried again."""
RECENT = 2.0
"""Seconds after which all stat data is compared again, although no event came."""
FILE_SYSTEMS = MAPPED
_REF = b"ref: refs/heads/"


class StatLook(NamedTuple):
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

    def equals(self, other: StatLook) -> bool:
        """Is everything the same as at another look?"""
        same = self.head == other.head and self.outside == other.outside
        return self.steady and other.steady and same and self.inside == other.inside


class KnownTree(NamedTuple):
    """The paths, their stat data, and the answer that git gave after it was read."""

    files: ComparedPaths
    look: StatLook
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


class LookMemory:
    """Remembers the last look at each of a few worktrees. Several threads may ask."""

    def __init__(self) -> None:
        self._held: OrderedDict[Worktree, _Held] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, worktree: Worktree) -> WorktreeProbe | RememberedProbe:
        """Start a probe of all edits. The first one of a worktree is git's own."""
        with self._lock:
            held = self._held.setdefault(worktree, _Held())
            self._held.move_to_end(worktree)
            if len(self._held) > MAX_WORKTREES:
                self._held.popitem(last=False)
            held.questions += 1
        if held.questions < held.patience:
            return WorktreeProbe.start(worktree, EditScope.ALL)
        return RememberedProbe(worktree, held)

    def forget(self) -> None:
        """Forget everything: the next probe of a worktree is git's own."""
        with self._lock:
            self._held.clear()


class _Held:
    def __init__(self) -> None:
        self.known: KnownTree | None = None
        self.questions = 0
        self.patience = 2  # a process that asks once does not list the tree
        self.lock = threading.Lock()
        self.may_watch = True


class RememberedProbe:
    """Like WorktreeProbe, for all edits: git runs only if something may have changed."""

    def __init__(self, worktree: Worktree, held: _Held) -> None:
        self.worktree, self._held = worktree, held
        self._known = held.known
        self._pending: _PendingLook | None = None
        if self._known is not None and not self._known.is_quiet():
            self._pending = _begin(worktree, self._known)

    def result(self) -> HeadState:
        """Return HEAD and the edits: git's last answer, if it is certainly still right."""
        known, begun = self._known, self._pending
        self._known = self._pending = None  # a second result is a new look
        if known and known.state and not begun and self._is_unmoved(known):
            age = int((time.monotonic() - known.checked) * 1000)
            return known.state._replace(age_ms=max(1, age))
        begun = begun or (known and _begin(self.worktree, known))
        look = begun and _finish(begun)
        if known and known.state and begun and look and look.equals(known.look):
            self._confirm(known, begun)
            return known.state
        with self._held.lock:
            base = known and begun and look and _renewed(self.worktree, known, begun, look)
            base = base or self._listed()
            state = WorktreeProbe.start(self.worktree, EditScope.ALL).result()
            self._held.known = base and self._remembered(base, state)
            return state

    def abandon(self) -> None:
        """Forget the answer."""
        self._pending = None

    def __enter__(self) -> RememberedProbe:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandon()

    def _is_unmoved(self, known: KnownTree) -> bool:
        """Are HEAD and git's own files the same as at the last comparison, and still no event?"""
        try:
            outside = read_stats("/", known.files.outside, follow=True)
        except OSError:
            return False
        same = outside == known.look.outside and _read_head(self.worktree) == known.look.head
        return same and known.is_quiet()

    def _confirm(self, known: KnownTree, begun: _PendingLook) -> None:
        """Remember the comparison; watch the folders from now on, if they are not watched yet."""
        if begun.watch is not None:
            new = known._replace(watch=begun.watch, events=begun.events, checked=begun.at)
        else:
            watch = self._held.may_watch and _watch(self.worktree, known.files)
            self._held.may_watch = bool(watch)
            new = known._replace(watch=watch or None, checked=-RECENT)
        with self._held.lock:
            if self._held.known is known:
                self._held.known = new

    def _listed(self) -> KnownTree | None:
        """List the tree anew; None if it cannot be compared later."""
        began = time.time_ns()
        try:
            trusted = is_trusted(self.worktree.root, FILE_SYSTEMS)
            listed = list_tree(self.worktree) if trusted else None
        except (GitIndexError, OSError):
            listed = None  # the look that follows reports what is wrong
        pays = listed and is_worth_while(listed.files.inside)
        look = _read(self.worktree, listed.files) if listed and pays else None
        if not listed or not look:
            self._held.patience = self._held.questions + PATIENCE
            return None
        if not look.inside.endswith(listed.before):
            return None  # a folder changed while it was listed
        return KnownTree(listed.files, look._replace(began=began), None)

    def _remembered(self, base: KnownTree, state: HeadState) -> KnownTree | None:
        """Return git's answer with the stat data that was read before it, as far as it is certain.

        Young files may have changed since, within the same tick of the clock. If a folder, a rule or
        a setting is young, the list of paths itself is not certain.
        """
        files, look = base.files, base.look
        lists = look.inside[files.rules * RECORD.size :]
        if changed_since(lists, look.began) or changed_since(look.outside, look.began):
            return None
        is_steady = look.steady and _read_head(self.worktree) == look.head
        if not is_steady or changed_since(look.inside, look.began):
            return base
        return base._replace(state=state)


Probe = WorktreeProbe | RememberedProbe


class _PendingLook(NamedTuple):
    worktree: Worktree
    files: ComparedPaths
    began: int
    head: tuple[object, ...] | None
    inside: PendingStats
    at: float
    watch: FolderWatch | None  # if all folders were watched when it began
    events: int


def _begin(worktree: Worktree, known: KnownTree) -> _PendingLook | None:
    """Start to compare; None if the work tree is not there."""
    watch = known.watch
    events = watch.count() if watch else 0
    return _start(worktree, known.files, watch if watch and watch.is_whole else None, events)


def _start(
    worktree: Worktree, files: ComparedPaths, watch: FolderWatch | None = None, events: int = 0
) -> _PendingLook | None:
    at, began, head = time.monotonic(), time.time_ns(), _read_head(worktree)
    try:
        inside = PendingStats(worktree.root, files.inside)
    except OSError:
        return None
    return _PendingLook(worktree, files, began, head, inside, at, watch, events)


def _finish(begun: _PendingLook) -> StatLook | None:
    try:
        inside = begun.inside.result()
        outside = read_stats("/", begun.files.outside, follow=True)
    except OSError:
        return None
    return StatLook(begun.began, begun.head, inside, outside, _read_head(begun.worktree))


def _read(worktree: Worktree, files: ComparedPaths) -> StatLook | None:
    begun = _start(worktree, files)
    return begun and _finish(begun)


def _watch(worktree: Worktree, files: ComparedPaths) -> FolderWatch | None:
    folders = files.inside.split(b"\0")[files.folders : -1]
    return watch_folders(worktree.root, joined(folders))


def _renewed(
    worktree: Worktree, known: KnownTree, begun: _PendingLook, look: StatLook
) -> KnownTree | None:
    """Return the same paths with new stat data; None if they must be listed anew."""
    files = known.files
    others = differing(known.look.outside, look.outside)
    if any(number > 1 for number in others):
        return None  # configuration or rules
    index = files.inside[: files.tracked], files.submodules
    if 0 in others and read_tracked(worktree) != index:
        return None
    changed = differing(known.look.inside, look.inside)
    if changed:
        paths = files.inside.split(b"\0")
        if any(os.path.basename(paths[number]) in RULES for number in changed):
            return None
        folders = [paths[number] for number in changed if number >= files.folders]
        if not all(has_same_folders(worktree, files, folder) for folder in folders):
            return None
    return KnownTree(files, look, None, begun.watch, begun.events, begun.at)


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
        found = read_small(os.fsdecode(loose))
    except OSError:  # a link, among others
        return None
    return None if (found or b"").startswith(b"ref:") else (text, found, owner)
