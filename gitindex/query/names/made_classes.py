"""Classes that code of Python makes when it runs: `type(name, bases, members)`."""

from __future__ import annotations

from collections.abc import Iterator

from gitindex.languages.facts import Use
from gitindex.languages.scopes.uses import ARGUMENT, CALLED, UNKNOWN, VALUE, Argument, NameUse
from gitindex.query.names.places import Binder
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition, enclosing
from gitindex.query.names.uses import SELF, in_python, python_uses
from gitindex.query.names.values import ExpressionPlace, ValueKind

_MAKERS = ("type", "new_class", "make_dataclass")
_ANY = Argument("*", ())


def opened_classes(binder: Binder) -> list[Definition] | None:
    """Return the classes that such calls take as bases; None if they may take any."""
    notes = binder.project.tree.notes
    if "opened" not in notes:
        notes["opened"] = []  # while they are being found out
        notes["opened"] = _opened(binder)
    found: list[Definition] | None = notes["opened"]
    return found


def _opened(binder: Binder) -> list[Definition] | None:
    opened: list[Definition] = []
    for path, at, bases in _made(binder.project):
        source = binder.project.source(path)
        if bases.items is None or source is None:
            return None
        around = enclosing(source, binder.project.line(path, at))
        place = ExpressionPlace(source, around.ordinal if around else -1, at)
        for parts in bases.items:
            if [part.name for part in parts] == ["object"]:
                continue
            value = binder.types.chain(parts, place) if parts else None
            if value is None:
                return None
            if value.kind is ValueKind.TYPE and value.definition is not None:
                opened.append(value.definition)
            elif value.kind is not ValueKind.OUTSIDE:
                return None
    return opened


def _made(project: Project) -> Iterator[tuple[str, int, Argument]]:
    """Yield calls that make a class: where they stand, and what they give as its bases."""
    kinds = _metaclasses(project)
    for path, use in python_uses(project, *_MAKERS, "__class__", *kinds):
        passed = use.word in kinds and use.kind in (ARGUMENT, VALUE)
        bases = _ANY if passed else _bases(use)
        if bases is not None:
            yield path, use.at, bases


def _metaclasses(project: Project) -> list[str]:
    """Return the names of the classes below `type`, and what imports call them."""
    names = ["type"]
    for name in names:  # grows during the loop
        for path, places in in_python(project, name).items():
            for place in places:
                source = project.source(path) if place.use == Use.INHERIT else None
                child = source.symbol(place.enclosing) if source is not None else None
                names += [child.name] if child and child.name not in names else []
        for source in project.importing_name(name) if name != "type" else ():
            pairs = (pair for item in source.imports for pair in item.names)
            names += [local for there, local in pairs if there == name and local not in names]
    return names[1:]


def _bases(use: NameUse) -> Argument | None:
    """Return what a use gives as the bases of a class; None for one that makes none."""
    if use.kind == UNKNOWN:
        return _ANY
    given, own = use.arguments, use.receiver == SELF
    if use.word == "type" and len(given) == 1 and use.result == CALLED:
        given, own = use.given, given[0].parts == SELF  # `type(A)(…)`: a call of the metaclass
    if use.kind != CALLED:
        return None
    if any(one.name == "*" for one in given):
        return None if own else _ANY
    if use.word in ("make_dataclass", "new_class"):
        second = [one for one in given[1:2] if use.word == "new_class" and not one.name]
        return next(
            (one for one in [*given, *second] if one in second or one.name == "bases"), None
        )
    known = len(given) >= 3 and not (own and given[1].items is None)  # an object, most likely
    return given[1] if known else None
