"""The `freshness` object of an answer, and the structured answer of `gitindex status`, MCP and the page."""

from __future__ import annotations

import os

from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gitindex.base.answers import FreshnessFields
    from gitindex.base.vocabulary import FreshnessState
    from gitindex.git.worktree_probe import HeadState
from gitindex.base.errors import Exit
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.base.worktree import Worktree
from gitindex.freshness.marker import SCHEMA_VERSION, CompletionMarker
from gitindex.freshness.observation import Observation
from gitindex.freshness.status_file import StatusRecord, read_pack_note, status_fields
from gitindex.freshness.verdict import (
    GateInput,
    Verdict,
    add_probe_hint,
    decide_gate,
    gating_envelope,
    indexing_fields,
)
from gitindex.git.settings import is_enabled

if TYPE_CHECKING:
    from typing import Any

    from gitindex.base.answers import FreshnessFields


MAX_PATHS = 2_000
"""Edited paths that one answer reads from disk; the rest is left out, and the answer counts it."""
MAX_BYTES = 32 << 20
"""Of edited files that one answer reads: it bounds the time of an answer in a tree full of edits."""
MAX_FILE = 4 << 20
"""Bytes of a larger file that are read, at most."""
MAX_HEAD = 8_000
"""Bytes by which git, too, tells a binary file: no more of a large one is read."""
LARGE = 1 << 18
"""Size from which a file is opened twice to save that: media under git-lfs would use up MAX_BYTES."""
MAX_EXTRACTED = 400
"""Edited files without stored facts that one answer parses."""


class OverlayCoverage(NamedTuple):
    """How much of what differs from the published tree an answer shows."""

    pending: int = 0  # paths that differ from the published tree
    overlaid: int = 0  # of those, how many are overlaid
    left_out: int = 0  # paths over a limit, edited or of the tree: hidden, not shown old
    probe_age_ms: int = 0  # since the stat data of the work tree was compared; 0: for this answer


class OverlaidPaths(NamedTuple):
    """The paths on disk that differ from HEAD, as far as one answer reads them."""

    read: list[bytes]
    left_out: list[bytes]  # edits over the budget: hidden, because their blobs are out of date
    as_blobs: int  # files that git converted, over the budget: shown as their blobs


def choose_overlaid(root: str, head: HeadState) -> OverlaidPaths:
    """Split what differs on disk by the budget of an answer; edits come first."""
    edits = dict.fromkeys((*head.dirty, *head.untracked))
    chosen, over = within_budget(root, [*edits, *head.converted])
    left_out = [path for path in over if path in edits]
    return OverlaidPaths(chosen, left_out, len(over) - len(left_out))


def within_budget(root: str, paths: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Split paths into those that an answer reads and those that it leaves out."""
    chosen: list[bytes] = []
    left_out = paths[MAX_PATHS:]
    room, folder = MAX_BYTES, os.fsencode(root)
    for path in paths[:MAX_PATHS]:
        size = _size_to_read(os.path.join(folder, path)) if room > 0 else 0
        (chosen if room > 0 else left_out).append(path)
        room -= size
    return chosen, left_out


def _size_to_read(name: bytes) -> int:
    try:
        size = min(os.lstat(name).st_size, MAX_FILE)
        if size < LARGE:
            return size
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            start = os.read(fd, MAX_HEAD)
            wide = start[:2] in (b"\xff\xfe", b"\xfe\xff")  # a text, whatever bytes it has
            return MAX_HEAD if b"\0" in start and not wide else size
        finally:
            os.close(fd)
    except (OSError, ValueError):
        return 0


def edits_left_out(root: str, head: HeadState) -> int:
    """Count the edits that some answer leaves out: `status` says what a question would run into."""
    paths = choose_overlaid(root, head)
    read = [path for path in paths.read if path[-1:] != b"/"]
    over = len([path for path in paths.left_out if path[-1:] != b"/"]) + paths.as_blobs
    return over + max(0, len(read) - MAX_EXTRACTED) + head.unchecked


def freshness_object(
    state: FreshnessState,
    head: HeadState,
    served_commit: str | None,
    mode: str,
    coverage: OverlayCoverage | None,
) -> FreshnessFields:
    """The contract's fields. Without `coverage` nothing was served, so nothing is exact."""
    shown = coverage or OverlayCoverage()
    fields: FreshnessFields = {
        "state": str(state),
        "exact": coverage is not None and not shown.left_out,
        "edits": head.edits,
        "branch": safe_text(head.branch) if head.branch is not None else None,
        "servedCommit": served_commit,
        "headCommit": head.commit,
        "pendingPaths": shown.pending,
        "overlayPaths": shown.overlaid,
        "mode": mode,
    }
    if head.converted:
        fields["converted"] = len(head.converted)
    if shown.left_out:
        fields["leftOut"] = shown.left_out
    if shown.probe_age_ms:
        fields["probeAgeMs"] = shown.probe_age_ms
    return fields


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
