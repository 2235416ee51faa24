"""Facts of the semantic layer about definitions, where the layer has read the live bytes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from gitindex.base.vocabulary import Layer, Relation, Tier
from gitindex.languages.facts import Occurrence, Use
from gitindex.languages.syntax.kinds import TYPES
from gitindex.query.names.model import Definition, Site, enclosing, make_site
from gitindex.query.names.project import Project
from gitindex.semantic.coverage import read_coverage
from gitindex.semantic.scip.facts import is_twin
from gitindex.store import semantic

_At = tuple[str, int, int]  # path, line, column


class KnownReferences:
    """References to some targets in the semantic layer."""

    def __init__(self, project: Project, targets: Iterable[Definition]) -> None:
        self._project = project
        self._rows = project.view.rows
        self._current = current_paths(project)
        self._targets = {i: t for t in targets for i in identities(project, t)}
        self._known = {(t.path, t.ordinal) for t in self._targets.values()}
        self._sure = self._references(self._targets)
        self._places: dict[str, set[tuple[int, int]]] = {}
        self._above = {
            above: target
            for identity, target in self._targets.items()
            if target.kind not in TYPES
            for above in _overridden(self._rows, identity)
            if above not in self._targets
        }

    def allows(self, site: Site) -> bool:
        """Return False if the layer knows the targets and resolves the place to something else.

        A place that the layer does not list is allowed: indexers omit what they cannot resolve.
        """
        known = all((d.path, d.ordinal) in self._known for d in site.targets)
        if not known or os.fsencode(site.path) not in self._current or site[:3] in self._sure:
            return True
        if site.tier in (Tier.NAME, Tier.DISPATCH):
            return site[:3] not in self._others
        return (site.line, site.column) not in self._all_places(site.path)

    def sites(self) -> Iterator[Site]:
        """Yield references of the layer; those to members that a target overrides may mean it."""
        yield from self._sites(self._sure, self._targets, Tier.SEMANTIC)
        maybe = self._references(self._above)
        yield from self._sites(
            {p: maybe[p] for p in maybe.keys() - self._sure.keys()}, self._above, Tier.DISPATCH
        )

    @cached_property
    def _others(self) -> set[_At]:
        """Places of symbols with the same name that are not targets."""
        names = {target.name for target in self._targets.values()}
        return {_at(one) for one in semantic.named(self._rows, names)} - self._sure.keys()

    def _all_places(self, path: str) -> set[tuple[int, int]]:
        """Return all places of a file in the layer, locals included."""
        if path not in self._places:
            self._places[path] = semantic.places_in(self._rows, os.fsencode(path))
        return self._places[path]

    def _references(self, symbols: Iterable[str]) -> dict[_At, semantic.Reference]:
        references = semantic.references(self._rows, symbols)
        return {_at(one): one for one in references if one.place.use != Use.DEFINITION}

    def _sites(
        self, references: Mapping[_At, semantic.Reference], of: Mapping[str, Definition], tier: Tier
    ) -> Iterator[Site]:
        for (path, line, column), one in sorted(references.items()):
            source = self._project.source(path)
            if source is None or one.place.end_line != line:
                continue
            place = Occurrence("", line, column, one.place.use, -1)
            site = make_site(source, place, tier, (of[one.identity],))
            yield site._replace(
                end_column=one.place.end_column,
                layer=Layer.SEMANTIC,
                enclosing=enclosing(source, line),
            )


def current_paths(project: Project) -> frozenset[bytes]:
    """Return the paths whose live bytes the layer has read; empty without a layer."""
    return coverage(project).current


def identities(project: Project, definition: Definition) -> list[str]:
    """Return the layer's identities of a definition."""
    raw = os.fsencode(definition.path)
    if raw not in current_paths(project):
        return []
    rows = project.view.rows
    own = semantic.defined_at(rows, raw, definition.line, definition.column)
    twins = [
        other
        for other in (semantic.identities_named(rows, definition.name) if own else ())
        if other not in own and any(is_twin(one, other) for one in own)
    ]
    return own + sorted(semantic.externals(rows, twins))


def known_at(project: Project, path: str, line: int, column: int) -> list[Definition]:
    """Return the definitions of the symbol at a place; none if the layer does not know it."""
    raw, rows = os.fsencode(path), project.view.rows
    if raw not in current_paths(project):
        return []
    return _homes(project, semantic.symbols_at(rows, raw, line, column))


def known_uses(
    project: Project, path: str, definition: Definition | None
) -> dict[tuple[int, int], Definition | None]:
    """Return what places in a definition, or outside of all, refer to; None: not in this tree."""
    raw, rows = os.fsencode(path), project.view.rows
    if raw not in current_paths(project):
        return {}
    lines = (definition.start_line, definition.end_line) if definition else None
    uses = semantic.callees(rows, raw, lines)
    symbols = {use.identity for use in uses}
    known: dict[str, Definition | None] = dict.fromkeys(semantic.externals(rows, symbols))
    for definition_row in semantic.definitions(rows, symbols):
        known.setdefault(definition_row.identity, _defined_at(project, definition_row))
    return {use.place[:2]: known[use.identity] for use in uses if use.identity in known}


def kin(project: Project, targets: Iterable[Definition]) -> dict[str, list[Definition]]:
    """Return what the targets implement or override, and what implements them, within the tree."""
    own = [identity for target in targets for identity in identities(project, target)]
    rows = project.view.rows
    related = {
        "implements": [other for i in own for other in _implemented(semantic.related(rows, i))],
        "implementedBy": [other for i in own for other in _implemented(semantic.relating(rows, i))],
    }
    return {name: _homes(project, others) for name, others in related.items()}


def coverage(project: Project) -> semantic.SemanticCoverage:
    """Return which files of the tree the layer covers; cached per query."""
    covered: semantic.SemanticCoverage | None = project.notes.get("semantic")
    if covered is None:
        covered = project.notes["semantic"] = read_coverage(project.view)
    return covered


def _overridden(rows: semantic.Rows, identity: str) -> list[str]:
    """Return the members that a member implements or overrides, direct and indirect."""
    members = [identity]
    for one in members:  # grows during the loop
        members += [i for i in _implemented(semantic.related(rows, one)) if i not in members]
    return members[1:]


def _implemented(relations: Iterable[tuple[str, Relation]]) -> list[str]:
    return [other for other, kind in relations if kind is Relation.IMPLEMENTATION]


def _homes(project: Project, symbols: Iterable[str]) -> list[Definition]:
    rows = project.view.rows
    known = [_defined_at(project, row) for row in semantic.definitions(rows, symbols)]
    return [one for one in known if one is not None]


def _defined_at(project: Project, row: semantic.SemanticDefinition) -> Definition | None:
    source = project.source(os.fsdecode(row.path))
    here = source.symbol_at(row.line, row.column) if source else None
    return here if here is not None and here.name == row.name else None


def _at(reference: semantic.Reference) -> _At:
    return os.fsdecode(reference.path), reference.place.line, reference.place.column
