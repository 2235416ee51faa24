"""One look at a worktree's index: marker, HEAD, lock, spool. Writes nothing, starts nothing."""

from __future__ import annotations

import os

from gitindex.base.atomic_file import read_small
from gitindex.base.lean import TYPE_CHECKING, NamedTuple
from gitindex.base.runner_lock import is_held
from gitindex.base.vocabulary import BuildKind, EditScope, ProofOutcome, ProofReason
from gitindex.base.worktree import Worktree
from gitindex.freshness.marker import CompletionProof, validate_completion_proof
from gitindex.freshness.status_file import parse_object
from gitindex.git.worktree_probe import HeadState, WorktreeProbe

if TYPE_CHECKING:
    from typing import Any

ATTEMPTS = 5


class Progress(NamedTuple):
    """How far a running job is."""

    kind: BuildKind
    phase: str | None
    progress_pct: float | None
    last_updated: str | None


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
    worktree: Worktree, scope: EditScope = EditScope.NONE, probe: WorktreeProbe | None = None
) -> Observation:
    """A consistent look: the marker is the same before and after HEAD was read.

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


def prove(worktree: Worktree) -> CompletionProof:
    """The marker's proof, if the store it speaks of is the one that is there."""
    proof = validate_completion_proof(worktree.root)
    if proof.outcome not in (ProofOutcome.VALID, ProofOutcome.FINGERPRINT_MISMATCH):
        return proof
    assert proof.marker is not None
    try:
        stamp = read_small(worktree.stamp)
        store = identify_store(worktree)
    except FileNotFoundError:
        return CompletionProof(ProofOutcome.STALE_LOCAL, ProofReason.MISSING_MARKER_DOC)
    except OSError as error:
        return CompletionProof(
            ProofOutcome.PROBE_FAILED, ProofReason.PROBE_FAILED, message=str(error)
        )
    run_ids, published = parse_stamp(stamp or b"")
    if proof.marker.run_id not in run_ids or published.inode != store.inode:
        return CompletionProof(ProofOutcome.STALE_LOCAL, ProofReason.MISSING_MARKER_DOC)
    if store.size < published.size:
        message = "the store is damaged: run `gitindex index --force`"
        return CompletionProof(ProofOutcome.PROBE_FAILED, ProofReason.PROBE_FAILED, message=message)
    return proof._replace(settled=proof.marker.run_id == run_ids[0])


class StoreFile(NamedTuple):
    """Tells one store from a copy at the same path, and a whole one from one that was cut.

    By its inode and size alone: to open the database by hand would drop SQLite's locks.
    """

    inode: int
    size: int  # never shrinks while the store lives


def identify_store(worktree: Worktree) -> StoreFile:
    """The store that is there now. FileNotFoundError where either half of it is gone."""
    os.stat(os.path.join(worktree.lexical, "meta.json"))
    found = os.stat(worktree.database)
    return StoreFile(found.st_ino, found.st_size)


def render_stamp(run_ids: tuple[str, ...], store: StoreFile) -> bytes:
    """What a publish leaves in the store: a marker counts only beside the store it was made from.

    The newest run comes first. From before its transaction until its marker is written the runs
    before it are named too: their marker serves, but is not fresh, for the store may have moved on.
    """
    return f"{','.join(run_ids)} {store.inode} {store.size}\n".encode()


def parse_stamp(data: bytes) -> tuple[tuple[str, ...], StoreFile]:
    """Run ids and store of a stamp; of none at all for anything else."""
    words = data.decode("ascii", "replace").split()
    if len(words) != 3 or not (words[1].isdecimal() and words[2].isdecimal()):
        return (), StoreFile(0, 0)
    return tuple(words[0].split(",")), StoreFile(int(words[1]), int(words[2]))


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
    return Progress(kind, fields.get("phase"), fields.get("progressPct"), fields.get("lastUpdated"))


def read_failure(worktree: Worktree) -> Failure | None:
    """The recorded failure, if the last attempt failed."""
    fields = _read_note(worktree.failure)
    return Failure(str(fields.get("message", "")), fields.get("commit")) if fields else None


def _read_note(path: str) -> dict[str, Any] | None:
    try:
        return parse_object(read_small(path))
    except OSError:
        return None
