"""Seed 004, stability of indexes: each test carries the ids of the sentences it holds.

Other rows are held by tests/e2e/test_mcp_gate.py (test plan A-G, acceptance 1-8) and
tests/repo/test_marker.py (V rows: every outcome and reason of the validator).
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.mcp_client import Inside, make_quiet
from tests.support import Repo


@pytest.fixture
def known(repo: Repo) -> Repo:
    return make_quiet(repo)


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


def test_004_clear_says_what_can_be_done_next(known: Repo, tmp_path: Path) -> None:
    inside = Inside("", tmp_path)
    inside.ask("manage_index", action="create", path=str(known.path))
    answer = inside.ask("manage_index", action="clear", path=known.worktree.root)
    assert answer["outcome"] == "cleared"
    assert answer["hints"]["create"]["args"] == {"action": "create", "path": known.worktree.root}
