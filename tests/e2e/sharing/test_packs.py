"""Packs as a team uses them: a CI job, two clones, hooks, kills. Everything runs in its own process."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitindex.store.blobs import dump
from gitindex.store.connection import open_reader
from tests.e2e.refresh.test_faults import traces
from tests.packs import Team, fill, unverified
from tests.support import Repo, stop_runners, wait_for

POINTS = 4
SEED = int(os.environ.get("GITINDEX_SEED", "7"))
CALLS = "rename,renameat,renameat2,unlink,unlinkat,mkdir,fsync,fdatasync,pwrite64,ftruncate"
needs_strace = pytest.mark.skipif(not traces(), reason="strace is missing or may not trace")


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Team]:
    made = Team(tmp_path)
    made.make()
    monkeypatch.setenv("HOME", str(made.home))
    yield made
    stop_runners(tmp_path)


def _clone(hub: Path, target: Path) -> Repo:
    subprocess.run(["git", "clone", "-q", str(hub), str(target)], check=True, timeout=300)
    return Repo(target)


def _run(repo: Repo, *args: str) -> str:
    done = repo.gitindex(*args)
    assert done.returncode == 0, (args, done.stdout, done.stderr)
    return done.stdout + done.stderr


def test_a_team_shares_its_index_through_git(team: Team, tmp_path: Path) -> None:
    """Push, a CI job that packs, a second clone: fresh, and 0 blobs were extracted in it."""
    hub = tmp_path / "hub.git"
    subprocess.run(["git", "init", "-q", "--bare", str(hub)], check=True, timeout=300)
    first = Repo(tmp_path / "first")
    fill(first)
    first.git("remote", "add", "origin", str(hub))
    first.git("push", "-q", "-u", "origin", "main")

    job = _clone(hub, tmp_path / "job-1")
    _run(job, "index", "--seed", "origin")
    assert job.extracted() == 8
    _run(job, "pack", "push", "--to", "origin", "--sign", str(team.key))

    second = _clone(hub, tmp_path / "second")
    assert "adopted gitindex-" in _run(second, "index", "--seed", "origin")
    assert second.state() == "fresh"
    assert second.extracted() == 0
    wait_for(lambda: not unverified(second), 300, second.log)  # the runner in the background
    second.wait_idle()
    assert second.answer("refs", "lonely")["complete"] is True

    first.write("pkg/later.py", "from pkg.base import lonely\n\nlonely()\n")
    first.commit("later")
    first.git("push", "-q")
    job = _clone(hub, tmp_path / "job-2")
    _run(job, "index", "--seed", "origin")
    assert job.extracted() == 1, "the pack of the commit before leaves only the difference"
    _run(job, "pack", "check")
    _run(job, "pack", "push", "--to", "origin", "--sign", str(team.key))

    second.git("pull", "-q")
    assert "1 blob," in _run(second, "pack", "pull", "--from", "origin")
    assert second.state() == "fresh"
    assert second.extracted() == 0
    assert {len(line) for line in second.gitindex("pack", "list", "--from", "origin").stdout} == {1}
    third = _clone(hub, tmp_path / "third")
    _run(third, "index", "--seed", "origin")
    assert third.extracted() == 0
    second.wait_idle()
    assert _facts(second) == _facts(third)


@needs_strace
def test_a_commit_opens_no_socket(team: Team, tmp_path: Path) -> None:
    home = team.home_with(tmp_path / "home-2", "dest = https://packs.invalid/")
    repo = Repo(tmp_path / "hooked")
    fill(repo)
    _run(repo, "install")
    repo.wait_fresh()
    repo.wait_idle()
    repo.write("one.py", "def one():\n    return 1\n")
    repo.git("add", "-A")
    log = tmp_path / "sockets"
    traced = ["strace", "-f", "-qq", "-o", str(log), "-e", "trace=socket,connect"]
    subprocess.run(
        [*traced, "git", "-C", str(repo.path), "commit", "-q", "-m", "one"],
        env={**os.environ, "HOME": home},
        check=True,
        timeout=300,
    )
    repo.wait_fresh()
    repo.wait_idle()
    assert "AF_INET" not in log.read_text()


@needs_strace
def test_a_killed_adoption_leaves_nothing_or_all(team: Team, tmp_path: Path) -> None:
    _kill_adoptions(team, tmp_path, POINTS)


@needs_strace
@pytest.mark.torture
def test_an_adoption_killed_at_every_call_leaves_nothing_or_all(team: Team, tmp_path: Path) -> None:
    _kill_adoptions(team, tmp_path, None)


def _kill_adoptions(team: Team, tmp_path: Path, points: int | None) -> None:
    """Kill adoptions at so many of the system calls that change files; None: at every one."""
    team.pack(tmp_path / "dest")
    clone = team.clone("victim")
    expected = _facts(team.origin)
    log = tmp_path / "calls"
    _pull(clone, tmp_path, ["-o", str(log), "-e", f"trace={CALLS}"])
    assert clone.verdict().code == 0
    total = len(log.read_text().splitlines())
    assert total > 20
    every = range(1, total)
    killed = 0
    for point in every if points is None else sorted(random.Random(SEED).sample(every, points)):
        shutil.rmtree(clone.worktree.store)
        shutil.rmtree(clone.worktree.llmc, ignore_errors=True)
        kill = f"inject={CALLS}:signal=KILL:when={point}"
        killed += (
            _pull(clone, tmp_path, ["-o", "/dev/null", "-e", f"trace={CALLS}", "-e", kill]) != 0
        )
        if clone.verdict().code == 0:
            assert _facts(clone) == expected, point
        _run(clone, "index", "--seed", str(tmp_path / "dest"))
        assert clone.state() == "fresh", point
        assert _facts(clone) == expected, point
        clone.assert_published()
        clone.wait_idle()
    assert killed


def _pull(repo: Repo, folder: Path, options: list[str]) -> int:
    import sys

    command = [sys.executable, "-m", "gitindex", "pack", "pull", "--from", str(folder / "dest")]
    traced = ["strace", "-f", "-qq", *options, *command]
    done = subprocess.run(traced, cwd=repo.path, capture_output=True, timeout=300, check=False)
    repo.wait_idle()
    return done.returncode


def _facts(repo: Repo) -> list[str]:
    database = open_reader(repo.worktree.database)
    assert database is not None
    try:
        return list(dump(database))
    finally:
        database.close()
