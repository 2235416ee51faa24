"""The verdict as a table: one row per rule of `judge`, in its order, and the state next to it."""

from __future__ import annotations

import pytest

from gitindex.base.vocabulary import BuildKind, ProofOutcome, ProofReason
from gitindex.freshness.marker import CompletionMarker, CompletionProof, runtime_fingerprint
from gitindex.freshness.observation import DAMAGED, Failure, Observation, Progress
from gitindex.freshness.verdict import judge
from gitindex.git.worktree_probe import HeadState

TREE, OTHER = "a" * 40, "b" * 40
MARKER = CompletionMarker("/r", runtime_fingerprint(), 2, 7, "t", "run", "head", TREE, 1)
VALID = CompletionProof(ProofOutcome.VALID, None, MARKER)
NOT_NEWEST = VALID._replace(is_newest=False)
MISSING = CompletionProof(ProofOutcome.STALE_LOCAL, ProofReason.MISSING_MARKER_DOC)
REASONLESS = CompletionProof(ProofOutcome.STALE_LOCAL)
WRONG_PATH = CompletionProof(ProofOutcome.STALE_LOCAL, ProofReason.PATH_MISMATCH, MARKER)
NEWER = MISSING._replace(message="upgrade")
MISMATCH = CompletionProof(
    ProofOutcome.FINGERPRINT_MISMATCH, ProofReason.FINGERPRINT_MISMATCH, MARKER
)
FAILED = CompletionProof(
    ProofOutcome.PROBE_FAILED, ProofReason.PROBE_FAILED, message="Input/output error"
)
BROKEN = FAILED._replace(message=f"{DAMAGED}: facts.db was cut")
AT_ANY, HERE, ELSEWHERE = Failure("boom", None), Failure("boom", "head"), Failure("boom", "old")


def seen(
    proof: CompletionProof = VALID,
    tree: str = TREE,
    phase: str | None = "",
    pending: bool = False,
    failure: Failure | None = None,
    searchable: bool = True,
) -> Observation:
    """An observation; a `phase` other than the empty text is that of a running job."""
    job = None if phase == "" else Progress(BuildKind.REFRESH, phase, None, None)
    return Observation(proof, HeadState("head", tree=tree), tree, job, pending, failure, searchable)


HEAD_MOVED = f"HEAD's tree {'b' * 12} is not the indexed {'a' * 12}"
UNREADABLE = "the proof cannot be read: "
TABLE = [
    (seen(), "fresh", "fresh", 0, f"2 files, tree {'a' * 12}"),
    (seen(phase="extract"), "rebuilding", "stale", 1, "a job runs: extract"),
    (seen(phase=None), "rebuilding", "stale", 1, "a job runs: starting"),
    (seen(BROKEN, phase="extract"), "rebuilding", "stale", 1, "a job runs: extract"),
    (seen(FAILED), "stale", "unknown", 1, UNREADABLE + "Input/output error"),
    (seen(FAILED, pending=True), "stale", "unknown", 1, UNREADABLE + "Input/output error"),
    (seen(FAILED, failure=HERE), "error", "stale", 4, "boom"),
    (seen(FAILED, failure=HERE, pending=True), "stale", "unknown", 1, UNREADABLE + FAILED.message),
    (seen(BROKEN), "error", "unknown", 4, BROKEN.message),
    (seen(BROKEN, pending=True), "stale", "unknown", 1, UNREADABLE + BROKEN.message),
    (
        seen(MISMATCH),
        "stale",
        "stale",
        3,
        "requires_reindex: made by another version of gitindex or its grammars",
    ),
    (seen(MISSING), "stale", "stale", 3, "not proven: missing_marker_doc"),
    (seen(REASONLESS), "stale", "stale", 3, "not proven: missing_marker_doc"),
    (seen(WRONG_PATH), "stale", "stale", 3, "not proven: path_mismatch"),
    (seen(NEWER, searchable=False), "stale", "stale", 3, "not proven: upgrade"),
    (seen(MISSING, searchable=False), "stale", "stale", 3, "not indexed"),
    (
        seen(MISSING, searchable=False, pending=True),
        "stale",
        "stale",
        3,
        "not indexed yet: the first index is queued",
    ),
    (seen(MISSING, failure=ELSEWHERE), "error", "stale", 4, "boom"),
    (
        seen(MISSING, failure=HERE, pending=True),
        "stale",
        "stale",
        3,
        "not proven: missing_marker_doc",
    ),
    (seen(tree=OTHER), "stale", "stale", 1, HEAD_MOVED),
    (seen(tree=OTHER, failure=HERE), "error", "stale", 4, "boom"),
    (seen(tree=OTHER, failure=HERE, pending=True), "stale", "stale", 1, HEAD_MOVED),
    (seen(tree=OTHER, failure=ELSEWHERE), "stale", "stale", 1, HEAD_MOVED),
    (seen(tree=OTHER, failure=AT_ANY), "error", "stale", 4, "boom"),
    (seen(tree=OTHER, failure=AT_ANY, pending=True), "stale", "stale", 1, HEAD_MOVED),
    (seen(failure=AT_ANY), "fresh", "fresh", 0, f"2 files, tree {'a' * 12}"),
    (seen(failure=HERE), "error", "stale", 4, "boom"),
    (seen(NOT_NEWEST, failure=AT_ANY), "error", "stale", 4, "boom"),
    (seen(NOT_NEWEST, failure=AT_ANY, pending=True), "stale", "stale", 1, "a refresh is queued"),
    (seen(pending=True), "stale", "stale", 1, "a refresh is queued"),
    (seen(NOT_NEWEST), "stale", "stale", 1, "a publish was not finished"),
]


@pytest.mark.parametrize("row", range(len(TABLE)))
def test_i01_every_rule_of_the_verdict(row: int) -> None:
    observed, state, freshness, code, why = TABLE[row]
    verdict = judge(observed)
    assert (verdict.state, verdict.freshness, verdict.code) == (state, freshness, code)
    assert verdict.why == why


def test_the_word_is_unknown_only_where_nothing_else_is_known() -> None:
    words = [judge(seen(proof)).word for proof in (VALID, FAILED, BROKEN, MISSING)]
    assert words == ["fresh", "unknown", "error", "stale"]
