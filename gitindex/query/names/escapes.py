"""Is a class of Python used as a value? Only then code can mix it into classes, or put it in a place.

A class that is only called, inherited from, annotated with or tested for reaches no function that
makes classes of what it gets (`type(name, bases, …)`, `class C(*bases)`), replaces another class
(`module.A = B`) or gives objects another class (`x.__class__ = B`).
"""

from __future__ import annotations

from collections.abc import Callable

from gitindex.base.pattern import compile_later
from gitindex.languages.scopes.bound import Part
from gitindex.languages.scopes.uses import (
    BASE,
    CALLED,
    COMPARED,
    DECORATOR,
    ITEM,
    KEYWORD,
    MEMBER,
    PATTERN,
    SHOWN,
    TARGET,
    TESTED,
    TYPE,
    UNKNOWN,
    NameUse,
)
from gitindex.query.names.builtins import BUILTINS
from gitindex.query.names.dispatch import Dispatch
from gitindex.query.names.listings import ABOVE, member_listings
from gitindex.query.names.made_classes import opened_classes
from gitindex.query.names.meanings import is_type
from gitindex.query.names.places import Binder
from gitindex.query.names.source import Definition
from gitindex.query.names.uses import NO_USE, is_in_strings, is_set, python_uses, reads_annotations

MAX_FAMILY = 60
"""Classes below one that are examined; with more, some is taken for a value."""

_ASKED = frozenset({CALLED, MEMBER, COMPARED, TESTED, SHOWN})
"""Uses of the class of an object that do not have it as a value."""
_HARMLESS = _ASKED | {*NO_USE, BASE, DECORATOR, PATTERN, TARGET, TYPE}
"""Uses of a class that do not have it as a value."""
_READS = frozenset({"get", "keys", "values", "items", "copy", "pop"})
_DROPS = frozenset({"delitem", "len", "list", "sorted", "set", "dict"})
_OF_OBJECT = ("type", "__class__", *ABOVE)
_COMPARING = ("__eq__", "__ne__", "__contains__")
_BUILTIN = (None, (Part("builtins", False),))
_HEADS = (
    "SELECT DISTINCT s.signature FROM {symbols} s JOIN {live} l ON l.blob_id=s.blob_id"
    " JOIN {blobs} b ON b.id=s.blob_id WHERE s.kind='class' AND b.language='python'"
    " AND s.signature LIKE '%(%'"
)
_BARE = compile_later(r"(?:^|,)\s*(\w+)\s*(?=[,)\[])")
_ODD = compile_later(r"\(\s*(?:.*,\s*)?(?:\*|cls\b|type\(|[\w.]*__class__)")


