"""Modules and objects that are values: who gets one may copy what it has, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitindex.languages.facts import Import, Use
from gitindex.query.names.meanings import ECMA, STRICT
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition, FileNames

_LOAD = b"require"
_RESULTS = (b"=", b";", b"}", b"")
"""What stands before a `require` that is a whole export, or a statement."""
_NAMING = frozenset(
    (b"getattr", b"setattr", b"hasattr", b"delattr", b"object", b"reload", b"spyOn", b"stub")
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
    project.read([source.path])
    data, size = project.text(source.path), len(name.encode())
    for place in project.places(name, [source.path]).get(source.path, ()):
        if place.use == Use.REFERENCE:
            at = project.offset(source.path, place.line, place.column)
            after = data[at + size : at + size + 80].lstrip()
            member = after[:1] in (b".", b"?", b"=") and not after.startswith(b".__dict__")
            if not member and _first_of(data, at) not in _NAMING:
                return True
    return False


def _first_of(data: bytes, at: int) -> bytes:
    """Return the name of the function whose first argument begins at an offset."""
    before = data[max(0, at - 80) : at].rstrip()
    if not before.endswith(b"("):
        return b""
    name = before[:-1].rstrip()
    start = len(name)
    while start and (name[start - 1 : start].isalnum() or name[start - 1 : start] == b"_"):
        start -= 1
    return name[start:]


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
