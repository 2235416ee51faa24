"""Caches that stay valid between queries: of a tree, of a file's bytes. Bounded."""

from __future__ import annotations

import json
import os
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, TypeVar

from gitindex.base.recent import Recent
from gitindex.extract.frames import SCOPES, WorkRequest
from gitindex.extract.pool import Extractor, Task
from gitindex.languages.facts import FactsKey
from gitindex.languages.imports import Resolver
from gitindex.languages.scopes.model import FLOW, KINDS_AT, FileFlow, FileScopes, TextKind
from gitindex.query.names.model import FileNames, LiveFile, Text
from gitindex.view.tree import TreeView

T = TypeVar("T")
MAX_CACHED = 50_000
"""Entries of one table of a tree."""
ROOM = 24 << 20
"""Bytes of what is read of files, about: a server has 150 MB in all."""
SEARCHES = 10 << 20
"""Bytes of what searches found: one question asks for the same ones again, after reading many files."""
OF_TEXT, OF_SCOPES, OF_SYMBOL, OF_PLACE = 2, 8, 500, 500
"""Bytes in memory of a byte of text with its lines, of one with scopes, of a symbol, of a place found."""


class TreeMemory:
    """Query-independent data of one tree: the import resolver, and computed notes."""

    def __init__(self, view: TreeView, searches: Recent) -> None:
        self._view = view
        self._searches, self._token = searches, object()
        rows = view.rows("SELECT path FROM {live}")
        self.files = len(rows)
        self.resolver = Resolver((os.fsdecode(path) for (path,) in rows), self._read)
        self.notes: dict[str, Any] = {}

    def cache(self, name: str) -> dict[Any, Any]:
        """Return a table of results that hold for the tree; emptied for a query where it is large."""
        table: dict[Any, Any] = self.notes.setdefault(name, {})
        if len(table) > MAX_CACHED:
            table.clear()
        return table

    def table(self, name: str) -> dict[Any, Any]:
        """Return a table of results that hold for the tree, and grow with it only."""
        table: dict[Any, Any] = self.notes.setdefault(name, {})
        return table

    def searched(self, key: Any) -> Any:
        """Return the result of a search of this tree, if it is kept."""
        return self._searches.get((self._token, key))

    def keep_search(self, key: Any, result: Any, places: int) -> None:
        """Keep the result of a search, which has so many places; not of a part of the tree."""
        if not self._view.lacks_facts():
            self._searches.keep((self._token, key), result, OF_PLACE * (places + 1))

    def ask(self, view: TreeView) -> None:
        """Read through this view from now on: the previous one is closed."""
        self._view = view

    def is_partial(self, view: TreeView) -> bool:
        """Was this computed through an earlier view, which lacked facts of edited files?"""
        return self._view is not view and self._view.lacks_facts()

    def _read(self, path: str) -> bytes | None:
        raw = os.fsencode(path)
        return self._view.read([raw]).get(raw)


