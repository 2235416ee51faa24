"""Seed 004, stability of indexes: each test carries the ids of the sentences it holds.

Other rows are held by tests/e2e/mcp/test_gate.py (test plan A-G, acceptance 1-8) and
tests/repo/freshness/test_marker.py (V rows: every outcome and reason of the validator).
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from gitindex.base.vocabulary import ManageOutcome
from gitindex.refresh.lifecycle import create
from tests.mcp_client import Inside, make_quiet, probe_failing
from tests.support import TIMEOUT, Repo


@pytest.fixture
def known(repo: Repo) -> Repo:
    return make_quiet(repo)


def run_create(repo: Repo) -> ManageOutcome:
    """What `create` says at once; returns when what it started has ended."""
    done = create(repo.worktree)
    if done.process is not None:
        done.process.wait(TIMEOUT)
    return done.outcome


def test_004_i7_a_registry_that_vanishes_drops_nobody(known: Repo, tmp_path: Path) -> None:
    inside = Inside("", tmp_path)
    inside.ask("manage_index", action="create", path=str(known.path))
    listed = inside.ask("list_codebases")["codebases"]
    assert [row["root"] for row in listed] == [known.worktree.root]
    os.unlink(tmp_path / "gitindex" / "codebases.json")
    assert inside.ask("list_codebases")["codebases"] == listed
    found = inside.ask("search_codebase", query="helper", path=str(known.path))
    assert found["status"] == "ok"


def test_004_x1b_a_marker_without_its_store_is_stale_local(known: Repo, tmp_path: Path) -> None:
    inside = Inside(str(known.worktree.root), tmp_path)
    shutil.rmtree(known.worktree.store)
    answer = inside.ask("search_codebase", query="helper")
    assert (answer["status"], answer["reason"]) == ("not_indexed", "not_indexed")
    hint = answer["hints"]["staleLocal"]
    assert hint["recommendedAction"]["args"]["action"] == "create"
    assert "completion proof" in answer["message"]


def test_004_s5d_ac7_a_failed_probe_is_unknown_on_the_command_line(known: Repo) -> None:
    with probe_failing(known):
        status = known.gitindex("status")
        assert (status.returncode, status.stdout.partition(":")[0]) == (1, "unknown")
        assert known.gitindex("check").returncode == 4
        assert known.answer("status")["indexStatus"]["index_state"] == "stale"
        assert known.gitindex("search", "helper").returncode == 0
    assert known.gitindex("status").returncode == 0


def test_004_c3d_create_proceeds_where_the_proof_cannot_be_read(known: Repo) -> None:
    with probe_failing(known):
        assert run_create(known) is ManageOutcome.STARTED


def test_004_a2_i3_p2c_a_damaged_store_is_never_already_indexed(
    known: Repo, tmp_path: Path
) -> None:
    inside = Inside(known.worktree.root, tmp_path)
    store = Path(known.worktree.database)
    data = bytearray(store.read_bytes())
    data[: len(data) // 2] = bytes(len(data) // 2)
    store.write_bytes(data)
    told = inside.ask("manage_index", action="status", path=str(known.path))
    assert told["state"] == "error"
    assert run_create(known) is ManageOutcome.STARTED
    known.wait_fresh()
    assert inside.ask("search_codebase", query="helper", path=str(known.path))["results"]


def test_004_clear_says_what_can_be_done_next(known: Repo, tmp_path: Path) -> None:
    inside = Inside("", tmp_path)
    inside.ask("manage_index", action="create", path=str(known.path))
    answer = inside.ask("manage_index", action="clear", path=known.worktree.root)
    assert answer["outcome"] == "cleared"
    assert answer["hints"]["create"]["args"] == {"action": "create", "path": known.worktree.root}
