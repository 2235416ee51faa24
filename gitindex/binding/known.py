"""What the semantic layer knows of some definitions, where its facts are of the bytes that are live."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from gitindex.binding.project import Project
from gitindex.binding.sites import Site, make_site
from gitindex.binding.source import Definition, enclosing
from gitindex.facts import Occurrence, Use
from gitindex.store import semantic
from gitindex.words import Layer, Tier


class Known:
    """References to some targets."""

    def __init__(self, project: Project, targets: Iterable[Definition]) -> None:
        self._project = project
        self._current = current_paths(project)
        self._places: dict[tuple[str, int, int], semantic.Reference] = {}
        self._targets: dict[str, Definition] = {}
        rows = project.lens.rows
        for target in targets if self._current else ():
            raw = os.fsencode(target.path)
            if raw in self._current:
                for identity in semantic.symbols_at(rows, raw, target.line, target.column):
                    self._targets[identity] = target
        for found in semantic.references(rows, self._targets) if self._targets else ():
            if found.place.use != Use.DEFINITION:
                place = (os.fsdecode(found.path), found.place.line, found.place.column)
                self._places[place] = found

    def allows(self, site: Site) -> bool:
        """A file the layer has read decides itself what it refers to, if it knows the target."""
        if not self._targets or os.fsencode(site.path) not in self._current:
            return True
        known = all(os.fsencode(d.path) in self._current for d in site.targets)
        return not known or site[:3] in self._places or site.tier is Tier.NAME

    def sites(self) -> Iterator[Site]:
        """References the layer knows."""
        for (path, line, column), found in sorted(self._places.items()):
            source = self._project.source(path)
            if source is None or found.place.end_line != line:
                continue
            place = Occurrence("", line, column, found.place.use, -1)
            site = make_site(source, place, Tier.EXACT, (self._targets[found.identity],))
            yield site._replace(
                end_column=found.place.end_column,
                layer=Layer.SEMANTIC,
                enclosing=enclosing(source, line),
            )


def current_paths(project: Project) -> frozenset[bytes]:
    """Paths whose bytes the layer has read; none where it knows nothing."""
    return _coverage(project).current


def layer_fields(project: Project) -> dict[str, dict[str, int]]:
    """How far the layer reaches: of so many paths it knows other bytes only, and is not asked."""
    current, stale = map(len, _coverage(project))
    return {"semanticLayer": {"current": current, "stale": stale}} if current or stale else {}


def _coverage(project: Project) -> semantic.Coverage:
    found: semantic.Coverage | None = project.notes.get("semantic")
    if found is None:
        rows = project.lens.rows
        nothing = semantic.Coverage(frozenset(), frozenset())
        found = semantic.coverage(rows) if semantic.has_facts(rows) else nothing
        project.notes["semantic"] = found
    return found


def known_uses(project: Project, definition: Definition) -> dict[tuple[int, int], Definition]:
    """What the places inside a definition stand for, by line and column."""
    raw, rows = os.fsencode(definition.path), project.lens.rows
    if raw not in current_paths(project):
        return {}
    inside = [
        found
        for found in semantic.file_definitions(rows, raw)
        if definition.start_line <= found.line <= definition.end_line
    ]
    uses = [use for found in inside for use in semantic.callees(rows, found)]
    homes = {
        found.identity: (os.fsdecode(found.path), found.line, found.column)
        for found in semantic.definitions(rows, {use.identity for use in uses})
    }
    known = {use: _defined_at(project, homes.get(use.identity)) for use in uses}
    return {(use.place.line, use.place.column): found for use, found in known.items() if found}


def _defined_at(project: Project, place: tuple[str, int, int] | None) -> Definition | None:
    source = project.source(place[0]) if place else None
    for symbol in source.symbols if source else ():
        if place and (symbol.line, symbol.column) == place[1:]:
            return symbol
    return None
