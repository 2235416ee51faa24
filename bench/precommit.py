"""Through pre-commit: what its own start costs, and what our hook adds to it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

from bench.harness import TIMEOUT, Row, Used, round_robin
from bench.scratch import Bench, Repo, small_repo

ROUNDS = 9
ROOT = Path(__file__).resolve().parent.parent
STAGES = ("post-commit", "post-checkout")
CONFIG = """minimum_pre_commit_version: 3.2.0
default_install_hook_types: [post-commit, post-checkout]
repos:
"""
TRUE = """  - repo: local
    hooks:
      - id: "true"
        name: "true"
        entry: "true"
        language: system
        always_run: true
        stages: [post-commit, post-checkout]
"""
OURS = """  - repo: {source}
    rev: v0
    hooks:
      - id: gitindex
"""


def measure(bench: Bench) -> list[Row]:
    folder = bench.folder("precommit")
    os.environ["PRE_COMMIT_HOME"] = str(folder / "home")
    source = _release(folder / "source")
    repos = {name: small_repo(folder / name, 50) for name in ("none", "true", "ours")}
    _configure(repos["true"], TRUE)
    _configure(repos["ours"], OURS.format(source=source.path))
    repos["ours"].gitindex("index")
    commit = _commits()

    def plain(repo: Repo) -> Callable[[], Used]:
        return lambda: commit(repo)

    cpu = {
        n: u.cpu for n, u in round_robin({n: plain(r) for n, r in repos.items()}, ROUNDS).items()
    }
    return [
        Row(
            "git commit, pre-commit with ours",
            cpu["ours"],
            "ms",
            cpu["true"],
            "pre-commit with true",
        ),
        Row("git commit, pre-commit with true", cpu["true"], "ms", cpu["none"], "no hook"),
    ]


def _release(path: Path) -> Repo:
    """A clone of this repository as it is on disk: what a configuration names."""
    repo = Repo(path).init()
    for name in ("hooks", "templates", "gitindex"):
        shutil.copytree(ROOT / name, path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in (".pre-commit-hooks.yaml", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, path)
    repo.commit()
    repo.git("tag", "v0")
    return repo


def _configure(repo: Repo, text: str) -> None:
    repo.write(".pre-commit-config.yaml", CONFIG + text)
    repo.commit()
    stages = [option for stage in STAGES for option in ("-t", stage)]
    subprocess.run(
        [sys.executable, "-m", "pre_commit", "install", "--install-hooks", *stages],
        cwd=repo.path,
        capture_output=True,
        timeout=10 * TIMEOUT,  # it builds our environment
        check=True,
    )


def _commits() -> Callable[[Repo], Used]:
    numbers = count()

    def commit(repo: Repo) -> Used:
        repo.write("pkg0/mod0.py", f"VALUE = {next(numbers)}\n")
        return repo.measure("commit", "-q", "-a", "-m", "x")

    return commit
