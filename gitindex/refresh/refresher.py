"""A refresh: the difference of two trees becomes facts, a published mapping, and a proof of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from gitindex.base.atomic_file import read_small, write_atomic
from gitindex.base.errors import GitIndexError, ObjectMissing, StoreError
from gitindex.base.vocabulary import FactsStatus, SkipReason
from gitindex.base.worktree import LLMC, Worktree
from gitindex.extract.frames import WorkRequest
from gitindex.extract.plain import plain_facts
from gitindex.extract.policy import (
    BINARY_PROBE,
    MAX_TEXT_BYTES,
    Policy,
    is_policy_file,
    read_policy,
    skip_content,
)
from gitindex.extract.pool import Task
from gitindex.freshness.fingerprint import runtime_fingerprint
from gitindex.freshness.marker import CompletionMarker, save_marker
from gitindex.freshness.observation import parse_stamp, render_stamp
from gitindex.freshness.status_file import utc_now
from gitindex.git.interface import Entry, Head
from gitindex.languages.facts import FactsKey, decode_facts
from gitindex.languages.table import extractor_id, language_of, needs_head
from gitindex.refresh.heavy_slot import heavy_slot
from gitindex.refresh.ingest import ExtractedBlob, Ingest
from gitindex.refresh.scope import EMPTY, FULL, RefreshScope, resolve_scope
from gitindex.refresh.session import Session
from gitindex.store import history, mapping
from gitindex.store.blobs import BlobTable
from gitindex.store.lexical import LexicalReader
from gitindex.store.mapping import FileRow, Published

MAX_ROUNDS = 8
"""How often a moved HEAD makes us look again before we publish the tree we have."""

MAX_STAMPED = 4
"""Runs a stamp names: one that failed thrice, and the one whose marker serves meanwhile."""

HEAVY_BLOBS = 200
"""From here on a refresh takes turns with those of other repositories."""


class PlannedBlob(NamedTuple):
    """A path of the new tree whose facts are needed."""

    entry: Entry
    key: FactsKey
    language: str


class Plan(NamedTuple):  # not a dataclass: a runner that a hook starts cannot afford the import
    """What must change so that the mapping becomes a tree."""

    head: Head
    gone: list[bytes]
    skipped: list[FileRow]
    wanted: list[PlannedBlob]


class Run(NamedTuple):
    """What a publish is part of."""

    id: str
    last: bool  # the last look at HEAD: the tree at hand is published, come what may
    force: bool


class Refresher:
    """Refreshes one worktree. The caller holds the runner lock."""

    def __init__(
        self, worktree: Worktree, session: Session, report: Callable[[str, float | None], None]
    ) -> None:
        self._worktree = worktree
        self._session = session
        self._db = session.database
        self._repo = session.repository(worktree)
        self._report = report
        self._blobs = BlobTable(session.database)
        self._intake = Ingest(worktree, session)
        self._fingerprint = runtime_fingerprint()
        self._extracted = 0

    def run(self, run_id: str, scope: RefreshScope, force: bool = False) -> int:
        """Make HEAD's tree the published one; returns how many blobs had to be extracted.

        Facts computed on the way stay valid whatever happens: a moved HEAD only changes what is left.
        """
        for round_number in range(1, MAX_ROUNDS + 1):
            self._report("diff", None)
            plan = self._plan(self._repo.head(), scope)
            held = self._extract(plan, scope, force and round_number == 1)
            self._report("publish", None)
            self._announce(run_id)
            if self._publish(plan, held, Run(run_id, round_number == MAX_ROUNDS, force)):
                break
        self._prove(run_id)
        return self._extracted

    def _announce(self, run_id: str) -> None:
        """Name the run in the stamp before it changes anything: no older marker is fresh from here on."""
        stamp = self._worktree.stamp
        older = parse_stamp(read_small(stamp) or b"")[0]
        if older:
            named = tuple(dict.fromkeys((run_id, *older)))[:MAX_STAMPED]
            write_atomic(stamp, render_stamp(named, self._session.store_file()))

    def _prove(self, run_id: str) -> None:
        """Read back, marker; then the stamp needs to name no other run."""
        self._read_back(run_id)
        self._session.check_identity()
        save_marker(self._worktree.marker, self._marker())
        stamp = render_stamp((run_id,), self._session.store_file())
        write_atomic(self._worktree.stamp, stamp, durable=False)

    def _plan(self, head: Head, scope: RefreshScope) -> Plan:
        base = self._published()
        plan = Plan(head, [], [], [])
        changed = self._changes(base, head, scope)
        policy = self._policy(base, changed)
        for path, entry in changed.items():
            if path == LLMC.encode() or path.startswith(LLMC.encode() + b"/"):
                raise GitIndexError(
                    f"{LLMC} is tracked in this repository", f"`git rm -r --cached {LLMC}`"
                )
            if entry is None:
                plan.gone.append(path)
            else:
                self._place(plan, policy, entry)
        return plan

    def _changes(
        self, base: Published, head: Head, scope: RefreshScope
    ) -> dict[bytes, Entry | None]:
        comparable = base.fingerprint == self._fingerprint_text() and not scope.full
        if base.tree is not None and comparable:
            try:
                changed = dict(self._repo.changes(base.tree, head.tree))
            except ObjectMissing:
                return self._all_changes(base, head)  # the indexed tree was pruned
            if not any(map(is_policy_file, changed)):
                return changed | self._absent(base, changed)
        return self._all_changes(base, head)

    def _all_changes(self, base: Published, head: Head) -> dict[bytes, Entry | None]:
        held = {row.path for row in mapping.read_mapping(self._db, base.worktree_id)}
        now: dict[bytes, Entry | None] = {e.path: e for e in self._repo.entries(head.tree)}
        return now | dict.fromkeys(held - now.keys())

    def _absent(
        self, base: Published, changed: dict[bytes, Entry | None]
    ) -> dict[bytes, Entry | None]:
        """Paths whose blob was missing at the last refresh: it may be here now."""
        rows = mapping.without_blob(self._db, base.worktree_id)
        return {
            row.path: Entry(row.path, row.mode, row.oid) for row in rows if row.path not in changed
        }

    def _policy(self, base: Published, changed: dict[bytes, Entry | None]) -> Policy:
        """The new tree's policy files: those already published, and those that changed."""
        files: dict[bytes, Entry | None] = {
            row.path: Entry(row.path, row.mode, row.oid)
            for row in mapping.policy_rows(self._db, base.worktree_id)
        }
        files |= {path: entry for path, entry in changed.items() if is_policy_file(path)}
        return read_policy(filter(None, files.values()), self._repo.read)

    def _place(self, plan: Plan, policy: Policy, entry: Entry) -> None:
        reason = policy.skip_path(entry)
        if reason is None:
            try:
                start = self._start_of(entry.oid) if needs_head(entry.path) else b""
            except ObjectMissing:
                reason = SkipReason.MISSING_BLOB
        if reason is not None:
            plan.skipped.append(FileRow(entry.path, entry.oid, entry.mode, None, reason))
            return
        language = language_of(entry.path, start)
        key = FactsKey(entry.oid, extractor_id(language))
        plan.wanted.append(PlannedBlob(entry, key, language))

    def _start_of(self, oid: str) -> bytes:
        return (
            self._repo.read(oid)[:BINARY_PROBE] if self._repo.size(oid) <= MAX_TEXT_BYTES else b""
        )

    def _extract(self, plan: Plan, scope: RefreshScope, force: bool) -> dict[FactsKey, int]:
        """See to it that all that is wanted has facts; returns the ids of those that had some."""
        by_key = {wanted.key: wanted for wanted in reversed(plan.wanted)}
        held = {} if force else self._blobs.ids(by_key)
        missing = [key for key in by_key if key not in held]
        absent: set[str] = set()
        with self._polite(len(missing)):
            ordered = self._ordered([by_key[key] for key in missing], scope)
            self._extracted += self._intake.take_all(self._found(ordered, absent))
        self._drop_absent(plan, absent)
        return held

    def _polite(self, blobs: int) -> AbstractContextManager[None]:
        """Much work waits for its turn among this user's repositories."""
        if blobs < HEAVY_BLOBS:
            return nullcontext()
        return heavy_slot(lambda: self._report("waiting for another repository", None))

    def _found(self, wanted: list[PlannedBlob], absent: set[str]) -> Iterator[ExtractedBlob]:
        """What workers say of blobs, and what needs no worker."""
        skipped: list[ExtractedBlob] = []
        tasks = self._tasks(wanted, skipped, absent)
        for done, (task, reply) in enumerate(self._session.extractor.extract(tasks), 1):
            facts = decode_facts(reply.payload)
            if facts is None:
                facts = plain_facts(task.request, FactsStatus.QUARANTINED, "broken reply")
            yield ExtractedBlob(task.key, facts, task.request.data, reply.body, reply.names)
            self._report("extract", 100.0 * done / len(wanted))
        yield from skipped

    def _ordered(self, wanted: list[PlannedBlob], scope: RefreshScope) -> list[PlannedBlob]:
        """What the scope names comes first; nothing else depends on the scope."""
        if scope in (FULL, EMPTY):
            return sorted(wanted, key=lambda w: w.language)  # a worker compiles few queries then
        names = [os.fsdecode(w.entry.path) for w in wanted]
        chosen = resolve_scope(scope, names, self._changed_at)
        return sorted(wanted, key=lambda w: os.fsdecode(w.entry.path) not in chosen)

    def _changed_at(self, path: str) -> float | None:
        try:
            return os.lstat(os.path.join(self._worktree.root, path)).st_mtime
        except OSError:
            return None

    def _tasks(
        self, wanted: Iterable[PlannedBlob], skipped: list[ExtractedBlob], absent: set[str]
    ) -> Iterator[Task]:
        for path in wanted:
            try:
                size = self._repo.size(path.key.oid)
                data = self._repo.read(path.key.oid) if size <= MAX_TEXT_BYTES else b""
            except ObjectMissing:
                absent.add(path.key.oid)
                continue
            reason = SkipReason.OVERSIZE if size > MAX_TEXT_BYTES else skip_content(data)
            request = WorkRequest(path.language, data)
            if reason is None:
                yield Task(path.key, request)
            else:
                facts = plain_facts(request, FactsStatus.SKIPPED, reason)
                skipped.append(ExtractedBlob(path.key, facts))

    def _drop_absent(self, plan: Plan, absent: set[str]) -> None:
        for wanted in plan.wanted:
            if wanted.key.oid in absent:
                row = FileRow(*_identity(wanted.entry), None, SkipReason.MISSING_BLOB)
                plan.skipped.append(row)
        plan.wanted[:] = [w for w in plan.wanted if w.key.oid not in absent]

    def _publish(self, plan: Plan, held: dict[FactsKey, int], run: Run) -> bool:
        """The one publication point. False: HEAD moved on, nothing was written."""
        ids = held | self._blobs.ids(w.key for w in plan.wanted if w.key not in held)
        rows = plan.skipped + [
            FileRow(*_identity(wanted.entry), ids[wanted.key], None) for wanted in plan.wanted
        ]
        base = self._published()
        with self._db.write():
            now = self._repo.head()
            if now.tree != plan.head.tree and not run.last:
                return False
            head = now if now.tree == plan.head.tree else plan.head
            new = dict.fromkeys(plan.gone, "") | {row.path: row.oid for row in rows}
            was = history.before(self._db, base, new)
            mapping.replace_rows(self._db, base.worktree_id, plan.gone, rows, is_policy_file)
            generation = mapping.raise_generation(
                self._db, base.worktree_id, head, run.id, self._fingerprint_text()
            )
            anew = run.force or base.fingerprint != self._fingerprint_text()
            history.record(self._db, base, generation, was, anew)
        return True

    def _read_back(self, run_id: str) -> None:
        """Look through fresh eyes before anything is promised."""
        base = self._published()
        if base.run_id != run_id:
            raise StoreError("the published generation was not stored", "run `gitindex doctor`")
        expected = int(self._db.row("SELECT lexical_docs FROM repo_state")[0])
        if not expected:
            self._session.lexical()  # an empty repository has an empty index, not none
        if LexicalReader(self._worktree.lexical).documents < expected:
            raise StoreError("the lexical index lost documents", "run `gitindex index --force`")

    def _marker(self) -> CompletionMarker:
        base = self._published()
        counts = mapping.count(self._db, base.worktree_id)
        assert base.tree is not None
        assert base.run_id is not None
        return CompletionMarker(
            codebase_path=self._worktree.root,
            fingerprint=self._fingerprint,
            indexed_files=counts.files,
            total_chunks=counts.symbols,
            completed_at=utc_now(),
            run_id=base.run_id,
            head_commit=base.head_commit,
            tree_id=base.tree,
            generation=base.generation,
        )

    def _published(self) -> Published:
        found = mapping.published(self._db, self._worktree.id)
        assert found is not None
        return found

    def _fingerprint_text(self) -> str:
        return json.dumps(self._fingerprint._asdict())


def _identity(entry: Entry) -> tuple[bytes, str, int]:
    return entry.path, entry.oid, entry.mode
