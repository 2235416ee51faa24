"""kill -9, or a failing system call, at a random point of a refresh: old or new generation, whole.

The refresh runs in a fork of this process, which strace attaches to before it begins: a Python that
starts and imports under strace costs more than all the rest.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from gitindex.__main__ import main
from gitindex.coordinator import IndexCoordinator
from gitindex.refresh.spool import append_event
from tests.e2e.refresh.test_faults import MUTATING, STRACE, Subject
from tests.support import TIMEOUT, Repo
from tests.torture import Clock

FAULTS = ("signal=KILL",) * 6 + ("error=ENOSPC", "error=EIO", "error=EACCES", "error=EDQUOT")


class ForkedSubject(Subject):
    """Traces a fork of this process instead of a new one."""

    def _trace(self, calls: str, *options: str) -> str:
        trace = self._path.parent / "trace"
        trace.unlink(missing_ok=True)
        child = self._stopped_child()
        assert STRACE is not None
        wanted = ("-e", f"trace={calls}", *options, "-p", str(child))
        tracer = subprocess.Popen(
            [STRACE, "-f", "-qq", "-o", str(trace), *wanted], stderr=subprocess.DEVNULL
        )
        status = Path(f"/proc/{child}/status")
        deadline = time.monotonic() + TIMEOUT
        while "TracerPid:\t0\n" in status.read_text():
            assert time.monotonic() < deadline, "strace did not attach"
            time.sleep(0.002)
        os.kill(child, signal.SIGCONT)
        os.waitpid(child, 0)
        tracer.wait(TIMEOUT)
        return trace.read_text(errors="replace")

    def _stopped_child(self) -> int:
        """A fork that goes on with a refresh when it is told to."""
        child = os.fork()
        if child == 0:
            code = 1
            try:
                nothing = os.open(os.devnull, os.O_RDWR)
                for fd in range(3):
                    os.dup2(nothing, fd)
                os.chdir(self._path)
                os.kill(os.getpid(), signal.SIGSTOP)
                sys.argv[1:] = self.command
                code = main()
            finally:
                os._exit(code)
        os.waitpid(child, os.WUNTRACED)
        return child


def prepare(path: Path) -> Path:
    """A repository with an index of its first commit, and a second commit on branch `next`."""
    repo = Repo(path)
    repo.init()
    repo.write("app.py", "import lib.util\n\n\ndef main():\n    return lib.util.helper()\n")
    repo.write("lib/util.py", "def helper():\n    return 42\n")
    repo.write("README.md", "# Title\n\nSome words.\n")
    repo.commit("first")
    IndexCoordinator(str(path)).reindex_incremental()
    repo.git("switch", "-q", "-c", "next")
    repo.write("lib/util.py", "def helper():\n    return 43\n\n\ndef other():\n    pass\n")
    repo.write("lib/new.py", "class New:\n    pass\n")
    (path / "README.md").unlink()
    repo.commit("second")
    repo.git("switch", "-q", "main")
    template = path.with_name("template")
    path.rename(template)
    return template


def _change(repo: Repo, rng: random.Random) -> None:
    """One more commit, that no runner has seen yet."""
    repo.write("lib/util.py", f"def helper():\n    return {rng.random()}\n")
    repo.write(f"lib/new{rng.randrange(3)}.py", f"class New{rng.randrange(10**6)}:\n    pass\n")
    (repo.path / f"lib/new{rng.randrange(3)}.py").unlink(missing_ok=True)
    repo.commit("more")
    append_event(repo.worktree, "post-commit")


def kill_points(clock: Clock, rng: random.Random, folder: Path) -> None:
    """One fault at one random call of a refresh; then a check, and a rerun that must mend it."""
    path = folder / "repo"
    subject = ForkedSubject(prepare(path), path)
    subject.reset()
    total = subject.count_calls(MUTATING)
    subject.converge()
    while clock.goes_on():
        fault, point = rng.choice(FAULTS), rng.randint(1, total)
        _change(subject.repo, rng)
        if subject.refresh(f"{fault}:when={point}", MUTATING):
            clock.count("kills" if "KILL" in fault else "errors")
            clock.count()
            subject.check_crash_point()
        if "error" in fault:  # three failed attempts give a HEAD up until the next event (I-15)
            append_event(subject.repo.worktree, "post-commit")
        subject.converge()
