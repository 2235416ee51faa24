"""What files saw: the few rows that are kept tell the same as a full copy of every generation would."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitindex.base.vocabulary import SkipReason
from gitindex.git.interface import Head
from gitindex.store import history, mapping
from gitindex.store.connection import Database, open_writer
from gitindex.store.history import PathAtTime
from gitindex.store.mapping import FileRow, Published

PATHS = ("a", "b", "c", "d")
_TREES = st.dictionaries(st.sampled_from(PATHS), st.integers(1, 3), max_size=4)
_STEPS = st.lists(
    st.one_of(_TREES, st.sampled_from(PATHS), st.just("compact")), min_size=1, max_size=14
)


@pytest.fixture
def database() -> Iterator[Database]:
    with tempfile.TemporaryDirectory() as folder:
        made = open_writer(os.path.join(folder, "facts.db"))
        yield made
        made.close()


def _published(database: Database) -> Published:
    found = mapping.published(database, "main")
    assert found is not None
    return found


def _publish(database: Database, tree: dict[str, int], force: bool = False) -> int:
    """Make `tree` the published one, as a refresh does; content n has the blob id nn…"""
    base = _published(database)
    held = {row.path for row in mapping.read_mapping(database, base.worktree_id)}
    rows = [
        FileRow(p.encode(), f"{n:040x}", 0o100644, None, SkipReason.IGNORED)
        for p, n in tree.items()
    ]
    gone = sorted(held - {row.path for row in rows})
    with database.write():
        new = dict.fromkeys(gone, "") | {row.path: row.oid for row in rows}
        was = history.before(database, base, new)
        known = {path: one.path_id for path, one in was.items() if one.path_id is not None}
        ids = mapping.replace_rows(
            database, base.worktree_id, gone, rows, lambda _path: False, known
        )
        made = mapping.raise_generation(database, base.worktree_id, Head("c", "t"), "run", "{}")
        history.record(database, base, made, was, ids, force)
    return made


def _was(tree: dict[str, int], path: str) -> PathAtTime | None:
    if path not in tree:
        return None
    oid = f"{tree[path]:040x}"
    return PathAtTime(bytes.fromhex(oid), oid.upper())


@given(_STEPS)
@settings(max_examples=60, deadline=None)
def test_it_tells_what_every_file_saw(steps: list[dict[str, int] | str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = open_writer(os.path.join(folder, "facts.db"))
        mapping.register(database, "main", "/root")
        trees: dict[int, dict[str, int]] = {0: {}}
        refreshed = dict.fromkeys(PATHS, 1)
        now = 0
        for step in [{"a": 1, "b": 1}, *steps]:
            if isinstance(step, dict):
                before, now = trees[now], _publish(database, step)
                trees[now] = step
                refreshed |= {p: now for p in PATHS if before.get(p) != step.get(p)}
            elif step == "compact":
                with database.write():
                    history.compact(database, _published(database).worktree_id)
            else:
                history.refresh(database, 1, [step.encode()], now)
                refreshed[step] = now
            _check(database, trees, now, refreshed)
        database.close()


def _check(
    database: Database, trees: dict[int, dict[str, int]], now: int, refreshed: dict[str, int]
) -> None:
    """Only what live files ask for must be told: what they saw of each path, and which there were."""
    live = trees[now]
    found = history.load(database, _published(database).worktree_id, live)
    for asker in live:
        since = found.refreshed(asker)
        for path in PATHS:
            assert found.at(path, since, _was(live, path)) == _was(trees[refreshed[asker]], path)
        assert found.paths_at(since, live) == trees[refreshed[asker]].keys()
        if found.epoch(since) == 0:
            assert trees[refreshed[asker]].keys() == live.keys()


def test_a_first_publish_and_files_that_stay_write_nothing(database: Database) -> None:
    mapping.register(database, "main", "/root")
    _publish(database, {"a": 1, "b": 1})
    _publish(database, {"a": 1, "b": 2})
    rows = database.rows("SELECT p.path, generation FROM path_history JOIN paths p ON p.id=path_id")
    assert rows == [(b"b", 2)]


def test_a_forced_publish_forgets(database: Database) -> None:
    mapping.register(database, "main", "/root")
    _publish(database, {"a": 1})
    _publish(database, {"a": 2})
    history.refresh(database, 1, [b"a"], 2)
    _publish(database, {"a": 3}, force=True)
    assert database.rows("SELECT * FROM path_history") == []
    assert database.rows("SELECT * FROM file_refreshes") == []


def test_flipping_between_branches_does_not_grow(database: Database) -> None:
    mapping.register(database, "main", "/root")
    for number in range(3 * history.COMPACT_EVERY + 1):
        _publish(database, {"a": 1 + number % 2, "b": 1})
        if history.is_long(_published(database).generation):  # as a session does when it ends
            with database.write():
                history.compact(database, 1)
    assert database.row("SELECT count(*) FROM path_history")[0] <= 4


def test_a_forgotten_worktree_leaves_nothing(database: Database) -> None:
    mapping.register(database, "main", "/root")
    _publish(database, {"a": 1})
    _publish(database, {"a": 2})
    mapping.forget(database, "main")
    assert database.row("SELECT count(*) FROM path_history")[0] == 0
