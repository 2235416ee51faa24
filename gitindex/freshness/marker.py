"""The completion marker, the only proof that an index is complete; the fingerprint that it names, and
the stamp that ties it to the store that it was made from.

The fingerprint is an explicit list of versions and rules: only a change of these forces a rebuild.
"""

from __future__ import annotations

import os

from gitindex.base.atomic_file import Staging, read_small, write_atomic
from gitindex.base.errors import GitIndexError
from gitindex.base.light_types import TYPE_CHECKING, NamedTuple
from gitindex.base.vocabulary import ProofOutcome, ProofReason
from gitindex.base.worktree import Worktree, canonical_root, worktree_at
from gitindex.freshness.status_file import parse_object
from gitindex.git.interface import blob_id
from gitindex.languages.table import EXTRACTOR_VERSION, grammar_set
from gitindex.store.checksums import (
    GONE,
    META,
    Half,
    LogLock,
    half_of_database,
    half_of_lexical,
    log_size,
    parse_half,
)

if TYPE_CHECKING:
    from typing import Any

SCHEMA_VERSION = "11"
"""Version of the store's tables and of the lexical fields."""

POLICY_HASH = "6"
"""Version of the ignore policy's built-in rules; its files are part of the tree itself."""


class Fingerprint(NamedTuple):
    """The tools and rules behind a generation, in the contract's words."""

    embeddingProvider: str | None  # noqa: N815 — the contract's spelling
    embeddingModel: str | None  # noqa: N815 — the contract's spelling
    embeddingDimension: int | None  # noqa: N815 — the contract's spelling
    vectorStoreProvider: str | None  # noqa: N815 — the contract's spelling
    schemaVersion: str  # noqa: N815 — the contract's spelling
    extractorVersion: str  # noqa: N815 — the contract's spelling
    grammarSet: str  # noqa: N815 — the contract's spelling
    policyHash: str  # noqa: N815 — the contract's spelling


def runtime_fingerprint() -> Fingerprint:
    """The fingerprint of the code that is running now."""
    return Fingerprint(
        None, None, None, None, SCHEMA_VERSION, str(EXTRACTOR_VERSION), grammar_set(), POLICY_HASH
    )


def runtime_version() -> str:
    """The running fingerprint in one word, for a note about a job."""
    return "|".join(str(part) for part in runtime_fingerprint() if part is not None)


def parse_fingerprint(value: object) -> Fingerprint | None:
    """A well-typed fingerprint from a marker, or None. Unknown extra keys are not ours to judge."""
    if not isinstance(value, dict):
        return None
    fields: list[Any] = []
    for name in Fingerprint._fields:
        if name not in value:
            return None
        fields.append(value[name])
    nullable, required = fields[:4], fields[4:]
    if not all(item is None or isinstance(item, (str, int)) for item in nullable):
        return None
    if not all(isinstance(item, str) for item in required):
        return None
    return Fingerprint(*fields)


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
    """Outcome of one probe of the marker; `marker` is there whenever it could be understood."""

    outcome: ProofOutcome
    reason: ProofReason | None = None
    marker: CompletionMarker | None = None
    message: str = ""
    is_newest: bool = True  # False: a publish has begun since, so the store may hold another tree


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


FORMAT = "gitindex_stamp_v4"
NONE = "-"
MAX_RUNS = 4
"""Runs a stamp names: the newest, and those whose marker may still be on disk."""


class StoreIdentity(NamedTuple):
    """Tells one store from a copy at the same path, a whole one from one that was cut, and halves of one
    generation from those of two.

    By metadata alone: to open the database by hand would drop SQLite's locks.
    """

    inode: int
    size: int  # of the database: never shrinks while the store lives
    log: int = 0  # `log_size`: what was published may still lie there, and nowhere else
    facts: Half = Half()
    lexical: Half = Half()

    def mismatch(self, named: StoreIdentity) -> str:
        """Describe which part is older than the named one, or of another store; empty if none is."""
        if self.size < named.size:
            return "facts.db was cut"
        if self.facts != Half() and self.facts.precedes(named.facts):
            return "facts.db is of another generation"
        if self.log < named.log and self.facts == named.facts != Half():
            return "facts.db-wal was cut"
        if self.lexical.precedes(named.lexical):
            return "lexical/ is of another generation"
        return ""


class StampedRun(NamedTuple):
    """One run. Before its marker is written commit, tree and digest are `-`."""

    run_id: str
    commit: str = NONE
    tree: str = NONE
    digest: str = NONE  # the id git gives the marker's bytes: `git hash-object` prints it


