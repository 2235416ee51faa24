"""Modules and objects that are values: who gets one may copy what it has, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitindex.languages.facts import Import, Use
from gitindex.languages.scopes.uses import ARGUMENT, ITEM, MEMBER, UNKNOWN, VALUE, NameUse
from gitindex.query.names.meanings import ECMA, STRICT
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition, FileNames
from gitindex.query.names.uses import uses_in

_LOAD = b"require"
_RESULTS = (b"=", b";", b"}", b"")
"""What stands before a `require` that is a whole export, or a statement."""
_NAMING = frozenset(
    ("getattr", "setattr", "hasattr", "delattr", "object", "reload", "spyOn", "stub")
)
"""Functions that get an object, and the name of the member that they are about."""


def is_copied(project: Project, targets: Iterable[Definition]) -> bool:
    """Return whether the module or the object with a target is a value somewhere.

    Then a member of anything, by the name of the target, may be the target: `Object.assign(a, b)`,
    `{ ...b }`, `globals().update(vars(b))`, `sys.modules[name] = b`.
    """
    return any(_is_value(project, target) for target in targets)


def _is_value(project: Project, target: Definition) -> bool:
    source = project.source(target.path)
    if source is None or source.language not in STRICT:
        return False
    outer = source.symbol(target.parent)
    if outer is not None:
        plain = source.language in ECMA and outer.kind in ("variable", "constant", "object")
        return plain and _stands_alone(project, source, outer.name)
    users = project.importing(target.path)
    project.load(users)
    near = [user for user in map(project.source, users) if user is not None]
    return any(
        _takes_whole(project, user, item, target.path)
        for user in near
        if user.origin.family == source.origin.family
        for item in user.imports
    )


def _takes_whole(project: Project, user: FileNames, item: Import, path: str) -> bool:
    """Return whether a file has a module as a value, other than to take a member of it."""
    if user.language in ECMA:
        if path not in project.resolve(user, item):
            return False
        if not item.names:
            return _is_given(project, user, item)
        whole = [local for there, local in item.names if there in ("*", "default")]
    else:
        whole = [
            local
            for there, local in item.names
            if path in project.resolve(user, item._replace(names=((there, local),)))
        ]
    return any(_stands_alone(project, user, local) for local in whole if local != "*")


def _stands_alone(project: Project, source: FileNames, name: str) -> bool:
    """Return whether a name is a value in a file: no member is taken from it, nor is it called."""
    places = project.places(name, [source.path]).get(source.path, ())
    used = {
        project.offset(source.path, place.line, place.column)
        for place in places
        if place.use == Use.REFERENCE
    }
    return any(
        use.kind == UNKNOWN or (use.at in used and _is_handed(use))
        for _, use in uses_in(project, [name], [source.path], STRICT)
    )


def _is_handed(use: NameUse) -> bool:
    """Return whether a use gives a module or an object away, or all members that it has."""
    if use.kind == MEMBER:
        return use.of == "__dict__"
    if use.kind == ARGUMENT:
        return use.of not in _NAMING or use.position != 0
    return use.kind in (VALUE, ITEM)


def _is_given(project: Project, user: FileNames, item: Import) -> bool:
    """Return whether `require('./b')` is an argument, an element, or spread."""
    return any(
        before not in _RESULTS and after != b"." for before, after in _loads(project, user, item)
    )


def _loads(project: Project, user: FileNames, item: Import) -> Iterator[tuple[bytes, bytes]]:
    """Yield the bytes before and after each `require` of a module in the line of its import."""
    project.read([user.path])
    data, starts = project.text(user.path), project.starts(user.path)
    first = starts[item.line]
    last = starts[item.line + 1] if item.line + 1 < len(starts) else len(data)
    line = data[first:last]
    at = line.find(_LOAD)
    while at >= 0:
        close = line.find(b")", at)
        if close >= 0 and item.module.encode() in line[at:close]:
            yield line[:at].rstrip()[-1:], line[close + 1 :].lstrip()[:1]
        at = line.find(_LOAD, at + 1)
