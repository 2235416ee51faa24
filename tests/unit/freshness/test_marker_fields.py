"""The marker's fields: each of them is needed, of its type, and changes what is proven."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitindex.base.vocabulary import ProofOutcome, ProofReason
from gitindex.freshness.marker import (
    CompletionMarker,
    CompletionProof,
    _judge,
    is_newer,
    render_marker,
    runtime_fingerprint,
)

ROOT = "/no/such/root"
MARKER = CompletionMarker(ROOT, runtime_fingerprint(), 3, 7, "t", "run", "c", "d", 5)
FIELDS: dict[str, Any] = json.loads(render_marker(MARKER))
FOREIGN = {
    "kind": "satori_index_completion_v1",
    "codebasePath": ROOT,
    "fingerprint": {},
    "indexedFiles": 0,
    "totalChunks": 0,
    "completedAt": "t",
    "runId": "r",
}


def judged(**changed: Any) -> CompletionProof:
    return _judge(ROOT, {**FIELDS, **changed})


def without(fields: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != name}


def test_what_was_rendered_is_proven() -> None:
    assert judged() == CompletionProof(ProofOutcome.VALID, None, MARKER)
    assert judged().is_newest, "what no stamp has spoken about is not taken for unfinished"
    assert "quarantinedFiles" not in FIELDS
    assert render_marker(MARKER._replace(codebase_path="/Bücher")).isascii()
    lost = MARKER._replace(quarantined_files=1)
    assert _judge(ROOT, json.loads(render_marker(lost))).marker == lost
    assert _judge(ROOT, None).reason is ProofReason.INVALID_PAYLOAD


@pytest.mark.parametrize("name", sorted(set(FIELDS) - {"kind", "headCommit"}))
@pytest.mark.parametrize("value", [None, "", -1, True, [], 0.5])
def test_a_field_of_another_type_proves_nothing(name: str, value: object) -> None:
    proof = judged(**{name: value})
    assert (proof.outcome, proof.reason) == (
        ProofOutcome.STALE_LOCAL,
        ProofReason.INVALID_PAYLOAD,
    )
    assert _judge(ROOT, without(FIELDS, name)).reason is ProofReason.INVALID_PAYLOAD


def test_counts_start_at_zero_and_a_commit_may_be_missing() -> None:
    zero = judged(indexedFiles=0, totalChunks=0, generation=0, quarantinedFiles=0, headCommit=None)
    assert zero.marker == MARKER._replace(
        indexed_files=0, total_chunks=0, generation=0, head_commit=None
    )
    assert judged(headCommit=7).reason is ProofReason.INVALID_PAYLOAD
    for lost in (-1, "1", None, True):
        assert judged(quarantinedFiles=lost).reason is ProofReason.INVALID_PAYLOAD


def test_another_root_and_other_tools() -> None:
    proof = judged(codebasePath="/another")
    assert (proof.reason, proof.marker is None) == (ProofReason.PATH_MISMATCH, False)
    assert judged(codebasePath="/a\0b").reason is ProofReason.PATH_MISMATCH
    other = {**FIELDS["fingerprint"], "grammarSet": "older"}
    proof = judged(fingerprint=other)
    assert (proof.outcome, proof.reason) == (
        ProofOutcome.FINGERPRINT_MISMATCH,
        ProofReason.FINGERPRINT_MISMATCH,
    )
    assert proof.marker is not None


def test_kinds() -> None:
    assert judged(kind="satori_index_completion_v1").outcome is ProofOutcome.VALID
    newer = judged(kind="gitindex_completion_v2")
    assert (newer.reason, newer.message, is_newer(newer)) == (
        ProofReason.INVALID_MARKER_KIND,
        "written by a newer gitindex: upgrade gitindex",
        True,
    )
    for kind in ("other", 7, None):
        other = judged(kind=kind)
        assert (other.reason, other.message) == (ProofReason.INVALID_MARKER_KIND, "")
        assert not is_newer(other)
    assert not is_newer(CompletionProof(ProofOutcome.PROBE_FAILED, message="upgrade"))


def test_a_marker_of_the_seeds_own_tools_is_a_mismatch() -> None:
    assert _judge(ROOT, FOREIGN).reason is ProofReason.FINGERPRINT_MISMATCH
    assert _judge(ROOT, {**FOREIGN, "treeId": "d"}).reason is ProofReason.INVALID_PAYLOAD
    ours = {**FOREIGN, "kind": FIELDS["kind"]}
    assert _judge(ROOT, ours).reason is ProofReason.INVALID_PAYLOAD
    for name in set(FOREIGN) - {"kind"}:
        for value in (None, True, ""):
            changed = {**FOREIGN, name: value}
            assert _judge(ROOT, changed).reason is ProofReason.INVALID_PAYLOAD, changed
