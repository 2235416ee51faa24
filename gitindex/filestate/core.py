"""File states as a pure function of a graph: no recursion, cycles allowed, no order anywhere."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gitindex.base.vocabulary import Certainty, Freshness

OPAQUE = (Freshness.DIRTY, Freshness.UNINDEXED)
"""What such a file depends on says nothing about those that depend on it: ask it again later."""


IMPORT = "import"
REFERENCE = "reference"
CONFIG = "config"
TOOL = "tool"
"""Kinds of edges: to files, and to what is no file of the graph."""

TO_FILES = (IMPORT, REFERENCE)
UNKNOWN = "unknown"
"""What is there now and cannot be told yet."""


class FileRecord(NamedTuple):
    """One file by itself."""

    indexed: str | None  # id of the bytes its facts are of; None: no facts
    disk: str | None  # id of the bytes on disk; None: not there
    certainty: Certainty = Certainty.CERTAIN  # of its facts
    unchanged: bool = False  # no facts, but the very bytes that were published


class FileDependency(NamedTuple):
    """One dependency: what the file saw there when it was last refreshed, and what is there now."""

    target: str
    seen: str | None  # None: was no dependency then
    now: str | None  # None: is none any more
    kind: str = IMPORT

    @property
    def changed(self) -> bool:
        return self.now not in (self.seen, UNKNOWN)


class FileState(NamedTuple):
    """The two axes."""

    freshness: Freshness
    certainty: Certainty


class States:
    """The states of all files of one graph, and why each is as it is."""

    def __init__(
        self, files: Mapping[str, FileRecord], edges: Mapping[str, Sequence[FileDependency]]
    ) -> None:
        self._files = files
        self._edges = edges
        self._freshness = _by_themselves(files, edges)
        blind = self._only_blind()
        self._freshness |= dict.fromkeys(blind, Freshness.CLEAN)
        self._steps: dict[str, int] = {}
        importers = _importers(self._freshness, edges)
        for level in (Freshness.STALE, Freshness.PENDING_CHECK):
            self._spread(level, importers)
        for path in blind:
            if self._freshness[path] is Freshness.CLEAN:
                self._freshness[path] = Freshness.PENDING_CHECK

    def of(self, path: str) -> FileState:
        """The state of one file; of one that the graph does not hold: unindexed."""
        freshness = self._freshness.get(path, Freshness.UNINDEXED)
        if freshness in OPAQUE:
            return FileState(freshness, Certainty.UNKNOWN)
        return FileState(freshness, self._files[path].certainty)

    def chain(self, path: str) -> list[str]:
        """From a file to the one that made it what it is, by the fewest steps; ties by name."""
        found = [path]
        while steps := self._steps.get(found[-1], 0):
            level = self._freshness[found[-1]]
            found.append(
                min(
                    edge.target
                    for edge in self._edges[found[-1]]
                    if edge.kind in TO_FILES
                    and self._freshness.get(edge.target) is level
                    and self._steps.get(edge.target) == steps - 1
                )
            )
        return found

    def causes(self, path: str) -> list[FileDependency]:
        """The edges of a file that make it stale or pending by itself."""
        level = self._freshness.get(path)
        edges = self._edges.get(path, ())
        if level is Freshness.STALE:
            return [edge for edge in edges if edge.changed]
        if level is Freshness.PENDING_CHECK:
            return [edge for edge in edges if edge.now == UNKNOWN or self._is_opaque(edge)]
        return []

    def _only_blind(self) -> set[str]:
        """Files that depend on something without facts, which itself has not changed.

        They are not clean. But nothing has changed below them, so those that depend on them may be.
        """
        pending = [p for p, found in self._freshness.items() if found is Freshness.PENDING_CHECK]
        return {path for path in pending if all(map(self._is_unchanged, self.causes(path)))}

    def _is_unchanged(self, edge: FileDependency) -> bool:
        return edge.target in self._files and self._files[edge.target].unchanged

    def _is_opaque(self, edge: FileDependency) -> bool:
        return edge.kind in TO_FILES and self.of(edge.target).freshness in OPAQUE

    def _spread(self, level: Freshness, importers: Mapping[str, Iterable[str]]) -> None:
        """Give `level` to all that depend on a file of that level, however far away."""
        todo = deque(path for path, found in self._freshness.items() if found is level)
        self._steps.update(dict.fromkeys(todo, 0))
        weaker = [Freshness.CLEAN]
        if level is Freshness.STALE:
            weaker.append(Freshness.PENDING_CHECK)
        while todo:
            path = todo.popleft()
            for importer in importers.get(path, ()):
                if self._freshness[importer] in weaker:
                    self._freshness[importer] = level
                    self._steps[importer] = self._steps[path] + 1
                    todo.append(importer)


def _by_themselves(
    files: Mapping[str, FileRecord], edges: Mapping[str, Sequence[FileDependency]]
) -> dict[str, Freshness]:
    """Each file by its own bytes and its own edges, before anything spreads."""
    found = {path: _bytes(known) for path, known in files.items()}
    opaque = {path for path, freshness in found.items() if freshness in OPAQUE}
    for path in files.keys() - opaque:
        own = edges.get(path, ())
        if any(edge.changed for edge in own):
            found[path] = Freshness.STALE
        elif any(edge.now == UNKNOWN or _is_opaque(edge, files, opaque) for edge in own):
            found[path] = Freshness.PENDING_CHECK
    return found


def _bytes(known: FileRecord) -> Freshness:
    if known.indexed is None:
        return Freshness.UNINDEXED
    return Freshness.CLEAN if known.disk == known.indexed else Freshness.DIRTY


def _is_opaque(edge: FileDependency, files: Mapping[str, FileRecord], opaque: set[str]) -> bool:
    return edge.kind in TO_FILES and (edge.target in opaque or edge.target not in files)


def _importers(
    freshness: Mapping[str, Freshness], edges: Mapping[str, Sequence[FileDependency]]
) -> dict[str, list[str]]:
    """Who depends on a file; what a dirty file depends on reaches nobody through it."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, level in freshness.items():
        if level not in OPAQUE:
            for edge in edges.get(path, ()):
                if edge.kind in TO_FILES:
                    found[edge.target].append(path)
    return found
