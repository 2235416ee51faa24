"""What each file saw of the others when it was last refreshed, stored as the few changes since.

A file is refreshed by the publish that changes it, by a forced reindex, or on request. The state at
that time equals the present one, unless a later publish recorded what it was before. So a first
index and a further worktree cost nothing, and a publish writes one row for each path that it
changes.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gitindex.store.connection import Database
from gitindex.store.mapping import Published

COMPACT_EVERY = 64
"""Number of publishes after which rows that no file needs are dropped."""

INTERFACE = "CASE WHEN b.status IN ('parsed', 'partial') THEN b.interface_hash ELSE hex(f.oid) END"
"""What other files can depend on: the exported surface, or all bytes if it is unknown."""


class PathAtTime(NamedTuple):
    """The blob and interface of a path at one time."""

    oid: bytes
    interface: str


Changes = dict[str, list[tuple[int, PathAtTime | None]]]
"""By path, oldest first: the publish that changed it, and its state before."""

Seen = dict[str, str | None]
"""What was reviewed of dependencies that were edited and not published: their interface; None: gone."""


class History:
    """The history of one worktree, as of one snapshot."""

    def __init__(
        self, changes: Changes, refreshed: dict[str, tuple[int, Seen]], present: Container[str]
    ) -> None:
        self._changes = changes
        self._refreshed = refreshed
        self._moves = sorted(_moves(changes, present))

    def refreshed(self, path: str) -> int:
        """Return the generation in which this file was last refreshed; 0: the first."""
        own = self._changes.get(path)
        return max(self._refreshed.get(path, (0,))[0], own[-1][0] if own else 0)

    def seen(self, path: str) -> Seen:
        """Return what was reviewed at its last refresh beside that generation."""
        generation, seen = self._refreshed.get(path, (0, {}))
        return seen if generation == self.refreshed(path) else {}

    def at(self, path: str, generation: int, now: PathAtTime | None) -> PathAtTime | None:
        """Return the state of a path in an older generation; `now` is the published one."""
        changes = self._changes.get(path, ())
        after = _first_after(changes, generation)
        return changes[after][1] if after < len(changes) else now

    def epoch(self, generation: int) -> int:
        """Return how many later publishes added or removed paths."""
        return len(self._moves) - bisect_right(self._moves, generation)

    def changes(self) -> Iterable[tuple[str, list[tuple[int, PathAtTime | None]]]]:
        """Return all recorded changes, by path."""
        return self._changes.items()

    def paths_at(self, generation: int, now: Iterable[str]) -> set[str]:
        """Return the paths of an older generation; `now` are the published ones."""
        paths = set(now)
        for path, changes in self._changes.items():
            after = _first_after(changes, generation)
            if after < len(changes):
                (paths.discard if changes[after][1] is None else paths.add)(path)
        return paths


def load(database: Database, worktree_id: int, present: Container[str]) -> History:
    """Load the history of a worktree whose published paths are `present`."""
    changes: Changes = defaultdict(list)
    for path, generation, oid, interface in database.rows(
        "SELECT p.path, h.generation, h.oid, h.interface FROM path_history h"
        " JOIN paths p ON p.id=h.path_id WHERE h.worktree_id=? ORDER BY h.path_id, h.generation",
        worktree_id,
    ):
        changes[os.fsdecode(path)].append(
            (generation, None if oid is None else PathAtTime(oid, interface))
        )
    refreshed = database.rows(
        "SELECT p.path, r.generation, r.seen FROM file_refreshes r JOIN paths p ON p.id=r.path_id"
        " WHERE r.worktree_id=?",
        worktree_id,
    )
    reviews = {os.fsdecode(path): (at, json.loads(seen)) for path, at, seen in refreshed}
    return History(dict(changes), reviews, present)


class PathBeforePublish(NamedTuple):
    """A path that a publish is about to change."""

    path_id: int | None  # None: the store has never seen this path
    was: PathAtTime | None


def before(
    database: Database, base: Published, now: dict[bytes, str]
) -> dict[bytes, PathBeforePublish]:
    """Return the paths of `now` (path → new blob) that change. In the publish's transaction."""
    if not base.generation:
        return {}  # nothing was published before
    states = dict.fromkeys(now, PathBeforePublish(None, None))
    for path, path_id, oid, interface in database.rows_among(
        f"SELECT p.path, p.id, f.oid, {INTERFACE} FROM paths p"
        " LEFT JOIN files f ON f.path_id=p.id AND f.worktree_id=?"
        " LEFT JOIN blobs b ON b.id=f.blob_id WHERE p.path IN ({marks})",
        now,
        base.worktree_id,
    ):
        if oid is not None and oid.hex() == now[path]:
            del states[path]
        else:
            was = None if oid is None else PathAtTime(oid, interface)
            states[path] = PathBeforePublish(path_id, was)
    return states