class Memory:
    """Caches that stay valid between queries, for one thread that answers many."""

    def __init__(
        self,
        trees: int = 8,
        room: int = ROOM,
        workers: Extractor | None = None,  # closed by the caller that passes them
    ) -> None:
        self._limit, self._files, self._searches = trees, Recent(room), Recent(SEARCHES)
        self._trees: OrderedDict[tuple[Any, ...], TreeMemory] = OrderedDict()
        self._extractor = workers

    def tree(self, view: TreeView) -> TreeMemory:
        """Return the cache for the view's tree."""
        overlay = view.overlay
        generation = view.served.published.generation  # the same tree may be extracted again
        key = (view.worktree.root, overlay.source, overlay.tree, overlay.digest, generation)
        tree = self._trees.get(key)
        if tree is None or tree.is_partial(view):
            tree = self._trees[key] = TreeMemory(view, self._searches)
            if len(self._trees) > self._limit:
                self._trees.popitem(last=False)
        tree.ask(view)
        return tree

    def source(self, origin: LiveFile) -> FileNames | None:
        """Return the facts of a path with these bytes, if they are cached."""
        source: FileNames | None = self._files.get((origin.path, origin.oid))
        return source

    def keep(self, source: FileNames) -> None:
        """Cache a file's facts under its path and bytes."""
        size = OF_SYMBOL * (1 + len(source.symbols) + len(source.imports))
        self._files.keep((source.path, source.origin.oid), source, size)

    def text(self, oid: bytes) -> Text | None:
        """Return the text of a blob, if it is cached."""
        text: Text | None = self._files.get(oid)
        return text

    def keep_text(self, oid: bytes, text: Text) -> None:
        """Cache a text."""
        self._files.keep(oid, text, OF_TEXT * (1 + len(text.data)))

    def scopes(self, origin: LiveFile) -> tuple[FileScopes | None] | None:
        """Return the scopes of a file's bytes in a tuple of one, if they are cached."""
        scopes: tuple[FileScopes | None] | None = self._files.get(_key(SCOPES, origin))
        return scopes

    def read_scopes(
        self, texts: dict[LiveFile, bytes], stored: dict[str, bytes]
    ) -> Iterator[tuple[LiveFile, FileScopes | None]]:
        """Yield the scopes of some texts: as stored for their paths, or derived in a killable child.

        None if that fails too.
        """
        missing: dict[LiveFile, tuple[bytes, bytes]] = {}
        for origin, data in texts.items():
            scopes = _unpacked(stored.get(origin.path, b""), origin, data)
            if scopes is None:
                missing[origin] = (data, SCOPES)
            else:
                yield origin, self._keep(_key(SCOPES, origin), scopes, data)
        for origin, payload in self._ask(missing) if missing else ():
            scopes = _unpacked(payload, origin, texts[origin])
            yield origin, self._keep(_key(SCOPES, origin), scopes, texts[origin])

    def flow(self, origin: LiveFile, data: bytes) -> FileFlow | None:
        """Return the value flow of a file's bytes, read in a killable child."""
        flow: FileFlow | None = None
        cached = self._files.get(_key(FLOW, origin))
        if cached is not None:
            (flow,) = cached
            return flow
        for _, payload in self._ask({origin: (data, FLOW)}):
            with suppress(ValueError):
                flow = FileFlow(payload, data)
        return self._keep(_key(FLOW, origin), flow, data)

    def kinds(self, texts: dict[LiveFile, tuple[bytes, list[int]]]) -> dict[str, list[TextKind]]:
        """Return the kind of text at some offsets, by path."""
        kinds: dict[str, list[TextKind]] = {}
        requests = {
            o: (data, KINDS_AT + json.dumps(at).encode()) for o, (data, at) in texts.items()
        }
        for origin, payload in self._ask(requests):
            try:
                kinds[origin.path] = [TextKind(*row) for row in json.loads(payload)]
            except ValueError:
                kinds[origin.path] = []
        return kinds

    def _ask(self, texts: dict[LiveFile, tuple[bytes, bytes]]) -> Iterator[tuple[LiveFile, bytes]]:
        """Yield what a killable child replies to a question about each text."""
        by_key = {FactsKey(o.oid.hex(), o.path): o for o in texts}
        tasks = [Task(k, WorkRequest(o.language, *texts[o])) for k, o in by_key.items()]
        for task, reply in self._workers().extract(tasks):
            yield by_key[task.key], reply.payload

    def _keep(self, key: Any, value: T, data: bytes) -> T:
        self._files.keep(key, (value,), OF_SCOPES * (1 + len(data)))
        return value

    def _workers(self) -> Extractor:
        if self._extractor is None:
            self._extractor = Extractor()
            weakref.finalize(self, self._extractor.close)
        return self._extractor


def _key(kind: bytes, origin: LiveFile) -> tuple[bytes, bytes, str]:
    return kind, origin.oid, origin.language


def _unpacked(payload: bytes, origin: LiveFile, data: bytes) -> FileScopes | None:
    """Return the scopes of a payload; None if there is none, or it is damaged."""
    try:
        return FileScopes(payload, origin.language, data) if payload else None
    except (ValueError, TypeError, KeyError, IndexError):
        return None
