"""Observes a worktree's index: marker, HEAD, lock, spool. Writes and starts nothing."""

from __future__ import annotations

import os

from gitindex.base.atomic_file import read_small
from gitindex.base.errors import GitIndexError
from gitindex.base.light_types import TYPE_CHECKING, NamedTuple
from gitindex.base.runner_lock import is_held
from gitindex.base.vocabulary import BuildKind, EditScope, ProofOutcome, ProofReason
from gitindex.base.worktree import Worktree, canonical_root, worktree_at
from gitindex.freshness.marker import (
    CompletionProof,
    identify_store,
    is_stamped,
    parse_stamp,
    read_marker,
    runtime_version,
)
from gitindex.freshness.status_file import parse_object
from gitindex.git.worktree_probe import HeadState, WorktreeProbe
from gitindex.store.checksums import damage_of_store

if TYPE_CHECKING:
    from typing import Any

    from gitindex.freshness.marker import CompletionMarker, Stamp, StoreIdentity
    from gitindex.git.status_cache import Probe

ATTEMPTS = 5
"""Publishes during one observation; after so many the last one counts."""
DAMAGED = "the store is damaged"
"""Start of the message of a proof whose store was changed behind its writer's back."""


class Progress(NamedTuple):
    """How far a running job is."""

    kind: BuildKind
    phase: str | None
    progress_pct: float | None
    last_updated: str | None
    is_towards_us: bool = True
    """Will its result be of the running version? A job of another version cannot end `requires_reindex`."""


class Failure(NamedTuple):
    """Why the last attempt failed, and at which commit (None: at any)."""

    message: str
    commit: str | None


class Observation(NamedTuple):
    """Everything that freshness is a function of."""

    proof: CompletionProof
    head: HeadState
    head_tree: str
    progress: Progress | None  # of a live job; None when nobody works on this worktree
    pending: bool  # events wait, or were taken and are not finished
    failure: Failure | None
    searchable: bool  # the store says that a generation is published


def observe(
    worktree: Worktree, scope: EditScope = EditScope.NONE, probe: Probe | None = None
) -> Observation:
    """Return a consistent observation: the marker is the same before and after HEAD was read.

    `scope` says which edits are counted; freshness does not depend on them. `probe` is a look at the
    work tree that is under way.
    """
    for _ in range(ATTEMPTS):
        probe = probe or WorktreeProbe.start(worktree, scope)
        with probe:
            proof = prove(worktree)
            head = probe.result()
        probe = None
        seen = Observation(
            proof=proof,
            head=head,
            head_tree=head.tree,
            progress=read_progress(worktree),
            pending=has_pending(worktree),
            failure=read_failure(worktree),
            searchable=os.path.exists(worktree.stamp),
        )
        if prove(worktree) == proof:
            break
    return seen


def validate_completion_proof(root: str) -> CompletionProof:
    """Is the index of the worktree at `root` proven complete by the tools that run now?"""
    try:
        worktree = worktree_at(canonical_root(root))
    except (OSError, GitIndexError) as error:
        return _probe_failed(str(error))
    return prove(worktree)


def prove(worktree: Worktree) -> CompletionProof:
    """The marker's proof, if the store's stamp names this very marker and this very store."""
    proof, data = read_marker(worktree.root)
    if proof.outcome not in (ProofOutcome.VALID, ProofOutcome.FINGERPRINT_MISMATCH):
        return proof
    if proof.marker is None:
        return proof  # the marker of another program
    try:
        stamped = read_small(worktree.stamp)
        store = identify_store(worktree)
    except FileNotFoundError:
        stamped = None
    except OSError as error:
        return _probe_failed(str(error))
    if stamped is None:
        return CompletionProof(
            ProofOutcome.STALE_LOCAL, ProofReason.MISSING_MARKER_DOC, proof.marker
        )
    stamp = parse_stamp(stamped)
    reason = _disagreement(proof, proof.marker, data, stamp, store)
    if reason is not None:
        return CompletionProof(ProofOutcome.STALE_LOCAL, reason)
    if stamp is None:
        return proof  # another version's stamp: the remedy is a reindex all the same
    wrong = store.mismatch(stamp.store) or damage_of_store(worktree.store)
    if wrong:
        return _probe_failed(f"{DAMAGED}: {wrong}; run `gitindex index`")
    return proof._replace(is_newest=proof.marker.run_id == stamp.runs[0].run_id)


def _disagreement(
    proof: CompletionProof,
    marker: CompletionMarker,
    data: bytes,
    stamp: Stamp | None,
    store: StoreIdentity,
) -> ProofReason | None:
    """Why a marker is not the one that the stamp names; None if it is, or the version differs."""
    if stamp is None and proof.outcome is ProofOutcome.FINGERPRINT_MISMATCH:
        return None
    if stamp is None or stamp.store.inode != store.inode or not stamp.run(marker.run_id):
        return ProofReason.MISSING_MARKER_DOC
    if proof.outcome is ProofOutcome.VALID and not is_stamped(stamp, marker, data):
        return ProofReason.INVALID_PAYLOAD
    return None


def _probe_failed(message: str) -> CompletionProof:
    return CompletionProof(ProofOutcome.PROBE_FAILED, ProofReason.PROBE_FAILED, message=message)


def has_pending(worktree: Worktree) -> bool:
    """Are there events whose refresh is not finished?"""
    return any(os.path.exists(path) for path in (worktree.spool, worktree.taken))


def read_progress(worktree: Worktree) -> Progress | None:
    """Progress of this worktree's live job. A dead runner's note does not count."""
    fields = _read_note(worktree.progress)
    if fields is None or not is_held(worktree.lock):
        return None
    try:
        kind = BuildKind(str(fields.get("kind")))
    except ValueError:
        kind = BuildKind.REFRESH
    details = (fields.get("phase"), fields.get("progressPct"), fields.get("lastUpdated"))
    return Progress(kind, *details, fields.get("towards") == runtime_version())


def read_failure(worktree: Worktree) -> Failure | None:
    """The recorded failure, if the last attempt failed."""
    fields = _read_note(worktree.failure)
    return Failure(str(fields.get("message", "")), fields.get("commit")) if fields else None


def _read_note(path: str) -> dict[str, Any] | None:
    try:
        return parse_object(read_small(path))
    except OSError:
        return None
