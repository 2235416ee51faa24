"""A6, A14: a killed `--force` stays a force, a store that cannot be opened is an error, links are refused."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from gitindex.base.errors import GitIndexError, StoreError
from gitindex.base.runner_lock import ENDED, advertised
from gitindex.base.vocabulary import IndexState
from gitindex.base.worktree import Worktree
from gitindex.freshness.status_file import load_status
from gitindex.refresh import session as store_session
from gitindex.refresh.lifecycle import clear
from gitindex.refresh.queue import FULL
from gitindex.refresh.runner import RefreshRequest, Runner
from gitindex.refresh.session import Session, wipe_store
from tests.support import Repo


def test_a14_a_killed_force_is_forced_again(quiet: Repo) -> None:
    session = Session(quiet.worktree)
    try:  # as a runner leaves it that is killed in the middle
        jobs = session.jobs(quiet.worktree)
        job = jobs.enqueue_refresh(FULL, "reindex").job_id
        assert jobs.claim("run of a dead runner", job) is not None
    finally:
        session.close()
    Runner(quiet.worktree).serve()
    done = [one for one in quiet.jobs() if one["id"] == job]
    assert [(one["status"], one["extracted"]) for one in done] == [("completed", 3)]


def test_a14_a_force_survives_a_moved_head(quiet: Repo) -> None:
    session = Session(quiet.worktree)
    try:
        session.jobs(quiet.worktree).enqueue_refresh(FULL, "reindex")
    finally:
        session.close()
    quiet.write("more.py", "more = 1\n")
    quiet.git("add", "-A")
    quiet.git("commit", "-qm", "x", env={"GITINDEX": "0"})
    assert Runner(quiet.worktree).serve(RefreshRequest(quiet.worktree, "index"))
    assert quiet.jobs()[0]["extracted"] == 4


def test_a14_a_store_that_cannot_be_opened_is_an_error(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked_out(_worktree: Worktree, _look: int) -> Session:
        raise StoreError("the store cannot be opened", "see `gitindex log`")

    monkeypatch.setattr("gitindex.refresh.runner.Session", locked_out)
    with pytest.raises(GitIndexError):
        Runner(quiet.worktree).serve(RefreshRequest(quiet.worktree, "index"))
    status = load_status(quiet.worktree.root)
    assert status is not None
    assert status.index_state is IndexState.ERROR
    assert status.last_error == "the store cannot be opened"


def test_a6_clear_removes_nothing_through_a_link_that_comes_in_between(
    quiet: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store's place is taken by a link while it is being removed."""
    victim = tmp_path / "victim"
    for folder in ("lexical", "published", "spool"):
        (victim / folder).mkdir(parents=True)
        (victim / folder / "thesis.tex").write_text("precious")
    (victim / "log").write_text("precious")
    store, remove = Path(quiet.worktree.store), store_session.remove_tree

    def swap(name: str, folder: int) -> None:
        if not store.is_symlink():
            store.rename(tmp_path / "aside")
            store.symlink_to(victim)
        remove(name, folder)

    monkeypatch.setattr(store_session, "remove_tree", swap)
    with contextlib.suppress(GitIndexError, OSError):
        clear(quiet.worktree, quiet.worktree.root)
    assert len(list(victim.rglob("thesis.tex"))) == 3
    assert (victim / "log").exists()
    assert not (tmp_path / "aside" / "facts.db").exists()


def test_a6_nothing_is_removed_through_a_link(quiet: Repo, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    for folder in ("lexical", "published"):
        (victim / folder).mkdir(parents=True)
        (victim / folder / "thesis.tex").write_text("precious")
    store = Path(quiet.worktree.store)
    store.rename(tmp_path / "aside")
    store.symlink_to(victim)
    with pytest.raises(GitIndexError, match="not a folder"):
        wipe_store(quiet.worktree)
    assert quiet.gitindex("index").returncode == 4
    assert len(list(victim.rglob("thesis.tex"))) == 2


def test_a_job_that_was_taken_over_counts_no_attempt(quiet: Repo) -> None:
    """Also when the one who takes over has said that it lives before it looks at the job."""
    session = Session(quiet.worktree)
    try:
        jobs = session.jobs(quiet.worktree)
        job = jobs.enqueue_refresh(FULL, "reindex").job_id
        assert jobs.claim("run of a runner that was ended", job) is not None
    finally:
        session.close()
    alive = Path(quiet.worktree.store, "runner.alive")
    alive.write_bytes(ENDED)
    with advertised(quiet.worktree):
        assert alive.read_bytes().split()[0].isdigit()
        Runner(quiet.worktree).serve()
    done = next(one for one in quiet.jobs() if one["id"] == job)
    assert (done["status"], done["attempts"], done["error"]) == (
        "completed",
        1,
        "it was taken over",
    )
    assert not alive.read_bytes().endswith(ENDED), "said once"
