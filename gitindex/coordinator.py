"""The embedding API: queries and refreshes of one repository, plain and synchronous."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError, StoreError
from gitindex.base.vocabulary import SearchMode
from gitindex.base.worktree import Worktree, find_worktree, inside_root
from gitindex.query.names.memory import Memory
from gitindex.query.search.memory import SearchMemory
from gitindex.questions.here import Here, Memories
from gitindex.questions.table import find_question
from gitindex.refresh.queue import FULL, RefreshScope
from gitindex.refresh.run import refresh_now
from gitindex.refresh.runner import RefreshRequest
from gitindex.semantic.contexts.router import LiveContexts
from gitindex.store import mapping
from gitindex.store.connection import open_reader
from gitindex.store.lexical import trim_memory
from gitindex.view.overlay import FactsMemory
from gitindex.view.tree import NOW, TreeChoice, TreeView

Answer = dict[str, Any]


class IndexStats(NamedTuple):
    """What a reindex did to the published tree."""

    generation: int
    files: int  # in the tree now
    added: int
    changed: int
    removed: int
    seconds: float


class _ProgramHere(Here):
    """Where a program asks: some folders of one worktree; no live scan in place of a closed gate."""

    agent = True

    def __init__(
        self, worktree: Worktree, choice: TreeChoice, memories: Memories, below: tuple[str, ...]
    ) -> None:
        super().__init__(worktree.root, choice, memories, worktree)
        self._below = below

    def below(self, _view: TreeView) -> tuple[str, ...]:
        return self._below


class IndexCoordinator:
    """Queries return envelopes; a closed gate raises `GateClosed`. Facts of edits are cached."""

    def __init__(self, path: str, ask: TreeChoice = NOW) -> None:
        self.worktree = find_worktree(path)
        self._choice = ask
        self._facts = FactsMemory()
        self._lexical = SearchMemory()
        self._binding = Memory()

    def search(
        self,
        query: str,
        mode: SearchMode | str = SearchMode.RANKED,
        scope: RefreshScope | None = None,
        limit: int = 10,
    ) -> Answer:
        """Find places for a query; `scope` names files and packages to search, None means all."""
        below = _folders(FULL if scope is None else scope)
        match _mode(mode):
            case SearchMode.RANKED:
                return self._answer("search", below, query=query, limit=limit)
            case SearchMode.SYMBOL:
                return self._symbols(query, below, limit)
            case SearchMode.LITERAL | SearchMode.REGEX as kind:
                fixed = kind is SearchMode.LITERAL
                return self._answer("grep", below, pattern=query, fixed=fixed, limit=limit)

    def get_symbol(self, name: str, path: str | None = None) -> Answer | None:
        """Return the definition that a name most likely means, or None."""
        root = self.worktree.root
        found = self._symbols(name, (inside_root(root, root, path),) if path else (), 1)["symbols"]
        return found[0] if found else None

    def get_references(self, symbol: str | Mapping[str, Any], context: str | None = None) -> Answer:
        """Find uses of a symbol by name, `PATH#NAME` or `FILE:LINE:COL`, or as `get_symbol` gave it.

        `context` filters.
        """
        if not isinstance(symbol, str):
            symbol = f"{symbol['path']}:{symbol['line']}:{symbol['column']}"
        answer = self._answer("refs", symbol=symbol)
        if context is None:
            return answer
        with self._here().tree() as view:
            return _of_context(view, answer, context)

    def get_map(self, include: Iterable[str] = ()) -> Answer:
        """Return the central files and their signatures, with the requested sections."""
        return self._answer("map", include=[include] if isinstance(include, str) else list(include))

    def reindex_incremental(
        self, changed_paths: Iterable[str | os.PathLike[str]] | None = None
    ) -> IndexStats:
        """Make HEAD's tree the published one.

        Changes are found by comparing trees, so a list of paths cannot hide any: the paths are only
        checked to lie below the root. None means everything.
        """
        for path in changed_paths or ():
            inside_root(self.worktree.root, self.worktree.root, os.fspath(path))
        return self._run(RefreshRequest(self.worktree, "index"))

    def reindex_full(self) -> IndexStats:
        """Extract everything again."""
        return self._run(RefreshRequest(self.worktree, "reindex", force=True))

    def _symbols(self, name: str, below: tuple[str, ...], limit: int) -> Answer:
        params: dict[str, Any] = {"name": name, "exact": True, "limit": limit}
        answers = [self._answer("symbols", **params, below=folder) for folder in below or ("",)]
        found = [symbol for answer in answers for symbol in answer["symbols"]]
        cut = len(found) > limit or any(answer.get("truncated") for answer in answers)
        return {**answers[-1], "symbols": found[:limit], "truncated": cut}

    def _here(self, below: tuple[str, ...] = ()) -> Here:
        memories = Memories(self._facts, self._lexical, self._binding)
        return _ProgramHere(self.worktree, self._choice, memories, below)

    def _answer(self, name: str, within: tuple[str, ...] = (), /, **params: Any) -> Answer:
        question = find_question([name])
        assert question is not None
        return dict(question.ask(self._here(within), question.given(**params)))

    def _run(self, request: RefreshRequest) -> IndexStats:
        began, before = time.monotonic(), dict[bytes, str]()
        with suppress(StoreError):  # a damaged store is what the refresh repairs
            before = _published(self.worktree)[1]
        refresh_now(request)
        trim_memory()  # writers leave their buffers in the heap, more of them with each refresh
        generation, after = _published(self.worktree)
        return IndexStats(
            generation,
            len(after),
            len(after.keys() - before.keys()),
            sum(before[path] != oid for path, oid in after.items() if path in before),
            len(before.keys() - after.keys()),
            time.monotonic() - began,
        )


def _mode(mode: SearchMode | str) -> SearchMode:
    try:
        return SearchMode(mode)
    except ValueError:
        known = ", ".join(SearchMode)
        raise GitIndexError(f"no such mode: {mode}", f"one of {known}", Exit.USAGE) from None


def _folders(scope: RefreshScope) -> tuple[str, ...]:
    """Return the files and folders that a scope names; empty for the whole tree."""
    below = (*scope.files, *scope.packages)
    if scope.changed_since is not None or not (scope.full or below):
        raise GitIndexError(
            "the scope of a search names files or packages", "None searches everything", Exit.USAGE
        )
    return below


def _of_context(view: TreeView, answer: Answer, name: str) -> Answer:
    """Keep only the references in files that a context owns."""
    contexts = LiveContexts(view)
    if name not in {context.name for context in contexts.discovery.contexts}:
        raise GitIndexError(f"no such context: {name}", "see `gitindex contexts`", Exit.NO)

    def owned(path: str) -> bool:
        owner = contexts.router.route(path).context
        return owner is not None and owner.name == name

    kept = [reference for reference in answer["references"] if owned(reference["path"])]
    return answer | {"references": kept, "totalReferences": len(kept), "context": name}


def _published(worktree: Worktree) -> tuple[int, dict[bytes, str]]:
    """Return the published generation and its blob ids by path; (0, {}) if nothing is published."""
    database = open_reader(worktree.database)
    if database is None:
        return 0, {}
    try:
        with database.snapshot():
            row = mapping.published(database, worktree.id)
            if row is None:
                return 0, {}
            files = mapping.read_mapping(database, row.worktree_id)
            return row.generation, {file.path: file.oid for file in files}
    finally:
        database.close()
