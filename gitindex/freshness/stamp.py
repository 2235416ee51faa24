"""The stamp: what ties a completion marker to the store it was made from. Its only reader and writer.

It lies in the store and names both halves of it, and for each run its commit, its tree and the digest of
its marker: a marker that says anything else proves nothing. docs/internals.md, "`status` opens no database",
says why and in which order stamp, publish and marker are written.
"""

from __future__ import annotations

import os

from gitindex.base.atomic_file import Staging, read_small, write_atomic
from gitindex.base.light_types import NamedTuple
from gitindex.base.worktree import Worktree
from gitindex.freshness.marker import CompletionMarker, render_marker
from gitindex.git.interface import blob_id
from gitindex.store.checksums import (
    GONE,
    META,
    Half,
    LogLock,
    half_of_database,
    half_of_lexical,
    log_size,
    parse_half,
)

FORMAT = "gitindex_stamp_v3"
NONE = "-"
MAX_RUNS = 4
"""Runs a stamp names: the newest, and those whose marker may still be on disk."""


class StoreIdentity(NamedTuple):
    """Tells one store from a copy at the same path, a whole one from one that was cut, and halves of one
    generation from those of two.

    By metadata alone: to open the database by hand would drop SQLite's locks.
    """

    inode: int
    size: int  # of the database: never shrinks while the store lives
    log: int = 0  # `log_size`: what was published may still lie there, and nowhere else
    facts: Half = Half()
    lexical: Half = Half()

    def mismatch(self, named: StoreIdentity) -> str:
        """Describe which part is older than the named one, or of another store; empty if none is."""
        if self.size < named.size:
            return "facts.db was cut"
        if self.facts != Half() and self.facts.precedes(named.facts):
            return "facts.db is of another generation"
        if self.log < named.log and self.facts == named.facts != Half():
            return "facts.db-wal was cut"
        if self.lexical.precedes(named.lexical):
            return "lexical/ is of another generation"
        return ""


class StampedRun(NamedTuple):
    """One run. Before its marker is written commit, tree and digest are `-`."""

    run_id: str
    commit: str = NONE
    tree: str = NONE
    digest: str = NONE  # the id git gives the marker's bytes: `git hash-object` prints it


class Stamp(NamedTuple):
    """The store, and the runs whose marker counts, newest first."""

    store: StoreIdentity
    runs: tuple[StampedRun, ...]

    def run(self, run_id: str) -> StampedRun | None:
        """The entry of one run."""
        return next((run for run in self.runs if run.run_id == run_id), None)

    def render(self) -> bytes:
        """The file's bytes: a line for the store, then one for each run."""
        inode, size, log, facts, lexical = self.store
        if facts == GONE:
            facts = Half()
        lines = [f"{FORMAT} {inode} {size} {log} {facts} {lexical}"]
        return "".join(f"{line}\n" for line in (*lines, *map(" ".join, self.runs))).encode()


def identify_store(worktree: Worktree) -> StoreIdentity:
    """The store that is there now. FileNotFoundError where either half of it is gone."""
    os.stat(os.path.join(worktree.lexical, META))
    database = os.stat(worktree.database)
    facts = half_of_database(worktree.store)
    log = log_size(worktree.database, facts)
    if half_of_database(worktree.store) != facts:
        facts, log = Half(), 0  # somebody moves the log into the database
    lexical = half_of_lexical(worktree.lexical)
    return StoreIdentity(database.st_ino, database.st_size, log, facts, lexical)


def identify_for_stamp(worktree: Worktree) -> StoreIdentity:
    """The same for a stamp: while no transaction of another process ends.

    SQLite commits the first transaction of a log that was moved before it cuts what is behind it: a stamp
    from in between would name a size that the log never has again.
    """
    with LogLock(worktree.database, exclusive=True):
        return identify_store(worktree)


def read_stamp(path: str) -> Stamp | None:
    """The stamp in a file; None where there is none of this format. Other errors are raised."""
    return parse_stamp(read_small(path) or b"")


def parse_stamp(data: bytes) -> Stamp | None:
    """The stamp these bytes are; None for anything else."""
    head, *lines = data.decode("ascii", "replace").splitlines() or [""]
    words = head.split(" ")
    runs = [line.split(" ") for line in lines]
    numbers = words[1:4]
    if len(words) != 8 or words[0] != FORMAT or not all(map(str.isdecimal, numbers)):
        return None
    if not runs or any(len(run) != 4 for run in runs):
        return None
    halves = parse_half(" ".join(words[4:6])), parse_half(" ".join(words[6:]))
    inode, size, log = map(int, numbers)
    store = StoreIdentity(inode, size, log, *halves)
    return Stamp(store, tuple(StampedRun(*run) for run in runs))


def announce_run(worktree: Worktree, run_id: str, store: StoreIdentity) -> None:
    """Name a run before it changes anything: from here on no older marker is fresh.

    The runs before it stay named: their marker serves until the new one is written.
    """
    older = _proven_runs(worktree, run_id)
    if older:
        stamp = Stamp(store, (StampedRun(run_id), *older))
        write_atomic(worktree.stamp, stamp.render())


def publish_marker(worktree: Worktree, marker: CompletionMarker, store: StoreIdentity) -> None:
    """Write the digest of a new marker into the stamp, then the marker. Only after a publish."""
    data = render_marker(marker)
    run = _stamped(marker, data)
    stamp = Stamp(store, (run, *_proven_runs(worktree, run.run_id)))
    write_atomic(worktree.stamp, stamp.render(), durable=False)
    there = os.path.lexists(worktree.marker)
    write_atomic(worktree.marker, data, existing=there, staging=Staging(worktree.store))


def restamp(path: str, store: StoreIdentity) -> None:
    """Note that the store has changed, by its writer."""
    stamp = read_stamp(path)
    if stamp is not None and stamp.store != store:
        write_atomic(path, stamp._replace(store=store).render(), existing=True)


def is_stamped(stamp: Stamp, marker: CompletionMarker, data: bytes) -> bool:
    """Is this marker, byte for byte, one that the stamp names?"""
    return stamp.run(marker.run_id) == _stamped(marker, data)


def _stamped(marker: CompletionMarker, data: bytes) -> StampedRun:
    digest = blob_id(data, len(marker.tree_id))
    return StampedRun(marker.run_id, marker.head_commit or NONE, marker.tree_id, digest)


def _proven_runs(worktree: Worktree, but: str) -> tuple[StampedRun, ...]:
    """Runs whose marker was written, or was about to be; without `but`."""
    stamp = read_stamp(worktree.stamp)
    runs = stamp.runs if stamp is not None else ()
    return tuple(run for run in runs if run.digest != NONE and run.run_id != but)[: MAX_RUNS - 1]
