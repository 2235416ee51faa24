"""Build the graph from one symbol outwards, step by step, in a deterministic order."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import path_fields, safe_text
from gitindex.base.vocabulary import Direction, EdgeKind, Layer, Tier
from gitindex.languages.facts import Import, Occurrence, Use
from gitindex.languages.scopes.model import COMPILED
from gitindex.languages.syntax.kinds import FUNCTIONS, SCOPES, TYPES
from gitindex.query.callgraph.flow import ValueFlow
from gitindex.query.names.finder import Finder
from gitindex.query.names.model import Definition, FileNames, Meaning, Site, State
from gitindex.query.names.names import METHODS
from gitindex.query.names.project import Project
from gitindex.query.names.semantic import known_uses
from gitindex.query.names.targets import ReferenceTarget, find_target

MAX_DEPTH = 10
MAX_NODES = 2_000
MAX_MAYBE = 5
"""Maximum candidates of a call by name alone; with more, a note replaces the edges."""

_CALLS = {Use.CALL: EdgeKind.CALL, Use.DECORATOR: EdgeKind.CALL, Use.INHERIT: EdgeKind.INHERIT}


_FLOWING = frozenset(State) - {State.KEY}

TRUNCATED = "CALL_GRAPH_NOTES_TRUNCATED"

_MEANINGS = {
    "multiple_definitions": "a name is defined more than once",
    "conditional_definition": "a definition depends on a condition",
    "star_import": "an import binds names it does not list",
    "dynamic_import": "a module is imported by a computed name",
    "dynamic_attribute": "an attribute is reached by a computed name",
    "eval_exec": "text is run as code",
    "monkey_patch": "an attribute is set from outside",
    "generated_member": "a class has members no line defines",
    "overload_set": "a name stands for several signatures",
    "unresolved_receiver": "a method is called on something of unknown type",
    "reexport_chain": "an imported name is exported again",
    "context_divergence": "the code depends on the platform",
    "macro_or_generated": "a tool wrote it, or macros change it",
    "parse_error": "part of it could not be parsed",
    "encoding_lossy": "some bytes are no text",
}


class GraphQuery(NamedTuple):
    """Options of a call graph."""

    symbol: str  # NAME, A.NAME, PATH#NAME, FILE:LINE, or a file of the tree
    direction: Direction = Direction.BOTH
    depth: int = 1
    limit: int = 100  # nodes
    note_limit: int = 50


class CallNode(NamedTuple):
    """A symbol, or a file for code outside of symbols."""

    id: str
    name: str
    kind: str
    path: str
    line: int  # 0-based
    definition: Definition | None


class CallEdge(NamedTuple):
    """One use of one node by another."""

    source: str
    target: str
    kind: EdgeKind
    path: str
    line: int
    tier: Tier
    layer: Layer = Layer.SYNTACTIC

    def order(self) -> tuple[bytes, bytes, str, bytes, int, str, str]:
        ends = (
            self.source.encode("utf-8", "surrogateescape"),
            self.target.encode("utf-8", "surrogateescape"),
        )
        return *ends, self.kind, os.fsencode(self.path), self.line, self.tier, self.layer


class GraphNote(NamedTuple):
    """One note about a file or a symbol of the graph."""

    file: str
    type: str  # an ambiguity flag
    symbol: str | None
    line: int | None  # 1-based
    detail: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.detail.encode("utf-8", "surrogateescape")).hexdigest()[:16]


class Walk:
    """Collects the graph around one symbol."""

    def __init__(self, finder: Finder, query: GraphQuery) -> None:
        self.finder = finder
        self.query = query
        self.nodes: dict[str, CallNode] = {}
        self.edges: set[CallEdge] = set()
        self.notes: list[GraphNote] = []
        self.truncated = False
        self.flow = ValueFlow(finder)
        self._limit = max(1, min(query.limit, MAX_NODES))
        self._ids: dict[tuple[str, int], str] = {}

    def roots(self) -> list[CallNode]:
        """Return the requested node, or several to choose from."""
        symbol = self.query.symbol
        source = self.finder.project.source(symbol)
        if source is not None:
            return [self._module(source)]
        target = find_target(self.finder.binder, symbol)
        return [self.node(d) for d in _callable(target, self._is_overloaded)]

    def run(self, root: CallNode) -> None:
        """Collect everything within the depth."""
        self.nodes[root.id] = root
        directions = [Direction.CALLERS, Direction.CALLEES]
        if self.query.direction is not Direction.BOTH:
            directions = [self.query.direction]
        for direction in directions:
            ring, seen = [root], {root.id}
            for _ in range(max(1, min(self.query.depth, MAX_DEPTH))):
                ring = [
                    other
                    for node in sorted(ring, key=node_order)
                    for other in self._step(node, direction)
                    if other.id not in seen and not seen.add(other.id)  # type: ignore[func-returns-value]
                ]

    def node(self, definition: Definition) -> CallNode:
        """Return the node of a definition; its id is readable and the same in every run."""
        key = (definition.path, definition.ordinal)
        if key not in self._ids:
            source = self.finder.project.source(definition.path)
            same = [
                s.ordinal
                for s in (source.symbols if source else [])
                if s.qualified == definition.qualified
            ]
            number = same.index(definition.ordinal) + 1 if definition.ordinal in same else 1
            mark = f"~{number}" if number > 1 else ""
            self._ids[key] = f"{definition.path}#{definition.qualified}{mark}"
        return CallNode(
            self._ids[key],
            definition.name,
            definition.kind,
            definition.path,
            definition.line,
            definition,
        )

    def _is_overloaded(self, definition: Definition) -> bool:
        source = self.finder.project.source(definition.path)
        return source is not None and "overload_set" in source.origin.flags

    def _module(self, source: FileNames) -> CallNode:
        name = source.path.rpartition("/")[2]
        return CallNode(source.path, name, "module", source.path, 0, None)

    def _step(self, node: CallNode, direction: Direction) -> list[CallNode]:
        if direction is Direction.CALLERS:
            found = self._callers(node) if node.definition else self._importers(node)
        else:
            found = self._callees(node)
        reached = []
        for edge, other in sorted(found, key=lambda pair: pair[0].order()):
            if other.id not in self.nodes:
                if len(self.nodes) >= self._limit:
                    self.truncated = True
                    continue
                self.nodes[other.id] = other
            self.edges.add(edge)
            reached.append(other)
        return reached

    def _callers(self, node: CallNode) -> Iterator[tuple[CallEdge, CallNode]]:
        assert node.definition is not None
        for site in self.finder.uses([node.definition]):
            kind = _kind(site, node.definition)
            if kind is None:
                continue
            source = self.finder.project.source(site.path)
            around = _scope(source, site.enclosing) if source else None
            if around is not None:
                other = self.node(around)
            elif source is not None:
                other = self._module(source)
            else:
                continue
            yield CallEdge(other.id, node.id, kind, *site[:2], site.tier, site.layer), other

    def _callees(self, node: CallNode) -> Iterator[tuple[CallEdge, CallNode]]:
        project = self.finder.project
        source = project.source(node.path)
        if source is None:
            return
        project.read([node.path])
        if node.definition is None:
            yield from self._imports(source, node)
        known = known_uses(project, node.path, node.definition)
        for place in project.places_in(node.path):
            if place.use in _CALLS and _belongs(source, place, node.definition):
                at = (place.line, place.column)
                if at not in known:
                    yield from self._called(source, place, node)
                elif (sure := known[at]) is not None:
                    yield self._known(place, node, sure)
                else:  # the indexer resolves it outside the tree; kept if scopes lead to the tree
                    yield from self._called(source, place, node, sure_only=True)
        for line, found in self.flow.others(source, node.definition):
            yield self._edge(node, found, EdgeKind.CALL, source, line)

    def _known(
        self, place: Occurrence, node: CallNode, sure: Definition
    ) -> tuple[CallEdge, CallNode]:
        other, kind = self.node(sure), _CALLS[place.use]
        site = (node.path, place.line)
        return CallEdge(node.id, other.id, kind, *site, Tier.SEMANTIC, Layer.SEMANTIC), other

    def _called(
        self, source: FileNames, place: Occurrence, node: CallNode, sure_only: bool = False
    ) -> Iterator[tuple[CallEdge, CallNode]]:
        binder = self.finder.binder
        meaning = binder.meaning(source, place)
        kind = _CALLS[place.use]
        found = self.flow.called(source, place, meaning) if meaning.state in _FLOWING else []
        if place.use == Use.INHERIT:
            found = list(meaning.definitions)
        for definition in found:
            yield self._edge(node, definition, kind, source, place.line)
        if found or sure_only or meaning.state is State.DEFINED:
            return
        maybe = binder.candidates(source, meaning, place.name)
        if not is_drawn(source, meaning, place.name, maybe):
            any_of = f"any of {len(maybe)} definitions" if len(maybe) > 1 else maybe[0].qualified
            detail = f"{place.name} may be {any_of}"
            self.notes.append(
                GraphNote(source.path, "unresolved_receiver", node.id, place.line + 1, detail)
            )
            return
        for definition in maybe:
            other = self.node(definition)
            edge = CallEdge(node.id, other.id, EdgeKind.DYNAMIC, source.path, place.line, Tier.NAME)
            yield edge, other

    def _edge(
        self, node: CallNode, definition: Definition, kind: EdgeKind, source: FileNames, line: int
    ) -> tuple[CallEdge, CallNode]:
        tier = Tier.EXACT if definition.path == source.path else Tier.IMPORT
        other = self.node(definition)
        return CallEdge(node.id, other.id, kind, source.path, line, tier), other

    def _imports(self, source: FileNames, node: CallNode) -> Iterator[tuple[CallEdge, CallNode]]:
        """Yield the files of the tree that a file imports."""
        for item in source.imports:
            for path in self.finder.project.resolve(source, item):
                found = self.finder.project.source(path)
                if found is not None:
                    other = self._module(found)
                    yield _import_edge(node, other, source.path, item), other

    def _importers(self, node: CallNode) -> Iterator[tuple[CallEdge, CallNode]]:
        """Yield the files of the tree that import a file."""
        project = self.finder.project
        project.load(project.importing(node.path))
        for path in project.importing(node.path):
            source = project.source(path)
            for item in source.imports if source else ():
                if source is not None and node.path in project.resolve(source, item):
                    other = self._module(source)
                    yield _import_edge(other, node, source.path, item), other


def is_drawn(source: FileNames, meaning: Meaning, name: str, maybe: list[Definition]) -> bool:
    """Return whether a call by name alone gets edges; a note, if it may mean too much.

    Where types are declared, an object that the tree has no type for is most likely from outside.
    """
    common = source.language in COMPILED or name in METHODS.get(source.language, ())
    unknown = common and meaning.state is State.UNKNOWN and not meaning.bare
    return not maybe or (len(maybe) <= MAX_MAYBE and not unknown)


def _callable(
    target: ReferenceTarget, overloaded: Callable[[Definition], bool]
) -> list[Definition]:
    """Return the functions and types of a target, one per qualified name.

    For an overload set this is the last definition, which has the body; else the first.
    """
    if not target.definitions and target.local:
        raise GitIndexError(f"a local variable: {safe_text(target.name)}", code=Exit.NO)
    strong = [d for d in target.definitions if d.kind in FUNCTIONS | TYPES]
    found = strong or list(target.definitions)
    chosen = {(d.path, d.qualified): d for d in reversed(found)}
    for d in sorted(filter(overloaded, found), key=lambda d: d.line):
        chosen[d.path, d.qualified] = d
    return [d for d in found if chosen[d.path, d.qualified] is d]


def _kind(site: Site, target: Definition) -> EdgeKind | None:
    if site.use in _CALLS:
        unsure = site.tier in (Tier.NAME, Tier.DISPATCH) and site.use != Use.INHERIT
        return EdgeKind.DYNAMIC if unsure else _CALLS[site.use]
    passes = site.use in (Use.REFERENCE, Use.ATTRIBUTE, Use.DEFINITION)  # the last in a pattern
    if passes and target.kind in FUNCTIONS:
        return EdgeKind.DYNAMIC  # passed as a value, to be called elsewhere
    return None


def _scope(source: FileNames, definition: Definition | None) -> Definition | None:
    """Return the nearest enclosing symbol that can contain code."""
    while definition is not None and definition.kind not in SCOPES:
        definition = source.symbol(definition.parent)
    return definition


def _belongs(source: FileNames, place: Occurrence, definition: Definition | None) -> bool:
    """Return whether a place is in a symbol's own code or in a symbol that it contains."""
    if definition is None:
        return source.symbol(place.enclosing) is None
    around = source.symbol(place.enclosing)
    while around is not None and around.ordinal != definition.ordinal:
        around = source.symbol(around.parent)
    return around is not None


