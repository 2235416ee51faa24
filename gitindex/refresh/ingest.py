"""Facts and documents on their way into both stores: as they come, and committed documents first."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from gitindex.base.errors import StoreError
from gitindex.base.vocabulary import FactsStatus
from gitindex.base.worktree import Worktree
from gitindex.languages.facts import BlobFacts, FactsKey
from gitindex.refresh.session import Session
from gitindex.store.blobs import BlobTable
from gitindex.store.entities import put_document
from gitindex.store.lexical import LexicalReader
from gitindex.store.trigrams import TrigramTable

FEED_BYTES = 1 << 20
FLUSH_BLOBS = 1_500
FLUSH_BYTES = 12 << 20
FLUSH_SECONDS = 15.0
"""Whoever else writes to the database waits so long for a batch, and for its slowest blob."""
SAMPLE = 500


class ExtractedBlob(NamedTuple):
    """What was extracted of one blob; without bytes and terms where its content is left out."""

    key: FactsKey
    facts: BlobFacts
    data: bytes = b""
    body: str = ""
    names: str = ""

    @property
    def is_searched(self) -> bool:
        """Whether the lexical index has the blob."""
        return self.facts.status is not FactsStatus.SKIPPED


class Ingest:
    """Keeps what is found, a batch per transaction. The caller holds the runner lock.

    Facts are written while the workers go on. A batch ends with the commit of its documents, a look
    at them through fresh eyes, and only then the commit of its facts: what SQLite knows is searchable.
    """

    def __init__(self, worktree: Worktree, session: Session) -> None:
        self._worktree = worktree
        self._session = session
        self._db = session.database
        self._blobs = BlobTable(session.database)
        self._trigrams = TrigramTable(session.database)

    def take_all(self, found: Iterable[ExtractedBlob]) -> int:
        """Keep everything that comes; returns how many blobs it was."""
        coming = iter(found)
        count = 0
        while (first := next(coming, None)) is not None:
            with self._db.write():
                count += self._take_batch(chain([first], coming))
        return count

    def _take_batch(self, coming: Iterator[ExtractedBlob]) -> int:
        started = time.monotonic()
        keys: list[FactsKey] = []
        blobs = size = added = 0
        for part in _parts(coming):
            added += self._put(part)
            keys += [found.key for found in part if found.is_searched]
            blobs += len(part)
            size += sum(len(found.data) for found in part)
            late = time.monotonic() - started > FLUSH_SECONDS
            if blobs >= FLUSH_BLOBS or size >= FLUSH_BYTES or late:
                break
        if keys:
            self._session.check_identity()
            self._session.lexical().commit()
            self._check_documents(keys)
        self._db.run("UPDATE repo_state SET lexical_docs=lexical_docs+?", added)
        return blobs

    def _put(self, part: list[ExtractedBlob]) -> int:
        """Write a few blobs; returns how many documents are new. Nothing is committed yet."""
        self._session.check_identity()
        for found in part:
            if found.is_searched:
                self._session.lexical().add(found.key, found.body, found.names)
        kept = self._blobs.add_all({f.key: (f.facts, f.is_searched) for f in part})
        for found in part:
            blob_id = kept[found.key].blob_id
            put_document(self._db, blob_id, found.facts.language, found.data)
            self._trigrams.add(blob_id, found.data)
        return sum(kept[found.key].new and found.is_searched for found in part)

    def _check_documents(self, keys: list[FactsKey]) -> None:
        """A writer that went wrong reports success and stores nothing: look before we rely on it."""
        reader = LexicalReader(self._worktree.lexical)
        if not all(map(reader.holds, keys[:: max(1, len(keys) // SAMPLE)])):
            raise StoreError("the lexical index did not store its documents", "see `gitindex log`")


def _parts(coming: Iterator[ExtractedBlob]) -> Iterator[list[ExtractedBlob]]:
    """A few blobs at a time, so that names are looked up together."""
    part: list[ExtractedBlob] = []
    size = 0
    for found in coming:
        part.append(found)
        size += len(found.data)
        if size >= FEED_BYTES or len(part) >= FLUSH_BLOBS:
            yield part
            part, size = [], 0
    if part:
        yield part
