"""Routing: finds the one context that owns a path. The closest ancestor of its family wins."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from gitindex.base.escape import safe_text
from gitindex.base.vocabulary import ContextState, FactsStatus
from gitindex.base.worktree import find_worktree
from gitindex.git.interface import GITLINK, LINK
from gitindex.languages.imports.tree import parent
from gitindex.semantic.contexts.discovery import (
    Context,
    Discovery,
    UnownedProject,
    discover,
    family_of,
    folders_up,
    is_marker,
)
from gitindex.store.semantic import switched_off
from gitindex.view.tree import TreeView, open_tree


class Route(NamedTuple):
    """The owner of a path: a context, a left-out project, or neither."""

    context: Context | None
    left_out: UnownedProject | None = None


NOWHERE = Route(None)


class ContextRouter:
    """Routes the paths of one tree; independent of the order of discovery."""

    def __init__(self, discovery: Discovery) -> None:
        self._contexts = {(c.family, c.root): c for c in discovery.contexts}
        self._left_out = {(hole.family, hole.root): hole for hole in discovery.left_out}

    @classmethod
    def open(cls, root: str) -> ContextRouter:
        """Return the router of the files of the worktree around a folder, as they are on disk now."""
        with open_tree(find_worktree(root), root) as view:
            return cls(discover_live(view)[1])

    def route(self, path: str) -> Route:
        """Return the owner of a path; nested contexts and left-out projects take precedence."""
        family = family_of(path)
        if family is None:
            return NOWHERE
        for folder in folders_up(parent(path)):
            if (context := self._contexts.get((family, folder))) is not None:
                return Route(context)
            if (hole := self._left_out.get((family, folder))) is not None:
                return Route(None, hole)
        return NOWHERE

    def members(self, paths: Iterable[str]) -> dict[Context, list[str]]:
        """Return the sorted paths of every context, including contexts without any."""
        found: dict[Context, list[str]] = {context: [] for context in self._contexts.values()}
        for path in sorted(paths):
            context = self.route(path).context
            if context is not None:
                found[context].append(path)
        return found


def discover_live(view: TreeView) -> tuple[dict[str, str], Discovery]:
    """Return the live files of a tree with their blob ids, and the contexts among them."""
    rows = view.rows("SELECT path, oid, mode FROM {live}")
    tree = {os.fsdecode(p): oid.hex() for p, oid, mode in rows if mode not in (LINK, GITLINK)}
    contents = view.read([os.fsencode(path) for path in tree if is_marker(path)])
    return tree, discover(tree, lambda path: contents.get(os.fsencode(path)))


class LiveContexts:
    """Discovery and routing over a view's live paths."""

    def __init__(self, view: TreeView) -> None:
        self._view = view
        self.tree, self.discovery = discover_live(view)
        self.router = ContextRouter(self.discovery)

    def answer(self) -> dict[str, Any]:
        """Return the structured answer of `gitindex contexts`."""
        members = self.router.members(self.tree)
        statuses = self._statuses({path for paths in members.values() for path in probed(paths)})
        off = switched_off(self._view.rows)
        listed = [
            {
                **_fields(context),
                "enabled": context.name not in off,
                "state": probe(paths, statuses.get),
                "files": len(paths),
            }
            for context, paths in members.items()
        ]
        routes = [self.router.route(path) for path in self.tree]
        left_out = [
            {
                "family": hole.family,
                "root": safe_text(hole.root),
                "workspace": safe_text(hole.workspace),
                "files": sum(route.left_out == hole for route in routes),
            }
            for hole in self.discovery.left_out
        ]
        unowned = sum(route == (None, None) for route in routes)
        return self._view.envelope(contexts=listed, leftOut=left_out, unownedFiles=unowned)

    def _statuses(self, paths: set[str]) -> dict[str, str]:
        """Return the parse status of some files in the syntactic layer."""
        if any(os.fsdecode(path) in paths for path in self._view.changed()):
            self._view.ensure_facts()
        rows = self._view.rows(
            "SELECT l.path, b.status FROM {live} l JOIN {blobs} b ON b.id=l.blob_id"
        )
        return {os.fsdecode(p): status for p, status in rows if os.fsdecode(p) in paths}


def _fields(context: Context) -> dict[str, Any]:
    return {
        "name": context.name,
        "family": context.family,
        "root": safe_text(context.root),
        "kind": context.kind,
        "workspace": None if context.workspace is None else safe_text(context.workspace),
        "markers": [safe_text(path) for path in context.markers],
        "configHash": context.config_hash,
    }


LOOKED_AT = 5
_SOUND = (FactsStatus.PARSED, FactsStatus.PARTIAL)


def probed(paths: Iterable[str]) -> list[str]:
    """Return the files to probe: the shortest paths, ties by name."""
    return sorted(paths, key=lambda path: (len(path), path))[:LOOKED_AT]


def probe(paths: Iterable[str], status_of: Callable[[str], str | None]) -> ContextState:
    """Return the state of a context from the facts status of up to five of its files."""
    chosen = probed(paths)
    if not chosen:
        return ContextState.EMPTY
    sound = any(status_of(path) in _SOUND for path in chosen)
    return ContextState.VALID if sound else ContextState.FAILED
