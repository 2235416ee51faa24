"""A3, A12: worktrees and repositories come and go while the runner works; nobody trips over it."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest

from gitindex.base.vocabulary import JobStatus
from gitindex.base.worktree import LLMC, Worktree
from gitindex.freshness import status_file
from gitindex.install.git_template import write_template
from gitindex.refresh import public_files
from gitindex.refresh.queue import FULL, RefreshJobService
from gitindex.refresh.runner import RefreshRequest, Runner
from gitindex.refresh.session import Session
from gitindex.refresh.spool import Pace, append_event, is_too_new
from tests.support import Repo, runner_pids, stop_runners, wait_for
from tests.torture.removals import REMOVERS, SOON, race

SAMPLE = 3


def test_a3_new_worktrees_are_removed_without_a_complaint(quiet: Repo) -> None:
    rng = random.Random(3)
    failed = [
        race(quiet, "new worktree", remover, rng.random() * SOON)
        for remover in REMOVERS
        for _ in range(SAMPLE)
    ]
    assert [one for one in failed if one] == []


def test_a3_known_worktrees_are_removed_without_a_complaint(quiet: Repo) -> None:
    rng = random.Random(4)
    failed = [race(quiet, "known worktree", "git", rng.random() * SOON) for _ in range(SAMPLE)]
    assert [one for one in failed if one] == []


def test_a3_clones_are_removed_without_a_complaint(quiet: Repo, tmp_path: Path) -> None:
    write_template(str(tmp_path / "template"), temporary=True)
    rng = random.Random(5)
    failed = [race(quiet, "clone", "rm", rng.random() * SOON) for _ in range(SAMPLE)]
    assert [one for one in failed if one] == []


def test_a3_a_new_worktree_is_left_alone_until_it_is_quiet(quiet: Repo, tmp_path: Path) -> None:
    quiet.git("worktree", "add", "-q", "--detach", str(tmp_path / "w"), env={"GITINDEX": "0"})
    linked = Repo(tmp_path / "w").worktree
    append_event(linked, "post-checkout")
    assert is_too_new(linked, Pace())
    old = time.time() - Pace().undisturbed
    os.utime(linked.spool, (old, old))
    assert not is_too_new(linked, Pace())
    append_event(linked, "install")  # somebody asks for it
    assert not is_too_new(linked, Pace())


def test_a3_the_folder_is_not_made_again_while_it_is_removed(quiet: Repo) -> None:
    def remove_at_publish(phase: str, _percent: float | None) -> None:
        if phase == "publish":
            shutil.rmtree(quiet.worktree.llmc, ignore_errors=True)

    quiet.write("b.py", "y = 1\n")
    quiet.git("add", "-A")
    quiet.git("commit", "-qm", "x", env={"GITINDEX": "0"})
    request = RefreshRequest(quiet.worktree, "test")
    with pytest.raises(Exception, match="removed"):
        Runner(quiet.worktree, report=remove_at_publish).serve(request)
    assert not (quiet.path / LLMC).exists()


@pytest.mark.parametrize("alone", [True, False])
def test_i45_a_public_file_that_was_removed_is_made_again_only_where_nothing_else_goes(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch, alone: bool
) -> None:
    """`rm -rf` takes the stale status first, and the rest while a runner publishes."""
    worktree = quiet.worktree
    monkeypatch.setattr(public_files, "QUIET_SECONDS", 0.3)
    os.unlink(worktree.stale_status)
    assert not os.path.exists(worktree.stale_status)
    if not alone:
        # somebody is at work in the root all the time, until its `.git` is gone
        looks = iter(range(9))

        def goes_on(_seconds: float) -> None:
            os.utime(quiet.path)
            if next(looks) == 5:
                (quiet.path / ".git").rename(quiet.path / "gone")

        monkeypatch.setattr("gitindex.refresh.public_files.time.sleep", goes_on)
    write = partial(public_files.write_public, worktree, worktree.stale_status, b"{}\n", make=False)
    if alone:
        write()
        assert os.path.exists(worktree.stale_status)
    else:
        with pytest.raises(FileNotFoundError):
            write()
        assert not os.path.exists(worktree.stale_status)


def test_a3_a_short_job_writes_the_status_once(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    write_public = public_files.write_public

    def note(worktree: Worktree, path: str, data: bytes, make: bool) -> None:
        if path == status_file.path_of(worktree.root):
            written.append(json.loads(data)["index_state"])
        write_public(worktree, path, data, make)

    monkeypatch.setattr(public_files, "write_public", note)
    quiet.write("b.py", "y = 1\n")
    quiet.git("add", "-A")
    quiet.git("commit", "-qm", "x", env={"GITINDEX": "0"})
    monkeypatch.setattr("gitindex.refresh.worktree_writer.LONG_JOB_SECONDS", 60.0)
    assert Runner(quiet.worktree).serve(RefreshRequest(quiet.worktree, "test"))
    assert written == ["fresh"]


def test_a3_temporary_files_lie_in_the_store(quiet: Repo, tmp_path: Path) -> None:
    """Where the store is on another file system, one temporary file beside the target is allowed."""
    ours = os.stat(tmp_path).st_dev
    others = [f for f in ("/dev/shm", "/tmp") if os.path.isdir(f) and os.stat(f).st_dev != ours]
    if not others:
        pytest.skip("no second file system")
    path = Path(others[0], f"gitindex-test-{os.getpid()}")
    quiet.git("worktree", "add", "-q", "--detach", str(path), env={"GITINDEX": "0"})
    try:
        linked = Repo(path)
        linked.index()
        assert linked.state() == "fresh"
        assert sorted(os.listdir(linked.worktree.llmc)) == [
            ".gitignore",
            "completion_marker.json",
            "rag_index_status.json",
            "stale_status.json",
        ]
    finally:
        shutil.rmtree(path)


def test_a3_a_template_leaves_temporary_repositories_alone(quiet: Repo, tmp_path: Path) -> None:
    write_template(str(tmp_path / "template"))
    clone = Repo(tmp_path / "clone")
    quiet.git(
        "clone", "-q", f"--template={tmp_path / 'template'}", str(quiet.path), str(clone.path)
    )
    clone.write("b.py", "y = 1\n")
    clone.commit()
    assert os.listdir(Path(clone.worktree.store, "spool")) == []
    assert clone.git("status", "--porcelain", "--ignored") == ""
    clone.index()  # somebody asks for it
    clone.write("c.py", "z = 1\n")
    clone.commit()
    clone.wait_fresh()


def test_a3_a_fresh_clone_looks_as_without_us_until_its_first_index(
    quiet: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while a long first job runs, which would write `rebuilding` elsewhere."""
    monkeypatch.setattr("gitindex.refresh.worktree_writer.LONG_JOB_SECONDS", 0.0)
    write_template(str(tmp_path / "template"), temporary=True)
    clone = Repo(tmp_path / "clone")
    options = ("-q", f"--template={tmp_path / 'template'}")
    quiet.git("clone", *options, str(quiet.path), str(clone.path), env={"GITINDEX": "0"})
    seen = {}

    def look(phase: str, _percent: float | None) -> None:
        seen[phase] = clone.git("status", "--porcelain", "--ignored")

    assert clone.git("status", "--porcelain", "--ignored") == ""
    append_event(clone.worktree, "post-checkout")
    Runner(clone.worktree, report=look).serve()
    assert {"extract", "publish"} <= seen.keys()
    assert set(seen.values()) == {""}
    assert clone.verdict().state == "fresh"
    assert clone.git("status", "--porcelain", "--ignored") == "!! .llmc/\n"


