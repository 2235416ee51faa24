"""The questions of one editor session to the index. Independent of the protocol; writes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from gitindex.base.errors import GitIndexError
from gitindex.base.vocabulary import Direction
from gitindex.base.worktree import Worktree, find_worktree
from gitindex.query.callgraph.answer import GraphQuery, call_graph
from gitindex.query.names.finder import Finder
from gitindex.query.names.memory import Memory
from gitindex.query.names.targets import find_target
from gitindex.query.near_names import NameMemory
from gitindex.query.references import (
    ReferenceQuery,
    declared_fields,
    definition_fields,
    find_references,
)
from gitindex.query.symbols import SymbolQuery, list_symbols, outline
from gitindex.view.overlay_tables import FactsMemory
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import TreeView, open_tree

MAX_SYMBOLS = 100
MAX_REFERENCES = 1_000
MAX_NODES = 500


class EditorFile(NamedTuple):
    """A file of a worktree, as an editor names it."""

    worktree: Worktree
    path: str  # relative to the worktree's root


class EditorSession:
    """Answers one editor's questions, one at a time; caches facts between them."""

    def __init__(self) -> None:
        self.buffers: dict[str, bytes] = {}
        """Texts that the editor holds, by absolute path; they may equal the file on disk."""
        self._facts = FactsMemory()
        self._names: dict[str, Memory] = {}
        self._defined: dict[str, NameMemory] = {}

    def locate(self, file: str) -> EditorFile | None:
        """Return the file with its worktree; None outside of any repository."""
        try:
            worktree = find_worktree(os.path.dirname(file))
        except (GitIndexError, OSError):
            return None
        inside = os.path.relpath(os.path.realpath(file), worktree.root)
        return None if inside.startswith("..") else EditorFile(worktree, inside)

    def symbols(self, root: str, asked: str) -> list[dict[str, Any]]:
        """Return definitions with similar names, nearest first."""
        wanted = SymbolQuery(asked, limit=MAX_SYMBOLS, exact=False)
        with self._open(find_worktree(root)) as view:
            if view is None:
                return []
            memory = self._defined.setdefault(root, NameMemory())
            return [*map(dict, list_symbols(view, wanted, memory)["symbols"])]

    def outline(self, file: EditorFile) -> list[dict[str, Any]]:
        """Return all definitions of one file."""
        with self._open(file.worktree) as view:
            return [*map(dict, outline(view, file.path)["symbols"])] if view else []

    def definitions(self, file: EditorFile, line: int, column: int) -> list[dict[str, Any]]:
        """Return the definitions of the name at a position (1-based, the column in bytes)."""
        with self._open(file.worktree) as view:
            if view is None:
                return []
            finder = Finder(view, self._memory(file.worktree))
            target = find_target(finder.binder, f"{file.path}:{line}:{column}")
            finder.project.read({d.path for d in target.definitions} | {file.path})
            if target.definitions:
                return [definition_fields(finder.project, d) for d in target.definitions]
            return [declared_fields(finder.project, d) for d in target.declared]

    def references(self, file: EditorFile, line: int, column: int) -> dict[str, Any]:
        """Return the whole answer of `refs` for the name at a position."""
        wanted = ReferenceQuery(f"{file.path}:{line}:{column}", limit=MAX_REFERENCES)
        with self._open(file.worktree) as view:
            if view is None:
                return {"references": [], "definitions": []}
            return dict(find_references(view, wanted, self._memory(file.worktree)))

    def calls(self, worktree: Worktree, node: str, direction: Direction) -> dict[str, Any]:
        """Return the calls around a node of the call graph, or the name at `FILE:LINE:COL`."""
        wanted = GraphQuery(node, direction, depth=1, limit=MAX_NODES, note_limit=0)
        with self._open(worktree) as view:
            if view is None:
                return {"nodes": [], "edges": [], "root": None}
            return dict(call_graph(view, wanted, self._memory(worktree)))

    def _memory(self, worktree: Worktree) -> Memory:
        return self._names.setdefault(worktree.root, Memory())

    @contextmanager
    def _open(self, worktree: Worktree) -> Iterator[TreeView | None]:
        """Open the tree with the editor's texts laid over; None if there is no index."""
        try:
            with open_tree(
                worktree,
                worktree.root,
                memory=self._facts,
                buffers=self._unsaved(worktree.root),
            ) as view:
                yield view
        except GateClosed:
            yield None

    def _unsaved(self, root: str) -> Mapping[bytes, bytes]:
        """Return the editor's texts below a root that differ from the files on disk."""
        found = {}
        for file, text in self.buffers.items():
            real = os.path.realpath(file)
            if real.startswith(root + os.sep) and not _is_on_disk(real, text):
                found[os.fsencode(os.path.relpath(real, root))] = text
        return found


def _is_on_disk(file: str, text: bytes) -> bool:
    try:
        with open(file, "rb") as opened:
            return opened.read(len(text) + 1) == text
    except OSError:
        return False
