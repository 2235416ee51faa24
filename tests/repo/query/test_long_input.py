"""A8: a long line and a path of many components cost time in proportion to their length."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.coordinator import IndexCoordinator
from gitindex.filestate.service import FileStateService
from gitindex.query import absence
from gitindex.view.tree import open_tree
from tests.support import Repo

CPU_SECONDS = 20.0
"""Each takes a fraction of a second; what is quadratic took more than a hundred."""


@pytest.mark.timeout(600)
def test_a8_references_in_a_line_of_750_kb(quiet: Repo) -> None:
    quiet.write("line.txt", "helper " * 110_000)
    quiet.write("one.py", "def helper(): pass\n" + "x = [" + "helper(), " * 20_000 + "]\n")
    quiet.commit("long lines")
    coordinator = IndexCoordinator(str(quiet.path))
    coordinator.reindex_incremental()
    began = time.process_time()
    answer = coordinator.get_references("helper")
    assert time.process_time() - began < CPU_SECONDS
    assert answer["status"] == "ok"
    assert answer["references"]


def test_a8_only_listed_mentions_cost_their_line(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of 60,000 mentions in a line of 840 KB was measured from its start: 5 seconds."""
    quiet.write("deep.js", "helper(" * 5_000)
    quiet.commit("a long line of code without facts")
    coordinator = IndexCoordinator(str(quiet.path))
    coordinator.reindex_incremental()
    measured = list[int]()

    def measure(text: bytes) -> int:
        measured.append(len(text))
        return len(text)

    monkeypatch.setattr(absence, "utf16_length", measure)
    answer = coordinator.get_references("helper")
    assert answer["accounted"]["possible"] >= 5_000
    assert len(measured) <= 2 * len(answer["possible"]) <= 2_000


@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", ["a/" * 2_000 + "b.py", "../" * 1_300, "a/../" * 800 + "app.py"])
def test_a8_the_state_of_a_path_of_many_components(quiet: Repo, path: str) -> None:
    began = time.process_time()
    with open_tree(quiet.worktree, ".") as view:
        service = FileStateService(view)
        for _ in range(20):
            with suppress(GitIndexError):
                service.states([path]).of(path)
    assert time.process_time() - began < CPU_SECONDS
