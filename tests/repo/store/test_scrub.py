"""Bytes that the disk lost are found: in a large store once a day, or where that was left to a runner."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from gitindex.refresh import runner
from gitindex.store import checksums, scrub
from gitindex.store.scrub import SCRUB_SECONDS, SCRUBBED, full_scrub_due, size_of_store
from tests.repo.store.test_corruption import forge_identity
from tests.support import Repo


@pytest.fixture
def indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A store that is too large to be compared at once."""
    monkeypatch.setattr(scrub, "QUICK_BYTES", 0)
    monkeypatch.setattr(runner, "QUICK_BYTES", 0)
    repo = Repo(tmp_path / "repo")
    repo.init()
    for number in range(60):
        repo.write(f"m{number}.py", f"def only_{number}():\n    return {number}\n" * 40)
    repo.commit()
    repo.index()
    repo.wait_idle()  # a scrub is due: its runner would take the next commit
    return repo


def _lose_a_bit(path: Path, at: int) -> None:
    """As a disk does it: the identity of the file stays what the seal says."""
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    forge_identity(path)


@pytest.mark.parametrize("which", ["facts.db", "lexical"])
def test_a_large_store_is_compared_once_a_day(indexed: Repo, which: str) -> None:
    store = Path(indexed.worktree.store)
    assert size_of_store(str(store)) > 100_000
    scrub.schedule_full_scrub(str(store))
    assert scrub.scrub(str(store)) == ""
    if which == "facts.db":
        _lose_a_bit(store / "facts.db", 150_000)
    else:
        _lose_a_bit(next((store / "lexical").glob("*.idx")), 200)
    checksums._intact.clear()
    assert not full_scrub_due(str(store))
    assert scrub.scrub(str(store)) == ""
    yesterday = time.time() - SCRUB_SECONDS
    os.utime(store / SCRUBBED, (yesterday, yesterday))
    assert full_scrub_due(str(store))
    assert scrub.scrub(str(store)) != ""


def test_everything_is_compared_where_that_was_left(indexed: Repo) -> None:
    """HEAD moved, so `index` compares nothing that it does not need; the next runner does."""
    store = indexed.worktree.store
    assert scrub.scrub(store) == ""
    assert not full_scrub_due(store)
    indexed.write("new.py", "def new():\n    return 1\n")
    indexed.commit()
    indexed.index()
    indexed.wait_idle()
    assert full_scrub_due(store)
    _lose_a_bit(Path(store, "facts.db"), 150_000)
    assert scrub.scrub(store) != ""
    assert not full_scrub_due(store)
