"""Bytes that the disk lost are found a piece at a time, or all at once where that was left to a runner."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitindex.refresh import runner
from gitindex.store import checksums, scrub
from gitindex.store.checksums import checked_parts
from gitindex.store.scrub import full_scrub_due, scrub_next, size_of_store
from tests.repo.store.test_corruption import forge_identity
from tests.support import Repo


@pytest.fixture
def indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A store that is too large to be compared at once."""
    monkeypatch.setattr(scrub, "QUICK_BYTES", 0)
    monkeypatch.setattr(runner, "QUICK_BYTES", 0)
    monkeypatch.setattr(scrub, "PIECE_BYTES", 1)
    repo = Repo(tmp_path / "repo")
    repo.init()
    for number in range(60):
        repo.write(f"m{number}.py", f"def only_{number}():\n    return {number}\n" * 40)
    repo.commit()
    repo.index()
    return repo


def _lose_a_bit(path: Path, at: int) -> None:
    """As a disk does it: the identity of the file stays what the seal says."""
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    forge_identity(path)


def test_every_part_has_its_turn(indexed: Repo) -> None:
    store = indexed.worktree.store
    parts = checked_parts(store)
    assert len(parts) > 6
    for _ in parts:
        assert scrub_next(store) == ""
    assert Path(store, "compared").read_bytes() == b"0"
    assert size_of_store(store) > 100_000


@pytest.mark.parametrize("which", ["facts.db", "lexical"])
def test_damage_is_found_when_its_turn_comes(indexed: Repo, which: str) -> None:
    store = Path(indexed.worktree.store)
    if which == "facts.db":
        _lose_a_bit(store / "facts.db", 150_000)
    else:
        _lose_a_bit(next((store / "lexical").glob("*.idx")), 200)
    checksums._intact.clear()
    seen = [scrub_next(str(store)) for _ in checked_parts(str(store))]
    assert any(seen)


def test_everything_is_compared_where_that_was_left(indexed: Repo) -> None:
    """HEAD moved, so `index` compares nothing that it does not need; the next runner does."""
    store = indexed.worktree.store
    assert not full_scrub_due(store)
    indexed.index()
    assert not full_scrub_due(store), "nothing had moved: all was compared"
    indexed.write("new.py", "def new():\n    return 1\n")
    indexed.commit()
    indexed.index()
    indexed.wait_idle()
    assert not full_scrub_due(store), "the runner that `index` started has done it"
    scrub.schedule_full_scrub(store)
    _lose_a_bit(Path(store, "facts.db"), 150_000)
    assert scrub_next(store) != ""
    assert not full_scrub_due(store)
