"""An attempt that fails before any job could begin: the public status says so, whatever failed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.base.vocabulary import IndexState
from gitindex.freshness.status_file import load_status
from gitindex.refresh import spool
from gitindex.refresh.public_files import VERSION, render_version
from gitindex.refresh.runner import Runner
from tests.support import Repo


def break_store(repo: Repo) -> str:
    Path(repo.worktree.store, VERSION).write_bytes(render_version("99.0.0"))
    return "maintains this index"


def break_head(repo: Repo) -> str:
    objects = repo.path / ".git/objects"
    objects.rename(objects.with_name("away"))
    objects.mkdir()
    return "HEAD names an object that is missing"


@pytest.mark.parametrize("break_it", [break_store, break_head])
def test_a1_index_leaves_an_error(quiet: Repo, break_it: object) -> None:
    """It said fresh: an error of the system, or of HEAD, was none that was recorded."""
    assert callable(break_it)
    message = break_it(quiet)
    done = quiet.gitindex("index")
    assert (done.returncode, message in done.stderr) == (4, True), done
    status = load_status(quiet.path)
    assert status is not None
    assert (status.index_state, message in (status.last_error or "")) == (IndexState.ERROR, True)
    assert status.last_indexed_commit == quiet.marker()["headCommit"]
    away = quiet.path / ".git/away"
    if away.exists():
        (quiet.path / ".git/objects").rmdir()
        away.rename(quiet.path / ".git/objects")
    else:
        Path(quiet.worktree.store, VERSION).unlink()
    assert quiet.gitindex("index").returncode == 0
    repaired = load_status(quiet.path)
    assert repaired is not None
    assert (repaired.index_state, repaired.last_error) == (IndexState.FRESH, None)


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
