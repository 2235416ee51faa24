"""kill -9, or a failing system call, at a random point of a refresh: old or new generation, whole."""

from __future__ import annotations

import random
from pathlib import Path

from gitindex.coordinator import IndexCoordinator
from tests.e2e.test_faults import MUTATING, Subject
from tests.support import Repo
from tests.torture import Clock

FAULTS = ("signal=KILL",) * 6 + ("error=ENOSPC", "error=EIO", "error=EACCES", "error=EDQUOT")


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


def kill_points(clock: Clock, rng: random.Random, folder: Path) -> None:
    """One fault at one random call of a refresh; then a check, and a rerun that must mend it."""
    path = folder / "repo"
    subject = Subject(prepare(path), path)
    subject.reset()
    total = subject.count_calls(MUTATING)
    while clock.goes_on():
        fault, point = rng.choice(FAULTS), rng.randint(1, total)
        subject.reset()
        if subject.refresh(f"{fault}:when={point}", MUTATING):
            clock.count("kills" if "KILL" in fault else "errors")
            subject.check_crash_point()
        subject.converge()
        clock.count()
