"""The process that a hook starts: it detaches from git and the terminal and becomes the runner."""

from __future__ import annotations

import os
import sys
import time

from gitindex.base.runner_lock import RunnerLock, advertise, end_with_repository
from gitindex.base.system import become_background, try_lock
from gitindex.base.worktree import FROM_TEMPLATE, Worktree, canonical_root

MEMORY_BYTES = 8 << 30
"""Of address space: maps of the largest packs and stores fit, a runaway does not take the machine."""
UNDISTURBED_SECONDS = 1.0
"""Tools that clone, look and remove do so within a second."""
MAX_UNDISTURBED_SECONDS = 10.0
"""However busy the machine is: somebody may wait for the index."""


def main() -> int:
    """`python -I -m gitindex.refresh.background <git common dir> [<root>]`.

    Lock and advertise first, import after: in a rebase a hook fires every few milliseconds, and
    each starts a process of its own until it sees one alive.
    """
    common = canonical_root(sys.argv[1])
    root = canonical_root(sys.argv[2]) if sys.argv[2:] else ""
    become_background(MEMORY_BYTES)
    anchor = Worktree(root, common, common, "main")
    lock = RunnerLock(anchor.lock)
    if os.path.isdir(anchor.store) and _wait_until_quiet(anchor) and lock.acquire(make=False):
        advertise(anchor)
        _run(anchor, lock)
    return 0


def _wait_until_quiet(anchor: Worktree) -> bool:
    """Leave a new repository alone until it has been quiet for a while. False: nothing to do here.

    Until then nothing is written, not even a lock file: whoever holds the lock of the spool folder
    itself waits for all. A repository that the user opted in by a command is served at once.
    """
    if os.path.exists(anchor.database) or not os.path.exists(_from_template(anchor)):
        return True
    if _is_submodule(anchor) and not _wants_submodules(anchor):
        return False
    spool = os.path.join(anchor.store, "spool")
    try:
        fd = os.open(spool, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if not try_lock(fd):
                return False  # another one waits
            while (age := _age_of_events(spool)) < undisturbed_seconds():
                time.sleep(max(0.0, undisturbed_seconds() - age))
        finally:
            os.close(fd)
    except OSError:
        return False  # the repository is gone
    return os.path.isdir(spool)


def _age_of_events(spool: str) -> float:
    """Seconds since the last event; a time in the future counts as old."""
    newest = max(os.stat(os.path.join(spool, name)).st_mtime for name in os.listdir(spool))
    age = time.time() - newest
    return age if age >= 0 else MAX_UNDISTURBED_SECONDS


def undisturbed_seconds() -> float:
    """A second; longer where so many processes wait for a core that whoever is about to remove a
    repository that is new comes later, too."""
    waiting = os.getloadavg()[0] / (os.cpu_count() or 1)
    return min(MAX_UNDISTURBED_SECONDS, UNDISTURBED_SECONDS * max(1.0, waiting))


def _from_template(anchor: Worktree) -> str:
    return os.path.join(anchor.store, FROM_TEMPLATE)


def _is_submodule(anchor: Worktree) -> bool:
    return f"{os.sep}modules{os.sep}" in anchor.common_dir and os.path.isfile(
        os.path.join(anchor.root, ".git")
    )


def _wants_submodules(anchor: Worktree) -> bool:
    from gitindex.git.command import try_git

    answer = try_git(anchor.root, "config", "--type=bool", "--get", "gitindex.submodules")
    return answer.output.strip() == b"true"


def _seed(anchor: Worktree, lock: RunnerLock) -> None:
    """Before the first index of a new clone: the nearest pack, where the user's settings name a place.

    In a process of its own, which takes the lock itself. Whatever it does, the runner goes on.
    """
    from gitindex.git.settings import user_setting

    if not user_setting(anchor, "gitindex.pack.dest"):
        return
    import subprocess

    lock.release()
    pull = [sys.executable, "-I", "-m", "gitindex", "pack", "pull", "-C", anchor.root]
    null = subprocess.DEVNULL
    subprocess.run(pull, stdin=null, stdout=null, stderr=null, cwd=anchor.root, check=False)


def _run(anchor: Worktree, lock: RunnerLock) -> None:
    from gitindex.base.errors import GitIndexError
    from gitindex.refresh.detached import follow_up, help_readers
    from gitindex.refresh.log import Log
    from gitindex.refresh.runner import Runner
    from gitindex.refresh.spool import Pace

    end_with_repository(anchor)
    runner = Runner(anchor, Pace(undisturbed=undisturbed_seconds()), lock=lock)
    try:
        if os.path.exists(_from_template(anchor)) and not os.path.exists(anchor.database):
            _seed(anchor, lock)
        runner.serve()
        help_readers(runner.served)
        for worktree in runner.served:
            follow_up(worktree)
    except GitIndexError as error:
        Log(anchor.store).write("runner ended", error=error.message)
    except Exception as error:  # noqa: BLE001 — the door: nobody is there to see a traceback
        Log(anchor.store).write("runner crashed", error=repr(error))


if __name__ == "__main__":
    main()
    os._exit(0)  # without tidying up: what is still open belongs to a store that is gone