def record(
    database: Database,
    base: Published,
    generation: int,
    was: dict[bytes, PathBeforePublish],
    ids: Mapping[bytes, int],
    anew: bool,
) -> None:
    """Record what a publish changed; `was` is the state before, `ids` are those of its paths now. In the
    same transaction.

    A publish that extracted everything `anew` has refreshed every file: the history is cleared.
    """
    if anew:
        for table in ("path_history", "file_refreshes"):
            database.run(f"DELETE FROM {table} WHERE worktree_id=?", base.worktree_id)
        return
    database.insert_many(
        "path_history",
        "(?,?,?,?,?)",
        (
            (base.worktree_id, ids[path], generation, *(one.was or (None, None)))
            for path, one in was.items()
            if path in ids
        ),
    )


def is_long(generation: int) -> bool:
    """Is it time to `compact`? It looks at all files, so a publish leaves it to a time when nobody waits."""
    return generation % COMPACT_EVERY == 0


def refresh(
    database: Database,
    worktree_id: int,
    paths: Iterable[bytes],
    generation: int,
    seen: Mapping[bytes, Seen] = {},
) -> None:
    """Record that files were reviewed against that generation, and what they saw beside it."""
    with database.joined():
        changed = database.row("SELECT 1 FROM path_history WHERE worktree_id=?", worktree_id)
        if not changed and not any(seen.values()):
            return  # nothing has changed since
        database.run_many(
            "INSERT INTO file_refreshes SELECT ?, id, ?, ? FROM paths WHERE path=?"
            " ON CONFLICT DO UPDATE SET generation=excluded.generation, seen=excluded.seen"
            " WHERE generation<excluded.generation"
            " OR (generation=excluded.generation AND excluded.seen<>'{}')",
            ((worktree_id, generation, json.dumps(seen.get(path, {})), path) for path in paths),
        )


def compact(database: Database, worktree_id: int) -> None:
    """Drop changes that no file needs any more. The caller holds the write transaction."""
    present = {
        os.fsdecode(path)
        for (path,) in database.rows(
            "SELECT p.path FROM files f JOIN paths p ON p.id=f.path_id WHERE f.worktree_id=?",
            worktree_id,
        )
    }
    history = load(database, worktree_id, present)
    needed = sorted({history.refreshed(path) for path in present})
    database.run_many(
        "DELETE FROM path_history WHERE worktree_id=? AND generation=?"
        " AND path_id=(SELECT id FROM paths WHERE path=?)",
        (
            (worktree_id, generation, os.fsencode(path))
            for path, changes in history.changes()
            for generation in _useless(changes, needed, keep_last=path in present)
        ),
    )


def _useless(
    changes: list[tuple[int, PathAtTime | None]], needed: list[int], keep_last: bool
) -> Iterator[int]:
    """Yield changes between which no file was refreshed; `keep_last` dates this file's refresh."""
    last = 0
    for generation, _ in changes[:-1] if keep_last else changes:
        if bisect_left(needed, last) == bisect_left(needed, generation):
            yield generation
        last = generation


def _moves(changes: Changes, present: Container[str]) -> set[int]:
    """Return the publishes that added or removed paths."""
    moves = set()
    for path, own in changes.items():
        there = [was is not None for _, was in own] + [path in present]
        moves |= {own[i][0] for i in range(len(own)) if there[i] != there[i + 1]}
    return moves


def _first_after(changes: Sequence[tuple[int, PathAtTime | None]], generation: int) -> int:
    return bisect_right(changes, generation, key=lambda change: change[0])
