"""Many processes at once: committers, runners, enqueuers, kills. Whatever happens, it ends right."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from gitindex.base.vocabulary import IndexState
from gitindex.base.worktree import Worktree
from gitindex.refresh.log import Log
from tests.support import TIMEOUT, Repo, runner_pids, wait_for

pytestmark = pytest.mark.timeout(900)  # a loaded machine is slow, not wrong

COMMITTERS = 8
COMMITS = 8
KILLS = 30


def _settled(repo: Repo) -> None:
    """After any storm: fresh, exactly git's tree, nothing left over."""
    repo.wait_fresh()
    repo.assert_published()
    jobs = repo.jobs()
    assert {job["status"] for job in jobs} <= {"completed", "superseded", "failed"}
    assert "database is locked" not in repo.log()
    repo.wait_idle()
    assert runner_pids(repo.path) == []
    assert not Path(repo.worktree.taken).exists()


def _start_runner(worktree: Worktree) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-m", "gitindex.refresh.background", worktree.common_dir],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _commit_with_retry(repo: Repo, name: str, number: int) -> None:
    """One commit of one file; index.lock and HEAD.lock are contended by the other committers."""
    repo.write(f"{name}/f{number % 10}.py", f"def {name}_{number}():\n    return {number}\n")
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        added = repo.try_git("add", name)
        if added.returncode == 0:
            done = repo.try_git("commit", "-q", "-m", f"{name} {number}", "--", name)
            if done.returncode == 0 or "nothing to commit" in done.stdout:
                return
        time.sleep(random.random() / 50)
    raise AssertionError("could not commit")


def test_k5_committers_with_real_hooks(indexed: Repo) -> None:
    _commit_at_once(indexed, COMMITS)


@pytest.mark.torture
@pytest.mark.timeout(3600)
def test_k5_committers_with_real_hooks_at_full_size(indexed: Repo) -> None:
    _commit_at_once(indexed, 50)


