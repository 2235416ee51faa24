"""An attempt that fails before any job could begin: the public status says so, whatever failed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.base.vocabulary import IndexState
from gitindex.freshness.status_file import load_status
from gitindex.refresh import spool
from gitindex.refresh.runner import Runner
from tests.support import Repo


def break_store(repo: Repo) -> str:
    for path in Path(repo.worktree.store).glob("facts.db*"):
        path.unlink()
    Path(repo.worktree.database).mkdir()
    return "Is a directory"


def break_head(repo: Repo) -> str:
    objects = repo.path / ".git/objects"
    objects.rename(objects.with_name("away"))
    objects.mkdir()
    return "HEAD names an object that is missing"


@pytest.mark.parametrize("break_it", [break_store, break_head])
def test_a1_index_leaves_an_error(quiet: Repo, break_it: object) -> None:
    """It said fresh: an error of the system, or of HEAD, was none that was recorded."""
    assert callable(break_it)
    told = break_it(quiet)
    done = quiet.gitindex("index")
    assert (done.returncode, told in done.stderr) == (4, True), done
    status = load_status(quiet.path)
    assert status is not None
    assert (status.index_state, told in (status.last_error or "")) == (IndexState.ERROR, True)
    assert status.last_indexed_commit == quiet.marker()["headCommit"]
    away = quiet.path / ".git/away"
    if away.exists():
        (quiet.path / ".git/objects").rmdir()
        away.rename(quiet.path / ".git/objects")
    else:
        Path(quiet.worktree.database).rmdir()
    assert quiet.gitindex("index").returncode == 0
    mended = load_status(quiet.path)
    assert mended is not None
    assert (mended.index_state, mended.last_error) == (IndexState.FRESH, None)


def test_a1_a_runner_of_an_event_leaves_an_error_but_no_folder(quiet: Repo) -> None:
    break_store(quiet)
    Path(quiet.worktree.spool).write_text("post-commit \n")
    assert spool.waiting(quiet.worktree)
    with pytest.raises((GitIndexError, OSError)):
        Runner(quiet.worktree).serve()
    status = load_status(quiet.path)
    assert status is not None
    assert status.index_state is IndexState.ERROR
    shutil.rmtree(quiet.path / ".llmc")
    with pytest.raises((GitIndexError, OSError)):
        Runner(quiet.worktree).serve()
    assert not (quiet.path / ".llmc").exists()
