"""Code of Python that lists the members of classes: `vars(A)`, `k.__dict__`, `getmembers(type(x))`."""

from __future__ import annotations

from typing import NamedTuple

from gitindex.base.pattern import compile_later
from gitindex.query.names.classes import Classes
from gitindex.query.names.mentions import look
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition, enclosing

_BY_CALL = ("vars", "dir", "getmembers", "getmembers_static")
_ABOVE = ("__mro__", "mro", "__subclasses__", "__bases__", "__base__")
"""What gives classes that no name leads to."""
_ARGUMENT = compile_later(rb"\s*\(\s*([^,()]{0,200}(?:\([^()]{0,200}\))?[^,()]{0,200})")
_BEFORE = compile_later(rb"((?:[\w.]+|\btype\([^()]*\))(?:\.[\w.]+)?)\.$")
_WHOLE_MODULE = compile_later(rb"globals\s*\(\s*\)(?!\s*\[)")
_OF_OBJECT = compile_later(rb"(?:self(?:\.\w+)*)?")
_OF_OWN_CLASS = compile_later(rb"(?:cls|mcs|type\(\s*self\s*\)|self\.__class__)")
_OF_CLASS = compile_later(rb"type\(.*\)|.*\.__class__")


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


def _find(project: Project, classes: Classes) -> MemberListings:
    unknown, any_class, around = False, False, list[Definition]()
    for word in (*_BY_CALL, "__dict__", "globals"):
        for file, places in look(project, word).places.items():
            data = project.text(file.path) if file.language == "python" else b""
            for line, _, at in places if data else ():
                told = _listed(data, at, word)
                if told is None or _OF_OBJECT.fullmatch(told):
                    continue
                if _OF_OWN_CLASS.fullmatch(told):
                    around += _class_around(project, classes, file.path, line)
                elif _OF_CLASS.fullmatch(told):
                    any_class = True
                else:
                    unknown = True
    above = unknown and any(
        file.language == "python" for word in _ABOVE for file in look(project, word).places
    )
    return MemberListings(unknown, any_class or above, tuple(around))


def _listed(data: bytes, at: int, word: str) -> bytes | None:
    """Return the expression whose members a place lists; None for a place that lists none."""
    if word == "__dict__":
        found = _BEFORE.search(data, max(0, at - 120), at)
        return found.group(1) if found else (b"?" if data[at - 1 : at] == b"." else None)
    if word == "globals":
        return b"globals" if _WHOLE_MODULE.match(data, at) else None
    given = _ARGUMENT.match(data, at + len(word))
    return given.group(1).strip() if given else None


def _class_around(project: Project, classes: Classes, path: str, line: int) -> list[Definition]:
    source = project.source(path)
    inside = enclosing(source, line) if source is not None else None
    if source is None or inside is None:
        return []
    owner = classes.owner(source, inside.ordinal)
    return [owner] if owner is not None else []
