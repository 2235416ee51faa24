"""Whoever waits for another process does so by cheap calls, and takes over from one in the background."""

from __future__ import annotations

import os

import pytest

from gitindex.base.runner_lock import RunnerLock
from gitindex.base.worktree import Worktree
from gitindex.freshness.observation import Observation, observe
from gitindex.refresh import run
from gitindex.refresh.run import wait_until_fresh
from tests.support import Repo

STALE = {"GITINDEX": "0"}


@pytest.fixture
def behind(quiet: Repo) -> Repo:
    """An index whose HEAD has moved on, unnoticed."""
    quiet.write("more.py", "more = 1\n")
    quiet.git("add", "-A")
    quiet.git("commit", "-qm", "more", env=STALE)
    return quiet


@pytest.mark.parametrize("changes", [False, True])
def test_the_work_tree_is_observed_only_when_something_changed(
    behind: Repo, monkeypatch: pytest.MonkeyPatch, changes: bool
) -> None:
    """Another process of our own priority holds the store all the time."""
    observed = []

    def count(worktree: Worktree) -> Observation:
        observed.append(1)
        return observe(worktree)

    def touch(seconds: float) -> None:
        sleeps.append(seconds)
        if changes and len(sleeps) == 3:
            os.utime(behind.worktree.stamp)

    sleeps: list[float] = []
    monkeypatch.setattr(run, "observe", count)
    monkeypatch.setattr("gitindex.base.runner_lock.time.sleep", touch)
    lock = RunnerLock(behind.worktree.lock)
    assert lock.acquire()
    try:
        verdict = wait_until_fresh(behind.worktree, 0.3, lambda *_: None)
    finally:
        lock.release()
    assert verdict is not None
    assert len(sleeps) > 3
    assert len(observed) == 1 + changes


def test_a_store_that_is_given_up_is_refreshed(behind: Repo) -> None:
    assert wait_until_fresh(behind.worktree, 60, lambda *_: None) is None
    assert behind.state() == "fresh"
