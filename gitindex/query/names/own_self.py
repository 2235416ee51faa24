"""Is `self` of a method, or `this`, surely an instance of its class? Another one may be passed."""

from __future__ import annotations

from collections.abc import Iterable

from gitindex.base.pattern import compile_later
from gitindex.languages.scopes.bound import Part
from gitindex.languages.scopes.model import CLASS
from gitindex.languages.scopes.uses import (
    ARGUMENT,
    CALLED,
    COMPARED,
    DECORATOR,
    MEMBER,
    PATTERN,
    UNKNOWN,
    NameUse,
)
from gitindex.languages.table import may_be_of
from gitindex.query.names.dispatch import Dispatch
from gitindex.query.names.escapes import Escapes
from gitindex.query.names.listings import LISTERS, member_listings
from gitindex.query.names.meanings import ECMA
from gitindex.query.names.mentions import look
from gitindex.query.names.places import Binder
from gitindex.query.names.prototypes import changes_prototypes, has_open_prototype
from gitindex.query.names.source import Definition, enclosing, is_python
from gitindex.query.names.uses import NO_USE, SELF, is_in_strings, is_own_self, python_uses, uses_in
from gitindex.query.names.values import NOT_KNOWN, ExpressionPlace, Value, ValueKind

MAX_FILES = 300
"""Files with the name of a method that are examined; with more, nothing is proven."""
MAX_METHODS = 40
"""Methods that one search examines; `self` of others proves nothing."""

_OF_CLASS = frozenset({"classmethod", "staticmethod"})
_CLASS_HOOKS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
_NOT_BOUND = _OF_CLASS | {"property", "cached_property"}
"""What these make of a function takes its object from the access."""
_SUPER, _THIS = (Part("super", True),), (Part("this", False),)
_PROPERTY = ("setter", "getter", "deleter")
_LISTED = frozenset({*LISTERS, "getattr"})
_ACCESSOR = compile_later(r"^\s*(?:\w+\s+)*(?:get|set)\s+[\w#$]")


