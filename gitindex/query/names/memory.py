"""Caches that stay valid between queries: of a tree, of a file's bytes. Bounded."""

from __future__ import annotations

import json
import os
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from gitindex.extract.frames import SCOPES, WorkRequest
from gitindex.extract.pool import Extractor, Task
from gitindex.languages.facts import FactsKey
from gitindex.languages.imports import Resolver
from gitindex.languages.scopes.model import FLOW, KINDS_AT, FileFlow, FileScopes, TextKind
from gitindex.query.names.model import FileNames, LiveFile, Text
from gitindex.view.tree import TreeView

MAX_CACHED = 50_000
"""Entries of one table of a tree."""
MAX_PLACES = 40_000
"""Places of the searches whose results are kept; about 20 MB."""


class RecentSearches:
    """Results of the last searches: the next question about a name needs the same ones."""

    def __init__(self, room: int = MAX_PLACES) -> None:
        self._room = room
        self._held: OrderedDict[Any, tuple[Any, int]] = OrderedDict()

    def get(self, key: Any) -> Any:
        """Return a result, or None."""
        found = self._held.get(key)
        if found is None:
            return None
        self._held.move_to_end(key)
        return found[0]

    def keep(self, key: Any, result: Any, places: int) -> None:
        """Keep a result with so many places; the oldest are dropped."""
        self._room += self._held.pop(key, (None, 0))[1]
        self._held[key] = result, places + 1
        self._room -= places + 1
        while self._room < 0:
            _, (_, gone) = self._held.popitem(last=False)
            self._room += gone


class TreeMemory:
    """Query-independent data of one tree: the import resolver, and computed notes."""

    def __init__(self, view: TreeView, searches: RecentSearches) -> None:
        self._view = view
        self._searches, self._token = searches, object()
        rows = view.rows("SELECT path FROM {live}")
        self.files = len(rows)
        self.resolver = Resolver((os.fsdecode(path) for (path,) in rows), self._read)
        self.notes: dict[str, Any] = {}

    def cache(self, name: str) -> dict[Any, Any]:
        """Return a table of results that hold for the tree; emptied for a query where it is large."""
        held: dict[Any, Any] = self.notes.setdefault(name, {})
        if len(held) > MAX_CACHED:
            held.clear()
        return held

    def table(self, name: str) -> dict[Any, Any]:
        """Return a table of results that hold for the tree, and grow with it only."""
        found: dict[Any, Any] = self.notes.setdefault(name, {})
        return found

    def searched(self, key: Any) -> Any:
        """Return the result of a search of this tree, if it is kept."""
        return self._searches.get((self._token, key))

    def keep_search(self, key: Any, result: Any, places: int) -> None:
        """Keep the result of a search, which has so many places; not of a part of the tree."""
        if not self._view.lacks_facts():
            self._searches.keep((self._token, key), result, places)

    def ask(self, view: TreeView) -> None:
        """Read through this view from now on: the previous one is closed."""
        self._view = view

    def is_partial(self, view: TreeView) -> bool:
        """Was this told by an earlier view, which lacked facts of edited files?"""
        return self._view is not view and self._view.lacks_facts()

    def _read(self, path: str) -> bytes | None:
        raw = os.fsencode(path)
        return self._view.read([raw]).get(raw)


