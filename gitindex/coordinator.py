"""For programs that embed gitindex: one repository's questions and refreshes, plain and synchronous."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from gitindex.base.errors import GitIndexError
from gitindex.base.worktree import find_worktree
from gitindex.freshness.observation import observe
from gitindex.query.map.answer import MapQuery, read_sections, repo_map
from gitindex.query.names.memory import Memory
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.query.search.search import search
from gitindex.query.symbols import SymbolQuery, list_symbols
from gitindex.refresh.lifecycle import check_owner
from gitindex.refresh.public_files import create_store
from gitindex.refresh.runner import RefreshRequest, Runner
from gitindex.refresh.spool import IMMEDIATE
from gitindex.view.tree import NOW, FactsMemory, TreeChoice, TreeView, open_tree


class IndexCoordinator:
    """Answers are envelopes; a closed gate raises `answer.Gated`. Facts of edits are remembered."""

    def __init__(self, path: str, ask: TreeChoice = NOW) -> None:
        self.worktree = find_worktree(path)
        self._ask = ask
        self._facts = FactsMemory()
        self._binding = Memory()

    def search(self, query: str, limit: int = 10) -> dict[str, Any]:
        """The best places for a query."""
        return self._answer(lambda view: search(view, query, limit))

    def get_symbol(self, name: str, path: str | None = None) -> dict[str, Any] | None:
        """The definition that a name most likely means, or None."""
        wanted = SymbolQuery(name, path or "", limit=1)
        found = self._answer(lambda view: list_symbols(view, wanted))["symbols"]
        return found[0] if found else None

    def get_references(self, symbol: str) -> dict[str, Any]:
        """Where a symbol is used, by name, `PATH#NAME` or `FILE:LINE:COL`."""
        wanted = ReferenceQuery(symbol)
        return self._answer(lambda view: find_references(view, wanted, self._binding))

    def get_map(self, include: Iterable[str] = ()) -> dict[str, Any]:
        """The central files and their signatures, with the sections that are asked for."""
        wanted = MapQuery(include=read_sections(include))
        return self._answer(lambda view: repo_map(view, wanted))

    def reindex_incremental(self) -> int:
        """Make HEAD's tree the published one; returns its generation.

        What changed is found by comparing trees, so there is no list of paths to give.
        """
        return self._run(RefreshRequest(self.worktree, "index"))

    def reindex_full(self) -> int:
        """Extract everything again; returns the new generation."""
        return self._run(RefreshRequest(self.worktree, "reindex", force=True))

    def _answer(self, question: Callable[[TreeView], dict[str, Any]]) -> dict[str, Any]:
        with open_tree(self.worktree, self.worktree.root, self._ask, self._facts) as view:
            return question(view)

    def _run(self, request: RefreshRequest) -> int:
        check_owner(self.worktree)
        mask = os.umask(0o077)
        try:
            create_store(self.worktree)
            if not Runner(self.worktree, IMMEDIATE).serve(request):
                raise GitIndexError("another runner holds the store", "try again in a moment")
        finally:
            os.umask(mask)
        marker = observe(self.worktree).proof.marker
        return marker.generation if marker else 0
