"""Changes of the lexical index: a few documents become a segment of their own, many go through Tantivy.

Tantivy merges segments in the commits of its writer, by a policy that its binding cannot set: of an
index of less than 10,000 documents every eighth commit rewrites all. So a few documents are written to
an index beside it and their segment is moved; many small segments are merged there as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

from gitindex.base.errors import StoreError
from gitindex.languages.facts import FactsKey
from gitindex.store.lexical import LexicalWriter
from gitindex.store.lexical_current import CurrentReader
from gitindex.store.lexical_segments import (
    Segment,
    SegmentList,
    empty_folder,
    remove_folder,
    to_merge,
)
from gitindex.store.seal import META, LexicalSealing

FEW = 500
FEW_BYTES = 8 << 20
"""More documents, or longer ones, go through Tantivy's own writer."""
MANY_SEGMENTS = 12
"""With so many, segments are merged as soon as nobody waits; at once if there are twice as many."""
HEAP_BYTES = 15_000_000
NEW, MERGING = "new", "merging"
"""Folders in that of the index."""


class LexicalUpdates:
    """Adds and removes documents. Unusable after any error: open a new one."""

    def __init__(self, path: str, current: CurrentReader | None = None) -> None:
        """`current`: a reader that others of this process use as well."""
        self._path = path
        self._current = current or CurrentReader(path)
        self._added: dict[FactsKey, tuple[str, str]] = {}
        self._bytes = 0
        self._is_untidy = True
        self._beside: LexicalWriter | None = None
        self._large: LexicalWriter | None = None
        for name in (NEW, MERGING):
            remove_folder(self._folder(name))  # of a writer that died
        if os.path.exists(os.path.join(path, META)):
            self._sealing = LexicalSealing(path)
            with suppress(OSError, StoreError):  # they only take up room
                SegmentList(path).remove_unlisted()
        else:
            self._open_large()

    @property
    def documents(self) -> int:
        """Number of documents of the last commit."""
        if self._large is not None:
            return self._large.documents
        return self._current.open().documents

    def append(self, key: FactsKey, body: str, names: str) -> None:
        """Add the document of a blob that the index does not hold."""
        if self._large is not None:
            self._large.append(key, body, names)
        else:
            self.add(key, body, names)

    def add(self, key: FactsKey, body: str, names: str) -> None:
        """Add or replace the document of one blob; visible after `commit`."""
        if self._large is not None:
            self._large.add(key, body, names)
            return
        self._added[key] = body, names
        self._bytes += len(body) + len(names)
        if len(self._added) > FEW or self._bytes > FEW_BYTES:
            self._open_large()

    def remove(self, keys: Iterable[FactsKey]) -> None:
        """Remove the documents of some blobs; effective after `commit`."""
        self._open_large().remove(keys)

    def commit(self) -> None:
        """Make everything added so far durable and visible."""
        if self._large is None and self._added and not self._append():
            self._open_large()
        if self._large is not None:
            self._large.commit()
        self._added, self._bytes = {}, 0

    def close(self) -> None:
        """Merge what can be merged, and seal everything: after the marker, never before it."""
        if self._beside is not None:
            self._beside.close()
        if self._large is not None:
            self._large.close()
            return
        with suppress(OSError, StoreError):  # it will be tried again
            while self._merge():
                pass
            remove_folder(self._folder(NEW))
        self._sealing.finish()

    def _open_large(self) -> LexicalWriter:
        """Tantivy's own writer; what was added so far goes through it."""
        if self._large is None:
            self._large = LexicalWriter(self._path)
            for key, (body, names) in self._added.items():
                self._large.add(key, body, names)
        return self._large

    def _append(self) -> bool:
        """Write the documents as one segment and move it. False if that cannot be done."""
        held = self._current.open()
        if not held.documents or any(map(held.holds, self._added)):
            return False  # a replaced document has to be removed from its segment
        if self._beside is None:
            folder = empty_folder(self._folder(NEW))
            self._beside = LexicalWriter(folder, HEAP_BYTES, sealed=False)
        self._beside.remove_all()
        for key, (body, names) in self._added.items():
            self._beside.append(key, body, names)
        self._beside.commit()
        index, made = SegmentList(self._path), SegmentList(self._folder(NEW))
        if not index.is_of_kind(made):
            return False
        index.take(made, instead_of=[])
        self._is_untidy = True
        if len(index.segments) >= 2 * MANY_SEGMENTS:
            self.tidy()
        return True

    def tidy(self) -> None:
        """Seal what was appended, and merge some of many small segments. What fails, for lack of space
        say, is tried again later: the documents are there without it."""
        if self._large is not None or not self._is_untidy:
            return
        self._is_untidy = False
        with suppress(OSError, StoreError):
            self._sealing.note()
            if len(SegmentList(self._path).segments) >= MANY_SEGMENTS:
                self._is_untidy = self._merge()

    def _merge(self) -> bool:
        """Merge one group of small segments, by Tantivy in a folder of its own. False: there is none."""
        index = SegmentList(self._path)
        group = to_merge(index.segments)
        if not group:
            return False
        folder = empty_folder(self._folder(MERGING))
        index.copy(group, folder)
        writer = LexicalWriter(folder, HEAP_BYTES, sealed=False)
        writer.commit()  # begins the merge
        writer.close()
        merged = SegmentList(folder)
        done = len(merged.segments) < len(group) and _documents(merged.segments) == _documents(
            group
        )
        if done:
            index.take(merged, instead_of=group)
            self._sealing.note()
        remove_folder(folder)
        return done

    def _folder(self, name: str) -> str:
        return os.path.join(self._path, name)


def _documents(segments: list[Segment]) -> int:
    return sum(one.documents for one in segments if one.is_whole)