class Escapes:
    """Which classes of one tree are values; what was found is kept for the tree."""

    def __init__(self, binder: Binder, dispatch: Dispatch) -> None:
        self._binder = binder
        self._project = binder.project
        self._classes = binder.types.classes
        self._dispatch = dispatch

    def is_value(self, owner: Definition) -> bool:
        """Return whether code may have a class, or one below it, as a value."""
        known: dict[tuple[str, int], bool] = self._project.tree.table("values")
        key = (owner.path, owner.ordinal)
        if key not in known:
            family = [owner, *self._dispatch.descendants(owner)]
            known[key] = len(family) > MAX_FAMILY or any(map(self._is_handed, family))
        return known[key]

    def may_mix(self, owner: Definition) -> bool:
        """Return whether code may make a class below one and another class that is a value."""
        return self.is_opened(owner) or self.is_value(owner)

    def is_opened(self, owner: Definition) -> bool:
        """Return whether code makes classes below one, or of what it gets, at run time."""
        opened = opened_classes(self._binder)
        if opened is None or self._has_odd_heads() or self._any(_is_maker, "type"):
            return True
        if self._is_taken("builtins", "type"):
            return True
        return any(owner in self._classes.ancestors(one)[0] for one in opened)

    def has_others(self) -> bool:
        """Return whether code has classes that no name leads to: `type(x)`, what a module lists."""
        listed = member_listings(self._project, self._classes)
        others = listed.unknown or listed.any_class or self._any(_is_class_of_object, *_OF_OBJECT)
        return others or is_in_strings(self._project, "__class__")

    def _any(self, test: Callable[[NameUse], bool], *words: str) -> bool:
        """Return whether code of Python has such a use of some words; kept for the tree."""
        known: dict[Callable[[NameUse], bool], bool] = self._project.tree.table("any_use")
        if test not in known:
            found = python_uses(self._project, *words)
            known[test] = any(test(use) and self._is_global(path, use) for path, use in found)
        return known[test]

    def _is_global(self, path: str, use: NameUse) -> bool:
        """Return whether a bare name is not a variable of the code around it."""
        scopes = self._project.scopes(path) if use.at >= 0 and use.receiver is None else None
        return scopes is None or scopes.resolve(use.word, use.at) is None

    def may_be_replaced(self, owner: Definition) -> bool:
        """Return whether code may put another class in the place of one, or change its objects."""
        if self._changes_classes():
            return True
        known: dict[str, bool] = self._project.tree.table("replaced_by_name")
        if owner.name not in known:
            found = python_uses(self._project, owner.name)
            given = is_set(self._project, owner.name) or any(u.kind == KEYWORD for _, u in found)
            known[owner.name] = given or is_in_strings(self._project, owner.name)
        return known[owner.name]

    def _is_handed(self, owner: Definition) -> bool:
        if not self._classes.is_tame(owner) or self._classes.ancestors(owner)[1]:
            return True  # a decorator or a metaclass gets it, or its bases are not known
        names = self._dispatch.called(owner.name)
        used = (use for name in names for _, use in python_uses(self._project, name))
        return any(map(self._is_value, used)) or is_in_strings(self._project, owner.name)

    def _is_value(self, use: NameUse) -> bool:
        """Return whether a place has a class as a value, or hands it to code of the tree."""
        kind, defined = use.result if use.kind == ITEM else use.kind, self._project.definitions
        if kind == COMPARED and use.of == "==":
            return any(map(defined, _COMPARING))
        if kind == TESTED and use.of and defined(use.of):
            return True  # another `isinstance`
        if kind == TYPE:
            return reads_annotations(self._project)
        return use.of in ABOVE if use.kind == MEMBER else kind not in _HARMLESS

    def _changes_classes(self) -> bool:
        """Return whether some file gives objects another class."""
        return self._any(_is_target, "__class__") or is_in_strings(self._project, "__class__")

    def is_of_changed_module(self, owner: Definition) -> bool:
        """Return whether code puts something else in the place of a module."""
        if self._is_taken("sys", "modules") or self._any(_changes_modules, "modules"):
            return True
        folder, _, stem = owner.path.rpartition(".")[0].rpartition("/")
        package = folder.rpartition("/")[2]
        return bool(package) and any(
            use.kind == UNKNOWN
            or (use.kind == TARGET and [part.name for part in use.receiver or ()][-1:] == [package])
            for _, use in python_uses(self._project, stem)
        )

    def _is_taken(self, module: str, name: str) -> bool:
        """Return whether some file imports a name of a module: it may be called otherwise there."""
        listed = (i for source in self._project.importing_name(name) for i in source.imports)
        return any(i.module == module and name in dict(i.names) for i in listed)

    def _has_odd_heads(self) -> bool:
        """Return whether a class has bases that no name leads to: `class C(*bases)`."""
        notes = self._project.tree.notes
        if "odd_heads" not in notes:
            self._project.view.ensure_facts()
            heads = [signature for (signature,) in self._project.view.rows(_HEADS)]
            bases = {base for head in heads for base in _BARE.findall(head.partition("(")[2])}
            notes["odd_heads"] = any(map(_ODD.search, heads)) or any(map(self._is_variable, bases))
        return bool(notes["odd_heads"])

    def _is_variable(self, base: str) -> bool:
        """Return whether a bare base of a class is neither a class of the tree nor imported."""
        if base in BUILTINS["python"] or any(map(is_type, self._project.definitions(base))):
            return False
        return not self._project.importing_name(base)


def _is_target(use: NameUse) -> bool:
    return use.kind in (TARGET, UNKNOWN)


def _is_maker(use: NameUse) -> bool:
    """Return whether `type` itself is a value: what it calls then may make classes."""
    if use.receiver not in _BUILTIN or use.kind in (*NO_USE, TARGET):
        return False
    if use.kind == ITEM:
        return False  # `type[A]`
    return use.kind not in _HARMLESS or (use.kind == MEMBER and use.of in ("__call__", "__new__"))


def _is_class_of_object(use: NameUse) -> bool:
    """Return whether a place has the class of an object, or classes above it, as a value.

    Compared, called or asked for its name it is none.
    """
    if use.kind in NO_USE:
        return False
    if use.word == "type":
        asked = use.kind == CALLED and len(use.arguments) == 1 and use.receiver in _BUILTIN
        return _is_maker(use) or (asked and use.result not in _ASKED)
    return use.word in ABOVE or use.kind == PATTERN or use.kind not in _ASKED | {TARGET}


def _changes_modules(use: NameUse) -> bool:
    """Return whether a use of `sys.modules` may put something else in the place of a module."""
    whose = use.receiver[0].name if use.receiver else ""
    if use.kind in (*NO_USE, COMPARED) or use.receiver is None or whose in ("self", "cls"):
        return use.kind == UNKNOWN
    if use.kind == ITEM:
        return use.result == TARGET
    return not (use.kind == MEMBER and use.of in _READS) and use.of not in _DROPS
