"""The completion marker: the only proof that an index is complete, and the one judge of it."""

from __future__ import annotations

from gitindex.base.atomic_file import read_small
from gitindex.base.errors import GitIndexError
from gitindex.base.light_types import TYPE_CHECKING, NamedTuple
from gitindex.base.vocabulary import ProofOutcome, ProofReason
from gitindex.base.worktree import canonical_root, worktree_at
from gitindex.freshness.fingerprint import Fingerprint, parse_fingerprint, runtime_fingerprint
from gitindex.freshness.status_file import parse_object

if TYPE_CHECKING:
    from typing import Any

KIND = "gitindex_completion_v1"
ACCEPTED_KINDS = frozenset({KIND, "satori_index_completion_v1"})
NEWER_KIND = "gitindex_completion_v"


class CompletionMarker(NamedTuple):
    """Names the published generation of one worktree and the tools that made it."""

    codebase_path: str
    fingerprint: Fingerprint
    indexed_files: int
    total_chunks: int
    completed_at: str
    run_id: str
    head_commit: str | None  # None: no commit yet
    tree_id: str
    generation: int
    quarantined_files: int = 0  # of the indexed ones: no parser survived them
    left_out: int = 0  # paths in no answer: over a limit, or without a blob


class CompletionProof(NamedTuple):
    """Outcome of one look at the marker; `marker` is there whenever it could be understood."""

    outcome: ProofOutcome
    reason: ProofReason | None = None
    marker: CompletionMarker | None = None
    message: str = ""
    settled: bool = True  # False: a publish has begun since, so the store may hold another tree


def render_marker(marker: CompletionMarker) -> bytes:
    """The file's bytes. `stamp.publish_marker` writes them, after a publish succeeded."""
    fields: dict[str, Any] = {
        "kind": KIND,
        "codebasePath": marker.codebase_path,
        "fingerprint": marker.fingerprint._asdict(),
        "indexedFiles": marker.indexed_files,
        "totalChunks": marker.total_chunks,
        "completedAt": marker.completed_at,
        "runId": marker.run_id,
        "headCommit": marker.head_commit,
        "treeId": marker.tree_id,
        "generation": marker.generation,
    }
    if marker.quarantined_files:
        fields["quarantinedFiles"] = marker.quarantined_files
    if marker.left_out:
        fields["leftOut"] = marker.left_out
    import json  # lazily: readers parse by other means

    return json.dumps(fields, ensure_ascii=True).encode() + b"\n"


def read_marker(root: str) -> tuple[CompletionProof, bytes]:
    """What the marker of the worktree at `root` proves by itself, and its bytes."""
    canonical = canonical_root(root)
    try:
        data = read_small(worktree_at(canonical).marker)
    except (OSError, GitIndexError) as error:
        failed = ProofOutcome.PROBE_FAILED, ProofReason.PROBE_FAILED
        return CompletionProof(*failed, message=str(error)), b""
    if data is None:
        return _stale(ProofReason.MISSING_MARKER_DOC), b""
    return _judge(canonical, parse_object(data)), data


def is_newer(proof: CompletionProof) -> bool:
    """Was the marker written by a newer gitindex? Then it is left alone: the remedy is an upgrade."""
    return proof.reason is ProofReason.INVALID_MARKER_KIND and bool(proof.message)


def _judge(canonical: str, fields: dict[str, Any] | None) -> CompletionProof:
    if fields is None:
        return _stale(ProofReason.INVALID_PAYLOAD)
    kind = fields.get("kind")
    if not isinstance(kind, str) or kind not in ACCEPTED_KINDS:
        newer = isinstance(kind, str) and kind.startswith(NEWER_KIND)
        message = "written by a newer gitindex: upgrade gitindex" if newer else ""
        return _stale(ProofReason.INVALID_MARKER_KIND, message)
    marker = _marker(fields)
    if marker is None:
        foreign = kind != KIND and _is_foreign(fields)
        if foreign:
            mismatch = ProofOutcome.FINGERPRINT_MISMATCH, ProofReason.FINGERPRINT_MISMATCH
            return CompletionProof(*mismatch)
        return _stale(ProofReason.INVALID_PAYLOAD)
    if not _is_root(marker.codebase_path, canonical):
        return CompletionProof(ProofOutcome.STALE_LOCAL, ProofReason.PATH_MISMATCH, marker)
    if marker.fingerprint != runtime_fingerprint():
        reason = ProofReason.FINGERPRINT_MISMATCH
        return CompletionProof(ProofOutcome.FINGERPRINT_MISMATCH, reason, marker)
    return CompletionProof(ProofOutcome.VALID, None, marker)


def _is_foreign(fields: dict[str, Any]) -> bool:
    """Are these exactly the seven fields of seed 002's own marker? Its tools are not ours."""
    texts = [fields.get(name) for name in ("codebasePath", "completedAt", "runId")]
    counts = [fields.get(name) for name in ("indexedFiles", "totalChunks")]
    return (
        all(isinstance(text, str) and text for text in texts)
        and all(type(count) is int for count in counts)
        and isinstance(fields.get("fingerprint"), dict)
        and "treeId" not in fields
    )


def _is_root(path: str, canonical: str) -> bool:
    try:
        return canonical_root(path) == canonical
    except ValueError:
        return False  # a name that no folder can have


def _stale(reason: ProofReason, message: str = "") -> CompletionProof:
    return CompletionProof(ProofOutcome.STALE_LOCAL, reason, message=message)


def _marker(fields: dict[str, Any]) -> CompletionMarker | None:
    fingerprint = parse_fingerprint(fields.get("fingerprint"))
    texts = [fields.get(k) for k in ("codebasePath", "completedAt", "runId", "treeId")]
    counts = [fields.get(k) for k in ("indexedFiles", "totalChunks", "generation")]
    counts += [fields.get(name, 0) for name in ("quarantinedFiles", "leftOut")]
    head = fields.get("headCommit")
    if fingerprint is None or not all(map(_is_text, texts)) or not all(map(_is_count, counts)):
        return None
    if not (head is None or isinstance(head, str)):
        return None
    path, completed_at, run_id, tree = map(str, texts)
    files, chunks, generation, *few = (int(count or 0) for count in counts)
    return CompletionMarker(
        path, fingerprint, files, chunks, completed_at, run_id, head, tree, generation, *few
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0
