"""Run a refresh now and wait for it: the one loop around the runner's lock, with the one time-out."""

from __future__ import annotations

import os
import time

from gitindex.base.errors import GitIndexError
from gitindex.base.ownership import check_owner
from gitindex.base.runner_lock import RunnerLock, is_held
from gitindex.base.vocabulary import IndexState
from gitindex.base.worktree import Worktree
from gitindex.freshness.observation import observe, read_progress
from gitindex.freshness.verdict import Verdict, judge
from gitindex.refresh import public_files
from gitindex.refresh.reader_help import start_helper
from gitindex.refresh.runner import RefreshRequest, Runner
from gitindex.refresh.start import start_runner
from gitindex.refresh.worktree_writer import Report
from gitindex.store.rot import is_left

LOCK_WAIT_SECONDS = 600.0
POLL_SECONDS = 0.03
LOOK_SECONDS = 1.0


def take_lock(worktree: Worktree, report: Report, seconds: float = LOCK_WAIT_SECONDS) -> RunnerLock:
    """The runner's lock, as soon as no other runner holds it."""
    lock = RunnerLock(worktree.lock)
    deadline = time.monotonic() + seconds
    while not lock.acquire():
        if time.monotonic() > deadline:
            raise GitIndexError("another runner holds the store", "see `gitindex jobs`")
        report("waiting for another runner", None)
        time.sleep(POLL_SECONDS)
    return lock


def refresh_now(
    request: RefreshRequest, report: Report | None = None, lock: RunnerLock | None = None
) -> None:
    """Opt in if need be, and refresh as soon as no other runner holds the store."""
    deadline = time.monotonic() + LOCK_WAIT_SECONDS
    while not _try_refresh(request, report, lock):
        if time.monotonic() > deadline:
            raise GitIndexError("another runner holds the store", "see `gitindex jobs`")
        if report is not None:
            report("waiting for another runner", None)
        time.sleep(POLL_SECONDS)
    if is_left(request.worktree.store):
        start_runner(request.worktree)  # helps readers, too
    else:
        start_helper(request.worktree)


def wait_until_fresh(worktree: Worktree, timeout: float, report: Report) -> Verdict | None:
    """Wait for HEAD's tree to be published, by our own work if no runner lives. None: it is."""
    deadline = time.monotonic() + timeout
    while True:
        seen = observe(worktree)
        verdict = judge(seen)
        if verdict.state is IndexState.FRESH:
            return None
        if time.monotonic() > deadline:
            return verdict
        if not is_held(worktree.lock):
            _try_refresh(RefreshRequest(worktree, "wait"), report)
        _watch(worktree, report, min(deadline, time.monotonic() + LOOK_SECONDS))


def _try_refresh(
    request: RefreshRequest, report: Report | None, lock: RunnerLock | None = None
) -> bool:
    """Refresh, unless another runner holds the store: then False."""
    check_owner(request.worktree)
    mask = os.umask(0o077)
    try:
        public_files.create_store(request.worktree)
        return Runner(request.worktree, report=report, lock=lock).serve(request)
    finally:
        os.umask(mask)


def _watch(worktree: Worktree, report: Report, until: float) -> None:
    """Wait for a running job by its progress note, which is cheaper to read than the work tree."""
    while True:
        time.sleep(POLL_SECONDS)
        told = read_progress(worktree) if is_held(worktree.lock) else None
        if told is None or time.monotonic() > until:
            return
        report(told.phase or "", told.progress_pct)
