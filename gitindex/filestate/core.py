"""File states as a pure function of a graph: no recursion, cycles allowed, independent of order."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gitindex.base.vocabulary import Certainty, Freshness

OPAQUE = (Freshness.DIRTY, Freshness.UNINDEXED)
"""Changes below such a file do not spread through it: its own state must be resolved first."""


IMPORT = "import"
REFERENCE = "reference"
CONFIG = "config"
TOOL = "tool"
"""Kinds of edges: imports and references lead to files, configurations and tools do not."""

TO_FILES = (IMPORT, REFERENCE)
UNKNOWN = "unknown"
"""The value of `now` while the current state of a target cannot be determined."""


class FileRecord(NamedTuple):
    """One file on its own, without its dependencies."""

    indexed: str | None  # id of the bytes that its facts describe; None: no facts
    disk: str | None  # id of the bytes on disk; None: the file does not exist
    certainty: Certainty = Certainty.CERTAIN  # of its facts
    unchanged: bool = False  # no facts, but the bytes are the published ones


class FileDependency(NamedTuple):
    """One dependency: the target's interface at the file's last refresh, and its interface now."""

    target: str
    seen: str | None  # None: was not a dependency then
    now: str | None  # None: is no longer a dependency
    kind: str = IMPORT

    @property
    def changed(self) -> bool:
        return self.now not in (self.seen, UNKNOWN)

    @property
    def key(self) -> str:
        """Its name in what was reviewed: a configuration may be called like a file."""
        return f"{self.kind} {self.target}"


class FileState(NamedTuple):
    """The two axes of a state: freshness and certainty."""

    freshness: Freshness
    certainty: Certainty


class States:
    """The states of all files of one graph, with their causes."""

    def __init__(
        self, files: Mapping[str, FileRecord], edges: Mapping[str, Sequence[FileDependency]]
    ) -> None:
        self._files = files
        self._edges = edges
        self._freshness = {path: _bytes(known) for path, known in files.items()}
        for path in [p for p, level in self._freshness.items() if level not in OPAQUE]:
            if any(edge.changed for edge in edges.get(path, ())):
                self._freshness[path] = Freshness.STALE
            elif any(map(self._is_unsure, edges.get(path, ()))):
                self._freshness[path] = Freshness.PENDING_CHECK
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
        """Return the state of one file; unindexed if the graph does not contain it."""
        freshness = self._freshness.get(path, Freshness.UNINDEXED)
        if freshness in OPAQUE:
            return FileState(freshness, Certainty.UNKNOWN)
        return FileState(freshness, self._files[path].certainty)

    def chain(self, path: str) -> list[str]:
        """Return the shortest path from a file to the one that caused its state; ties by name."""
        links = [path]
        while steps := self._steps.get(links[-1], 0):
            level = self._freshness[links[-1]]
            links.append(
                min(
                    edge.target
                    for edge in self._edges[links[-1]]
                    if edge.kind in TO_FILES
                    and self._freshness.get(edge.target) is level
                    and self._steps.get(edge.target) == steps - 1
                )
            )
        return links

    def sources(self, path: str) -> list[str]:
        """Return the files whose own edges make a file stale, the nearest first."""
        paths = [path]
        for one in paths:  # it grows
            own = (edge.target for edge in self._edges[one] if edge.kind in TO_FILES)
            stale = (to for to in own if self._freshness.get(to) is Freshness.STALE)
            paths += [to for to in sorted(set(stale)) if to not in paths]
        return [one for one in paths if not self._steps[one]]

    def causes(self, path: str) -> list[FileDependency]:
        """Return a file's own edges that make it stale or pending."""
        level = self._freshness.get(path)
        edges = self._edges.get(path, ())
        if level is Freshness.STALE:
            return [edge for edge in edges if edge.changed]
        if level is Freshness.PENDING_CHECK:
            return [edge for edge in edges if self._is_unsure(edge)]
        return []

    def _only_blind(self) -> set[str]:
        """Return the files that depend on something without facts that has not changed.

        They are not clean, but nothing has changed below them: their dependents may be clean.
        """
        pending = [p for p, state in self._freshness.items() if state is Freshness.PENDING_CHECK]
        return {path for path in pending if all(map(self._is_unchanged, self.causes(path)))}

    def _is_unchanged(self, edge: FileDependency) -> bool:
        return edge.target in self._files and self._files[edge.target].unchanged

    def _is_unsure(self, edge: FileDependency) -> bool:
        known = self._freshness.get(edge.target, Freshness.UNINDEXED)
        return edge.now == UNKNOWN or (edge.kind in TO_FILES and known in OPAQUE)

    def _spread(self, level: Freshness, importers: Mapping[str, Iterable[str]]) -> None:
        """Give `level` to every direct or indirect dependent of a file with that level."""
        todo = deque(path for path, state in self._freshness.items() if state is level)
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


def _bytes(known: FileRecord) -> Freshness:
    if known.indexed is None:
        return Freshness.UNINDEXED
    return Freshness.CLEAN if known.disk == known.indexed else Freshness.DIRTY


def _importers(
    freshness: Mapping[str, Freshness], edges: Mapping[str, Sequence[FileDependency]]
) -> dict[str, list[str]]:
    """Return the dependents of each file, without dirty and unindexed ones."""
    importers: dict[str, list[str]] = defaultdict(list)
    for path, level in freshness.items():
        if level not in OPAQUE:
            for edge in edges.get(path, ()):
                if edge.kind in TO_FILES:
                    importers[edge.target].append(path)
    return importers
