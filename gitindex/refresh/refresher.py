"""A refresh: turns the difference of two trees into facts, a published mapping and its proof.

Extracted blobs go into both stores: documents are committed first, then the facts.
"""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from types import TracebackType
from typing import NamedTuple

from gitindex.base.errors import ObjectMissing, StoreError
from gitindex.base.system import is_background
from gitindex.base.vocabulary import AGAIN, FactsStatus, SkipReason
from gitindex.base.worktree import LLMC, Worktree
from gitindex.extract import policy
from gitindex.extract.frames import WITHOUT_SCOPES, reason_of_retry
from gitindex.extract.policy import (
    PlannedBlob,
    Policy,
    classify,
    is_policy_file,
    read_present,
    reader_of,
)
from gitindex.extract.pool import ExtractedBlob, ParsersUnavailable, extract_blobs
from gitindex.freshness.marker import (
    CompletionMarker,
    announce_run,
    publish_marker,
    runtime_fingerprint,
)
from gitindex.freshness.status_file import utc_now
from gitindex.git.interface import Entry, Head, TooManyPaths
from gitindex.languages.facts import FactsKey
from gitindex.refresh.heavy_slot import heavy_slot
from gitindex.refresh.public_files import TrackedFolder, ensure_folder
from gitindex.refresh.queue import EMPTY, FULL, RefreshScope, resolve_scope
from gitindex.refresh.session import Session
from gitindex.store import history, mapping, subjects
from gitindex.store.blobs import AddedFacts, BlobTable, mark_imported, mark_verified, note_late
from gitindex.store.checksums import half_of_lexical
from gitindex.store.connection import Database
from gitindex.store.entities import put_document
from gitindex.store.lexical import trim_memory
from gitindex.store.mapping import FileRow, Published
from gitindex.store.name_index import DROP_NAME_INDEXES, make_name_indexes
from gitindex.store.subjects import WindowChange
from gitindex.store.text_index import WordListWriter

FEED_BYTES = 1 << 20
"""Blobs of this size together are written at once, so that their names are looked up together."""
FLUSH_BLOBS = 4_000  # bounds the memory of a batch of many small blobs
FLUSH_BYTES = 16 << 20  # of texts, which stay in memory until their batch is committed
FLUSH_SECONDS = 15.0
"""A batch is committed after this time: other writers of the database wait for it."""
SAMPLE = 500  # documents that are read back after each commit
RARELY = (50_000, 20, 100)
"""When Python's collector looks for cycles: facts have none, and are many."""


