"""The runner is polite: low priority, own session, no folder pinned, one heavy job per user."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gitindex.base.locations import runtime_folder
from gitindex.base.runner_lock import RunnerLock, end_polite_runner, is_held, was_ended
from gitindex.cli import progress
from gitindex.extract.worker import FAULT_VARIABLE
from gitindex.freshness.observation import read_progress
from gitindex.freshness.report import show_status
from gitindex.refresh import refresher
from gitindex.refresh.heavy_slot import heavy_slot
from gitindex.refresh.run import refresh_now
from gitindex.refresh.runner import RefreshRequest
from tests.support import Repo, runner_pids, wait_for

ADVERTISER = """
import sys, time
from gitindex.base.runner_lock import advertise
from gitindex.base.worktree import worktree_at
advertise(worktree_at(sys.argv[1]))
print("told", flush=True)
time.sleep(600)
"""
HOLDER = """
import sys
from gitindex.refresh.heavy_slot import heavy_slot
with heavy_slot("/home/me/large", lambda owner: None):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_the_runner_is_out_of_the_way(indexed: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    indexed.wait_idle()
    monkeypatch.setenv(FAULT_VARIABLE, "slow:slowpoke")
    commits = itertools.count()

    def seen_at_work() -> tuple[int, bool, str] | None:
        """Priority, own session and folder of a runner; None if none lived long enough to be seen."""
        pids = runner_pids(indexed.path)
        if not pids:
            indexed.write("a.py", f"slowpoke = {next(commits)}\n")
            indexed.commit()
        for pid in pids:
            try:
                nice = os.getpriority(os.PRIO_PROCESS, pid)
                return nice, os.getsid(pid) == pid, os.readlink(f"/proc/{pid}/cwd")
            except OSError:
                continue  # it ended while we looked
        return None

    ours = os.getpriority(os.PRIO_PROCESS, 0)
    polite = (min(ours + 10, 19), True, "/")
    wait_for(lambda: seen_at_work() == polite, tell=lambda: str(seen_at_work()))


def test_a_second_heavy_job_waits_for_the_first() -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == "held\n"
    waited: list[int] = []

    def waiting(owner: str) -> None:
        assert owner == "/home/me/large"
        waited.append(1)
        if len(waited) == 3 and holder.stdin is not None:
            holder.stdin.close()

    with heavy_slot("/home/me/second", waiting):
        assert len(waited) >= 3, "it got in only after the other had left"
        assert holder.wait(timeout=300) == 0
    holder.stdout.close()


def test_a_large_job_says_whose_index_it_waits_for_and_a_small_one_does_not_wait(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.write("a.py", "x = 1\n")
    repo.commit()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == "held\n"
    try:
        repo.index()  # a job of one file goes on
        monkeypatch.setattr(refresher, "HEAVY_BLOBS", 1)
        repo.write("a.py", "x = 2\n")
        repo.commit()
        repo.index()  # nor does one that a person waits for, of any size
        monkeypatch.setattr(refresher, "is_background", lambda: True)
        repo.write("a.py", "x = 3\n")
        repo.commit()
        worktree, stdin = repo.worktree, holder.stdin
        said: list[str] = []

        def report(phase: str, _percent: float | None) -> None:
            progress = read_progress(worktree)
            if phase.startswith("waiting") and progress and progress.phase == phase:
                show_status(path=str(repo.path))
                said.extend([phase, capsys.readouterr().out])
                stdin.close()

        refresh_now(RefreshRequest(worktree, "test"), report)
        assert said[0] == "waiting for the index of /home/me/large"
        assert said[0] in said[1]
    finally:
        holder.kill()
        holder.wait(timeout=300)
        holder.stdout.close()


def test_a_dead_holder_frees_its_slot() -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    holder.stdout.readline()
    holder.kill()
    holder.wait(timeout=300)
    with heavy_slot("", lambda _: pytest.fail("a dead process holds nothing")):
        pass
    holder.stdin.close()
    holder.stdout.close()


def test_work_goes_on_where_no_slot_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(blocked))
    assert runtime_folder().startswith(str(blocked))
    with heavy_slot("", lambda _: pytest.fail("there is nothing to wait for")):
        pass


def test_nobody_waits_for_a_process_of_lower_priority(
    indexed: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A runner that gets no time, here because it is stopped, is ended, and its job is done by who waits."""
    indexed.wait_idle()
    indexed.write("a.py", "def after(): pass\n")
    indexed.commit()
    wait_for(lambda: bool(_polite_pids(indexed)))
    (pid,) = _polite_pids(indexed)
    os.kill(pid, signal.SIGSTOP)
    done = indexed.gitindex("wait", "--timeout", "250")
    assert done.returncode == 0, done.stderr
    assert indexed.state() == "fresh"
    assert pid not in runner_pids(indexed.path)
    assert not was_ended(indexed.worktree), "the note was read: a later death counts"
    jobs = indexed.answer("jobs")["jobs"]
    assert jobs[0]["attempts"] == 1, "a job that was taken over has not failed"


def _polite_pids(repo: Repo) -> list[int]:
    """The runner that holds the lock, once it has said so."""
    told = Path(repo.worktree.store, "runner.alive").read_text().split()
    return [int(told[0])] if told and is_held(repo.worktree.lock) else []


def test_a_runner_of_the_same_priority_is_left_alone(indexed: Repo) -> None:
    indexed.wait_idle()
    lock = RunnerLock(indexed.worktree.lock)
    assert lock.acquire()
    child = subprocess.Popen(
        [sys.executable, "-c", ADVERTISER, str(indexed.path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "told\n"
        assert not end_polite_runner(indexed.worktree)
        assert child.poll() is None
    finally:
        lock.release()
        child.kill()
        child.communicate()
    assert not end_polite_runner(indexed.worktree), "it has ended"


def test_progress_is_told_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.progress_bar("indexing") as report:
        report("extract", 1.0)
        assert capsys.readouterr().err == "", "short work says nothing"
        monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
        report("extract", 41.6)
        report("waiting for another runner", None)
    assert (
        capsys.readouterr().err == "indexing: 42 % extract\nindexing: waiting for another runner\n"
    )


def test_i45_a_runner_ends_with_its_repository(
    indexed: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that is at work: it must not write into what is left."""
    indexed.wait_idle()
    monkeypatch.setenv(FAULT_VARIABLE, "slow:slowpoke")
    indexed.write("a.py", "slowpoke = 1\n")
    indexed.commit()
    wait_for(lambda: bool(_polite_pids(indexed)))
    (pid,) = _polite_pids(indexed)
    shutil.rmtree(indexed.path)
    wait_for(lambda: not os.path.exists(f"/proc/{pid}"))
    assert not indexed.path.exists()
