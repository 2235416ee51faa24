"""One refresh on request, in a process of its own that outlives the one that asked."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys

from gitindex.base.errors import GitIndexError
from gitindex.base.runner_lock import RunnerLock
from gitindex.base.vocabulary import BuildKind
from gitindex.base.worktree import Worktree, worktree_at
from gitindex.git.command import clean_env
from gitindex.refresh import public_files
from gitindex.refresh.log import Log
from gitindex.refresh.run import refresh_now
from gitindex.refresh.runner import RefreshRequest


def start_detached(worktree: Worktree, kind: BuildKind, reason: str) -> subprocess.Popen[bytes]:
    """Start the process. The lock is taken here and inherited, so the job is visible at every moment."""
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
        force = BuildKind(kind) is BuildKind.REINDEX
        refresh_now(RefreshRequest(worktree, reason, force), lock=lock)
    except GitIndexError as error:
        Log(worktree.store).write("detached refresh ended", error=error.message)
    except Exception as error:  # noqa: BLE001 — the door: nobody is there to see a traceback
        Log(worktree.store).write("detached refresh crashed", error=repr(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
