"""Dependency edges of published files: the targets of an import now and at the last refresh."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from gitindex.filestate.additions import Additions
from gitindex.filestate.configs import Configurations
from gitindex.filestate.core import TO_FILES, UNKNOWN, FileDependency, FileRecord
from gitindex.filestate.world import World
from gitindex.languages.facts import Import
from gitindex.languages.imports import Resolver
from gitindex.semantic.contexts import Context
from gitindex.store.blobs import CHUNK
from gitindex.store.history import Seen


class _Written(NamedTuple):
    """An import as stored; hashable, so equal imports of files in one folder are resolved once."""

    module: str
    names: str
    level: int


class DependencyGraph:
    """The dependencies of files, discovered step by step from the files in a query."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._configurations = Configurations(world)
        self._additions = Additions(world)
        self._resolvers: dict[int, _Remembering] = {}
        self._now = _Remembering(Resolver(world.paths, world.read))
        if not world.moved:
            self._resolvers[0] = self._now

    def reach(
        self, paths: Iterable[str]
    ) -> tuple[dict[str, FileRecord], dict[str, list[FileDependency]]]:
        """Return the files and edges on which the states of `paths` depend."""
        known: dict[str, FileRecord] = {}
        edges: dict[str, list[FileDependency]] = {}
        todo = set(paths)
        while todo:
            found = self._world.know(todo)
            known |= found
            seen_through = [p for p, known in found.items() if self._is_as_published(p, known)]
            imports = self._imports(seen_through)
            todo = set()
            for path in seen_through:
                edges[path] = self._edges(path, imports.get(path, []))
                imported = (edge.target for edge in edges[path] if edge.kind in TO_FILES)
                todo.update(target for target in imported if target not in known)
        return known, edges

    def _is_as_published(self, path: str, known: FileRecord) -> bool:
        """Are its facts those of the index? An edited file was written against the current tree."""
        same = known.indexed is not None and known.indexed == known.disk
        return same and self._world.overlaid(path) is None

    def owner(self, path: str) -> Context | None:
        """Return the context that owns a file, according to the project files on disk."""
        return self._configurations.owner(path)

    def reviewed(self, paths: Iterable[str], generation: int) -> dict[str, Seen]:
        """Return what published files see of their dependencies beside that generation: edits."""
        files = [path for path in paths if self._world.overlaid(path) is None]
        imports = self._imports(files)
        edges = {path: self._edges_since(path, imports[path], generation) for path in files}
        return {path: {e.key: e.now for e in own if e.changed} for path, own in edges.items()}

    def _edges(self, path: str, imports: list[_Written]) -> list[FileDependency]:
        history = self._world.history
        edges = self._edges_since(path, imports, history.refreshed(path))
        if reviewed := history.seen(path):
            others = (edge for edge in edges if not _is_reviewed(edge, reviewed))
            same = (e._replace(seen=e.now) for e in edges if e.now and _is_reviewed(e, reviewed))
            edges = [*others, *same]
        return [*edges, *self._semantic_edges(path)]

    def _edges_since(self, path: str, imports: list[_Written], since: int) -> list[FileDependency]:
        language = self._world.files[path].language
        then = self._resolver(since)
        reached = {t for i in imports for t in self._now.resolve(path, language, i)}
        saw = reached
        if then is not self._now:
            saw = {t for i in imports for t in then.resolve(path, language, i)}
        return [
            *(
                self._edge(path, target, since, target in saw, target in reached)
                for target in saw | reached
            ),
            *self._configurations.edges(path, since),
        ]

    def _semantic_edges(self, path: str) -> Iterator[FileDependency]:
        if not self._world.semantics.covers(path):
            return
        owner = self._configurations.owner(path)
        named = (owner.name, owner.config_hash) if owner else None
        yield from self._world.semantics.edges(path, self._oids, named)

    @cached_property
    def _oids(self) -> dict[str, str]:
        """Published blob ids of the paths on disk; a dirty file is covered by its own state."""
        files = self._world.files
        return {path: files[path].oid.hex() for path in self._world.paths if path in files}

    def _edge(self, path: str, target: str, since: int, saw: bool, reached: bool) -> FileDependency:
        was = self._world.was(target, since) if saw else None
        now = self._world.interface(target) if reached else None
        changed = was is not None and now not in (None, was.interface)
        if was and changed and self._additions.are_unseen(path, target, was):
            now = was.interface
        return FileDependency(target, was.interface if was else None, now)

    def _resolver(self, since: int) -> _Remembering:
        """Return a resolver for imports over the paths of an older generation."""
        epoch = self._world.history.epoch(since)
        if epoch not in self._resolvers:
            paths = self._world.history.paths_at(since, self._world.files)
            self._resolvers[epoch] = _Remembering(Resolver(paths, self._world.read))
        return self._resolvers[epoch]

    def _imports(self, paths: list[str]) -> dict[str, list[_Written]]:
        ids = sorted({self._world.files[path].blob_id or 0 for path in paths})
        found: dict[int, list[_Written]] = defaultdict(list)
        for at in range(0, len(ids), CHUNK):
            part = ids[at : at + CHUNK]
            for blob_id, *fields in self._world.database.rows(
                "SELECT blob_id, module, names, level FROM imports"
                f" WHERE blob_id IN ({','.join('?' * len(part))})",
                *part,
            ):
                found[blob_id].append(_Written._make(fields))
        return {path: found[self._world.files[path].blob_id or 0] for path in paths}


def _is_reviewed(edge: FileDependency, reviewed: Seen) -> bool:
    """Has what it leads to now, or that it leads nowhere, been reviewed?"""
    return edge.changed and reviewed.get(edge.key, UNKNOWN) == edge.now


class _Remembering:
    """A resolver that resolves equal imports of one folder only once."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._known: dict[tuple[str, str, _Written], tuple[str, ...]] = {}

    def resolve(self, path: str, language: str, written: _Written) -> Iterable[str]:
        # Only Rust's modules depend on the file's own name; elsewhere the folder is enough.
        asker = path if language == "rust" else f"{path.rpartition('/')[0]}/"
        key = (asker, language, written)
        if key not in self._known:
            names = tuple((a, b) for a, b in json.loads(written.names))
            imported = Import(written.module, names, written.level, 0)
            self._known[key] = self._resolver.resolve(asker.removeprefix("/"), language, imported)
        return (found for found in self._known[key] if found != path)
