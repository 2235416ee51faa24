"""Git's last answer about a work tree, kept by a server: git runs again only after a change.

The folders that `git status` depends on are watched (`tree_files.py`). While no event comes, and HEAD
and git's own files are as they were before git last ran, git would give the same answer; for RECENT at
most, because a write through a memory mapping, or by another name of the same file, raises no event.
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
from gitindex.git.shadow_index import MAPPED, is_trusted
from gitindex.git.tree_files import Moment, WatchedTree, is_young
from gitindex.git.worktree_probe import HeadState, WorktreeProbe

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
