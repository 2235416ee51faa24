"""Code of JavaScript that lists or replaces the members of classes: prototypes as values."""

from __future__ import annotations

from gitindex.languages.scopes.bound import Part
from gitindex.languages.scopes.uses import CALLED, MEMBER, UNKNOWN
from gitindex.query.names.meanings import ECMA, is_type
from gitindex.query.names.mentions import look
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition
from gitindex.query.names.uses import ecma_uses

_LISTERS = (
    *("getOwnPropertyNames", "getOwnPropertyDescriptors", "getOwnPropertyDescriptor"),
    "ownKeys",
)
_FOUND = ("getPrototypeOf", "__proto__")
"""What gives the prototype of an object without the name of its class."""
_THIS = (Part("this", False),)


def has_open_prototype(project: Project, owner: Definition) -> bool:
    """Return whether code uses the prototype of a class other than for one of its members.

    Or makes objects of one class with the constructor of another: `Reflect.construct(A, [], B)`.
    """
    if any(u.kind != CALLED or len(u.arguments) > 2 for _, u in ecma_uses(project, "construct")):
        return True
    return any(
        use.kind == UNKNOWN or (use.of == "prototype" and use.result != MEMBER)
        for _, use in ecma_uses(project, owner.name)
    ) or _lists_members(project)


def changes_prototypes(project: Project) -> bool:
    """Return whether code gives objects another prototype."""
    notes = project.tree.notes
    if "changes_prototypes" not in notes:
        found = (use for _, use in ecma_uses(project, "setPrototypeOf"))
        own = sum(bool(use.arguments) and use.arguments[0].parts == _THIS for use in found)
        texts = look(project, "setPrototypeOf").places  # also strings: `Object["setPrototypeOf"]`
        told = sum(len(places) for file, places in texts.items() if file.language in ECMA)
        notes["changes_prototypes"] = told > own or _is_there(project, "__proto__")
    return bool(notes["changes_prototypes"])


def _lists_members(project: Project) -> bool:
    """Return whether code lists members of prototypes that no name of a class leads to."""
    notes = project.tree.notes
    if "lists_prototypes" not in notes:
        lists = any(_is_there(project, word) for word in _LISTERS)
        found = any(_is_there(project, word) for word in _FOUND)
        notes["lists_prototypes"] = lists and (found or _has_unknown_prototype(project))
    return bool(notes["lists_prototypes"])


def _has_unknown_prototype(project: Project) -> bool:
    for _, use in ecma_uses(project, "prototype"):
        if use.kind == UNKNOWN:
            return True
        name = use.receiver[-1].name if use.receiver else ""
        if use.kind != MEMBER and not any(map(is_type, project.definitions(name))):
            return True
    return False


def _is_there(project: Project, word: str) -> bool:
    """Return whether a text of JavaScript has a word, also in a string or a comment."""
    return any(file.language in ECMA for file in look(project, word).places)