class Memory:
    """Caches that stay valid between queries, for one thread that answers many."""

    def __init__(
        self,
        trees: int = 8,
        sources: int = 4_000,
        text_bytes: int = 32 << 20,
        few: int = 256,
        workers: Extractor | None = None,  # closed by the caller that passes them
    ) -> None:
        self._limit, self._room, self._bytes, self._few = trees, sources, text_bytes, few
        self._texts: OrderedDict[bytes, Text] = OrderedDict()
        self._trees: OrderedDict[tuple[Any, ...], TreeMemory] = OrderedDict()
        self._sources: OrderedDict[tuple[str, bytes], FileNames] = OrderedDict()
        self._scopes: OrderedDict[tuple[bytes, str], FileScopes | None] = OrderedDict()
        self._flows: OrderedDict[tuple[bytes, str], FileFlow | None] = OrderedDict()
        self._searches = RecentSearches()
        self._extractor = workers

    def tree(self, view: TreeView) -> TreeMemory:
        """Return the cache for the view's tree."""
        overlay = view.overlay
        generation = view.served.published.generation  # the same tree may be extracted again
        key = (view.worktree.root, overlay.source, overlay.tree, overlay.digest, generation)
        found = self._trees.get(key)
        if found is None or found.is_partial(view):
            found = self._trees[key] = TreeMemory(view, self._searches)
            if len(self._trees) > self._limit:
                self._trees.popitem(last=False)
            self._forget()
        found.ask(view)
        return found

    def _forget(self) -> None:
        """Drop the oldest files beyond twice those that the trees have: the past is seldom asked for."""
        files: dict[str, int] = {}
        for (root, *_), tree in self._trees.items():
            files[root] = max(tree.files, files.get(root, 0))
        room = min(self._room, max(self._few, 2 * sum(files.values())))
        for held in (self._sources, self._scopes, self._flows):
            while len(held) > room:
                held.popitem(last=False)
        while len(self._texts) > room:
            self._bytes += len(self._texts.popitem(last=False)[1].data)

    def source(self, origin: LiveFile) -> FileNames | None:
        """Return the facts of a path with these bytes, if they are cached."""
        return self._sources.get((origin.path, origin.oid))

    def text(self, oid: bytes) -> Text | None:
        """Return the text of a blob, if it is cached."""
        return self._texts.get(oid)

    def keep_text(self, oid: bytes, text: Text) -> None:
        """Cache a text; the oldest are dropped beyond the byte limit."""
        self._texts[oid] = text
        self._bytes -= len(text.data)
        while self._bytes < 0:
            _, gone = self._texts.popitem(last=False)
            self._bytes += len(gone.data)

    def scopes(self, origin: LiveFile) -> tuple[FileScopes | None] | None:
        """Return the scopes of a file's bytes in a tuple of one, if they are cached."""
        key = (origin.oid, origin.language)
        return (self._scopes[key],) if key in self._scopes else None

    def read_scopes(
        self, texts: dict[LiveFile, bytes], stored: dict[str, bytes]
    ) -> Iterator[tuple[LiveFile, FileScopes | None]]:
        """Yield the scopes of some texts: as stored for their paths, or derived in a killable child.

        None if that fails too.
        """
        missing: dict[LiveFile, tuple[bytes, bytes]] = {}
        for origin, data in texts.items():
            found = _unpacked(stored.get(origin.path, b""), origin, data)
            if found is None:
                missing[origin] = (data, SCOPES)
            else:
                yield origin, self._keep_scopes(origin, found)
        for origin, payload in self._ask(missing) if missing else ():
            found = _unpacked(payload, origin, texts[origin])
            yield origin, self._keep_scopes(origin, found)

    def _keep_scopes(self, origin: LiveFile, found: FileScopes | None) -> FileScopes | None:
        self._keep(self._scopes, (origin.oid, origin.language), found)
        return found

    def flow(self, origin: LiveFile, data: bytes) -> FileFlow | None:
        """Return the value flow of a file's bytes, read in a killable child."""
        key = (origin.oid, origin.language)
        for _, payload in self._ask({origin: (data, FLOW)}) if key not in self._flows else ():
            try:
                found = FileFlow(payload, data)
            except ValueError:
                found = None
            self._keep(self._flows, key, found)
        return self._flows[key]

    def kinds(self, texts: dict[LiveFile, tuple[bytes, list[int]]]) -> dict[str, list[TextKind]]:
        """Return the kind of text at some offsets, by path."""
        found: dict[str, list[TextKind]] = {}
        asked = {o: (data, KINDS_AT + json.dumps(at).encode()) for o, (data, at) in texts.items()}
        for origin, payload in self._ask(asked):
            try:
                found[origin.path] = [TextKind(*row) for row in json.loads(payload)]
            except ValueError:
                found[origin.path] = []
        return found

    def _ask(self, texts: dict[LiveFile, tuple[bytes, bytes]]) -> Iterator[tuple[LiveFile, bytes]]:
        """Yield what a killable child replies to a question about each text."""
        by_key = {FactsKey(o.oid.hex(), o.path): o for o in texts}
        tasks = [Task(k, WorkRequest(o.language, *texts[o])) for k, o in by_key.items()]
        for task, reply in self._workers().extract(tasks):
            yield by_key[task.key], reply.payload

    def _keep(self, held: OrderedDict[Any, Any], key: Any, value: Any) -> None:
        held[key] = value
        if len(held) > self._room:
            held.popitem(last=False)

    def _workers(self) -> Extractor:
        if self._extractor is None:
            self._extractor = Extractor()
            weakref.finalize(self, self._extractor.close)
        return self._extractor

    def keep(self, source: FileNames) -> None:
        """Cache a file's facts under its path and bytes."""
        self._keep(self._sources, (source.path, source.origin.oid), source)


def _unpacked(payload: bytes, origin: LiveFile, data: bytes) -> FileScopes | None:
    """Return the scopes of a payload; None if there is none, or it is damaged."""
    try:
        return FileScopes(payload, origin.language, data) if payload else None
    except (ValueError, TypeError, KeyError, IndexError):
        return None
