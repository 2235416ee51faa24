"""I-45: nobody is stopped from deleting a repository or a worktree, whatever a runner does in it.

A repository of an ordinary size with hooks; a commit, a checkout, a clone or a `wait`; and from no time to
ten seconds later somebody removes it all. The removal says nothing, and nothing is there afterwards. Each
case is a fork with a repository of its own; many wait at the same time.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from gitindex.install.git_template import write_template
from gitindex.install.hooks.installation import install
from tests.support import TIMEOUT, Repo, stop_runners
from tests.torture import Clock

AT_ONCE = 8
SOON, LATE = 0.8, 10.0
"""Seconds until the removal, at most: half of them soon, while a runner is at work."""
AFTERWARDS = 0.6
"""Seconds in which a process that was at work would have made something again."""
FILES = (3, 60, 400)


def _remove_linked(repo: Repo, path: Path) -> str:
    """`git worktree remove`."""
    return repo.try_git("worktree", "remove", "--force", str(path)).stderr


def _remove_by_rm(_repo: Repo, path: Path) -> str:
    """`rm -rf`."""
    done = subprocess.run(
        ["rm", "-rf", str(path)], capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    return done.stderr


def _remove_by_python(_repo: Repo, path: Path) -> str:
    """`shutil.rmtree`, which also fails if a file vanishes under it."""
    try:
        shutil.rmtree(path)
    except OSError as error:
        return str(error)
    return ""


def _new_worktree(repo: Repo, path: Path) -> None:
    """Add a worktree, which fires post-checkout."""
    repo.git("worktree", "add", "-q", "--detach", str(path))


def _known_worktree(repo: Repo, path: Path) -> None:
    """Commit in a worktree that has an index."""
    repo.git("worktree", "add", "-q", "--detach", str(path), env={"GITINDEX": "0"})
    linked = Repo(path)
    linked.index()
    linked.write("more.py", "more = 1\n")
    linked.commit()


def _clone(repo: Repo, path: Path) -> None:
    """Clone with a template that installs the hooks."""
    template = repo.path.parent / "template"
    repo.git("clone", "-q", f"--template={template}", str(repo.path), str(path))


def _copy(repo: Repo, path: Path) -> Repo:
    shutil.copytree(repo.path, path, symlinks=True)
    copy = Repo(path)
    copy.index()
    return copy


def _commit(repo: Repo, path: Path) -> None:
    """Commit in a repository that has an index."""
    copy = _copy(repo, path)
    copy.write("more.py", "more = 1\n")
    copy.commit()


def _checkout(repo: Repo, path: Path) -> None:
    """Check another branch out."""
    _copy(repo, path).git("checkout", "-q", "other")


def _wait(repo: Repo, path: Path) -> None:
    """Commit, and wait until the index is fresh: its runner may linger."""
    _commit(repo, path)
    Repo(path).gitindex("wait", "--timeout", "60")


BEFORE: dict[str, Callable[[Repo, Path], None]] = {
    "new worktree": _new_worktree,
    "known worktree": _known_worktree,
    "clone": _clone,
    "commit": _commit,
    "checkout": _checkout,
    "wait": _wait,
}
REMOVERS = {"rm": _remove_by_rm, "python": _remove_by_python, "git": _remove_linked}


def _prepare(path: Path, files: int) -> Repo:
    repo = Repo(path)
    repo.init()
    for number in range(files):
        lines = [f"def f{number}_{line}():\n    return {line}\n" for line in range(20)]
        repo.write(f"p{number % 7}/f{number}.py", "".join(lines))
    repo.commit("first")
    repo.git("switch", "-q", "-c", "other")
    repo.write("p0/f0.py", "def other():\n    return 1\n")
    repo.commit("second")
    repo.git("switch", "-q", "main")
    repo.index()
    install(repo.worktree)
    write_template(str(path.parent / "template"), temporary=True)
    return repo


def race(repo: Repo, before: str, remover: str, seconds: float) -> list[str]:
    """Remove at this moment: what the remover said, and what was there afterwards."""
    path = repo.path.parent / f"removed-{os.getpid()}"
    repo.wait_idle()  # a runner of an earlier case
    BEFORE[before](repo, path)
    time.sleep(seconds)  # the race itself: no condition to wait for
    said = REMOVERS[remover](repo, path)
    time.sleep(AFTERWARDS)
    failed = [said] if said else []
    if path.exists():
        left = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
        failed.append(f"left: {left}")
    shutil.rmtree(path, ignore_errors=True)
    repo.git("worktree", "prune")
    return failed


def _start(repo: Repo, rng: random.Random, said: Path) -> tuple[int, str]:
    """Fork one case; what it has to say goes to a file."""
    before = rng.choice(sorted(BEFORE))
    removers = sorted(REMOVERS) if "worktree" in before else ["python", "rm"]
    remover = rng.choice(removers)
    seconds = rng.random() * rng.choice([SOON, LATE])
    what = f"{before}, {remover}, {'soon' if seconds < SOON else 'later'}"
    child = os.fork()
    if child == 0:
        failed = "it did not end"
        try:
            failed = "\n".join(race(repo, before, remover, seconds))
        except BaseException:  # whatever it is, the parent reports it
            failed = traceback.format_exc()
        finally:
            said.write_text(failed and f"{what} after {seconds:.2f} s: {failed}")
            os._exit(0)
    return child, what


def removals(clock: Clock, rng: random.Random, folder: Path) -> None:
    """Several cases at a time, each in a slot with a repository of its own."""
    free = [
        _prepare(folder / f"slot{number}" / "repo", FILES[number % len(FILES)])
        for number in range(AT_ONCE)
    ]
    running: dict[int, tuple[Repo, str]] = {}
    wrong: list[str] = []
    while running or clock.goes_on():
        while free and clock.goes_on():
            repo = free.pop()
            child, what = _start(repo, rng, repo.path.with_name("said"))
            running[child] = repo, what
            clock.count()
        child, _ = os.wait()
        if child not in running:
            continue  # a helper of the tests
        repo, what = running.pop(child)
        free.append(repo)
        clock.count(what)
        if failed := repo.path.with_name("said").read_text():
            clock.count("failed")
            wrong.append(failed)
    stop_runners(folder)
    assert not wrong, wrong
