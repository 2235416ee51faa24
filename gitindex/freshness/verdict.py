"""Is this index current, and may it be served? Pure functions of one observation; only they decide."""

from __future__ import annotations

from gitindex.base.errors import Exit
from gitindex.base.escape import counted
from gitindex.base.light_types import TYPE_CHECKING, NamedTuple
from gitindex.base.vocabulary import (
    BuildKind,
    FreshnessState,
    GateStatus,
    IndexState,
    NonOkReason,
    ProofOutcome,
    ProofReason,
)
from gitindex.freshness.marker import CompletionProof, is_newer
from gitindex.freshness.observation import DAMAGED, Failure, Observation, Progress

if TYPE_CHECKING:
    from typing import Any

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

    Uncommitted edits are no part of it: every answer overlays them on the published tree.
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
    if not proof.is_newest:
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
    if failure.commit is None and marker is not None and seen.proof.is_newest:
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


_REASONS = {
    GateStatus.REQUIRES_REINDEX: NonOkReason.REQUIRES_REINDEX,
    GateStatus.NOT_READY: NonOkReason.INDEXING,
    GateStatus.NOT_INDEXED: NonOkReason.NOT_INDEXED,
}
RETRY_MS = 500  # a hint to callers: most refreshes end within it
STALE_CREATE = (
    "Local snapshot claims indexed, but completion proof is missing/invalid; "
    "treating as not_indexed for create."
)


class GateInput(NamedTuple):
    """What the gate looks at."""

    searchable: bool  # the store says that a generation is published
    proof: CompletionProof
    progress: Progress | None  # of a live job
    strict: bool = False


def decide_gate(seen: GateInput) -> GateStatus | None:
    """None: serve. Otherwise requires_reindex > not_ready > not_indexed.

    A rebuild towards the running version ends `requires_reindex` by itself, so the answer is
    `not_ready` and no agent asks for yet another reindex. A job of another version does not end it.
    """
    if seen.proof.outcome is ProofOutcome.FINGERPRINT_MISMATCH:
        ends = seen.progress is not None and seen.progress.is_towards_us
        return GateStatus.NOT_READY if ends else GateStatus.REQUIRES_REINDEX
    served = seen.searchable and seen.proof.outcome is not ProofOutcome.STALE_LOCAL
    if seen.progress is not None:
        rebuild = seen.progress.kind is not BuildKind.REFRESH
        if seen.strict or rebuild or not served:
            return GateStatus.NOT_READY
    return None if served else GateStatus.NOT_INDEXED


def gating_envelope(status: GateStatus, seen: GateInput, path: str, root: str) -> dict[str, Any]:
    """The whole answer of a closed gate."""
    envelope: dict[str, Any] = {
        "status": str(status),
        "reason": str(_REASONS[status]),
        "message": _message(status, seen),
        "path": path,
        "codebaseRoot": root,
        "hints": {"status": _action("status", root)},
    }
    hints = envelope["hints"]
    if status is GateStatus.NOT_READY:
        envelope["indexing"] = indexing_fields(seen.progress)
        envelope["retryAfterMs"] = RETRY_MS
    elif status is GateStatus.REQUIRES_REINDEX:
        hints["reindex"] = _action("reindex", root)
    elif not is_newer(seen.proof):  # there the remedy is an upgrade, which the message says
        hints["create"] = _action("create", root)
        _add_stale_local(hints, seen, root)
    add_probe_hint(envelope, seen.proof)
    return envelope


def indexing_fields(progress: Progress | None) -> dict[str, Any]:
    """The `indexing` object: each field may be null."""
    return {
        "progressPct": progress.progress_pct if progress else None,
        "lastUpdated": progress.last_updated if progress else None,
        "phase": progress.phase if progress else None,
    }


def add_debug_hint(envelope: dict[str, Any], proof: CompletionProof) -> None:
    """Add the proof that a build needs, for debugging an incomplete one."""
    present = proof.marker is not None
    hint = {"completionProof": "marker_doc", "markerPresent": present}
    envelope["hints"]["debugIndexing"] = hint


def add_probe_hint(envelope: dict[str, Any], proof: CompletionProof) -> None:
    """Disclose a probe that failed; it changes nothing else about the answer."""
    if proof.outcome is ProofOutcome.PROBE_FAILED:
        hints = envelope.setdefault("hints", {})
        hints["debugProofCheck"] = {"ok": False, "reason": "probe_failed"}


def _add_stale_local(hints: dict[str, Any], seen: GateInput, root: str) -> None:
    if _claims_an_index(seen) and seen.proof.outcome is ProofOutcome.STALE_LOCAL:
        hints["staleLocal"] = {
            "completionProof": str(seen.proof.reason),
            "recommendedAction": _action("create", root),
        }


def _claims_an_index(seen: GateInput) -> bool:
    """Does a published store, or a marker that outlived it, say that there is an index?"""
    return seen.searchable or seen.proof.marker is not None


def _action(action: str, root: str) -> dict[str, Any]:
    return {"tool": "manage_index", "args": {"action": action, "path": root}}


def _message(status: GateStatus, seen: GateInput) -> str:
    if status is GateStatus.NOT_READY:
        if seen.searchable and seen.proof.outcome is ProofOutcome.VALID:
            return "A job runs on the index; its proven generation is served when it has ended."
        return "The index is being built and has no proven generation to serve yet."
    if status is GateStatus.REQUIRES_REINDEX:
        return "The index was made by another version of gitindex or its grammars; reindex it."
    if seen.proof.message:
        return f"The index is not proven: {seen.proof.message}."
    if _claims_an_index(seen):
        return f"Local index without completion proof ({seen.proof.reason}); create it again."
    return "This codebase is not indexed."