class _Batch:
    """What one transaction has written so far."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.blobs = self.size = self.added = 0
        self.keys: list[FactsKey] = []  # of its documents

    @property
    def is_full(self) -> bool:
        late = time.monotonic() - self.started > FLUSH_SECONDS
        return self.blobs >= FLUSH_BLOBS or self.size >= FLUSH_BYTES or late


class Ingest:
    """Takes blobs one by one and commits them in batches. The caller holds the runner lock.

    Facts are written while the workers parse on. A batch ends with the commit of its documents, a
    check that a new reader finds them, and only then the commit of its facts: what SQLite knows is
    searchable. Leaving the context commits the rest; after an error the open batch is rolled back.
    The first load of a store makes the indexes by name at its end, where it costs half.
    """

    def __init__(self, session: Session, import_id: int = 0, late_scopes: bool = False) -> None:
        """`import_id`: the facts are those of a pack, and are marked so in the same transaction.

        `late_scopes`: they come without scopes, which is noted, too.
        """
        self._import_id = import_id
        self._late_scopes = late_scopes
        self._session = session
        self._db = session.database
        self._blobs = BlobTable(session.database)
        self._words = WordListWriter(session.database)
        self._transaction = ExitStack()
        self._batch: _Batch | None = None
        self._part: list[ExtractedBlob] = []  # not written yet
        self._part_bytes = 0
        self._is_first_load = False
        self._collected = gc.get_threshold()
        self.count = 0

    def __enter__(self) -> Ingest:
        gc.set_threshold(*RARELY)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        gc.set_threshold(*self._collected)
        if kind is not None:
            self._transaction.__exit__(kind, error, trace)
            return
        with self._transaction:
            if self._part:
                self._write_part()
            make_name_indexes(self._db)
            self._commit_batch()

    def add(self, blob: ExtractedBlob) -> None:
        """Add one blob; writes a part and commits a batch when they are large enough."""
        self.count += 1
        self._part.append(blob)
        self._part_bytes += len(blob.data)
        is_large = self._part_bytes >= FEED_BYTES or len(self._part) >= FLUSH_BLOBS
        if is_large and self._write_part().is_full:
            self._commit_batch()
            trim_memory()  # of a heap of 330 MB on zephyr, 250 were free

    def _write_part(self) -> _Batch:
        """Write a few blobs; nothing is committed yet."""
        part, batch = self._part, self._batch or self._start_batch()
        self._session.check_identity()
        searched = [blob for blob in part if blob.is_searched]
        kept = self._blobs.add_all({b.key: (b.facts, b.is_searched) for b in part})
        self._add_documents(searched, kept)
        ids = [kept[blob.key].blob_id for blob in part]
        if self._import_id:
            mark_imported(self._db, self._import_id, ids)
        else:
            mark_verified(self._db, ids)
        note_late(self._db, (kept[b.key].blob_id for b in part if _is_parsed(b)), self._late_scopes)
        for blob in part:
            blob_id, new = kept[blob.key]
            put_document(self._db, blob_id, blob.facts.language, blob.data, new)
        batch.blobs += len(part)
        batch.size += self._part_bytes
        batch.added += sum(kept[blob.key].new for blob in searched)
        batch.keys += [blob.key for blob in searched]
        self._part, self._part_bytes = [], 0
        return batch

    def _start_batch(self) -> _Batch:
        self._transaction.enter_context(self._db.unchecked_references())
        self._transaction.enter_context(self._db.write())
        self._batch = _Batch()
        if self._blobs.is_unused():
            self._db.run_all(DROP_NAME_INDEXES)
            self._is_first_load = not self._session.lexical().documents
        return self._batch

    def _add_documents(self, blobs: list[ExtractedBlob], kept: dict[FactsKey, AddedFacts]) -> None:
        add = self._adder()
        for blob in blobs:
            add(blob.key, kept[blob.key].blob_id, blob.body, blob.names)
            self._words.add(blob.body)

    def _adder(self) -> Callable[[FactsKey, int, str, str], None]:
        """Return what adds a document: the index of a first load was empty, so nothing is replaced."""
        lexical = self._session.lexical()
        return lexical.append if self._is_first_load else lexical.add

    def _commit_batch(self) -> None:
        """Commit the documents, check that they are there, then commit the facts."""
        batch, self._batch = self._batch, None
        if batch is None:
            return
        self._words.flush()
        if batch.keys:
            self._session.check_identity()
            self._session.lexical().commit()
            self._check_documents(batch.keys)
        half = half_of_lexical(self._session.lexical_folder) if batch.keys else ""
        self._db.run(
            "UPDATE repo_state SET lexical_docs=lexical_docs+?1,"
            " lexical_half=CASE ?2 WHEN '' THEN lexical_half ELSE ?2 END",
            batch.added,
            str(half),
        )
        self._transaction.close()

    def _check_documents(self, keys: list[FactsKey]) -> None:
        """Check a sample of the documents: a broken writer reports success and stores nothing."""
        reader = self._session.lexical_reader()
        if not all(map(reader.holds, keys[:: max(1, len(keys) // SAMPLE)])):
            raise StoreError("the lexical index did not store its documents", "see `gitindex log`")


def _is_parsed(blob: ExtractedBlob) -> bool:
    return blob.facts.status in (FactsStatus.PARSED, FactsStatus.PARTIAL)


MAX_ROUNDS = 8
"""How often a moved HEAD makes us read it again before we publish the tree we have."""

HEAVY_BLOBS = 2_000
"""From here on a refresh in the background takes turns with those of other repositories."""


LATE_SCOPES = 500
"""From here on a refresh leaves the scopes to the runner: whoever waits for `fresh` waits half as long."""

MANY_QUARANTINED = 20
"""A commit may add a few files that kill every parser; so many and nothing else, no commit does."""


class Plan(NamedTuple):  # not a dataclass: a runner that a hook starts cannot afford the import
    """The changes that turn the published mapping into a tree."""

    head: Head
    gone: list[bytes]
    skipped: list[FileRow]
    blobs: list[PlannedBlob]


class Run(NamedTuple):
    """What a publish is part of."""

    id: str
    last: bool  # the last time that HEAD is read: the tree at hand is published, come what may
    force: bool


class Refresher:
    """Refreshes one worktree. The caller holds the runner lock."""

    def __init__(
        self,
        worktree: Worktree,
        session: Session,
        report: Callable[[str, float | None], None],
        make_folder: bool,
        all_scopes: bool = False,
    ) -> None:
        """`make_folder`: `.llmc/` was not there before; else one that vanishes meanwhile stays away.

        `all_scopes`: of many blobs, too.
        """
        self._all_scopes = all_scopes
        self._worktree = worktree
        self._make_folder = make_folder
        self._session = session
        self._db = session.database
        self._repo = session.repository(worktree)
        self._report = report
        self._blobs = BlobTable(session.database)
        self._fingerprint = runtime_fingerprint()
        self._extracted = 0
        self._tried_again = False

    def run(self, run_id: str, scope: RefreshScope, force: bool) -> int:
        """Make HEAD's tree the published one; returns how many blobs had to be extracted.

        Facts computed on the way stay valid whatever happens: a moved HEAD only changes what is left.
        """
        for round_number in range(1, MAX_ROUNDS + 1):
            self._report("diff", None)
            plan = self._plan(self._repo.head(), scope)
            known = self._extract(plan, scope, force and round_number == 1)
            self._report("publish", None)
            announce_run(self._worktree, run_id, self._session.store_identity())
            if self._publish(plan, known, Run(run_id, round_number == MAX_ROUNDS, force)):
                break
        self._prove(run_id)
        return self._extracted

    def _prove(self, run_id: str) -> None:
        """Read back what was published, then write its marker."""
        self._read_back(run_id)
        self._session.check_identity()
        ensure_folder(self._worktree, make=self._make_folder)
        marker = completion_marker(self._db, self._worktree.root, self._published())
        publish_marker(self._worktree, marker, self._session.store_identity())

    def _plan(self, head: Head, scope: RefreshScope) -> Plan:
        base = self._published()
        plan = Plan(head, [], [], [])
        changed = self._changes(base, head, scope)
        rules, read = self._policy(base, changed), reader_of(self._repo)
        ours = LLMC.encode()
        for path, entry in changed.items():
            if path.startswith(ours) and path[len(ours) : len(ours) + 1] in (b"", b"/"):
                raise TrackedFolder
            if entry is None:
                plan.gone.append(path)
                continue
            blob = classify(entry, rules, read)
            if blob.skip is None:
                plan.blobs.append(blob)
            else:
                plan.skipped.append(_row(blob))
        return plan

    def _changes(
        self, base: Published, head: Head, scope: RefreshScope
    ) -> dict[bytes, Entry | None]:
        comparable = base.fingerprint == self._fingerprint_text() and not scope.full
        # Which folders a limit leaves out depends on the whole tree.
        comparable = comparable and not mapping.has_left_out_folder(self._db, base.worktree_id)
        if base.tree is not None and comparable:
            try:
                changed = dict(self._repo.changes(base.tree, head.tree))
            except (ObjectMissing, TooManyPaths):
                return self._all_changes(base, head)  # the indexed tree was pruned, or is a bomb
            if not any(map(is_policy_file, changed)):
                return self._absent(base) | self._quarantined(base) | changed
        return self._all_changes(base, head)

    def _all_changes(self, base: Published, head: Head) -> dict[bytes, Entry | None]:
        published = {row.path for row in mapping.read_mapping(self._db, base.worktree_id)}
        now: dict[bytes, Entry | None] = {e.path: e for e in self._repo.entries(head.tree)}
        return now | dict.fromkeys(published - now.keys())

    def _absent(self, base: Published) -> dict[bytes, Entry | None]:
        """Paths whose blob was missing at the last refresh: it may be here now."""
        rows = mapping.without_blob(self._db, base.worktree_id)
        return {row.path: Entry(row.path, row.mode, row.oid) for row in rows}

    def _quarantined(self, base: Published) -> dict[bytes, Entry | None]:
        """Paths whose parser died at the last refresh: they are tried once more."""
        quarantined = mapping.quarantined(self._db, base.worktree_id)
        return {
            path: entry for path, (entry, cause) in quarantined.items() if not cause.endswith(AGAIN)
        }

    def _policy(self, base: Published, changed: dict[bytes, Entry | None]) -> Policy:
        """The new tree's policy files: those already published, and those that changed."""
        files: dict[bytes, Entry | None] = {
            row.path: Entry(row.path, row.mode, row.oid)
            for row in mapping.policy_rows(self._db, base.worktree_id)
        }
        files |= {path: changed[path] for path in filter(is_policy_file, changed)}
        return policy.of_tree(filter(None, files.values()), partial(read_present, self._repo))

    def _extract(self, plan: Plan, scope: RefreshScope, force: bool) -> dict[FactsKey, int]:
        """Extract what has no facts yet; returns the ids of blobs that already had facts."""
        by_key = {blob.key: blob for blob in reversed(plan.blobs)}
        known = {} if force or self._blobs.is_unused() else self._blobs.ids(by_key)
        again = self._blobs.to_retry(by_key)
        self._tried_again |= bool(again)
        known = {key: blob_id for key, blob_id in known.items() if key not in again}
        missing = [blob for key, blob in by_key.items() if key not in known]
        with self._polite(len(missing)):
            absent = self._ingest(self._ordered(missing, scope), again)
        for blob in plan.blobs:
            if blob.entry.oid in absent:
                plan.skipped.append(_row(blob._replace(skip=SkipReason.MISSING_BLOB)))
        plan.blobs[:] = [blob for blob in plan.blobs if blob.entry.oid not in absent]
        return known

    def _ingest(self, missing: list[PlannedBlob], again: set[FactsKey]) -> set[str]:
        """Read, extract and ingest blobs; returns the ids of those that git does not have.

        Those of `again` were quarantined before. Where no blob of many can be parsed, nothing is
        stored: something is wrong with this machine, not with all of them.
        """
        absent: set[str] = set()
        quarantined = 0
        blobs = ((blob.key, blob.language) for blob in missing)
        read, extractor = reader_of(self._repo), self._session.extractor
        late = len(missing) >= LATE_SCOPES and not self._all_scopes
        question = WITHOUT_SCOPES if late else b""
        with Ingest(self._session, late_scopes=late) as ingest:
            for extracted in extract_blobs(blobs, read, extractor, absent.add, question):
                if extracted.facts.status is FactsStatus.QUARANTINED:
                    quarantined += 1
                    if extracted.key in again:
                        reason = reason_of_retry(extracted.facts.reason)
                        facts = extracted.facts._replace(reason=reason)
                        extracted = extracted._replace(facts=facts)
                ingest.add(extracted)
                self._report("extract", 100.0 * ingest.count / len(missing))
            if quarantined == ingest.count >= MANY_QUARANTINED:
                raise ParsersUnavailable
        self._extracted += ingest.count
        return absent

    def _polite(self, blobs: int) -> AbstractContextManager[None]:
        """Wait for the user's slot before heavy work; light work never does, nor what a person waits for."""
        if blobs < HEAVY_BLOBS or not is_background():
            return nullcontext()

        def report(owner: str) -> None:
            self._report(f"waiting for the index of {owner}", None)

        return heavy_slot(self._worktree.root, report)

    def _ordered(self, blobs: list[PlannedBlob], scope: RefreshScope) -> list[PlannedBlob]:
        """What the scope names comes first; nothing else depends on the scope."""
        if scope in (FULL, EMPTY):
            return sorted(
                blobs, key=lambda blob: blob.language
            )  # a worker compiles few queries then
        names = [os.fsdecode(blob.entry.path) for blob in blobs]
        chosen = resolve_scope(scope, names, self._changed_at)
        return sorted(blobs, key=lambda blob: os.fsdecode(blob.entry.path) not in chosen)

    def _changed_at(self, path: str) -> float | None:
        try:
            return os.lstat(os.path.join(self._worktree.root, path)).st_mtime
        except OSError:
            return None

    def _publish(self, plan: Plan, known: dict[FactsKey, int], run: Run) -> bool:
        """The only publication point; False if HEAD moved and nothing was written.

        "Order of a publish" in docs/internals.md explains why the marker and the job come after it.
        """
        rows = self._rows(plan, known)
        base = self._published()
        past = self._past(base, plan.head, run.force)
        with self._db.write():
            now = self._repo.head()
            if now.tree != plan.head.tree and not run.last:
                return False
            head = now if now.tree == plan.head.tree else plan.head
            if head.commit != plan.head.commit:
                past = self._past(base, head, run.force)
            new = dict.fromkeys(plan.gone, "") | {row.path: row.oid for row in rows}
            was = history.before(self._db, base, new)
            path_ids = {path: one.path_id for path, one in was.items() if one.path_id is not None}
            paths = mapping.replace_rows(
                self._db, base.worktree_id, plan.gone, rows, is_policy_file, path_ids
            )
            if self._tried_again:
                mapping.recount(self._db, base.worktree_id)
            generation = mapping.raise_generation(
                self._db, base.worktree_id, head, run.id, self._fingerprint_text()
            )
            mapping.note_seen(self._db, head, self._index_mtime())
            anew = run.force or base.fingerprint != self._fingerprint_text()
            history.record(self._db, base, generation, was, paths, anew)
            subjects.apply_change(self._db, base.worktree_id, past, is_policy_file)
        if history.is_long(generation):
            self._session.long_histories.add(base.worktree_id)
        return True

    def _rows(self, plan: Plan, known: dict[FactsKey, int]) -> list[FileRow]:
        """Rows of the new mapping: `known` are blobs whose ids are known."""
        ids = known | self._blobs.ids(blob.key for blob in plan.blobs if blob.key not in known)
        return plan.skipped + [_row(blob, ids[blob.key]) for blob in plan.blobs]

    def _index_mtime(self) -> float | None:
        try:
            return os.stat(os.path.join(self._worktree.git_dir, "index")).st_mtime
        except OSError:
            return None

    def _past(self, base: Published, head: Head, force: bool) -> WindowChange | None:
        """What past commits say about the files: the change since the published commit."""
        if head.commit is None:
            return None
        worktree_id = base.worktree_id
        stored = None if force else subjects.stored_window(self._db, worktree_id, head.commit)
        return subjects.window_change(self._worktree.root, stored, head.commit)

    def _read_back(self, run_id: str) -> None:
        """Re-open both stores and check that the published generation is there."""
        base = self._published()
        if base.run_id != run_id:
            raise StoreError("the published generation was not stored", "run `gitindex doctor`")
        expected = int(self._db.row("SELECT lexical_docs FROM repo_state")[0])
        if self._session.lexical_reader().documents < expected:
            raise StoreError("the lexical index lost documents", "run `gitindex index --force`")

    def _published(self) -> Published:
        row = mapping.published(self._db, self._worktree.id)
        assert row is not None
        return row

    def _fingerprint_text(self) -> str:
        return json.dumps(self._fingerprint._asdict())


def completion_marker(database: Database, root: str, base: Published) -> CompletionMarker:
    """The marker of what a store has published, by the tools that run now."""
    counts = mapping.count(database, base.worktree_id)
    assert base.tree is not None
    assert base.run_id is not None
    return CompletionMarker(
        codebase_path=root,
        fingerprint=runtime_fingerprint(),
        indexed_files=counts.files,
        total_chunks=counts.symbols,
        completed_at=utc_now(),
        run_id=base.run_id,
        head_commit=base.head_commit,
        tree_id=base.tree,
        generation=base.generation,
        quarantined_files=len(mapping.quarantined(database, base.worktree_id)),
        left_out=mapping.count_left_out(database, base.worktree_id),
    )


def _row(blob: PlannedBlob, blob_id: int | None = None) -> FileRow:
    path, mode, oid = blob.entry
    return FileRow(path, oid, mode, blob_id, blob.skip)
