"""Writes extracted blobs into both stores: documents are committed first, then the facts."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType

from gitindex.base.errors import StoreError
from gitindex.base.vocabulary import FactsStatus
from gitindex.extract.pool import ExtractedBlob
from gitindex.languages.facts import FactsKey
from gitindex.refresh.session import Session
from gitindex.store.blobs import AddedFacts, BlobTable, mark_imported, mark_verified, note_late
from gitindex.store.checksums import half_of_lexical
from gitindex.store.entities import put_document
from gitindex.store.lexical import trim_memory
from gitindex.store.name_index import DROP_NAME_INDEXES, make_name_indexes
from gitindex.store.text_index import WordListWriter

FEED_BYTES = 1 << 20
"""Blobs of this size together are written at once, so that their names are looked up together."""
FLUSH_BLOBS = 4_000  # bounds the memory of a batch of many small blobs
FLUSH_BYTES = 16 << 20  # of texts, which stay in memory until their batch is committed
FLUSH_SECONDS = 15.0
"""A batch is committed after this time: other writers of the database wait for it."""
SAMPLE = 500  # documents that are read back after each commit
RARELY = (50_000, 20, 100)
"""When cycles are looked for: facts have none, and are many."""


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
