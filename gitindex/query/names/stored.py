"""Functions that code stores as members of something else: `a.name = b.name`."""

from __future__ import annotations

from collections.abc import Iterable

from gitindex.languages.facts import Occurrence, Use
from gitindex.languages.scopes.model import CLASS, MODELLED, MODULE
from gitindex.languages.scopes.uses import UNKNOWN
from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.names.copied import is_copied
from gitindex.query.names.project import Project
from gitindex.query.names.sites import Site
from gitindex.query.names.source import Definition, FileNames, is_python
from gitindex.query.names.uses import python_uses, uses_in

_PASSED = (Use.REFERENCE, Use.ATTRIBUTE, Use.IMPORT)
_SETTERS = frozenset({"setattr", "__setattr__"})


def is_stored(
    project: Project, targets: Iterable[Definition], names: Iterable[str], sites: Iterable[Site]
) -> bool:
    """Return whether a function is stored as a member that has one of its names.

    Then what is a member of another class by that name may be the function.
    """
    targets, names, sites = list(targets), list(names), list(sites)
    if is_copied(project, targets):
        return True
    if _stores_by_own_name(project) and _is_value(project, targets, sites):
        return True
    passed = [s for s in sites if s.use in _PASSED and all(d.kind in FUNCTIONS for d in s.targets)]
    return any(_is_in_class(project, site) for site in passed) or _is_given(project, names, passed)


def is_variable(project: Project, source: FileNames, place: Occurrence) -> bool:
    """Return whether a bare name is a variable of its own file: nothing stored elsewhere is it."""
    scopes = project.scopes(source.path)
    at = project.offset(source.path, place.line, place.column)
    if scopes is None or at in scopes.taken or at in scopes.shorthands:
        return False
    found = scopes.resolve(place.name, at) if scopes.receiver(at) is None else None
    if found is None or found.kind == CLASS or place.name in source.bindings:
        return False
    updated = source.stars or project.places("globals", [source.path])
    if found.kind == MODULE and is_python(source.path) and updated:
        return False  # `globals().update(…)`
    return all(d.kind != "import" for d in found.declarations)


def _stores_by_own_name(project: Project) -> bool:
    """Return whether code of Python stores functions under the names that they have."""
    notes = project.tree.notes
    if "stores_by_own_name" not in notes:
        notes["stores_by_own_name"] = any(
            use.kind == UNKNOWN or not _SETTERS.isdisjoint(use.around)
            for _, use in python_uses(project, "__name__", "__qualname__")
        )
    return bool(notes["stores_by_own_name"])


def _is_value(project: Project, targets: Iterable[Definition], sites: Iterable[Site]) -> bool:
    """Return whether a function of Python is a value somewhere, or a decorator gets it."""
    targets = [t for t in targets if t.kind in FUNCTIONS and is_python(t.path)]
    for one in targets:
        scopes = project.scopes(one.path)
        at = project.offset(one.path, one.line, one.column)
        if scopes is None or at in scopes.decorators:
            return True
    return bool(targets) and any(s.use in (Use.REFERENCE, Use.ATTRIBUTE) for s in sites)


def _is_imported_inside(site: Site) -> bool:
    """Return whether a site is an import, and not certainly one of the module itself."""
    return site.use == Use.IMPORT and (site.enclosing is not None or not is_python(site.path))


def _is_in_class(project: Project, site: Site) -> bool:
    """Return whether a site imports the function into the body of a class."""
    scopes = project.scopes(site.path) if _is_imported_inside(site) else None
    at = project.offset(site.path, site.line, site.column)
    return scopes is not None and scopes.ranges[scopes.scope_at(at)].kind == CLASS


def _is_given(project: Project, names: list[str], sites: Iterable[Site]) -> bool:
    """Return whether a statement with a site has one of the names as a key, a keyword or a target."""
    places: dict[str, set[int]] = {}
    for site in sites:
        at = project.offset(site.path, site.line, site.column)
        places.setdefault(site.path, set()).add(at)
    for path, use in uses_in(project, names, list(places), MODELLED):
        scopes = project.scopes(path)
        if use.kind == UNKNOWN or scopes is None:
            return True
        if use.at not in places[path]:
            continue
        bodies = (d for name in names for d in scopes.declared(name))
        held = (d for d in bodies if d.value[0] <= use.at < d.value[1])
        if not use.keys.isdisjoint(names) or any(
            scopes.ranges[d.scope].kind == CLASS for d in held
        ):
            return True
    return False