class Stamp(NamedTuple):
    """The store, and the runs whose marker counts, newest first."""

    store: StoreIdentity
    runs: tuple[StampedRun, ...]

    def run(self, run_id: str) -> StampedRun | None:
        """The entry of one run."""
        return next((run for run in self.runs if run.run_id == run_id), None)

    def render(self) -> bytes:
        """The file's bytes: a line for the store, then one for each run."""
        inode, size, log, facts, lexical = self.store
        if facts == GONE:
            facts = Half()
        lines = [f"{FORMAT} {inode} {size} {log} {facts} {lexical}"]
        return "".join(f"{line}\n" for line in (*lines, *map(" ".join, self.runs))).encode()


def identify_store(worktree: Worktree) -> StoreIdentity:
    """The store that is there now. FileNotFoundError where either half of it is gone."""
    os.stat(os.path.join(worktree.lexical, META))
    database = os.stat(worktree.database)
    facts = half_of_database(worktree.store)
    log = log_size(worktree.database, facts)
    if half_of_database(worktree.store) != facts:
        facts, log = Half(), 0  # somebody moves the log into the database
    lexical = half_of_lexical(worktree.lexical)
    return StoreIdentity(database.st_ino, database.st_size, log, facts, lexical)


def identify_for_stamp(worktree: Worktree) -> StoreIdentity:
    """The same for a stamp: while no transaction of another process ends.

    SQLite commits the first transaction of a log that was moved before it cuts what is behind it: a stamp
    from in between would name a size that the log never has again.
    """
    with LogLock(worktree.database, exclusive=True):
        return identify_store(worktree)


def read_stamp(path: str) -> Stamp | None:
    """The stamp in a file; None where there is none of this format. Other errors are raised."""
    return parse_stamp(read_small(path) or b"")


def parse_stamp(data: bytes) -> Stamp | None:
    """The stamp these bytes are; None for anything else."""
    head, *lines = data.decode("ascii", "replace").splitlines() or [""]
    words = head.split(" ")
    runs = [line.split(" ") for line in lines]
    numbers = words[1:4]
    if len(words) != 8 or words[0] != FORMAT or not all(map(str.isdecimal, numbers)):
        return None
    if not runs or any(len(run) != 4 for run in runs):
        return None
    halves = parse_half(" ".join(words[4:6])), parse_half(" ".join(words[6:]))
    inode, size, log = map(int, numbers)
    store = StoreIdentity(inode, size, log, *halves)
    return Stamp(store, tuple(StampedRun(*run) for run in runs))


def announce_run(worktree: Worktree, run_id: str, store: StoreIdentity) -> None:
    """Name a run before it changes anything: from here on no older marker is fresh.

    The runs before it stay named: their marker serves until the new one is written.
    """
    older = _proven_runs(worktree, run_id)
    if older:
        stamp = Stamp(store, (StampedRun(run_id), *older))
        write_atomic(worktree.stamp, stamp.render())


def publish_marker(worktree: Worktree, marker: CompletionMarker, store: StoreIdentity) -> None:
    """Write the digest of a new marker into the stamp, then the marker. Only after a publish."""
    data = render_marker(marker)
    run = _stamped(marker, data)
    stamp = Stamp(store, (run, *_proven_runs(worktree, run.run_id)))
    write_atomic(worktree.stamp, stamp.render(), durable=False)
    there = os.path.lexists(worktree.marker)
    write_atomic(worktree.marker, data, existing=there, staging=Staging(worktree.store))


def restamp(path: str, store: StoreIdentity) -> None:
    """Note that the store has changed, by its writer."""
    stamp = read_stamp(path)
    if stamp is not None and stamp.store != store:
        write_atomic(path, stamp._replace(store=store).render(), existing=True)


def is_stamped(stamp: Stamp, marker: CompletionMarker, data: bytes) -> bool:
    """Is this marker, byte for byte, one that the stamp names?"""
    return stamp.run(marker.run_id) == _stamped(marker, data)


def _stamped(marker: CompletionMarker, data: bytes) -> StampedRun:
    digest = blob_id(data, len(marker.tree_id))
    return StampedRun(marker.run_id, marker.head_commit or NONE, marker.tree_id, digest)


def _proven_runs(worktree: Worktree, but: str) -> tuple[StampedRun, ...]:
    """Runs whose marker was written, or was about to be; without `but`."""
    stamp = read_stamp(worktree.stamp)
    runs = stamp.runs if stamp is not None else ()
    return tuple(run for run in runs if run.digest != NONE and run.run_id != but)[: MAX_RUNS - 1]