def _import_edge(source: CallNode, target: CallNode, path: str, item: Import) -> CallEdge:
    return CallEdge(source.id, target.id, EdgeKind.IMPORT, path, item.line, Tier.IMPORT)


def node_order(node: CallNode) -> tuple[bytes, int, str]:
    """Sort key of nodes: path as bytes, then line."""
    return os.fsencode(node.path), node.line, node.id


def file_notes(project: Project, paths: Iterable[str]) -> Iterator[GraphNote]:
    """Yield notes for the flags of some files."""
    for path in paths:
        source = project.source(path)
        for flag in source.origin.flags if source else ():
            yield GraphNote(path, flag, None, None, _MEANINGS.get(flag, flag))


def note_fields(
    notes: Iterable[GraphNote], files: set[str], symbols: set[str], limit: int
) -> dict[str, Any]:
    """Return the notes of shown files and symbols, ordered by bytes and truncated, with counts."""
    kept = [n for n in notes if n.file in files and (n.symbol is None or n.symbol in symbols)]
    ordered = sorted(dict.fromkeys(kept), key=note_order)
    shown = ordered[: max(0, limit)]
    cut = len(shown) < len(ordered)
    return {
        "notes": [_note_fields(note) for note in shown],
        "notesTruncated": cut,
        "totalNoteCount": len(ordered),
        "returnedNoteCount": len(shown),
        "warnings": [TRUNCATED] if cut else [],
    }


def note_order(note: GraphNote) -> tuple[bytes, bytes, bool, bytes, bool, int, bytes]:
    """Sort key: file, type, symbol (nulls last), line (nulls last), digest; as UTF-8 bytes."""
    return (
        os.fsencode(note.file),
        note.type.encode(),
        note.symbol is None,
        (note.symbol or "").encode("utf-8", "surrogateescape"),
        note.line is None,
        note.line or 0,
        note.digest.encode(),
    )


def _note_fields(note: GraphNote) -> dict[str, Any]:
    shown = path_fields(os.fsencode(note.file))
    fields: dict[str, Any] = {"file": shown["path"], "type": note.type}
    if "pathBytes" in shown:
        fields["fileBytes"] = shown["pathBytes"]
    fields["symbolId"] = safe_text(note.symbol) if note.symbol is not None else None
    return fields | {
        "startLine": note.line,
        "detail": safe_text(note.detail),
        "detailHash": note.digest,
    }
