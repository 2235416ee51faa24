"""Dependency edges of published files: the targets of an import now and at the last refresh."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple, TypeGuard

from gitindex.base.vocabulary import FactsStatus, SkipReason
from gitindex.filestate.core import CONFIG, TO_FILES, UNKNOWN, FileDependency, FileRecord
from gitindex.filestate.inputs import FileInputs
from gitindex.git.command import read_blobs
from gitindex.languages.facts import BlobFacts, FactsKey, Import, Symbol
from gitindex.languages.imports import Resolver
from gitindex.languages.table import extractor_id
from gitindex.semantic.contexts.discovery import Context, discover, marks_of
from gitindex.semantic.contexts.router import ContextRouter
from gitindex.store.connection import marks
from gitindex.store.history import PathAtTime, Seen
from gitindex.store.name_rows import read_names

BY_NAME = frozenset({"python", "javascript", "typescript", "tsx"})
"""Languages where a file has of another only what it names; elsewhere packages share names."""


def _is_parsed(facts: BlobFacts | None) -> TypeGuard[BlobFacts]:
    return facts is not None and facts.status is FactsStatus.PARSED


def _new_definitions(old: BlobFacts, new: BlobFacts) -> list[Symbol]:
    """Return exported top-level definitions that a file gained; `__getattr__` makes others of them."""
    known = {symbol.name for symbol in old.symbols}
    tops = [s for s in new.symbols if s.parent < 0 and s.exported and s.name not in known]
    return [symbol for symbol in tops if not symbol.name.startswith("__")]


class Additions:
    """The names that files gained, for one view."""

    def __init__(self, inputs: FileInputs) -> None:
        self._inputs = inputs
        self._known: dict[tuple[str, PathAtTime], frozenset[str]] = {}

    def are_unseen(self, importer: str, target: str, was: PathAtTime) -> bool:
        """Did a file only gain top-level definitions, none of which this importer names?"""
        if (target, was) not in self._known:
            self._known[target, was] = self._gained(target, was)
        gained = self._known[target, was]
        return bool(gained) and not self._names_one(importer, gained)

    def _gained(self, path: str, was: PathAtTime) -> frozenset[str]:
        """Return the names that a file gained; none if its interface differs in anything else."""
        new = self._inputs.facts(path)
        if not _is_parsed(new) or new.language not in BY_NAME:
            return frozenset()
        old = self._inputs.view.facts(FactsKey(was.oid.hex(), extractor_id(new.language)))
        gained = _new_definitions(old, new) if _is_parsed(old) else []
        rest = self._without(path, new, gained) if gained else None
        if not _is_parsed(rest) or rest.interface_hash != was.interface:
            return frozenset()
        return frozenset(symbol.name for symbol in gained)

    def _without(self, path: str, facts: BlobFacts, gained: list[Symbol]) -> BlobFacts | None:
        """Return the facts of a file's text without some of its definitions."""
        lines = (self._inputs.read(path) or b"").split(b"\n")
        for symbol in gained:
            count = symbol.end_line + 1 - symbol.start_line
            lines[symbol.start_line : symbol.end_line + 1] = [b""] * count
        return self._inputs.view.parse(b"\n".join(lines), facts.language)

    def _names_one(self, importer: str, names: Collection[str]) -> bool:
        """Does a published file name one of these, or take everything with a star?"""
        blob = self._inputs.files[importer].blob_id
        select = self._inputs.database.rows
        rows = select(f"SELECT id FROM names WHERE text IN ({marks(names)})", *names)
        known = {name_id for (name_id,) in rows}
        return bool(
            any(
                not known.isdisjoint(read_names(packed)[0])
                for (packed,) in select("SELECT names FROM occurrences WHERE blob_id=?", blob)
            )
            or select("SELECT 1 FROM imports WHERE blob_id=? AND instr(names, '\"*\"')", blob)
        )


_NO_FILES = (SkipReason.SYMLINK, SkipReason.SUBMODULE)


class Configurations:
    """Contexts of the tree on disk and of older generations, computed only if one may differ."""

    def __init__(self, inputs: FileInputs) -> None:
        self._inputs = inputs
        self._edited = any(map(_is_marker, inputs.changed))
        recorded = (changes for path, changes in inputs.history.changes() if _is_marker(path))
        self._changed = sorted({generation for changes in recorded for generation, _ in changes})
        self._then: dict[int, ContextRouter] = {}

    def edges(self, path: str, since: int) -> Iterator[FileDependency]:
        """Yield a file's edge to its configuration, if it may differ from generation `since`."""
        passed = bisect_right(self._changed, since)
        if passed == len(self._changed) and not self._edited:
            return
        if passed not in self._then:
            self._then[passed] = self._route(self._tree_at(since))
        now, then = self.owner(path), self._then[passed].route(path).context
        owner = now or then
        if owner is not None:
            yield FileDependency(
                owner.name,
                then and f"{then.name} {then.config_hash}",
                now and f"{now.name} {now.config_hash}",
                CONFIG,
            )

    def owner(self, path: str) -> Context | None:
        """Return the context of a file according to the project files on disk."""
        return self._now.route(path).context

    @cached_property
    def _now(self) -> ContextRouter:
        inputs = self._inputs
        ids = {p: inputs.disk_id(p) or "" if _is_marker(p) else "" for p in inputs.paths}
        return self._route(ids)

    def _tree_at(self, since: int) -> dict[str, str]:
        tree = {}
        for path in self._inputs.history.paths_at(since, self._inputs.files):
            was = self._inputs.was(path, since) if _is_marker(path) else None
            tree[path] = was.oid.hex() if was else ""
        return tree

    def _route(self, tree: dict[str, str]) -> ContextRouter:
        files = self._inputs.files
        kept = {p: o for p, o in tree.items() if p not in files or files[p].reason not in _NO_FILES}
        return ContextRouter(discover(kept, lambda path: self._read(path, kept.get(path, ""))))

    def _read(self, path: str, oid: str) -> bytes | None:
        """Return a project file as it was then; read it from disk if it has not changed."""
        if not oid:
            return None
        if self._inputs.disk_id(path) == oid:
            return self._inputs.read(path)
        return read_blobs(self._inputs.view.worktree.root, [oid]).get(oid)


