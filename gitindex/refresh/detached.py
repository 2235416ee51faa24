"""One refresh that somebody asked for, in a process of its own that outlives who asked."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time

from gitindex.base.errors import GitIndexError
from gitindex.base.runner_lock import RunnerLock
from gitindex.base.vocabulary import BuildKind
from gitindex.base.worktree import Worktree, worktree_at
from gitindex.git.command import clean_env
from gitindex.refresh import public_files
from gitindex.refresh.log import Log
from gitindex.refresh.runner import RefreshRequest, Runner

LOCK_WAIT_SECONDS = 600.0
POLL_SECONDS = 0.05


def start_errand(worktree: Worktree, kind: BuildKind, reason: str) -> subprocess.Popen[bytes]:
    """Start it. The lock is taken here and inherited: there is no moment without a visible job."""
    command = [sys.executable, "-I", "-m", "gitindex.refresh.detached", worktree.root, kind, reason]
    lock = RunnerLock(worktree.lock)
    try:
        if lock.acquire():
            public_files.note_progress(worktree, kind, "starting", None)
        held = () if lock.descriptor is None else (lock.descriptor,)
        return subprocess.Popen(
            [*command, *map(str, held)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=clean_env(),
            cwd="/",
            start_new_session=True,
            close_fds=True,
            pass_fds=held,
        )
    finally:
        lock.release()


def run_errand(worktree: Worktree, kind: BuildKind, reason: str, lock: RunnerLock) -> bool:
    """Do it, as soon as no other runner is at work. False: one was, all the time."""
    request = RefreshRequest(worktree, reason, force=kind is BuildKind.REINDEX)
    deadline = time.monotonic() + LOCK_WAIT_SECONDS
    while not Runner(worktree, lock=lock).serve(request):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def main() -> int:
    """`python -I -m gitindex.refresh.detached <root> <kind> <reason> [<descriptor of the held lock>]`."""
    root, kind, reason, *held = sys.argv[1:]
    os.umask(0o077)
    with contextlib.suppress(OSError):
        os.nice(10)
    worktree = worktree_at(root)
    lock = RunnerLock(worktree.lock, int(held[0]) if held else None)
    if lock.descriptor is not None:
        os.set_inheritable(lock.descriptor, False)  # our own children must not keep it
    try:
        run_errand(worktree, BuildKind(kind), reason, lock)
    except GitIndexError as error:
        Log(worktree.store).write("errand ended", error=error.message)
    except Exception as error:  # noqa: BLE001 — the door: nobody is there to see a traceback
        Log(worktree.store).write("errand crashed", error=repr(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
