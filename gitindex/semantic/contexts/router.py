"""Routing: finds the one context that owns a path. The closest ancestor of its family wins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gitindex.languages.imports.tree import parent
from gitindex.semantic.contexts.discovery import Context, Discovery, UnownedProject, folders_up
from gitindex.semantic.contexts.families import family_of


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
