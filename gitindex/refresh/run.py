"""A refresh on request: now, with the one loop around the runner's lock and the one time-out, or in a
process of its own that outlives the one that asked."""

from __future__ import annotations

import os
import subprocess
import sys

from gitindex.base.errors import GitIndexError
from gitindex.base.runner_lock import (
    RunnerLock,
    StoreHeld,
    Turn,
    end_with_repository,
    is_held,
)
from gitindex.base.system import lower_priority
from gitindex.base.vocabulary import BuildKind, IndexState
from gitindex.base.worktree import Worktree, check_owner, worktree_at
from gitindex.freshness.observation import observe, read_progress
from gitindex.freshness.verdict import Verdict, judge
from gitindex.git.settings import is_enabled
from gitindex.refresh import public_files
from gitindex.refresh.detached import start_detached, start_helper, start_runner
from gitindex.refresh.log import Log
from gitindex.refresh.runner import RefreshRequest, Runner
from gitindex.refresh.worktree_writer import Report
from gitindex.store.blobs import scopes_are_due
from gitindex.store.scrub import full_scrub_due


def refresh_now(
    request: RefreshRequest, report: Report | None = None, lock: RunnerLock | None = None
) -> None:
    """Opt in if need be, and refresh as soon as no other runner holds the store."""
    turn = Turn(request.worktree)
    while not _try_refresh(request, report, lock):
        if report is not None:
            report("waiting for another runner", None)
        if not turn.pause():
            raise StoreHeld
    if turn.took_over or full_scrub_due(request.worktree.store):
        start_runner(request.worktree)  # helps readers, too
    else:
        start_helper(request.worktree)
        _leave_scopes(request.worktree)


def wait_until_fresh(worktree: Worktree, timeout: float, report: Report) -> Verdict | None:
    """Wait for HEAD's tree to be published, by our own work if nobody of our priority is at it; then None."""
    turn = Turn(worktree, timeout)
    try:
        while True:
            verdict = judge(observe(worktree))
            if verdict.state is IndexState.FRESH:
                _leave_scopes(worktree)
                return None
            if not is_held(worktree.lock):
                _try_refresh(RefreshRequest(worktree, "wait"), report)
            if not _watch(worktree, report, turn):
                return verdict
    finally:
        if turn.took_over:
            start_runner(worktree)  # for what else the one that was ended had to do


def _leave_scopes(worktree: Worktree) -> None:
    """Let a runner derive the scopes that are due; where the hooks are off, a later one does."""
    due = not is_held(worktree.lock) and scopes_are_due(worktree.database)
    if due and is_enabled(worktree):
        start_runner(worktree)


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


def _watch(worktree: Worktree, report: Report, turn: Turn) -> bool:
    """Wait until the runner publishes something or ends; False if the time is up.

    By a few cheap calls: to observe the index takes git, 2 % of a core once a second.
    """
    before = _traces(worktree)
    while turn.pause():
        if not is_held(worktree.lock) or _traces(worktree) != before:
            return True
        if progress := read_progress(worktree):
            report(progress.phase or "", progress.progress_pct)
    return False


def _traces(worktree: Worktree) -> list[tuple[int, int] | None]:
    """What changes when a runner publishes, fails or takes events, and when HEAD moves."""
    head = os.path.join(worktree.git_dir, "HEAD")
    paths = (worktree.stamp, worktree.marker, worktree.failure, worktree.spool, worktree.taken)
    return [_trace(path) for path in (*paths, head)]


def _trace(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def start_refresh(worktree: Worktree, kind: BuildKind, reason: str) -> subprocess.Popen[bytes]:
    """Start the process. The lock is taken here and inherited, so the job is visible at every moment."""
    lock = RunnerLock(worktree.lock)
    try:
        if lock.acquire():
            public_files.note_progress(worktree, kind, "starting", None)
        descriptors = () if lock.descriptor is None else (lock.descriptor,)
        arguments = worktree.root, kind, reason, *map(str, descriptors)
        return start_detached("gitindex.refresh.run", *arguments, pass_fds=descriptors)
    finally:
        lock.release()


def main() -> int:
    """`python -I -m gitindex.refresh.run <root> <kind> <reason> [<descriptor of the held lock>]`."""
    root, kind, reason, *descriptors = sys.argv[1:]
    os.umask(0o077)
    lower_priority()
    worktree = worktree_at(root)
    end_with_repository(worktree)
    lock = RunnerLock(worktree.lock, int(descriptors[0]) if descriptors else None)
    if lock.descriptor is not None:
        os.set_inheritable(lock.descriptor, False)  # our own children must not keep it
    try:
        force = BuildKind(kind) is BuildKind.REINDEX
        refresh_now(RefreshRequest(worktree, reason, force), lock=lock)
    except GitIndexError as error:
        Log(worktree.store).write("detached refresh ended", error=error.message)
    except Exception as error:  # noqa: BLE001 — the door: nobody is there to see a traceback
        Log(worktree.store).write("detached refresh crashed", error=repr(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
