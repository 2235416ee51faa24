"""Is `self` of a method, or `this`, surely an instance of its class? Another one may be passed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gitindex.base.pattern import compile_later
from gitindex.languages.facts import Occurrence, Use
from gitindex.languages.scopes.bound import Part
from gitindex.languages.scopes.model import CLASS, FileScopes
from gitindex.languages.table import may_be_of
from gitindex.query.names.chains import closing, split_top
from gitindex.query.names.dispatch import Dispatch
from gitindex.query.names.escapes import Escapes
from gitindex.query.names.listings import in_python, member_listings
from gitindex.query.names.meanings import ECMA
from gitindex.query.names.mentions import look
from gitindex.query.names.places import Binder
from gitindex.query.names.prototypes import changes_prototypes, has_open_prototype
from gitindex.query.names.source import Definition, FileNames, is_python
from gitindex.query.names.values import ExpressionPlace, Value, ValueKind

MAX_FILES = 300
"""Files with the name of a method that are examined; with more, nothing is proven."""
MAX_METHODS = 40
"""Methods that one search examines; `self` of others proves nothing."""

_OF_CLASS = frozenset({"classmethod", "staticmethod"})
_CLASS_HOOKS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
_NOT_BOUND = _OF_CLASS | {"property", "cached_property"}
"""What these make of a function takes its object from the access."""
_BY_TEXT = compile_later(
    rb"(?:(?:getattr|attrgetter)\s*\([^()\n]*|__dict__\s*\[\s*|vars\s*\([^()\n]*\)\s*\[\s*)[\"']$"
)
_BY_INDEX = compile_later(rb"[\w\])]\[\s*[\"'`]$")
_LISTED = compile_later(rb"\b(?:vars|dir|getmembers|getattr)\s*\(\s*(?:[\w.]*\.)?$")
_REBOUND = compile_later(rb"\.__(?:func|bases)__\b(?!\s*==)")
_OWN = compile_later(rb"(?:^|[^\w.])(?:self|super\(\))\.$")
_ACCESSOR = compile_later(r"^\s*(?:\w+\s+)*(?:get|set)\s+[\w#$]")
_PASSES_SELF = compile_later(rb"\s*\(\s*self\s*[,)]")
_BIND_THIS = compile_later(rb"\s*\.\s*bind\(\s*this\s*\)")
_DECORATED = compile_later(rb"@[\w.$]+(?:\([^{};]*\))?\s*(?:\w+\s+)*$")
_PROPERTY = compile_later(rb"\s*\.\s*(?:setter|getter|deleter)\b")


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
        by_path = self._project.places(method.name)
        if len(by_path) > MAX_FILES or self._is_in_text(method.name, python):
            return False
        self._project.load(by_path)
        near = [s for s in map(self._project.source, by_path) if s is not None]
        near = [s for s in near if s.origin.family == source.origin.family]
        self._project.load_scopes(s.path for s in near)
        return not any(
            self._is_passed(one, place, method) for one in near for place in by_path[one.path]
        )

    def _is_passed(self, source: FileNames, place: Occurrence, method: Definition) -> bool:
        """Return whether a place may take the function out of its class."""
        scopes = self._project.scopes(source.path)
        if scopes is None:
            return True
        at = self._project.offset(source.path, place.line, place.column)
        if source.language in ECMA:
            return self._is_passed_ecma(source, place, at, scopes)
        if place.use in (Use.DEFINITION, Use.IMPORT):
            return False
        data = self._project.text(source.path)
        if _OWN.search(data[max(0, at - 20) : at]) and not self._is_of_class(source, place, at):
            return False
        chain, _ = self._binder.receiver(source, at)
        after = data[at + len(place.name.encode()) :][:2_000]
        if chain is None:
            bound = scopes.resolve(place.name, at)
            inside = bound is not None and bound.kind == CLASS
            return inside and place.use != Use.DECORATOR and not _PROPERTY.match(after)
        value = self._value(chain, source, place, at)
        if value.kind in (ValueKind.UNKNOWN, ValueKind.FUNCTION, ValueKind.SUPER):
            return self._may_pass(after, place, method)
        return value.kind is ValueKind.TYPE and self._is_unbound(
            value, after, source, place, method
        )

    def _is_decorated(self, method: Definition) -> bool:
        """Return whether a decorator of TypeScript gets a method, and may call it on anything."""
        at = self._project.offset(method.path, method.line, method.column)
        return _DECORATED.search(self._project.text(method.path), max(0, at - 400), at) is not None

    def _is_of_class(self, source: FileNames, place: Occurrence, at: int) -> bool:
        """Return whether `super()` stands for the class there: what it has is not bound to an object."""
        if not self._project.text(source.path)[max(0, at - 8) : at].endswith(b"super()."):
            return False
        around = source.symbol(place.enclosing)
        return around is not None and (
            around.name in _CLASS_HOOKS or self._takes_no_object(around, _OF_CLASS)
        )

    def _is_passed_ecma(
        self, source: FileNames, place: Occurrence, at: int, scopes: FileScopes
    ) -> bool:
        """Return whether a place takes the function without calling it."""
        if at in scopes.taken:
            return True
        if place.use not in (Use.ATTRIBUTE, Use.REFERENCE):
            return False
        chain, _ = self._binder.receiver(source, at)
        after = self._project.text(source.path)[at + len(place.name.encode()) :][:80]
        if chain is None or _BIND_THIS.match(after):
            return False
        value = self._value(chain, source, place, at)
        if value.kind is ValueKind.MODULE or (value.kind is ValueKind.OUTSIDE and value.sure):
            return False
        found = self._binder.types.member(value, place.name).definitions
        return not found or not all(_ACCESSOR.match(d.signature) for d in found)

    def _value(self, chain: Sequence[Part], source: FileNames, place: Occurrence, at: int) -> Value:
        return self._binder.types.chain(chain, ExpressionPlace(source, place.enclosing, at))

    def _is_unbound(
        self, value: Value, after: bytes, source: FileNames, place: Occurrence, method: Definition
    ) -> bool:
        """Return whether `A.name` is the method, and is not called with `self` of a class below."""
        found = self._binder.types.member(value, place.name).definitions
        if found and method not in found:
            return False
        if self._takes_no_object(method, _OF_CLASS):
            return False
        here = self._classes.owner(source, place.enclosing)
        owner = self._classes.class_of(method)
        below = here is not None and owner in self._classes.ancestors(here)[0]
        return not (below and place.use == Use.CALL and _PASSES_SELF.match(after))

    def _takes_no_object(self, method: Definition, decorators: frozenset[str] = _NOT_BOUND) -> bool:
        scopes = self._project.scopes(method.path)
        at = self._project.offset(method.path, method.line, method.column)
        told = scopes.decorators.get(at, ()) if scopes is not None else ()
        return not decorators.isdisjoint(told)

    def _may_pass(self, after: bytes, place: Occurrence, method: Definition) -> bool:
        """Return whether a call on something unknown may pass an object in the place of `self`."""
        if self._takes_no_object(method):
            return False
        text = after.decode("utf-8", "replace").lstrip()
        if text[:1] != "(":
            return place.use != Use.DECORATOR or self._required(method) <= 1
        inside = text[1 : closing(text, 0)]
        given = [part for part in split_top(inside, ",") if part.strip()]
        if any(part.lstrip().startswith("*") for part in given):
            return True
        return len(given) >= self._required(method)

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
        pattern = _BY_TEXT if python else _BY_INDEX
        for file, places in look(self._project, name).places.items():
            if (file.language == "python") is python:
                data = self._project.text(file.path)
                if any(pattern.search(data[max(0, at - 120) : at]) for _, _, at in places):
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
        raw = owner.name.encode()
        for path, places in in_python(self._project, owner.name).items():
            data = self._project.text(path)
            for place in places:
                at = self._project.offset(path, place.line, place.column)
                if data.startswith(b".__dict__", at + len(raw)):
                    return True
                if _LISTED.search(data[max(0, at - 60) : at]):
                    return True
        return False

    def _is_rebound(self) -> bool:
        """Return whether code takes functions out of methods, or gives classes other bases."""
        notes = self._project.tree.notes
        if "rebound" not in notes:
            words = ("__func__", "__bases__")
            paths = {path for word in words for path in in_python(self._project, word)}
            texts = [self._project.text(path) for path in sorted(paths)]
            notes["rebound"] = any(_REBOUND.search(data) for data in texts)
        return bool(notes["rebound"])