class OwnSelf:
    """Looks for places that hand the methods of a tree another object; keeps what it found."""

    def __init__(self, binder: Binder, dispatch: Dispatch) -> None:
        self._binder = binder
        self._project = binder.project
        self._classes = binder.types.classes
        self._escapes = Escapes(binder, dispatch)
        self._examined: set[tuple[str, int]] = set()
        self._owners: list[Definition] = []

    def start(self, targets: Iterable[Definition]) -> None:
        """Begin a search: what it examines does not depend on the searches before it."""
        self._examined.clear()
        homes = map(self._classes.class_of, targets)
        self._owners = [home for home in homes if home and is_python(home.path)]

    def is_made(self, owner: Definition) -> bool:
        """Return whether the call of a class cannot give an object of the targets' classes."""
        if may_be_of(owner.path, ECMA) and (
            changes_prototypes(self._project) or has_open_prototype(self._project, owner)
        ):
            return False
        if not is_python(owner.path) or not self._owners:
            return True
        if self._escapes.is_of_changed_module(owner):
            return False
        if not self._has_value_targets() and not self._escapes.has_others():
            return True
        return not self._escapes.may_be_replaced(owner)

    def _has_value_targets(self) -> bool:
        """Return whether the class of some target may be mixed in, or take another's place."""
        return any(map(self._escapes.is_value, self._owners))

    def _may_be_mixed(self, owner: Definition) -> bool:
        """Return whether code may make a class below one and the class of some target."""
        if not self._owners or not is_python(owner.path):
            return False
        if self._has_value_targets():
            return self._escapes.may_mix(owner)
        return self._escapes.has_others() and self._escapes.is_opened(owner)

    def is_own(self, method: Definition) -> bool:
        """Return whether nothing in the tree gives a method an object of the targets' classes."""
        owner = self._classes.class_of(method)
        if owner is not None and self._may_be_mixed(owner):
            return False
        return self._is_never_passed(method)

    def _is_never_passed(self, method: Definition) -> bool:
        """Return whether nothing in the tree gives a method an object of another class."""
        known: dict[tuple[str, int], bool] = self._project.tree.table("own")
        key = (method.path, method.ordinal)
        if key not in self._examined and len(self._examined) >= MAX_METHODS:
            return False
        self._examined.add(key)
        if key not in known:
            known[key] = True  # while it is being found out
            known[key] = self._find_out(method)
        return known[key]

    def _find_out(self, method: Definition) -> bool:
        source, owner = self._project.source(method.path), self._classes.class_of(method)
        if source is None or owner is None:
            return False
        python = source.language == "python"
        if python and (self._is_rebound() or self._is_listed(owner)):
            return False
        if not python and (has_open_prototype(self._project, owner) or self._is_decorated(method)):
            return False
        if method.name == "constructor" and not python:
            return True
        paths = list(self._project.places(method.name))
        if len(paths) > MAX_FILES or self._is_in_text(method.name, python):
            return False
        self._project.load_scopes(paths)
        found = uses_in(self._project, [method.name], paths, ("python",) if python else ECMA)
        is_passed = self._is_passed if python else self._is_passed_ecma
        return not any(is_passed(path, use, method) for path, use in found)

    def _is_passed(self, path: str, use: NameUse, method: Definition) -> bool:
        """Return whether a place may take the function out of its class."""
        scopes, source = self._project.scopes(path), self._project.source(path)
        if scopes is None or source is None or use.kind in (UNKNOWN, PATTERN):
            return True
        if use.kind in NO_USE:
            return False
        if use.receiver is None:
            bound = scopes.resolve(use.word, use.at)
            inside = bound is not None and bound.kind == CLASS
            made = use.kind == DECORATOR or (use.kind == MEMBER and use.of in _PROPERTY)
            return inside and not made
        around = enclosing(source, self._project.line(path, use.at))
        if use.receiver == SELF and is_own_self(scopes, use.at):
            own = use.kind != CALLED or around is None or self._is_never_passed(around)
            return not own and self._may_pass(use, method)
        if use.receiver == _SUPER and not (around is not None and self._is_of_class(around)):
            return False
        place = ExpressionPlace(source, around.ordinal if around else -1, use.at)
        value = self._value(use, place)
        if not value.sure or value.kind in (ValueKind.FUNCTION, ValueKind.SUPER):
            return self._may_pass(use, method)
        return value.kind is ValueKind.TYPE and self._is_unbound(value, use, place, method)

    def _is_decorated(self, method: Definition) -> bool:
        """Return whether a decorator of TypeScript gets a method, and may call it on anything."""
        scopes = self._project.scopes(method.path)
        at = self._project.offset(method.path, method.line, method.column)
        return scopes is None or at in scopes.decorators

    def _is_of_class(self, around: Definition) -> bool:
        """Return whether `super()` stands for the class there: what it has is not bound to an object."""
        return around.name in _CLASS_HOOKS or self._takes_no_object(around, _OF_CLASS)

    def _is_passed_ecma(self, path: str, use: NameUse, method: Definition) -> bool:
        """Return whether a place takes the function without calling it."""
        scopes, source = self._project.scopes(path), self._project.source(path)
        if scopes is None or source is None or use.kind == UNKNOWN or use.at in scopes.taken:
            return True
        if use.kind == CALLED or use.receiver is None:
            return False
        around = enclosing(source, self._project.line(path, use.at))
        place = ExpressionPlace(source, around.ordinal if around else -1, use.at)
        if use.kind == MEMBER and self._binds_own(use, place, method):
            return False
        value = self._value(use, place)
        if value.kind is ValueKind.MODULE or (value.kind is ValueKind.OUTSIDE and value.sure):
            return False
        found = self._binder.types.member(value, use.word).definitions
        return not found or not all(_ACCESSOR.match(d.signature) for d in found)

    def _binds_own(self, use: NameUse, place: ExpressionPlace, method: Definition) -> bool:
        """Return whether `x.name.bind(this)` binds the method to an object of its class."""
        if use.of != "bind" or use.result != CALLED or [one.parts for one in use.given] != [_THIS]:
            return False
        here = self._classes.owner(place.source, place.scope)
        above = self._classes.ancestors(here)[0] if here is not None else []
        return use.receiver == _THIS or self._classes.class_of(method) in above

    def _value(self, use: NameUse, place: ExpressionPlace) -> Value:
        return self._binder.types.chain(use.receiver, place) if use.receiver else NOT_KNOWN

    def _is_unbound(
        self, value: Value, use: NameUse, place: ExpressionPlace, method: Definition
    ) -> bool:
        """Return whether `A.name` is the method, and is not called with `self` of a class below."""
        found = self._binder.types.member(value, use.word).definitions
        if found and method not in found:
            return False
        if self._takes_no_object(method, _OF_CLASS):
            return False
        scopes, around = self._project.scopes(place.source.path), place.source.symbol(place.scope)
        here = self._classes.class_of(around) if around is not None else None
        if here is None or around is None or scopes is None:
            return True
        below = self._classes.class_of(method) in self._classes.ancestors(here)[0]
        passed = use.kind == CALLED and bool(use.arguments) and use.arguments[0].parts == SELF
        own = passed and is_own_self(scopes, use.at) and not self._takes_no_object(around)
        return not (below and own and self._is_never_passed(around))

    def _takes_no_object(self, method: Definition, decorators: frozenset[str] = _NOT_BOUND) -> bool:
        scopes = self._project.scopes(method.path)
        at = self._project.offset(method.path, method.line, method.column)
        told = scopes.decorators.get(at, ()) if scopes is not None else ()
        return not decorators.isdisjoint(told)

    def _may_pass(self, use: NameUse, method: Definition) -> bool:
        """Return whether a call on something unknown may pass an object in the place of `self`."""
        if self._takes_no_object(method):
            return False
        if use.kind != CALLED:
            return use.kind != DECORATOR or self._required(method) <= 1
        return use.takes_many() or len(use.arguments) >= self._required(method)

    def _required(self, method: Definition) -> int:
        """Return how many arguments a function needs at least, `self` included."""
        scopes = self._project.scopes(method.path)
        if scopes is None:
            return 0
        inside = scopes.scope_at(self._project.offset(method.path, method.line, method.column))
        listed = [d for found in scopes.names.values() for d in found if d.scope == inside]
        return sum(d.kind == "param" and not d.value[1] for d in listed)

    def _is_in_text(self, name: str, python: bool) -> bool:
        """Return whether code takes a method by a string that is its name."""
        for file, places in look(self._project, name).places.items():
            if (file.language == "python") is python and (python or file.language in ECMA):
                scopes = self._project.scopes(file.path)
                if scopes is None or any(scopes.quiet(at) == "dynamic" for _, _, at in places):
                    return True
        return False

    def _is_listed(self, owner: Definition) -> bool:
        """Return whether code lists the members of a class: `vars(A)`, `A.__dict__`."""
        told = member_listings(self._project, self._classes)
        if told.any_class or (told.unknown and self._escapes.is_value(owner)):
            return True
        family = self._classes.ancestors(owner)[0]
        if any(one in family or owner in self._classes.ancestors(one)[0] for one in told.around):
            return True
        return any(
            use.kind == UNKNOWN
            or (use.kind == MEMBER and use.of == "__dict__")
            or (use.kind == ARGUMENT and use.of in _LISTED)
            for _, use in python_uses(self._project, owner.name)
        )

    def _is_rebound(self) -> bool:
        """Return whether code takes functions out of methods, or gives classes other bases."""
        notes = self._project.tree.notes
        if "rebound" not in notes:
            words = ("__func__", "__bases__")
            notes["rebound"] = any(
                use.kind != COMPARED for _, use in python_uses(self._project, *words)
            ) or any(is_in_strings(self._project, word) for word in words)
        return bool(notes["rebound"])
