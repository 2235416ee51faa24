"""The embedding API: queries and refreshes of one repository, plain and synchronous."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.vocabulary import SearchMode
from gitindex.base.worktree import Worktree, find_worktree, inside_root
from gitindex.query.grep.grep import GrepQuery, grep
from gitindex.query.grep.pattern import GrepPattern
from gitindex.query.map.answer import MapQuery, read_sections, repo_map
from gitindex.query.names.memory import Memory
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.query.search.query_text import Filters
from gitindex.query.search.search import search
from gitindex.query.symbols import SymbolQuery, list_symbols
from gitindex.refresh.run import refresh_now
from gitindex.refresh.runner import RefreshRequest
from gitindex.refresh.scope import FULL, RefreshScope
from gitindex.semantic.contexts.listing import LiveContexts
from gitindex.store import mapping
from gitindex.store.connection import open_reader
from gitindex.store.lexical import trim_memory
from gitindex.view.overlay_tables import FactsMemory
from gitindex.view.tree import NOW, TreeChoice, TreeView, open_tree

Answer = dict[str, Any]


class IndexStats(NamedTuple):
    """What a reindex did to the published tree."""

    generation: int
    files: int  # in the tree now
    added: int
    changed: int
    removed: int
    seconds: float


class IndexCoordinator:
    """Queries return envelopes; a closed gate raises `GateClosed`. Facts of edits are cached."""

    def __init__(self, path: str, ask: TreeChoice = NOW) -> None:
        self.worktree = find_worktree(path)
        self._ask = ask
        self._facts = FactsMemory()
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
                filters = Filters(below=below)
                return self._answer(lambda view: dict(search(view, query, limit, filters)))
            case SearchMode.SYMBOL:
                return self._symbols(query, below, limit)
            case SearchMode.LITERAL | SearchMode.REGEX as kind:
                pattern = GrepPattern(query, fixed=kind is SearchMode.LITERAL)
                wanted = GrepQuery(pattern, tuple(map(os.fsencode, below)), limit=limit)
                return self._answer(lambda view: dict(grep(view, wanted)))

    def get_symbol(self, name: str, path: str | None = None) -> Answer | None:
        """Return the definition that a name most likely means, or None."""
        wanted = SymbolQuery(name, path or "", limit=1)
        found = self._answer(lambda view: dict(list_symbols(view, wanted)))["symbols"]
        return found[0] if found else None

    def get_references(self, symbol: str, context: str | None = None) -> Answer:
        """Find uses of a symbol by name, `PATH#NAME` or `FILE:LINE:COL`; `context` filters."""
        wanted = ReferenceQuery(symbol)

        def ask(view: TreeView) -> Answer:
            answer = dict(find_references(view, wanted, self._binding))
            return answer if context is None else _of_context(view, answer, context)

        return self._answer(ask)

    def get_map(self, include: Iterable[str] = ()) -> Answer:
        """Return the central files and their signatures, with the requested sections."""
        wanted = MapQuery(include=read_sections(include))
        return self._answer(lambda view: dict(repo_map(view, wanted)))

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
        wanted = [SymbolQuery(name, folder, limit=limit) for folder in below or ("",)]

        def ask(view: TreeView) -> Answer:
            answers = [list_symbols(view, one) for one in wanted]
            found = [symbol for answer in answers for symbol in answer["symbols"]]
            cut = len(found) > limit or any(answer.get("truncated") for answer in answers)
            return {**answers[-1], "symbols": found[:limit], "truncated": cut}

        return self._answer(ask)

    def _answer(self, question: Callable[[TreeView], Answer]) -> Answer:
        with open_tree(self.worktree, self.worktree.root, self._ask, self._facts) as view:
            return question(view)

    def _run(self, request: RefreshRequest) -> IndexStats:
        began, before = time.monotonic(), _published(self.worktree)[1]
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
