"""Runs the indexers after commits, if the user enabled it.

A runner that finds no more work starts it. Two settings must agree, both in the user's own
configuration: `gitindex.semantic` allows indexers at all, `gitindex.semantic.oncommit` lets commits
start them. It waits until HEAD stops moving, so a rebase causes one run, and indexes only contexts
that have files without current facts.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time

from gitindex.base.errors import GitIndexError
from gitindex.base.runner_lock import RunnerLock, is_held
from gitindex.base.system import become_background
from gitindex.base.worktree import Worktree, worktree_at
from gitindex.git.backend import open_repository
from gitindex.refresh.background import MEMORY_BYTES
from gitindex.refresh.log import Log
from gitindex.semantic.jobs import SemanticRequest, run, show_status
from gitindex.semantic.scip.trust import is_allowed_on_commit, read_trust
from gitindex.view.tree import open_tree

QUIET_SECONDS = 2.0


def main() -> int:
    """`python -I -m gitindex.semantic.follow_up <root>`."""
    worktree = worktree_at(sys.argv[1])
    become_background(MEMORY_BYTES)
    lock = RunnerLock(os.path.join(worktree.store, f"semantic.{worktree.id}.wait"))
    if not (read_trust(worktree).allowed and is_allowed_on_commit(worktree) and lock.acquire()):
        return 0
    try:
        _wait_for_rest(worktree)
        names = _behind(worktree)
    finally:
        lock.release()  # a commit during the run starts the next one
    if names:
        run(worktree, SemanticRequest(names), lambda _phase, _percent: None)
    return 0


def _wait_for_rest(worktree: Worktree) -> None:
    """Wait until HEAD has not moved for a while and no runner is active."""
    seen = _head(worktree)
    while True:
        time.sleep(QUIET_SECONDS)
        now = _head(worktree)
        if now == seen and not is_held(worktree.lock):
            return
        seen = now


def _head(worktree: Worktree) -> str:
    with contextlib.closing(open_repository(worktree)) as repository:
        return repository.head().tree


def _behind(worktree: Worktree) -> tuple[str, ...]:
    """Return contexts that a usable indexer covers and that have files without current facts."""
    with open_tree(worktree, worktree.root) as view:
        rows = show_status(view)["contexts"]
    return tuple(row["context"] for row in rows if row["current"] < row["files"] and row["usable"])


if __name__ == "__main__":
    try:
        main()
    except GitIndexError as error:
        Log(worktree_at(sys.argv[1]).store).write("semantic follow-up ended", error=error.message)
