"""The structured answer of `gitindex status`, of MCP and of the page's status line."""

from __future__ import annotations

from gitindex.base.errors import Exit
from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.base.worktree import Worktree
from gitindex.freshness.envelope import OverlayCoverage, edits_left_out, freshness_object
from gitindex.freshness.fingerprint import SCHEMA_VERSION
from gitindex.freshness.gate import (
    GateInput,
    add_probe_hint,
    decide_gate,
    gating_envelope,
    indexing_fields,
)
from gitindex.freshness.marker import CompletionMarker
from gitindex.freshness.observation import Observation
from gitindex.freshness.pack_note import read_pack_note
from gitindex.freshness.status_file import StatusRecord, status_fields
from gitindex.freshness.verdict import Verdict
from gitindex.git.hook_switch import is_enabled

if TYPE_CHECKING:
    from typing import Any

    from gitindex.base.answers import FreshnessFields


def status_envelope(
    worktree: Worktree, seen: Observation, verdict: Verdict, path: str
) -> dict[str, Any]:
    """The structured answer: gating where the gate is closed, else ok; always with the state."""
    marker = seen.proof.marker
    gate = GateInput(seen.searchable, seen.proof, seen.progress)
    status = decide_gate(gate)
    root = safe_text(worktree.root)
    envelope: dict[str, Any] = (
        {"status": "ok", "path": safe_text(path), "codebaseRoot": root}
        if status is None
        else gating_envelope(status, gate, safe_text(path), root)
    )
    envelope |= {
        "state": verdict.word.replace(" ", "_"),
        "why": verdict.why,
        "hooksEnabled": is_enabled(worktree),
        "indexing": indexing_fields(seen.progress),
        "indexStatus": status_fields(_reader_status(worktree, marker, verdict)),
        "freshness": _freshness(worktree, seen, verdict, status is None),
        "indexedFiles": marker.indexed_files if marker else 0,
        "quarantinedFiles": marker.quarantined_files if marker else 0,
        "generation": marker.generation if marker else 0,
        "treeId": marker.tree_id if marker else None,
    }
    note = read_pack_note(worktree.store)
    if note.imported or note.rejected:
        envelope["trust"] = {
            "imported": note.imported,
            "verified": note.verified,
            "signer": safe_text(note.signer) if note.signer else None,
            "rejected": [safe_text(signer) for signer in note.rejected],
        }
    add_probe_hint(envelope, seen.proof)
    return envelope


def _freshness(
    worktree: Worktree, seen: Observation, verdict: Verdict, served: bool
) -> FreshnessFields:
    marker, edits = seen.proof.marker, seen.head.edits
    mode = "skipped_indexing" if seen.progress else "served"
    commit = marker.head_commit if marker else None
    coverage = None
    if served and edits is not None:
        left_out = edits_left_out(worktree.root, seen.head) + (marker.left_out if marker else 0)
        pending = edits + len(seen.head.converted)
        coverage = OverlayCoverage(pending=pending, left_out=left_out)
    return freshness_object(verdict.freshness, seen.head, commit, mode, coverage)


def _reader_status(
    worktree: Worktree, marker: CompletionMarker | None, verdict: Verdict
) -> StatusRecord:
    """The status as a reader derives it now; the stored one is for those who cannot."""
    explains = verdict.code in (Exit.GATED, Exit.ERROR)
    return StatusRecord(
        repo=safe_text(worktree.root),
        index_state=verdict.state,
        last_indexed_at=marker.completed_at if marker else "",
        last_indexed_commit=marker.head_commit if marker else None,
        schema_version=SCHEMA_VERSION,
        last_error=verdict.why if explains else None,
    )
