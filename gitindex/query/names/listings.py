"""Code of Python that lists the members of classes: `vars(A)`, `k.__dict__`, `getmembers(type(x))`."""

from __future__ import annotations

from typing import NamedTuple

from gitindex.base.pattern import compile_later
from gitindex.languages.facts import Occurrence, Use
from gitindex.query.names.classes import Classes
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition, enclosing, is_python

MAX_FILES = 400
"""Files with a word that are read; with more, all of its uses are taken to be there."""
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
        places = python_places(project, word)
        if places is None:
            return MemberListings(True, True)
        for path, line, at in places:
            told = _listed(project.text(path), at, word)
            if told is None or _OF_OBJECT.fullmatch(told):
                continue
            if _OF_OWN_CLASS.fullmatch(told):
                around += _class_around(project, classes, path, line)
            elif _OF_CLASS.fullmatch(told):
                any_class = True
            else:
                unknown = True
    above = unknown and any(python_places(project, word) != [] for word in _ABOVE)
    return MemberListings(unknown, any_class or above, tuple(around))


def in_python(project: Project, word: str) -> dict[str, list[Occurrence]]:
    """Return every occurrence of a word by path, in files that can be of Python."""
    return {path: found for path, found in project.places(word).items() if is_python(path)}


def python_places(project: Project, word: str) -> list[tuple[str, int, int]] | None:
    """Return where code of Python uses a word: path, line, offset. None if in too many files."""
    found = in_python(project, word)
    if len(found) > MAX_FILES:
        return None
    project.read(found)
    return [
        (path, place.line, project.offset(path, place.line, place.column))
        for path, places in found.items()
        for place in places
        if place.use not in (Use.DEFINITION, Use.IMPORT)
    ]


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
