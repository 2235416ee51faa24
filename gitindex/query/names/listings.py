"""Code of Python that lists the members of classes: `vars(A)`, `k.__dict__`, `getmembers(type(x))`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gitindex.languages.scopes.bound import Part
from gitindex.languages.scopes.model import MODULE
from gitindex.languages.scopes.uses import CALLED, ITEM, NameUse
from gitindex.query.names.classes import Classes
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition, enclosing
from gitindex.query.names.uses import NO_USE, is_own_self, python_uses

LISTERS = ("vars", "dir", "getmembers", "getmembers_static")
_WORDS = (*LISTERS, "__dict__", "globals")
ABOVE = ("__mro__", "mro", "__subclasses__", "__bases__", "__base__")
"""What gives classes that no name leads to."""
_OBJECT, _CLASS, _OWN_CLASS, _ANY = range(4)


class MemberListings(NamedTuple):
    """Whose members the code of a tree lists."""

    unknown: bool = False  # of what a variable holds
    any_class: bool = False  # of the class of some object, or of classes above it
    around: tuple[Definition, ...] = ()  # classes that list their own members


def member_listings(project: Project, classes: Classes) -> MemberListings:
    """Return what a tree lists; kept for the tree."""
    notes = project.tree.notes
    if "listings" not in notes:
        notes["listings"] = _find(project, classes)
    found: MemberListings = notes["listings"]
    return found


def lists_members(project: Project) -> bool:
    """Return whether code has the members of anything but an object as data; kept for the tree."""
    notes = project.tree.notes
    if "lists_members" not in notes:
        notes["lists_members"] = any(
            use.at < 0 or _listed(project, path, use) != _OBJECT
            for path, use in python_uses(project, *_WORDS)
        )
    return bool(notes["lists_members"])


def _find(project: Project, classes: Classes) -> MemberListings:
    unknown, any_class, around = False, False, list[Definition]()
    for path, use in python_uses(project, *_WORDS):
        if use.at < 0:
            return MemberListings(True, True)
        whose = _listed(project, path, use)
        if whose == _OWN_CLASS:
            around += _class_around(project, classes, path, project.line(path, use.at))
        any_class = any_class or whose == _CLASS
        unknown = unknown or whose == _ANY
    above = unknown and any(True for _ in python_uses(project, *ABOVE))
    return MemberListings(unknown, any_class or above, tuple(around))


def _listed(project: Project, path: str, use: NameUse) -> int:
    """Return whose members a place lists."""
    if use.word == "__dict__":
        return _whose(project, path, use.receiver, use.at) if use.receiver is not None else _OBJECT
    if use.kind in NO_USE:
        return _OBJECT
    if use.kind != CALLED or use.takes_many():
        return _ANY
    if use.word == "globals":
        return _OBJECT if use.result == ITEM else _ANY
    if use.arguments:
        return _whose(project, path, use.arguments[0].parts, use.at)
    scopes = project.scopes(path)
    inside = scopes is not None and scopes.ranges[scopes.scope_at(use.at)].kind != MODULE
    return _OBJECT if inside else _ANY  # of a function, or the whole module


def _whose(project: Project, path: str, parts: Sequence[Part], at: int) -> int:
    """Return what the members of an expression are: of an object, of its class, of anything."""
    names = [(part.name, part.called) for part in parts]
    if names == [("self", False)]:
        scopes = project.scopes(path)
        return _OBJECT if scopes is not None and is_own_self(scopes, at) else _ANY
    if names in ([("cls", False)], [("mcs", False)], [("self", False), ("__class__", False)]):
        return _OWN_CLASS
    return _CLASS if names[-1:] in ([("type", True)], [("__class__", False)]) else _ANY


def _class_around(project: Project, classes: Classes, path: str, line: int) -> list[Definition]:
    source = project.source(path)
    inside = enclosing(source, line) if source is not None else None
    if source is None or inside is None:
        return []
    owner = classes.owner(source, inside.ordinal)
    return [owner] if owner is not None else []
