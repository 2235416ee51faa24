"""A1: `--force` builds a new store beside the old one and puts it in place, whatever dies when."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitindex.base.errors import GitIndexError, StoreBusy
from gitindex.base.vocabulary import IndexState
from gitindex.query.symbols import SymbolQuery, list_symbols
from gitindex.refresh import rebuild
from gitindex.refresh.runner import RefreshRequest, Runner
from gitindex.store import decisions
from gitindex.store.connection import open_writer
from gitindex.store.scrub import check_store
from gitindex.view.tree import open_tree
from tests.support import Repo


class Died(Exception):
    """Stands for `kill -9` at one step."""


def _force(repo: Repo) -> None:
    assert Runner(repo.worktree).serve(RefreshRequest(repo.worktree, "reindex", force=True))


def _assert_whole(repo: Repo) -> None:
    assert repo.verdict().state is IndexState.FRESH, (repo.verdict(), repo.log())
    repo.assert_published()
    check_store(repo.worktree.store)
    assert not Path(repo.worktree.store, "building").exists()


def test_a1_force_puts_new_files_in_place(quiet: Repo, tmp_path: Path) -> None:
    quiet.git("worktree", "add", "-q", str(tmp_path / "linked"), env={"GITINDEX": "0"})
    linked = Repo(tmp_path / "linked")
    linked.index()
    database = open_writer(quiet.worktree.database)
    decisions.add(database, "which one", "head", {"a.py": "1"}, ["a"], {})
    database.close()
    before = os.stat(quiet.worktree.database).st_ino
    generation = quiet.marker()["generation"]
    _force(quiet)
    assert os.stat(quiet.worktree.database).st_ino != before
    assert quiet.marker()["generation"] == generation + 1
    assert sorted(job["extracted"] for one in (quiet, linked) for job in one.jobs())[-1] == 3
    _assert_whole(quiet)
    _assert_whole(linked)
    database = open_writer(quiet.worktree.database)
    assert [one.selected for one in decisions.newest(database, 9)] == [["a"]]
    database.close()


def test_a1_a_reader_that_is_open_keeps_answering(quiet: Repo) -> None:
    with open_tree(quiet.worktree, ".") as view:
        done = quiet.gitindex("index", "--force")
        assert done.returncode == 0, done.stderr
        found = list_symbols(view, SymbolQuery("helper"))
        assert [row["path"] for row in found["symbols"]] == ["lib/util.py"]
    with open_tree(quiet.worktree, ".") as view:
        assert list_symbols(view, SymbolQuery("helper"))["freshness"]["state"] == "fresh"


def test_a1_a_writer_that_is_open_loses_nothing_in_silence(quiet: Repo) -> None:
    database = open_writer(quiet.worktree.database)
    try:
        assert quiet.gitindex("index", "--force").returncode == 0
        with pytest.raises(StoreBusy, match="rebuilt in the meantime"):
            decisions.add(database, "which one", "head", {"a.py": "1"}, ["a"], {})
    finally:
        database.close()
    _assert_whole(quiet)


STEPS = ("_build", "_remove_stamps", "_exchange_files", "renew", "_put_marker", "clear_building")


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", STEPS)
def test_a1_a_force_that_dies_at_any_step_is_ended_by_the_next_runner(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch, step: str, after: bool
) -> None:
    real = getattr(rebuild, step)
    calls = 0

    def die(*args: object) -> None:
        nonlocal calls
        calls += 1
        if step == "clear_building" and calls == 1:
            real(*args)  # before the build
            return
        if after:
            real(*args)
        raise Died

    with monkeypatch.context() as patched:
        patched.setattr(rebuild, step, die)
        with pytest.raises(Died):
            _force(quiet)
    if quiet.verdict().state is IndexState.FRESH:
        quiet.assert_published()
    quiet.gitindex("grep", "helper")
    Runner(quiet.worktree).serve()
    _assert_whole(quiet)
    assert quiet.gitindex("grep", "helper").stdout.count("helper") == 2


def test_a1_a_build_that_fails_leaves_the_old_store(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise GitIndexError("no space left")

    monkeypatch.setattr(rebuild, "_index", fail)
    before = os.stat(quiet.worktree.database).st_ino
    _force(quiet)
    assert os.stat(quiet.worktree.database).st_ino == before
    assert quiet.jobs()[0]["extracted"] == 3  # in place
    _assert_whole(quiet)
