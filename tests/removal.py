"""Commit in a repository whose hooks are installed, and remove it a moment later: how often that fails."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.support import TIMEOUT, Repo

WITHIN_SECONDS = 0.8
"""When the removal comes, at most, after the git command."""


def remove_linked(repo: Repo, path: Path) -> str:
    """`git worktree remove`."""
    return repo.try_git("worktree", "remove", "--force", str(path)).stderr


def remove_by_rm(_repo: Repo, path: Path) -> str:
    """`rm -rf`."""
    done = subprocess.run(
        ["rm", "-rf", str(path)], capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    return done.stderr


def remove_by_python(_repo: Repo, path: Path) -> str:
    """`shutil.rmtree`, which also fails if a file vanishes under it."""
    try:
        shutil.rmtree(path)
    except OSError as error:
        return str(error)
    return ""


REMOVERS = {"git": remove_linked, "rm": remove_by_rm, "python": remove_by_python}
Remover = Callable[[Repo, Path], str]


def race_new_worktree(repo: Repo, remover: Remover, number: int, rng: random.Random) -> list[str]:
    """Add a worktree, which fires post-checkout, and remove it."""
    path = repo.path.parent / f"new{number}"
    repo.git("worktree", "add", "-q", "--detach", str(path))
    return _race(repo, remover, path, rng)


def race_known_worktree(repo: Repo, remover: Remover, number: int, rng: random.Random) -> list[str]:
    """Commit in a worktree that has an index, and remove it."""
    path = repo.path.parent / f"known{number}"
    repo.git("worktree", "add", "-q", "--detach", str(path), env={"GITINDEX": "0"})
    linked = Repo(path)
    linked.index()
    linked.write("more.py", f"more = {number}\n")
    linked.commit()
    return _race(repo, remover, path, rng)


def race_clone(repo: Repo, remover: Remover, number: int, rng: random.Random) -> list[str]:
    """Clone with a template that installs the hooks, and remove the clone."""
    path = repo.path.parent / f"clone{number}"
    template = repo.path.parent / "template"
    repo.git("clone", "-q", f"--template={template}", str(repo.path), str(path))
    return _race(repo, remover, path, rng)


def race_repository(repo: Repo, remover: Remover, number: int, rng: random.Random) -> list[str]:
    """Commit in a repository that has an index, and remove it."""
    path = repo.path.parent / f"copy{number}"
    shutil.copytree(repo.path, path, symlinks=True)
    copy = Repo(path)
    copy.index()
    copy.write("more.py", f"more = {number}\n")
    copy.commit()
    return _race(repo, remover, path, rng)


def _race(repo: Repo, remover: Remover, path: Path, rng: random.Random) -> list[str]:
    """Remove `path` at a random moment: what the remover said, and what was there afterwards."""
    time.sleep(rng.random() * WITHIN_SECONDS)  # the race itself: no condition to wait for
    said = remover(repo, path)
    failed = [said] if said else []
    if path.exists():
        left = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
        failed.append(f"left: {left}")
    shutil.rmtree(path, ignore_errors=True)
    repo.git("worktree", "prune")
    return failed


Race = Callable[[Repo, Remover, int, random.Random], list[str]]
