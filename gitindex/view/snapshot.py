"""Serve an answer: the gate, one snapshot of the store, and its proof."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gitindex.base.errors import CorruptStore, OlderSchema, StoreError
from gitindex.base.escape import safe_text
from gitindex.base.light_types import NamedTuple, sha256
from gitindex.base.vocabulary import BuildKind, EditScope, FreshnessState, ProofOutcome
from gitindex.base.worktree import BUILDING, READY, Worktree
from gitindex.freshness.observation import DAMAGED, Observation, observe
from gitindex.freshness.verdict import GateInput, Verdict, decide_gate, gating_envelope, judge
from gitindex.git.settings import is_strict
from gitindex.git.worktree_probe import WorktreeProbe
from gitindex.store import mapping
from gitindex.store.checksums import CheckLevel, database_damage
from gitindex.store.connection import Database, open_reader
from gitindex.store.mapping import Published
from gitindex.view.footprint import VERSION as FOOTPRINT

if TYPE_CHECKING:
    from gitindex.git.status_cache import Probe

ATTEMPTS = 20
"""With the pause 0.4 s: a publish is that long between its transaction and marker at most."""
PAUSE_SECONDS = 0.02  # as short as a publish usually needs to write its marker


class Snapshot(NamedTuple):
    """One snapshot of one worktree's index, and the observed state of the worktree."""

    worktree: Worktree
    database: Database
    published: Published
    seen: Observation


class GateClosed(Exception):
    """The gate is closed: `envelope` is the whole answer.

    `outdated`: there is an index, but another version of gitindex made it.
    """

    def __init__(self, envelope: dict[str, Any], outdated: bool = False) -> None:
        super().__init__(envelope["message"])
        self.envelope = envelope
        self.outdated = outdated


@contextmanager
def open_snapshot(
    worktree: Worktree,
    path: str,
    strict: bool = False,
    scope: EditScope = EditScope.NONE,
    started_probe: Probe | None = None,
) -> Iterator[Snapshot]:
    """Open a snapshot whose marker and data agree; raises GateClosed. `started_probe`: a running probe."""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE_SECONDS)  # a publish is between its transaction and its marker
        with _probe(worktree, scope, started_probe) as probe:
            started_probe = None
            database = _reader(worktree.database)  # while git runs
            if database is None:
                seen = observe(worktree, scope, probe)
                strict = strict or _insists(worktree, seen)
                raise _closed(worktree, seen, path, False, strict)
            try:
                with database.snapshot():
                    _refuse_corruption(worktree)
                    row = mapping.published(database, worktree.id)
                    seen = observe(worktree, scope, probe)
                    _refuse_damage(seen)
                    strict = strict or _insists(worktree, seen)
                    searchable = _is_searchable(row)
                    last = attempt == ATTEMPTS - 1
                    if decide_gate(_gate(seen, searchable, strict)) is not None:
                        if not last and _will_open(worktree, seen, searchable):
                            continue
                        raise _closed(worktree, seen, path, searchable, strict)
                    assert row is not None
                    if _agrees(seen, row) or last:
                        yield Snapshot(worktree, database, row, seen)
                        return
            finally:
                database.close()


def _reader(path: str) -> Database | None:
    """Return the database; None if there is none, or an older one: its marker closes the gate."""
    try:
        return open_reader(path)
    except OlderSchema:
        return None


def _probe(worktree: Worktree, scope: EditScope, started: Probe | None) -> Probe:
    return started or WorktreeProbe.start(worktree, scope)


def _is_searchable(row: Published | None) -> bool:
    return row is not None and row.generation > 0


def _will_open(worktree: Worktree, seen: Observation, searchable: bool) -> bool:
    """Return whether a publish is under way, after which the gate is open."""
    return searchable and _between(worktree, seen)


def verdict(served: Snapshot) -> Verdict:
    """Return how fresh the snapshot is: the marker's verdict, if the marker matches it."""
    result = judge(served.seen)
    if result.freshness is FreshnessState.FRESH and not _agrees(served.seen, served.published):
        return result._replace(freshness=FreshnessState.STALE, why="a publish is under way")
    return result


def fingerprint_digest(text: str) -> str:
    """Return a short digest of a fingerprint and of the form of footprints."""
    return sha256(f"{text} {FOOTPRINT}".encode()).hexdigest()[:16]


def _refuse_damage(seen: Observation) -> None:
    """Raise if anything other than its writer changed the store."""
    message = seen.proof.message or ""
    if seen.proof.outcome is ProofOutcome.PROBE_FAILED and message.startswith(DAMAGED):
        raise CorruptStore(message.partition("; ")[0], "run `gitindex index`")


def _refuse_corruption(worktree: Worktree) -> None:
    """Raise if a part of the database fails its checksum; checked once per process."""
    wrong = database_damage(worktree.store, CheckLevel.CACHED)
    if wrong:
        raise CorruptStore(f"{DAMAGED}: {wrong}", "run `gitindex index`")


def _insists(worktree: Worktree, seen: Observation) -> bool:
    """Return whether the user configured that only proven answers are given."""
    return seen.progress is not None and is_strict(worktree)


def _gate(seen: Observation, searchable: bool, strict: bool) -> GateInput:
    return GateInput(searchable, seen.proof, seen.progress, strict)


def _closed(
    worktree: Worktree, seen: Observation, path: str, searchable: bool, strict: bool
) -> GateClosed:
    gate = _gate(seen, searchable, strict)
    status = decide_gate(gate)
    if status is None:
        raise StoreError(
            "the completion marker is there but the store is missing", "run `gitindex index`"
        )
    envelope = gating_envelope(status, gate, safe_text(path), safe_text(worktree.root))
    return GateClosed(envelope, seen.proof.outcome is ProofOutcome.FINGERPRINT_MISMATCH)


def _between(worktree: Worktree, seen: Observation) -> bool:
    """Is an incremental refresh between its stamp and its marker, or are stores being exchanged?

    In both cases a proof is moments away.
    """
    if os.path.exists(os.path.join(worktree.store, BUILDING, READY)):
        return True
    refreshing = seen.progress is not None and seen.progress.kind is BuildKind.REFRESH
    return refreshing and seen.proof.outcome is ProofOutcome.STALE_LOCAL


def _agrees(seen: Observation, row: Published) -> bool:
    marker = seen.proof.marker
    if marker is None:
        return seen.proof.outcome is ProofOutcome.PROBE_FAILED
    return (marker.run_id, marker.tree_id, marker.generation) == (
        row.run_id,
        row.tree,
        row.generation,
    )
