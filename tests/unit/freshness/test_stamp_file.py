"""The stamp's file: its form, the runs it names, and their order."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitindex.base.worktree import Worktree
from gitindex.freshness.marker import (
    MAX_RUNS,
    NONE,
    CompletionMarker,
    Stamp,
    StampedRun,
    StoreIdentity,
    announce_run,
    identify_store,
    is_stamped,
    parse_stamp,
    publish_marker,
    read_stamp,
    render_marker,
    restamp,
    runtime_fingerprint,
)
from gitindex.store.checksums import GONE, Half

STORE = StoreIdentity(7, 4096, 9, Half("f", 3), Half("l", 5))
RUNS = (StampedRun("new"), StampedRun("old", "c", "t", "d"))
GOOD = Stamp(STORE, RUNS).render()


def marker(run: str, tree: str = "a" * 40, commit: str | None = "c") -> CompletionMarker:
    return CompletionMarker("/r", runtime_fingerprint(), 1, 1, "t", run, commit, tree, 1)


@pytest.fixture
def worktree(tmp_path: Path) -> Worktree:
    made = Worktree(str(tmp_path), str(tmp_path / ".git"), str(tmp_path / ".git"), "main")
    Path(made.stamp).parent.mkdir(parents=True)
    Path(made.llmc).mkdir()
    return made


def named(worktree: Worktree) -> list[str]:
    stamp = read_stamp(worktree.stamp)
    return [run.run_id for run in stamp.runs] if stamp else []


def test_what_is_rendered_is_read_again() -> None:
    stamp = parse_stamp(GOOD)
    assert stamp == Stamp(STORE, RUNS)
    assert (stamp.run("old"), stamp.run("none")) == (RUNS[1], None)
    assert GOOD == b"gitindex_stamp_v4 7 4096 9 f 3 l 5\nnew - - -\nold c t d\n"


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"gitindex_stamp_v4 7 4096 9 f 3 l 5\n",
        b"gitindex_stamp_v4 7\nnew - - -\n",
        b"gitindex_stamp_v4 7 4096 9 f 3 l 5 1\nnew - - -\n",
        b"gitindex_stamp_v2 7 4096 9 f 3 l 5\nnew - - -\n",
        b"gitindex_stamp_v2 x 4096\nnew - - -\n",
        b"gitindex_stamp_v2 7 x\nnew - - -\n",
        b"gitindex_stamp_v2 x y\nnew - - -\n",
        b"gitindex_stamp_v4 7 4096 9 f 3 l 5\nnew - -\n",
        b"gitindex_stamp_v4 7 4096 9 f 3 l 5\nnew - - - -\n",
        b"gitindex_stamp_v4 7 4096 9 f 3 l 5\nnew - - -\nold c t\n",
        b"\xff\xfe\n",
    ],
)
def test_anything_else_is_none(bad: bytes, tmp_path: Path) -> None:
    assert parse_stamp(bad) is None
    (tmp_path / "stamp").write_bytes(bad)
    assert read_stamp(str(tmp_path / "stamp")) is None


def test_a_run_is_announced_only_beside_proven_ones(worktree: Worktree) -> None:
    announce_run(worktree, "first", STORE)
    assert named(worktree) == [], "with no proven run before it there is no marker to outdate"
    publish_marker(worktree, marker("first"), STORE)
    announce_run(worktree, "second", STORE)
    assert named(worktree) == ["second", "first"]
    announce_run(worktree, "third", STORE)
    assert named(worktree) == ["third", "first"], "one that never got a marker is forgotten"
    publish_marker(worktree, marker("third"), STORE)
    assert named(worktree) == ["third", "first"]


def test_a_stamp_names_few_runs_the_newest_first(worktree: Worktree) -> None:
    for number in range(7):
        publish_marker(worktree, marker(f"run{number}"), STORE)
    assert named(worktree) == ["run6", "run5", "run4", "run3"]
    assert MAX_RUNS == 4
    announce_run(worktree, "next", STORE)
    assert named(worktree) == ["next", "run6", "run5", "run4"]


def test_the_marker_is_tied_byte_for_byte(worktree: Worktree) -> None:
    made = marker("run")
    publish_marker(worktree, made, STORE)
    stamp = read_stamp(worktree.stamp)
    assert stamp is not None
    data = Path(worktree.marker).read_bytes()
    assert data == render_marker(made)
    assert is_stamped(stamp, made, data)
    assert not is_stamped(stamp, made, data + b" ")
    for other in (marker("other"), marker("run", "b" * 40), marker("run", commit="x")):
        assert not is_stamped(stamp, other, data)
    unborn = marker("unborn", commit=None)
    publish_marker(worktree, unborn, STORE)
    again = read_stamp(worktree.stamp)
    assert again is not None
    assert again.runs[0].commit == NONE


def test_a_database_that_grew_is_noted(worktree: Worktree) -> None:
    restamp(worktree.stamp, STORE)
    assert not Path(worktree.stamp).exists()
    publish_marker(worktree, marker("run"), STORE)
    before = Path(worktree.stamp).stat().st_ino
    restamp(worktree.stamp, STORE)
    assert Path(worktree.stamp).stat().st_ino == before, "nothing to write"
    restamp(worktree.stamp, StoreIdentity(7, 8192))
    stamp = read_stamp(worktree.stamp)
    assert stamp is not None
    assert (stamp.store, [run.run_id for run in stamp.runs]) == (StoreIdentity(7, 8192), ["run"])


def test_both_halves_of_a_store_are_needed(worktree: Worktree) -> None:
    database, listing = Path(worktree.database), Path(worktree.lexical, "meta.json")
    listing.parent.mkdir()
    for missing, there in ((database, listing), (listing, database)):
        there.write_bytes(b"12345")
        missing.unlink(missing_ok=True)
        with pytest.raises(FileNotFoundError):
            identify_store(worktree)
    listing.write_bytes(b"{}")
    assert identify_store(worktree) == StoreIdentity(database.stat().st_ino, 5, 0, GONE)
    listing.write_bytes(b'{\n  "opstamp": 12\n}')
    Path(worktree.lexical, "id").write_bytes(b"abc")
    Path(f"{worktree.database}-wal").write_bytes(b"123")
    assert identify_store(worktree)[2:] == (3, GONE, Half("abc", 12))


NOW = StoreIdentity(7, 4096, 9, Half("f", 3), Half("l", 5))


@pytest.mark.parametrize(
    ("now", "wrong"),
    [
        (NOW, ""),
        (NOW._replace(size=4097, log=1, facts=Half("f", 4), lexical=Half("l", 6)), ""),
        (NOW._replace(size=4095), "facts.db was cut"),
        (NOW._replace(facts=Half("f", 2)), "facts.db is of another generation"),
        (NOW._replace(facts=Half("g", 9)), "facts.db is of another generation"),
        (NOW._replace(facts=GONE), "facts.db is of another generation"),
        (NOW._replace(facts=Half()), ""),  # a writer moves its log
        (NOW._replace(log=0), "facts.db-wal was cut"),
        (NOW._replace(log=NOW.log - 1), "facts.db-wal was cut"),
        (NOW._replace(log=NOW.log + 1), ""),
        (NOW._replace(log=0, facts=Half("f", 4)), ""),  # it was moved into the database
        (NOW._replace(lexical=Half("l", 4)), "lexical/ is of another generation"),
        (NOW._replace(lexical=Half("k", 9)), "lexical/ is of another generation"),
        (NOW._replace(lexical=Half()), "lexical/ is of another generation"),
    ],
)
def test_a5_an_older_or_foreign_half_is_named(now: StoreIdentity, wrong: str) -> None:
    assert now.mismatch(STORE) == wrong


def test_a_stamp_of_a_first_session_names_no_checksums() -> None:
    """There are none before its first writer closes the database."""
    stamp = parse_stamp(Stamp(STORE._replace(facts=GONE), RUNS).render())
    assert stamp is not None
    assert stamp.store.facts == Half()
    assert NOW.mismatch(stamp.store) == ""
