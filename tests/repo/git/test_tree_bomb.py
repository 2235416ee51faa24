"""A7, I-43: a few small objects that are millions of paths: readers count what is left out."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gitindex.git import interface
from gitindex.query.grep.grep import GrepQuery, grep
from gitindex.query.grep.pattern import GrepPattern
from gitindex.view import difference
from gitindex.view.tree import TreeChoice, open_tree
from tests.support import Repo

LEVELS = 6
"""Ten folders in each of ten folders, six times: a million paths, and the folders beyond the limit."""


def _bomb(tmp_path: Path, levels: int) -> Repo:
    """A repository with an index, and a branch `bomb` of ten to the power of `levels` paths."""
    repo = Repo(tmp_path / "repo")
    repo.init()
    repo.write("a.py", "def alpha():\n    return 1\n")
    repo.commit()
    blob = repo.git("rev-parse", "HEAD:a.py").strip()
    entry = f"100644 blob {blob}\t{{}}"
    for level in range(levels):
        lines = "\n".join(entry.format(f"{'f' if not level else 'd'}{n}") for n in range(10))
        tree = mktree(repo, lines)
        entry = f"040000 tree {tree}\t{{}}"
    commit = repo.git("commit-tree", "-m", "bomb", tree).strip()
    repo.git("branch", "bomb", commit)
    repo.index()
    return repo


def mktree(repo: Repo, lines: str) -> str:
    done = subprocess.run(
        ["git", "mktree"],
        cwd=repo.path,
        input=lines + "\n",
        text=True,
        capture_output=True,
        check=True,
    )
    return done.stdout.strip()


def test_a7_a_bomb_is_answered_for_and_indexed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tenth of the paths and a 250th of the bound; the full size is in the torture suite."""
    monkeypatch.setattr(interface, "MAX_ENTRIES", 4_000)
    monkeypatch.setattr(difference, "MAX_DIFFERENCE", 1 << 20)
    bomb = _bomb(tmp_path, LEVELS - 1)
    started = time.process_time()
    with open_tree(bomb.worktree, ".", TreeChoice(at="bomb")) as view:
        _check_answer(grep(view, GrepQuery(GrepPattern("alpha"), limit=5)))
    bomb.git("symbolic-ref", "HEAD", "refs/heads/bomb")
    bomb.index()
    _check_skipped(bomb)
    assert time.process_time() - started < 60


@pytest.mark.torture
def test_a7_at_full_size(tmp_path: Path) -> None:
    bomb = _bomb(tmp_path, LEVELS + 1)
    _check_answer(bomb.answer("grep", "alpha", "--at", "bomb", "-m", "5"))
    bomb.git("symbolic-ref", "HEAD", "refs/heads/bomb")
    assert bomb.gitindex("index").returncode == 0
    _check_skipped(bomb)


def _check_answer(answer: Mapping[str, Any]) -> None:
    assert answer["status"] == "ok"
    assert len(answer["results"]) == 5
    assert answer["freshness"]["exact"] is False
    assert answer["freshness"]["leftOut"] > 0


def _check_skipped(bomb: Repo) -> None:
    skipped = json.loads(bomb.gitindex("status", "--skipped", "--json").stdout)["skipped"]
    assert {row["reason"] for row in skipped} == {"oversize"}