def _commit_at_once(indexed: Repo, commits: int) -> None:
    def work(name: str) -> None:
        for number in range(commits):
            _commit_with_retry(indexed, name, number)

    threads = [threading.Thread(target=work, args=(f"c{i}",)) for i in range(COMMITTERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert int(indexed.git("rev-list", "--count", "HEAD")) == 1 + COMMITTERS * commits
    _settled(indexed)
    assert len(indexed.jobs()) < COMMITTERS * commits / 2


def test_sixteen_runners_at_once(indexed: Repo) -> None:
    indexed.wait_idle()
    indexed.write("more.py", "def more():\n    pass\n")
    indexed.git("add", "-A")
    indexed.git("commit", "-q", "-m", "more", env={"GITINDEX": "0"})
    runners = [_start_runner(indexed.worktree) for _ in range(16)]
    for runner in runners:
        assert runner.wait(300) == 0
    _settled(indexed)
    completed = [job for job in indexed.jobs() if job["status"] == "completed"]
    assert len(completed) == 2  # the first index, and one for all sixteen


ENQUEUER = """
import sys
from gitindex.git.interface import Head
from gitindex.refresh.queue import RefreshJobService
from gitindex.refresh.queue import RefreshScope
from gitindex.store.connection import open_writer

database = open_writer(sys.argv[1])
service = RefreshJobService(database, 1, lambda: Head("c" * 40, "t" * 40))
for number in range(40):
    service.enqueue_refresh(RefreshScope(files=(f"f{sys.argv[2]}_{number % 4}.py",)), "storm")
"""


def test_fifty_enqueuers(indexed: Repo) -> None:
    """2,000 requests at once: none lost, one job, nobody sees a locked database."""
    indexed.wait_idle()
    command = [sys.executable, "-I", "-c", ENQUEUER, indexed.worktree.database]
    enqueuers = [
        subprocess.Popen([*command, str(number)], stderr=subprocess.PIPE) for number in range(50)
    ]
    for enqueuer in enqueuers:
        _, errors = enqueuer.communicate(timeout=300)
        assert (enqueuer.returncode, errors) == (0, b"")
    queued = [job for job in indexed.jobs() if job["status"] == "queued"]
    assert len(queued) == 1
    assert len(queued[0]["scope"]["files"]) == 50 * 4
    assert indexed.gitindex("run").returncode == 0
    _settled(indexed)


@pytest.mark.promise("I-15", "I-13", cases=KILLS)
def test_killed_runners_lose_nothing(indexed: Repo) -> None:
    """Random kills while commits go on; the last event finds everything."""
    _kill_runners(indexed, KILLS, random.Random(7))


def _kill_runners(indexed: Repo, wanted: int, rng: random.Random) -> None:
    kills = number = 0
    while kills < wanted:
        number += 1
        indexed.write(f"k/f{number % 20}.py", f"def k_{number}():\n    return {number}\n")
        indexed.commit(f"k {number}")
        time.sleep(rng.random() * 0.3)  # kills at any point of a run, not a wait
        for pid in runner_pids(indexed.path):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            kills += 1
    wait_for(lambda: not runner_pids(indexed.path))  # a loaded machine takes a while to end them
    indexed.git("commit", "-q", "--allow-empty", "-m", "last")
    _settled(indexed)


def test_q22_rebase_of_fifty_and_amend_storm(indexed: Repo) -> None:
    indexed.git("switch", "-q", "-c", "topic")
    for number in range(50):
        indexed.write(f"t{number % 7}.py", f"x = {number}\n")
        indexed.git("add", "-A")
        indexed.git("commit", "-q", "-m", f"t {number}", env={"GITINDEX": "0"})
    indexed.git("switch", "-q", "main")
    indexed.write("base.py", "base = 1\n")
    indexed.commit("base")
    indexed.git("switch", "-q", "topic")
    _settled(indexed)
    before = len(indexed.jobs())
    indexed.git("rebase", "-q", "main")
    _settled(indexed)
    assert len(indexed.jobs()) - before <= 3
    before = len(indexed.jobs())
    for number in range(30):
        indexed.write("amended.py", f"y = {number}\n")
        indexed.git("add", "-A")
        indexed.git("commit", "-q", "--amend", "--no-edit")
    _settled(indexed)
    assert len(indexed.jobs()) - before <= 10


def test_a_busy_runner_never_takes_the_index_lock(indexed: Repo) -> None:
    """Add and commit while refreshes and readers go on without a pause: git never fails."""
    _commit_beside_readers(indexed, 25)


@pytest.mark.torture
def test_a_busy_runner_never_takes_the_index_lock_at_full_size(indexed: Repo) -> None:
    _commit_beside_readers(indexed, 500)


def _commit_beside_readers(indexed: Repo, commits: int) -> None:
    done = threading.Event()

    def busy(*command: str) -> None:
        while not done.is_set():
            indexed.gitindex(*command)

    threads = [
        threading.Thread(target=busy, args=command)
        for command in (("run",), ("status",), ("search", "b"))
    ]
    for thread in threads:
        thread.start()
    try:
        for number in range(commits):
            indexed.write("busy.py", f"b = {number}\n")
            indexed.git("add", "busy.py")
            indexed.git("commit", "-q", "-m", f"b {number}")
    finally:
        done.set()
        for thread in threads:
            thread.join()
    _settled(indexed)


def test_a_replaced_repository_is_left_alone(indexed: Repo, tmp_path: Path) -> None:
    """A runner that outlives its repository writes nothing beside another one."""
    indexed.wait_idle()
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-a", str(indexed.path), str(copy)], check=True, timeout=300)
    indexed.write("late.py", "late = 1\n")
    indexed.commit("late")
    wait_for(lambda: bool(runner_pids(indexed.path)))
    indexed.path.rename(tmp_path / "moved")
    copy.rename(indexed.path)
    indexed.wait_idle()
    if indexed.verdict().state is IndexState.FRESH:  # the runner started late and served the copy
        indexed.assert_published()
    assert indexed.gitindex("run").returncode == 0
    _settled(indexed)


def test_a_deleted_repository_stays_deleted(indexed: Repo) -> None:
    indexed.wait_idle()
    for number in range(40):
        indexed.write(f"d{number}.py", f"d = {number}\n")
    indexed.commit("many")
    wait_for(lambda: bool(runner_pids(indexed.path)))
    command = ["rm", "-rf", str(indexed.path)]
    # A file written between rm's look at a folder and its end makes rm complain: then it is run again.
    wait_for(lambda: subprocess.run(command, check=False, timeout=300).returncode == 0)
    wait_for(lambda: not runner_pids(indexed.path))
    assert not indexed.path.exists()


def test_a_store_that_is_being_deleted_gets_no_new_log(quiet: Repo) -> None:
    log = Path(quiet.worktree.store, "log")
    log.unlink()
    Log(quiet.worktree.store).write("there")
    assert "there" in log.read_text()
    log.unlink()
    Path(quiet.worktree.store, "python").unlink()
    Log(quiet.worktree.store).write("gone")
    assert not log.exists()


@pytest.mark.torture
@pytest.mark.timeout(3600)
def test_a_thousand_kills(indexed: Repo) -> None:
    _kill_runners(indexed, 1_000, random.Random(8))