def test_a3_submodules_are_left_alone(quiet: Repo, tmp_path: Path) -> None:
    write_template(str(tmp_path / "template"), temporary=True)
    environment = {"GIT_TEMPLATE_DIR": str(tmp_path / "template")}
    outer = Repo(tmp_path / "outer")
    outer.init()
    outer.git("submodule", "add", "-q", str(quiet.path), "sub", env=environment)
    inner = Repo(tmp_path / "outer" / "sub")
    try:
        wait_for(lambda: not runner_pids(Path(inner.worktree.common_dir)))
        assert not os.path.exists(inner.worktree.database)
        inner.git("config", "gitindex.submodules", "true")
        inner.git("commit", "--allow-empty", "-qm", "x")
        inner.wait_fresh()
    finally:
        stop_runners(tmp_path)


def test_a12_jobs_of_a_removed_worktree_are_superseded(quiet: Repo, tmp_path: Path) -> None:
    quiet.git("worktree", "add", "-q", "--detach", str(tmp_path / "w"), env={"GITINDEX": "0"})
    linked = Repo(tmp_path / "w").worktree
    session = Session(quiet.worktree)
    try:
        jobs = session.jobs(linked)
        assert isinstance(jobs, RefreshJobService)
        job = jobs.enqueue_refresh(FULL, "post-checkout").job_id
    finally:
        session.close()
    shutil.rmtree(tmp_path / "w")
    quiet.git("worktree", "prune")
    assert quiet.gitindex("index").returncode == 0
    done = _job(quiet.worktree, job)
    assert done == (JobStatus.SUPERSEDED, "the worktree is gone")


def test_a14_temporaries_of_killed_processes_are_swept(quiet: Repo) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = Path(quiet.worktree.store, f".python.{dead.pid}-0123456789ab.tmp")
    live = Path(quiet.worktree.store, f".python.{os.getpid()}-0123456789ab.tmp")
    for path in (left, live):
        path.write_text("half")
        os.utime(path, (time.time() - 10,) * 2)
    assert Runner(quiet.worktree).serve(RefreshRequest(quiet.worktree, "test"))
    assert (left.exists(), live.exists()) == (False, True)


def _job(worktree: Worktree, job_id: int) -> tuple[str, str]:
    session = Session(worktree)
    try:
        sql = "SELECT status, superseded_reason FROM refresh_jobs WHERE id=?"
        status, why = session.database.row(sql, job_id)
        return str(status), str(why)
    finally:
        session.close()
