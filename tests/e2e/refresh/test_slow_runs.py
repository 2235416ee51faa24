"""Refreshes that take long while the world goes on: nothing is lost, nothing old is called current."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from gitindex.base.vocabulary import EditScope, IndexState
from gitindex.extract.worker import FAULT_VARIABLE
from gitindex.freshness.observation import observe, read_progress
from gitindex.freshness.verdict import judge
from tests.support import Repo, wait_for


@pytest.fixture
def slow(indexed: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Extracting a blob that contains `slowpoke` takes a second."""
    indexed.wait_idle()
    monkeypatch.setenv(FAULT_VARIABLE, "slow:slowpoke")
    return indexed


@pytest.fixture
def held(indexed: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Repo, Path]:
    """Extracting a blob that contains `slowpoke` waits while the file exists."""
    indexed.wait_idle()
    stop = tmp_path / "hold"
    stop.touch()
    monkeypatch.setenv(FAULT_VARIABLE, f"hold:slowpoke:{stop}")
    return indexed, stop


def _running(repo: Repo) -> bool:
    return read_progress(repo.worktree) is not None


def test_q3_a_change_during_the_run_gets_a_follow_up(held: tuple[Repo, Path]) -> None:
    slow, stop = held
    slow.write("a.py", "slowpoke = 1\n")
    slow.commit("first version")
    wait_for(lambda: _running(slow), tell=slow.log)
    slow.write("a.py", "slowpoke = 2\n")
    slow.commit("second version")
    stop.unlink()
    while slow.verdict().state is not IndexState.FRESH:
        time.sleep(0.005)
        seen = observe(slow.worktree)
        if seen.proof.marker is not None and seen.head_tree != seen.proof.marker.tree_id:
            assert judge(seen).state is not IndexState.FRESH  # of one look: the next may be fresh
    slow.wait_idle()  # the marker is written before the job is completed
    slow.assert_published()
    assert [job["status"] for job in slow.jobs()][:2] == ["completed", "completed"]
    assert slow.answer("search", "slowpoke")["results"][0]["snippet"].startswith("slowpoke = 2")


def test_q15_an_edit_during_the_run_is_laid_over(held: tuple[Repo, Path]) -> None:
    slow, stop = held
    slow.write("a.py", "slowpoke = 1\n")
    slow.commit("first version")
    wait_for(lambda: _running(slow), tell=slow.log)
    slow.write("app.py", "edited = True\n")
    stop.unlink()
    wait_for(lambda: slow.marker()["treeId"] == slow.tree())
    slow.wait_idle()
    seen = observe(slow.worktree, EditScope.ALL)
    assert seen.head.dirty == (b"app.py",)
    assert judge(seen).state is IndexState.FRESH
    assert slow.gitindex("check", "--clean").returncode == 1
    assert slow.answer("grep", "edited")["results"][0]["source"] == "worktree"


def test_q16_commits_faster_than_runs(slow: Repo) -> None:
    before = slow.extracted()
    for number in range(20):
        slow.write("a.py", f"slowpoke = {number}\n")
        slow.commit(f"number {number}")
        time.sleep(0.3)  # the pace of the scenario, not a wait
    slow.wait_fresh()
    slow.assert_published()
    slow.wait_idle()
    assert slow.extracted() - before <= 20, "no blob twice"
    blobs = int(slow.git("rev-list", "--objects", "HEAD", "--", "a.py").count(" a.py\n"))
    assert blobs == 20


def test_l5_two_processes_refresh_at_once(indexed: Repo) -> None:
    indexed.wait_idle()
    for number in range(30):
        indexed.write(f"many/m{number}.py", f"def m_{number}():\n    pass\n")
    indexed.git("add", "-A")
    indexed.git("commit", "-q", "-m", "many", env={"GITINDEX": "0"})
    command = [sys.executable, "-m", "gitindex"]
    both = [
        subprocess.Popen(
            [*command, verb], cwd=indexed.path, stderr=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for verb in ("index", "run", "index", "wait")
    ]
    for process in both:
        _, errors = process.communicate(timeout=300)
        assert (process.returncode, errors) == (0, b"")
    indexed.assert_published()
    assert indexed.verdict().state is IndexState.FRESH
    assert indexed.extracted() == 3 + 30
