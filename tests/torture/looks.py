"""Remembered looks at a work tree that changes all the time: each is compared with git's own."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

from gitindex.base.vocabulary import EditScope
from gitindex.git import status_cache
from gitindex.git.shadow_index import TRUSTED
from gitindex.git.status_cache import StatusCache
from gitindex.git.worktree_probe import HeadState, WorktreeProbe
from tests import tree_changes
from tests.support import Repo
from tests.torture import Clock

CHANGES_OF_ONE = 150


def looks(clock: Clock, rng: random.Random, folder: Path) -> None:
    """Trees in turn, each changed 150 times; questions after every change."""
    home, kinds = os.environ["HOME"], status_cache.FILE_SYSTEMS
    status_cache.FILE_SYSTEMS = TRUSTED  # the suite may run in memory
    number = 0
    try:
        while clock.goes_on():
            number += 1
            place = folder / str(number)
            os.environ["HOME"] = str(place / "home")
            (place / "home").mkdir(parents=True)
            settings = Path(home, ".gitconfig")
            (place / "home/.gitconfig").write_text(
                settings.read_text() if settings.exists() else ""
            )
            _one_tree(clock, rng, Repo(place / "repo"))
    finally:
        os.environ["HOME"], status_cache.FILE_SYSTEMS = home, kinds


def _one_tree(clock: Clock, rng: random.Random, repo: Repo) -> None:
    repo.init()
    tree_changes.fill(repo)
    memory, done = StatusCache(), list[str]()
    for _ in range(CHANGES_OF_ONE):
        for change in rng.choices(tree_changes.CHANGES, k=rng.choice((0, 1, 1, 1, 2))):
            change(repo, rng)
            done.append(change.__name__)
        if rng.random() < 0.5:
            time.sleep(rng.choice((0.02, 0.12)))  # files grow old enough to be remembered
        for _ in range(rng.choice((1, 2, 6))):  # after a few, only events are asked for
            with memory.start(repo.worktree) as probe:
                found = _compared(probe.result())
            real = _compared(WorktreeProbe(repo.worktree, EditScope.ALL).result())
            assert found == real, (repo.path, done[-6:], found, real)
            clock.count("looks")
        clock.count()
        if not clock.goes_on():
            return


def _compared(state: HeadState) -> tuple[object, ...]:
    steady = state._replace(dirty=(), untracked=(), age_ms=0)  # a remembered look says its age
    return steady, {*state.dirty}, {*state.untracked}
