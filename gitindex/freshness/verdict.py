"""The one answer to "is this index current?": a pure function of one observation."""

from __future__ import annotations

from gitindex.base.errors import Exit
from gitindex.base.lean import NamedTuple
from gitindex.base.vocabulary import FreshnessState, IndexState, ProofOutcome, ProofReason
from gitindex.freshness.observation import Observation


class Verdict(NamedTuple):
    """What a reader says, and why in one line."""

    state: IndexState
    freshness: FreshnessState
    code: Exit
    why: str


def judge(seen: Observation) -> Verdict:
    """The state of a worktree's index. The first rule that fits decides; fresh is the last."""
    proof, marker = seen.proof, seen.proof.marker
    if proof.outcome is ProofOutcome.PROBE_FAILED:
        return _error(f"the proof cannot be read: {proof.message}")
    if seen.progress is not None:
        phase = seen.progress.phase or "starting"
        return Verdict(IndexState.REBUILDING, FreshnessState.STALE, Exit.NO, f"a job runs: {phase}")
    if proof.outcome is ProofOutcome.FINGERPRINT_MISMATCH:
        return _gated("requires_reindex: made by another version of gitindex or its grammars")
    if proof.outcome is ProofOutcome.STALE_LOCAL:
        if seen.failure is not None:
            return _error(seen.failure.message)
        return _gated(_unproven(seen))
    assert marker is not None
    if seen.head_tree != marker.tree_id:
        if seen.failure is not None and seen.failure.commit in (seen.head.commit, None):
            return _error(seen.failure.message)
        return _stale(f"HEAD's tree {seen.head_tree[:12]} is not the indexed {marker.tree_id[:12]}")
    if seen.pending:
        return _stale("a refresh is queued")
    if not proof.settled:
        return _stale("a publish was not finished")
    if seen.head.dirty:
        return _stale(f"{len(seen.head.dirty)} tracked paths differ from HEAD")
    files = marker.indexed_files
    return Verdict(
        IndexState.FRESH,
        FreshnessState.FRESH,
        Exit.OK,
        f"{files} files, tree {marker.tree_id[:12]}",
    )


def _unproven(seen: Observation) -> str:
    if seen.proof.message:
        return f"not proven: {seen.proof.message}"
    if not seen.searchable:
        return "not indexed yet: the first index is queued" if seen.pending else "not indexed"
    reason = seen.proof.reason or ProofReason.MISSING_MARKER_DOC
    return f"not proven: {reason}"


def _stale(why: str) -> Verdict:
    return Verdict(IndexState.STALE, FreshnessState.STALE, Exit.NO, why)


def _gated(why: str) -> Verdict:
    return Verdict(IndexState.STALE, FreshnessState.STALE, Exit.GATED, why)


def _error(why: str) -> Verdict:
    return Verdict(IndexState.ERROR, FreshnessState.UNKNOWN, Exit.ERROR, why)
