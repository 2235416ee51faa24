"""Code of JavaScript that lists or replaces the members of classes: prototypes as values."""

from __future__ import annotations

from gitindex.base.pattern import compile_later
from gitindex.query.names.meanings import ECMA, is_type
from gitindex.query.names.mentions import look
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition

_LISTERS = (
    *("getOwnPropertyNames", "getOwnPropertyDescriptors", "getOwnPropertyDescriptor"),
    "ownKeys",
)
_FOUND = ("getPrototypeOf", "__proto__")
"""What gives the prototype of an object without the name of its class."""
_PROTOTYPE = compile_later(rb"\.prototype\b(?!\s*\.)")
_WHOLE = compile_later(rb"prototype\b(?!\s*\.)")
_RECEIVER = compile_later(rb"([\w$]+)\.$")
_OF_THIS = compile_later(rb"setPrototypeOf\(\s*this\b")


def has_open_prototype(project: Project, owner: Definition) -> bool:
    """Return whether code uses the prototype of a class other than for one of its members."""
    raw = owner.name.encode()
    for path, places in project.places(owner.name).items():
        data = project.text(path)
        for place in places:
            at = project.offset(path, place.line, place.column) + len(raw)
            if _PROTOTYPE.match(data, at):
                return True
    return _lists_members(project)


def changes_prototypes(project: Project) -> bool:
    """Return whether code gives objects another prototype."""
    notes = project.tree.notes
    if "changes_prototypes" not in notes:
        notes["changes_prototypes"] = any(
            not _OF_THIS.match(data, at)
            for word in ("setPrototypeOf", "__proto__")
            for data, at in _places(project, word)
        )
    return bool(notes["changes_prototypes"])


def _lists_members(project: Project) -> bool:
    """Return whether code lists members of prototypes that no name of a class leads to."""
    notes = project.tree.notes
    if "lists_prototypes" not in notes:
        lists = any(True for word in _LISTERS for _ in _places(project, word))
        found = any(True for word in _FOUND for _ in _places(project, word))
        notes["lists_prototypes"] = lists and (found or _has_unknown_prototype(project))
    return bool(notes["lists_prototypes"])


def _has_unknown_prototype(project: Project) -> bool:
    for data, at in _places(project, "prototype"):
        before = _RECEIVER.search(data, max(0, at - 80), at)
        if before is None or not _WHOLE.match(data, at):
            continue
        if not any(map(is_type, project.definitions(before.group(1).decode("utf-8", "replace")))):
            return True
    return False


def _places(project: Project, word: str) -> list[tuple[bytes, int]]:
    """Return where a word stands in code of JavaScript, comments included."""
    return [
        (project.text(file.path), at)
        for file, places in look(project, word).places.items()
        if file.language in ECMA
        for _, _, at in places
    ]
