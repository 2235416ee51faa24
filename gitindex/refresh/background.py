"""What a hook starts: a process that git and the terminal can forget, and that becomes the runner."""

from __future__ import annotations

import contextlib
import os
import resource
import sys

from gitindex.base.runner_lock import RunnerLock, advertise
from gitindex.base.worktree import Worktree, canonical_root

MEMORY_BYTES = 8 << 30


def become_background() -> None:
    """Own session, no inherited descriptor, no git environment, cwd `/`, low priority, private files."""
    with contextlib.suppress(OSError):
        os.setsid()
    os.closerange(3, 4096)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    if null > 2:
        os.close(null)
    os.chdir("/")
    os.umask(0o077)
    for name in [n for n in os.environ if n.startswith(("GIT_", "PYTHON"))]:
        del os.environ[name]
    with contextlib.suppress(OSError):
        os.nice(10)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def main() -> int:
    """`python -I -m gitindex.refresh.background <git common dir> [<root>]`.

    Lock and advertise first, import after: in a rebase a hook fires every few milliseconds, and
    each starts a process of its own until it sees one alive.
    """
    common = canonical_root(sys.argv[1])
    root = canonical_root(sys.argv[2]) if sys.argv[2:] else ""
    become_background()
    anchor = Worktree(root, common, common, "main")
    lock = RunnerLock(anchor.lock)
    if os.path.isdir(anchor.store) and lock.acquire():
        advertise(anchor)
        _run(anchor, lock)
    return 0


def _run(anchor: Worktree, lock: RunnerLock) -> None:
    from gitindex.base.errors import GitIndexError
    from gitindex.refresh.log import Log
    from gitindex.refresh.runner import Runner
    from gitindex.refresh.spool import Pace

    try:
        Runner(anchor, Pace(), lock=lock).serve()
    except GitIndexError as error:
        Log(anchor.store).write("runner ended", error=error.message)
    except Exception as error:  # noqa: BLE001 — the door: nobody is there to see a traceback
        Log(anchor.store).write("runner crashed", error=repr(error))


if __name__ == "__main__":
    sys.exit(main())
