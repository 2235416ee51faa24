"""Routing: finds the one context that owns a path. The closest ancestor of its family wins."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from gitindex.base.worktree import find_worktree
from gitindex.git.interface import GITLINK, LINK
from gitindex.languages.imports.tree import parent
from gitindex.semantic.contexts.discovery import (
    Context,
    Discovery,
    UnownedProject,
    discover,
    folders_up,
)
from gitindex.semantic.contexts.families import family_of, is_marker
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
