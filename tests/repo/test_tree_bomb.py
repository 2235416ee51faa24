"""A7: a few small objects that are a million paths: the job completes, readers answer, skips are recorded."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest

from tests.support import Repo

LEVELS = 6


@pytest.fixture
def bomb(tmp_path: Path) -> Repo:
    """Branch `bomb`: ten folders in each of ten folders, six times: a million paths."""
    repo = Repo(tmp_path / "repo")
    repo.init()
    repo.write("a.py", "def alpha():\n    return 1\n")
    repo.commit()
    blob = repo.git("rev-parse", "HEAD:a.py").strip()
    entry = f"100644 blob {blob}\t{{}}"
    for level in range(LEVELS):
        lines = "\n".join(entry.format(f"{'f' if not level else 'd'}{n}") for n in range(10))
        tree = _mktree(repo, lines)
        entry = f"040000 tree {tree}\t{{}}"
    commit = repo.git("commit-tree", "-m", "bomb", tree).strip()
    repo.git("branch", "bomb", commit)
    repo.index()
    return repo


def _mktree(repo: Repo, lines: str) -> str:
    done = subprocess.run(
        ["git", "mktree"],
        cwd=repo.path,
        input=lines + "\n",
        text=True,
        capture_output=True,
        check=True,
    )
    return done.stdout.strip()


def test_a7_a_bomb_is_answered_for_and_indexed(bomb: Repo) -> None:
    started = time.process_time()
    answer = bomb.answer("grep", "alpha", "--at", "bomb", "-n", "5")
    assert answer["status"] == "ok"
    assert len(answer["results"]) == 5
    bomb.git("symbolic-ref", "HEAD", "refs/heads/bomb")
    assert bomb.gitindex("index").returncode == 0
    skipped = json.loads(bomb.gitindex("status", "--skipped", "--json").stdout)["skipped"]
    assert {row["reason"] for row in skipped} == {"oversize"}
    assert time.process_time() - started < 60
