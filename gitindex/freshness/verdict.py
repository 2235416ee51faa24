"""The one answer to "is this index current?": a pure function of one observation."""

from __future__ import annotations

from gitindex.base.errors import Exit
from gitindex.base.escape import counted
from gitindex.base.light_types import NamedTuple
from gitindex.base.vocabulary import FreshnessState, IndexState, ProofOutcome, ProofReason
from gitindex.freshness.observation import DAMAGED, Failure, Observation

UNKNOWN = "unknown"
NEVER = "not indexed"
"""Nothing is stale that never was."""


class Verdict(NamedTuple):
    """The state, its exit code, and the reason in one line."""

    state: IndexState
    freshness: FreshnessState
    code: Exit
    why: str

    @property
    def word(self) -> str:
        """The state as people read it: `unknown` without a proof to read, `not indexed` before the first."""
        if self.freshness is FreshnessState.UNKNOWN and self.state is not IndexState.ERROR:
            return UNKNOWN
        return NEVER if self.why.startswith(NEVER) else str(self.state)


def judge(seen: Observation) -> Verdict:
    """The state of a worktree's index. The first rule that fits decides; fresh is the last.

    Uncommitted edits are no part of it: every answer lays them over the published tree.
    """
    proof, marker = seen.proof, seen.proof.marker
    if seen.progress is not None:
        phase = seen.progress.phase or "starting"
        return Verdict(IndexState.REBUILDING, FreshnessState.STALE, Exit.NO, f"a job runs: {phase}")
    if proof.outcome is not ProofOutcome.VALID:
        return _judge_unproven(seen)
    assert marker is not None
    if seen.failure is not None and _concerns(seen.failure, seen):
        return _error(seen.failure.message)
    if seen.head_tree != marker.tree_id:
        return _stale(f"HEAD's tree {seen.head_tree[:12]} is not the indexed {marker.tree_id[:12]}")
    if seen.pending:
        return _stale("a refresh is queued")
    if not proof.settled:
        return _stale("a publish was not finished")
    why = f"{counted(marker.indexed_files, 'files')}, tree {marker.tree_id[:12]}"
    return Verdict(IndexState.FRESH, FreshnessState.FRESH, Exit.OK, why)


def _judge_unproven(seen: Observation) -> Verdict:
    """The state of an index whose marker proves nothing."""
    proof, failed = seen.proof, seen.failure is not None and not seen.pending
    if proof.outcome is ProofOutcome.FINGERPRINT_MISMATCH:
        return _gated("requires_reindex: made by another version of gitindex or its grammars")
    if failed and seen.failure is not None:
        return _error(seen.failure.message)
    if proof.outcome is ProofOutcome.STALE_LOCAL:
        return _gated(_unproven(seen))
    if proof.message.startswith(DAMAGED) and not seen.pending:
        return Verdict(IndexState.ERROR, FreshnessState.UNKNOWN, Exit.ERROR, proof.message)
    why = f"the proof cannot be read: {proof.message}"
    return Verdict(IndexState.STALE, FreshnessState.UNKNOWN, Exit.NO, why)


def _concerns(failure: Failure, seen: Observation) -> bool:
    """Whether this HEAD failed and nothing is queued that may fix it.

    A store that could not be opened (no commit) says nothing of an index that is proven for HEAD.
    """
    marker = seen.proof.marker
    if failure.commit is None and marker is not None and seen.proof.settled:
        return not seen.pending and marker.tree_id != seen.head_tree
    return not seen.pending and failure.commit in (seen.head.commit, None)


def _unproven(seen: Observation) -> str:
    if seen.proof.message:
        return f"not proven: {seen.proof.message}"
    if not seen.searchable:
        return f"{NEVER} yet: the first index is queued" if seen.pending else NEVER
    reason = seen.proof.reason or ProofReason.MISSING_MARKER_DOC
    return f"not proven: {reason}"


def _stale(why: str) -> Verdict:
    return Verdict(IndexState.STALE, FreshnessState.STALE, Exit.NO, why)


def _gated(why: str) -> Verdict:
    return Verdict(IndexState.STALE, FreshnessState.STALE, Exit.GATED, why)


def _error(why: str) -> Verdict:
    return Verdict(IndexState.ERROR, FreshnessState.STALE, Exit.ERROR, why)