def _is_marker(path: str) -> bool:
    return bool(marks_of(path.rpartition("/")[2]))


class _Written(NamedTuple):
    """An import as stored; hashable, so equal imports of files in one folder are resolved once."""

    module: str
    names: str
    level: int


class DependencyGraph:
    """The dependencies of files, discovered step by step from the files in a query."""

    def __init__(self, inputs: FileInputs) -> None:
        self._inputs = inputs
        self._configurations = Configurations(inputs)
        self._additions = Additions(inputs)
        self._resolvers: dict[int, _Remembering] = {}
        self._now = _Remembering(Resolver(inputs.paths, inputs.read))
        if not inputs.moved:
            self._resolvers[0] = self._now

    def reach(
        self, paths: Iterable[str]
    ) -> tuple[dict[str, FileRecord], dict[str, list[FileDependency]]]:
        """Return the files and edges on which the states of `paths` depend."""
        known: dict[str, FileRecord] = {}
        edges: dict[str, list[FileDependency]] = {}
        todo = set(paths)
        while todo:
            records = self._inputs.know(todo)
            known |= records
            seen_through = [p for p, known in records.items() if self._is_as_published(p, known)]
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
        return same and self._inputs.overlaid(path) is None

    def owner(self, path: str) -> Context | None:
        """Return the context that owns a file, according to the project files on disk."""
        return self._configurations.owner(path)

    def reviewed(self, paths: Iterable[str], generation: int) -> dict[str, Seen]:
        """Return what published files see of their dependencies beside that generation: edits."""
        files = [path for path in paths if self._inputs.overlaid(path) is None]
        imports = self._imports(files)
        edges = {path: self._edges_since(path, imports[path], generation) for path in files}
        return {path: {e.key: e.now for e in own if e.changed} for path, own in edges.items()}

    def _edges(self, path: str, imports: list[_Written]) -> list[FileDependency]:
        history = self._inputs.history
        edges = self._edges_since(path, imports, history.refreshed(path))
        if reviewed := history.seen(path):
            others = (edge for edge in edges if not _is_reviewed(edge, reviewed))
            same = (e._replace(seen=e.now) for e in edges if e.now and _is_reviewed(e, reviewed))
            edges = [*others, *same]
        return [*edges, *self._semantic_edges(path)]

    def _edges_since(self, path: str, imports: list[_Written], since: int) -> list[FileDependency]:
        language = self._inputs.files[path].language
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
        if not self._inputs.semantics.covers(path):
            return
        owner = self._configurations.owner(path)
        named = (owner.name, owner.config_hash) if owner else None
        yield from self._inputs.semantics.edges(path, self._oids, named)

    @cached_property
    def _oids(self) -> dict[str, str]:
        """Published blob ids of the paths on disk; a dirty file is covered by its own state."""
        files = self._inputs.files
        return {path: files[path].oid.hex() for path in self._inputs.paths if path in files}

    def _edge(self, path: str, target: str, since: int, saw: bool, reached: bool) -> FileDependency:
        was = self._inputs.was(target, since) if saw else None
        now = self._inputs.interface(target) if reached else None
        changed = was is not None and now not in (None, was.interface)
        if was and changed and self._additions.are_unseen(path, target, was):
            now = was.interface
        return FileDependency(target, was.interface if was else None, now)

    def _resolver(self, since: int) -> _Remembering:
        """Return a resolver for imports over the paths of an older generation."""
        epoch = self._inputs.history.epoch(since)
        if epoch not in self._resolvers:
            paths = self._inputs.history.paths_at(since, self._inputs.files)
            self._resolvers[epoch] = _Remembering(Resolver(paths, self._inputs.read))
        return self._resolvers[epoch]

    def _imports(self, paths: list[str]) -> dict[str, list[_Written]]:
        ids = sorted({self._inputs.files[path].blob_id or 0 for path in paths})
        imports: dict[int, list[_Written]] = defaultdict(list)
        sql = "SELECT blob_id, module, names, level FROM imports WHERE blob_id IN ({marks})"
        for blob_id, *fields in self._inputs.database.rows_among(sql, ids):
            imports[blob_id].append(_Written._make(fields))
        return {path: imports[self._inputs.files[path].blob_id or 0] for path in paths}


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
        return (target for target in self._known[key] if target != path)
