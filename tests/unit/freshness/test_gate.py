"""The gate: its whole table, its precedence, and the exact shape of every envelope."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitindex.base.vocabulary import BuildKind, GateStatus, NonOkReason, ProofOutcome, ProofReason
from gitindex.freshness.marker import CompletionMarker, CompletionProof, runtime_fingerprint
from gitindex.freshness.observation import Progress
from gitindex.freshness.verdict import (
    STALE_CREATE,
    GateInput,
    add_debug_hint,
    add_probe_hint,
    decide_gate,
    gating_envelope,
    indexing_fields,
)

ROOT = "/work/code base"
MARKER = CompletionMarker(ROOT, runtime_fingerprint(), 3, 7, "t", "run", "c", "d", 1)
PROOFS = {
    "valid": CompletionProof(ProofOutcome.VALID, None, MARKER),
    "stale": CompletionProof(ProofOutcome.STALE_LOCAL, ProofReason.MISSING_MARKER_DOC),
    "mismatch": CompletionProof(
        ProofOutcome.FINGERPRINT_MISMATCH, ProofReason.FINGERPRINT_MISMATCH, MARKER
    ),
    "failed": CompletionProof(
        ProofOutcome.PROBE_FAILED, ProofReason.PROBE_FAILED, message="I/O error"
    ),
}
JOBS = {
    "idle": None,
    "refresh": BuildKind.REFRESH,
    "create": BuildKind.CREATE,
    "reindex": BuildKind.REINDEX,
}

# One line per (searchable, proof); one column per job: idle, refresh, create, reindex.
# "." serves, N is not_indexed, R requires_reindex, W not_ready.
RELAXED = {
    (True, "valid"): "..WW",
    (True, "stale"): "NWWW",
    (True, "mismatch"): "RWWW",
    (True, "failed"): "..WW",
    (False, "valid"): "NWWW",
    (False, "stale"): "NWWW",
    (False, "mismatch"): "RWWW",
    (False, "failed"): "NWWW",
}
STRICT = {
    (True, "valid"): ".WWW",
    (True, "stale"): "NWWW",
    (True, "mismatch"): "RWWW",
    (True, "failed"): ".WWW",
    (False, "valid"): "NWWW",
    (False, "stale"): "NWWW",
    (False, "mismatch"): "RWWW",
    (False, "failed"): "NWWW",
}
LETTERS = {
    ".": None,
    "N": GateStatus.NOT_INDEXED,
    "R": GateStatus.REQUIRES_REINDEX,
    "W": GateStatus.NOT_READY,
}


def progress_of(kind: BuildKind) -> Progress:
    return Progress(kind, "extract", 12.5, "2026-01-02T03:04:05Z")


CASES = {
    f"{'searchable' if searchable else 'nothing'}-{proof}-{job}-{'strict' if strict else 'relaxed'}": (
        GateInput(searchable, PROOFS[proof], progress_of(kind) if kind else None, strict),
        LETTERS[table[searchable, proof][column]],
    )
    for strict, table in ((False, RELAXED), (True, STRICT))
    for searchable, proof in table
    for column, (job, kind) in enumerate(JOBS.items())
}
Case = tuple[GateInput, GateStatus | None]


def seen(proof: str, job: str = "idle", searchable: bool = True, strict: bool = False) -> GateInput:
    kind = JOBS[job]
    return GateInput(searchable, PROOFS[proof], progress_of(kind) if kind else None, strict)


def envelope(gate: GateInput) -> dict[str, Any]:
    status = decide_gate(gate)
    assert status is not None
    return gating_envelope(status, gate, "code base/sub", ROOT)


def act(action: str) -> dict[str, Any]:
    return {"tool": "manage_index", "args": {"action": action, "path": ROOT}}


def test_a_gate_is_strict_only_where_it_is_asked_for() -> None:
    running = progress_of(BuildKind.REFRESH)
    assert decide_gate(GateInput(True, PROOFS["valid"], running)) is None


def test_the_table_is_whole() -> None:
    assert len(CASES) == 2 * 4 * 4 * 2


@pytest.mark.promise("I-08")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_i20_gate(case: Case) -> None:
    gate, expected = case
    assert decide_gate(gate) is expected


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_every_envelope_names_its_root_and_a_reason_of_the_closed_set(case: Case) -> None:
    gate, status = case
    if status is None:
        return
    told = envelope(gate)
    assert json.loads(json.dumps(told)) == told
    assert told["status"] == status
    reasons = {"not_ready": "indexing"}
    assert told["reason"] == reasons.get(status, str(status))
    assert told["reason"] in set(NonOkReason)
    assert told["message"]
    assert (told["path"], told["codebaseRoot"]) == ("code base/sub", ROOT)
    assert told["hints"]["status"] == act("status")
    assert ("create" in told["hints"]) is (status is GateStatus.NOT_INDEXED)
    assert ("reindex" in told["hints"]) is (status is GateStatus.REQUIRES_REINDEX)
    assert ("indexing" in told) is (status is GateStatus.NOT_READY)
    assert ("retryAfterMs" in told) is (status is GateStatus.NOT_READY)
    failed = gate.proof.outcome is ProofOutcome.PROBE_FAILED
    assert ("debugProofCheck" in told["hints"]) is failed
    assert "debugIndexing" not in told["hints"]


def test_reasons_are_closed() -> None:
    assert {str(r) for r in NonOkReason} == {"indexing", "requires_reindex", "not_indexed"}
    assert {str(s) for s in GateStatus} == {"not_ready", "requires_reindex", "not_indexed"}


def test_g1_mismatch_while_a_rebuild_runs_is_not_ready() -> None:
    assert decide_gate(seen("mismatch")) is GateStatus.REQUIRES_REINDEX
    for job in ("refresh", "create", "reindex"):
        assert decide_gate(seen("mismatch", job)) is GateStatus.NOT_READY


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("strict", [False, True])
def test_i19_failed_probe_answers_like_a_valid_proof_where_local_is_searchable(
    job: str, strict: bool
) -> None:
    failed = decide_gate(seen("failed", job, True, strict))
    assert failed is decide_gate(seen("valid", job, True, strict))
    nothing = decide_gate(seen("failed", job, False, strict))
    assert nothing is (GateStatus.NOT_INDEXED if job == "idle" else GateStatus.NOT_READY)


def test_not_ready_envelope() -> None:
    assert envelope(seen("stale", "create")) == {
        "status": "not_ready",
        "reason": "indexing",
        "message": "The index is being built and has no proven generation to serve yet.",
        "path": "code base/sub",
        "codebaseRoot": ROOT,
        "hints": {"status": act("status")},
        "indexing": {
            "progressPct": 12.5,
            "lastUpdated": "2026-01-02T03:04:05Z",
            "phase": "extract",
        },
        "retryAfterMs": 500,
    }


def test_indexing_fields_may_be_null() -> None:
    empty = {"progressPct": None, "lastUpdated": None, "phase": None}
    assert indexing_fields(None) == empty
    assert indexing_fields(Progress(BuildKind.CREATE, None, None, None)) == empty


@pytest.mark.parametrize(("proof", "present"), [("stale", False), ("valid", True)])
def test_debug_says_whether_a_marker_is_there(proof: str, present: bool) -> None:
    gate = seen(proof, "reindex")
    told = envelope(gate)
    assert "debugIndexing" not in told["hints"]
    add_debug_hint(told, gate.proof)
    assert told["hints"]["debugIndexing"] == {
        "completionProof": "marker_doc",
        "markerPresent": present,
    }


def test_requires_reindex_envelope() -> None:
    told = envelope(seen("mismatch"))
    assert told["hints"] == {"status": act("status"), "reindex": act("reindex")}
    assert "reindex" in told["message"]


STALE = [
    r for r in ProofReason if r not in (ProofReason.FINGERPRINT_MISMATCH, ProofReason.PROBE_FAILED)
]


@pytest.mark.parametrize("reason", STALE)
def test_stale_local_recommends_create_and_names_its_reason(reason: ProofReason) -> None:
    gate = GateInput(True, CompletionProof(ProofOutcome.STALE_LOCAL, reason), None)
    told = envelope(gate)
    assert told["hints"]["staleLocal"] == {
        "completionProof": str(reason),
        "recommendedAction": act("create"),
    }
    assert told["hints"]["create"] == act("create")
    assert str(reason) in told["message"]


def test_not_indexed_without_local_state_has_no_stale_local_hint() -> None:
    told = envelope(seen("stale", searchable=False))
    assert told["hints"] == {"status": act("status"), "create": act("create")}
    assert told["message"] == "This codebase is not indexed."


@pytest.mark.parametrize("searchable", [True, False])
def test_newer_marker_says_upgrade_and_offers_no_rebuild(searchable: bool) -> None:
    newer = CompletionProof(
        ProofOutcome.STALE_LOCAL, ProofReason.INVALID_MARKER_KIND, None, "newer: upgrade gitindex"
    )
    told = envelope(GateInput(searchable, newer, None))
    assert told["status"] == "not_indexed"
    assert "upgrade gitindex" in told["message"]
    assert "reindex" not in json.dumps(told)
    assert told["hints"] == {"status": act("status")}


def test_failed_probe_is_disclosed_and_changes_nothing_else() -> None:
    told = envelope(seen("failed", searchable=False))
    assert told["hints"].pop("debugProofCheck") == {"ok": False, "reason": "probe_failed"}
    assert told["status"] == "not_indexed"
    served: dict[str, Any] = {"status": "ok"}
    add_probe_hint(served, PROOFS["failed"])
    assert served == {
        "status": "ok",
        "hints": {"debugProofCheck": {"ok": False, "reason": "probe_failed"}},
    }
    for proof in ("valid", "stale", "mismatch"):
        untouched: dict[str, Any] = {"status": "ok"}
        add_probe_hint(untouched, PROOFS[proof])
        assert untouched == {"status": "ok"}


def test_create_message_is_the_contracts() -> None:
    assert STALE_CREATE == (
        "Local snapshot claims indexed, but completion proof is missing/invalid; "
        "treating as not_indexed for create."
    )
