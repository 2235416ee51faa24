"""How far a change reaches: symbols through calls and uses, files and tests through imports."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from gitindex.base.escape import path_fields
from gitindex.base.path_kind import is_test
from gitindex.base.vocabulary import Tier
from gitindex.query.impact.change import ChangedSymbol, Difference, TreeChange
from gitindex.query.impact.importers import Importers
from gitindex.query.names.finder import Finder
from gitindex.query.names.model import Definition, place_of

if TYPE_CHECKING:
    from gitindex.base.answers import ImpactAnswer

MAX_REACHED = 500
"""Maximum symbols to follow and show."""
MAX_DEPTH = 10


class Reached(NamedTuple):
    """A symbol that a changed one may break, its distance, and the tier of the last step."""

    definition: Definition
    distance: int
    tier: Tier


def impact(change: TreeChange, depth: int) -> ImpactAnswer:
    """Return changed symbols, and the symbols, files and tests they reach, as an envelope."""
    reached, cut = _reached(change, max(1, min(depth, MAX_DEPTH)))
    files = {r.definition.path for r in reached} | importing_files(change)
    tests = runnable_tests(change, files | set(change.felt))
    answer = change.after.view.envelope(
        base=change.before.view.overlay.commit or change.before.view.overlay.tree,
        changedFiles=[
            {**path_fields(os.fsencode(path)), "change": what}
            for path, what in change.paths.items()
        ],
        changedSymbols=[_changed_fields(found) for found in change.symbols],
        reached=[_reached_fields(found) for found in reached],
        files=_shown(files - set(change.paths)),
        tests=_shown(tests),
        truncated=cut,
    )
    return cast("ImpactAnswer", answer)


def importing_files(change: TreeChange) -> set[str]:
    """Return files that import a changed file, directly or not; deleted files: in the old tree."""
    return {path for ring in importing_rings(change, change.felt) for path in ring}


def importing_rings(change: TreeChange, paths: Iterable[str]) -> Iterator[set[str]]:
    """Yield the importing files of some changed files by distance: one import away, then two, …"""
    ring = set(paths)
    reached = ring | set(change.paths)
    deleted = {path for path in ring if change.paths.get(path) == "deleted"}
    while ring:
        found = Importers(change.after.project).of(ring)
        if deleted:  # the new tree does not resolve imports of deleted files
            found |= Importers(change.before.project).of(deleted)
            deleted = set()
        ring = found - reached
        reached |= ring
        if ring:
            yield ring


def runnable_tests(change: TreeChange, paths: Iterable[str]) -> set[str]:
    """Return the paths that a test runner collects in the new tree."""
    return set(change.runners.collected(path for path in paths if is_test(path)))


def _reached(change: TreeChange, depth: int) -> tuple[list[Reached], bool]:
    """Search breadth first; only certain references are followed further."""
    found: dict[tuple[str, int], Reached] = {}
    own = {(c.definition.path, c.definition.ordinal) for c in change.symbols}
    removed = [c.definition for c in change.symbols if c.difference is Difference.REMOVED]
    ring = [c.definition for c in change.symbols if c.difference in _FELT]
    finders: list[tuple[Finder, list[Definition]]] = [
        (change.before, removed),
        (change.after, ring),
    ]
    for distance in range(1, depth + 1):
        following: list[Definition] = []
        for finder, wanted in finders:
            for definition, tier in users(change, finder, wanted):
                key = (definition.path, definition.ordinal)
                if key in found or key in own:
                    continue
                if len(found) >= MAX_REACHED:
                    return _ordered(found.values()), True
                found[key] = Reached(definition, distance, tier)
                if tier is not Tier.NAME:
                    following.append(definition)
        finders = [(change.after, following)]
    return _ordered(found.values()), False


_FELT = (Difference.INTERFACE, Difference.BODY)


def users(
    change: TreeChange, finder: Finder, wanted: list[Definition]
) -> list[tuple[Definition, Tier]]:
    """Return the symbols of the new tree whose code refers to some definitions."""
    found = []
    for site in finder.uses(wanted):
        around = site.enclosing
        if around is None:
            continue
        if finder is change.before:
            source = change.after.project.source(site.path)
            same = (
                [s for s in source.named(around.name) if s.qualified == around.qualified]
                if source
                else []
            )
            if not same:
                continue
            around = same[0]
        found.append((around, site.tier))
    return sorted(found, key=lambda pair: (place_of(pair[0]), pair[1]))


def _ordered(found: Iterable[Reached]) -> list[Reached]:
    return sorted(found, key=lambda r: (r.distance, place_of(r.definition)))


def _changed_fields(found: ChangedSymbol) -> dict[str, Any]:
    return {**_symbol_fields(found.definition), "change": str(found.difference)}


def _reached_fields(found: Reached) -> dict[str, Any]:
    where = _symbol_fields(found.definition)
    return {**where, "distance": found.distance, "tier": str(found.tier)}


def _symbol_fields(definition: Definition) -> dict[str, Any]:
    return {
        "name": definition.name,
        "qualifiedName": definition.qualified,
        "kind": definition.kind,
        **path_fields(os.fsencode(definition.path)),
        "line": definition.line + 1,
    }


def _shown(paths: Iterable[str]) -> list[str]:
    return [path_fields(raw)["path"] for raw in sorted(map(os.fsencode, paths))]
