"""Functions that code stores as members of something else: `a.name = b.name`."""

from __future__ import annotations

from collections.abc import Iterable

from gitindex.base.pattern import compile_later
from gitindex.languages.facts import Occurrence, Use
from gitindex.languages.scopes.model import CLASS, MODULE, FileScopes
from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.names.copied import is_copied
from gitindex.query.names.listings import python_places
from gitindex.query.names.project import Project
from gitindex.query.names.sites import Site
from gitindex.query.names.source import Definition, FileNames, is_python

_KEY = compile_later(
    rb"(?:([\w$]+)\s*=|[\"'`]([\w$]+)[\"'`]\s*[\]:,]\s*=?|([\w$]+)\s*:)\s*[\w$.()\[\] ]*$"
)
"""A key, and a value that ends where a site begins: `name=b.`, `'name': b.`, `x['name'] = b.`"""

_OWN_NAME = compile_later(rb"setattr\s*\([^\"'\n]{0,200}?,\s*[^,\"']{0,200}__(?:qual)?name__")


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
    for site in sites:
        passed = site.use in (Use.REFERENCE, Use.ATTRIBUTE, Use.IMPORT)
        scopes = project.scopes(site.path) if passed else None
        if scopes is None or any(d.kind not in FUNCTIONS for d in site.targets):
            continue
        at = project.offset(site.path, site.line, site.column)
        if site.use == Use.IMPORT:
            if scopes.ranges[scopes.scope_at(at)].kind == CLASS:
                return True
            continue
        told = (one for name in names for one in scopes.assigned.get(name, ()))
        if any(one.value[0] <= at < one.value[1] for one in told) or _is_given(
            scopes, at, names, project.text(site.path)
        ):
            return True
    return False


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
        places = python_places(project, "setattr")
        notes["stores_by_own_name"] = places is None or any(
            _OWN_NAME.match(project.text(path), at) for path, _, at in places
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


def _is_given(scopes: FileScopes, at: int, names: list[str], data: bytes) -> bool:
    """Return whether a site is the value of a key, of a keyword, or of a name in a class's body."""
    bodies = (d for name in names for d in scopes.declared(name) if d.value[0] <= at < d.value[1])
    if any(scopes.ranges[d.scope].kind == CLASS for d in bodies):
        return True
    first = max(0, at - 200)
    found = _KEY.search(data[first:at])
    if found is None:
        return False
    word = next(group for group in found.groups() if group).decode("utf-8", "replace")
    if word not in names:
        return False
    start = first + found.start()
    inside = scopes.ranges[scopes.scope_at(start)].kind == CLASS  # a field, in ECMAScript
    return found.group(1) is None or inside or start in scopes.keys
