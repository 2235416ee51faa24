"""The scopes of one file and what they declare. Pure: imports no parser."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from gitindex.languages.scopes.bound import Bound, DeclaredType, Part, to_parts, to_type

SCOPES = b"scopes"
"""The request to a worker for the scopes of a text."""

KINDS_AT = b"kinds:"
"""Start of the request for the kinds of some offsets, which follow as JSON."""

MODELLED = frozenset({"python", "javascript", "typescript", "tsx", "go", "java"})
"""Languages with fully modelled scopes: there a local binding excludes other meanings of a name."""

NOMINAL = frozenset({"go", "java"})
"""Languages where the declared type is the type."""

EXCLUDING = frozenset({"c"})
"""Languages with scopes of local variables only: they exclude a meaning, and certify nothing."""

ORDERED = frozenset({"c", "go", "java"})
"""Languages in which a local name is visible only after its declaration."""

MARKS = (
    *("keys", "labels", "stars", "assigned", "sets", "exports", "members", "literals"),
    *("receivers", "taken", "given", "typed", "unnamed", "shorthands"),
    *("bases", "decorators", "slashes", "defaults"),
)
"""Lists of a payload in addition to ranges and names."""

EXPORTED_MORE = "..."
"""Stands for exports that no name is written for: a spread, or code that gets the exports."""
EXPORTED_WHOLE = "="
"""The name of a CommonJS module's whole export."""

MODULE, FUNCTION, CLASS, BLOCK, COMPREHENSION, OUTER = range(6)
KINDS = {
    "function": FUNCTION,
    "class": CLASS,
    "block": BLOCK,
    "comprehension": COMPREHENSION,
    "outer": OUTER,
}
MAX_DEPTH = 400
_TYPES = frozenset({"class", "type", "typeparam", "enum", "import", "own"})
_ONLY_TYPES = frozenset({"type", "typeparam"})
_OF_HEAD = frozenset({"param", "rest", "typeparam", "own"})
_SEPARATE = frozenset({"typescript", "tsx", "java"})
"""Languages that separate the names of types and values."""


class TextRange(NamedTuple):
    """A range of the text that is a scope; a name is looked up next in `outer`."""

    start: int
    end: int
    kind: int
    around: int  # the range that contains it
    outer: int
    head: int  # for an OUTER range: the scope whose head it belongs to


class Declaration(NamedTuple):
    """A name that a scope declares."""

    offset: int
    scope: int
    kind: str  # the last word of its capture: param, var, function, class, import, …
    start: int  # where its visibility starts, in languages where that matters
    annotation: tuple[int, int]
    value: tuple[int, int]
    pick: int
    parts: tuple[Part, ...]
    type: DeclaredType | None


class _Declared:
    """The declarations of one name: in their order, by scope and by offset."""

    def __init__(self, listed: list[Declaration]) -> None:
        self.listed = listed
        self.by_scope: dict[int, list[Declaration]] = {}
        self.at: dict[int, Declaration] = {}
        for made in listed:
            self.by_scope.setdefault(made.scope, []).append(made)
            self.at.setdefault(made.offset, made)
        self.inside = any(made.scope > 0 or made.kind == "typeparam" for made in listed)


class Resolved(NamedTuple):
    """The declarations that a name refers to at a place: one variable."""

    declarations: tuple[Declaration, ...]
    kind: int  # kind of the scope: MODULE, FUNCTION, CLASS, BLOCK or COMPREHENSION
    scope: int
    through_class: bool  # a class scope lies in between


class Assigned(NamedTuple):
    """`object.name = value`: an assignment to an attribute."""

    offset: int
    object: str
    annotation: tuple[int, int]
    value: tuple[int, int]


class _NameAt(NamedTuple):
    """A name that is looked up, and where it stands."""

    name: str
    offset: int
    of_type: bool
    callable_only: bool


class FileScopes:
    """All scopes of one file, searchable by name and offset."""

    def __init__(self, payload: bytes, language: str, data: bytes) -> None:
        told = json.loads(payload)
        self.language = language
        self.data = data
        self.partial: bool = told["partial"]
        self.ranges = [TextRange(*row) for row in told["ranges"]]
        self._starts = [scope.start for scope in self.ranges]
        self._packed: dict[str, dict[str, str]] = {k: told[k] for k in ("names", "parameters")}
        self._declared: dict[str, _Declared] = {}
        self._moved = {(scope, name): how for scope, name, how in told["moved"]}
        self.keys = frozenset(told["keys"])
        self.literals: dict[int, str] = dict(told["literals"])
        """Go only: offset of a composite literal's key → the literal's named type, if known."""
        self.unnamed = frozenset(told["unnamed"])
        """Go only: offsets of fields that a struct without a name declares."""
        self.labels = frozenset(told["labels"])
        self.members = frozenset(told["members"])
        """Offsets of members without a receiver: `case A(name=x)`."""
        self._chains: list[str] = told["chains"]
        self._receivers: dict[str, int] = told["receivers"]
        self._given: dict[str, int] = told["given"]
        self.taken: dict[int, tuple[Part, ...]] = {}
        """Offsets of names in destructuring patterns, with the chain that they take a member of."""
        for at, chain in told["taken"]:
            self.taken[at] = to_parts(chain) or self.taken.get(at, ())
        self._read_heads(told)
        self._typed = dict(told["typed"])
        self.stars: list[int] = told["stars"]
        self.assigned: dict[str, list[Assigned]] = {}
        for name, offset, owner, *spans in told["assigned"]:
            self.assigned.setdefault(name, []).append(Assigned(offset, owner, *map(tuple, spans)))
        self._sets: dict[str, list[int]] = {}
        for name, offset in told["sets"]:
            self._sets.setdefault(name, []).append(offset)
        self.exports: dict[str, str] = {name: value for name, _, value in told["exports"]}
        """Exported names that differ from the local name, each with its local name or chain."""
        self.exported_at = frozenset(at for name, at, value in told["exports"] if name != value)
        self._quiet: list[list[Any]] = told["quiet"] or [[], [], [], []]
        """Starts, ends, kinds and containers of comments and strings."""

    def _read_heads(self, told: dict[str, Any]) -> None:
        """Keep what the heads of classes and functions say."""
        self.shorthands = frozenset(told["shorthands"])
        """ECMA only: offsets of names in `{ a, b }`, an object or a pattern."""
        self.bases: dict[int, list[tuple[Part, ...]]] = {}
        """Offset of a class's name → its bases; an empty chain is one that the tree does not name."""
        for at, chain in told["bases"]:
            self.bases.setdefault(at, []).append(to_parts(chain))
        self.decorators: dict[int, list[str]] = {}
        """Offset of a name → its decorators and its metaclass; empty for what is no plain name."""
        for at, name in told["decorators"]:
            self.decorators.setdefault(at, []).append(name)
        self._slashes: list[int] = told["slashes"]
        self._defaults = {self.scope_at(start): (start, end) for start, end in told["defaults"]}

    @property
    def names(self) -> dict[str, list[Declaration]]:
        """All declarations by name."""
        return {name: self.declared(name) for name in self._packed["names"]}

    def declared(self, name: str) -> list[Declaration]:
        """Return the declarations of a name in all scopes, in their order."""
        return self._of_name(name).listed

    def _of_name(self, name: str) -> _Declared:
        if name not in self._declared:
            rows = json.loads(self._packed["names"].get(name, "[]"))
            self._declared[name] = _Declared(list(map(_declaration, rows)))
        return self._declared[name]

    def is_declared_inside(self, name: str) -> bool:
        """Does a scope inside the module declare a name? Where not, it means the same everywhere."""
        return name in self._packed["names"] and self._of_name(name).inside

    def scope_at(self, offset: int) -> int:
        """Return the innermost scope around an offset; 0 is the module."""
        at = bisect_right(self._starts, offset) - 1
        while at > 0 and self.ranges[at].end <= offset:
            at = self.ranges[at].around
        return max(at, 0)

    def resolve(
        self, name: str, offset: int, of_type: bool = False, callable_only: bool = False
    ) -> Resolved | None:
        """Return the declarations of the name used at an offset; None if no scope declares it.

        `callable_only`: in Java a call never refers to a variable.
        """
        if name not in self._packed["names"]:
            return None
        wanted = _NameAt(name, offset, of_type, callable_only)
        found = self._of_name(name).at.get(offset)
        if (
            found is not None
            and (found.scope, name) not in self._moved
            and self._fits(found, wanted)
        ):
            return self._of_scope(wanted, found.scope, False)
        through = inside = False
        for scope in self._outwards(self.scope_at(offset)):
            here = self.ranges[scope]
            if here.kind == OUTER:
                heads = self._known(wanted, here.head, only_typeparams=True)
                if heads:
                    return Resolved(tuple(heads), FUNCTION, here.head, through)
                continue
            moved = self._moved.get((scope, name))
            if moved == "global":
                return self._of_module(wanted, through)
            hidden = inside and here.kind == CLASS and self.language == "python"
            if moved is None:  # a Python function does not see the names of its class
                resolved = self._of_scope(wanted, scope, through, hidden)
                if resolved is not None:
                    return resolved
            through = through or here.kind == CLASS
            inside = inside or here.kind in (FUNCTION, COMPREHENSION)
        return None

    def _of_module(self, wanted: _NameAt, through: bool) -> Resolved | None:
        """Return a name declared `global`; if the module does not assign it, its functions do."""
        known = self._known(wanted, 0) or [d._replace(scope=0) for d in self.declared(wanted.name)]
        return Resolved(tuple(known), MODULE, 0, through)

    def _outwards(self, scope: int) -> Iterator[int]:
        for _ in range(MAX_DEPTH):
            yield scope
            if scope == 0:
                return
            scope = self.ranges[scope].outer

    def _of_scope(
        self, wanted: _NameAt, scope: int, through: bool, hidden: bool = False
    ) -> Resolved | None:
        here, at = self.ranges[scope].kind, wanted.offset
        found = self._known(wanted, scope, only_typeparams=hidden)
        if self.language in ORDERED and here in (FUNCTION, BLOCK):
            found = [d for d in found if d.start <= at or d.offset == at]
        start, end = self._defaults.get(scope, (0, 0))
        if start <= at < end:  # a default value does not see the body
            found = [d for d in found if d.kind in _OF_HEAD]
        return Resolved(tuple(found), here, scope, through) if found else None

    def _known(
        self, wanted: _NameAt, scope: int, only_typeparams: bool = False
    ) -> list[Declaration]:
        """Return the declarations of a scope that can be meant."""
        found = self._of_name(wanted.name).by_scope.get(scope, [])
        if only_typeparams:
            found = [d for d in found if d.kind == "typeparam"]
        if self.language in _SEPARATE:
            found = [d for d in found if self._fits(d, wanted)]
        return found

    def _fits(self, found: Declaration, wanted: _NameAt) -> bool:
        """Can this declaration be meant? Some languages separate the names of types and values."""
        if self.language == "java":
            return found.kind in _TYPES or not (wanted.of_type or wanted.callable_only)
        if self.language in _SEPARATE:
            return found.kind in _TYPES if wanted.of_type else found.kind not in _ONLY_TYPES
        return True

    def receiver(self, offset: int) -> tuple[Part, ...] | None:
        """Return the object that the name at an offset is a member of; None for a bare name.

        An empty chain is an object that the tree does not name.
        """
        number = self._receivers.get(str(offset))
        return self._chain(number) if number is not None else None

    def given(self, offset: int) -> tuple[Part, ...]:
        """Return the chain that is called with the keyword argument of Python at an offset."""
        number = self._given.get(str(offset))
        return self._chain(number) if number is not None else ()

    def _chain(self, number: int) -> tuple[Part, ...]:
        return to_parts(json.loads(self._chains[number]))

    def bound_at(self, name: str, offset: int) -> Bound | None:
        """Return the type of the field or of the first result named there, or the value it gets."""
        if offset in self._typed:
            return Bound(type=to_type(self._typed[offset]))
        found = [d for d in self.declared(name) if d.offset == offset]
        return self.bound(found[0]) if found else None

    @cached_property
    def changes_classes(self) -> bool:
        """Does the code give an object another class?"""
        assigned = not self.assigned.keys().isdisjoint(("__class__", "__proto__"))
        return assigned or b"setPrototypeOf" in self.data

    def parameters(self, scope: int) -> list[tuple[str, bool]]:
        """Return the parameters of the function of a scope; is one given by position only?"""
        inside = self.ranges[scope]
        listed = json.loads(self._packed["parameters"].get(str(scope), "[]"))
        last = max((at for at in self._slashes if inside.start < at < inside.end), default=-1)
        return [(name, kind == "rest" or at < last) for name, at, kind in listed]

    def is_moved(self, name: str) -> bool:
        """Does a `global` or `nonlocal` statement let another scope assign the name?"""
        return any(moved == name for _, moved in self._moved)

    def label_of(self, name: str, offset: int) -> int:
        """Return the offset of the declaration of the label used at an offset."""
        raw = name.encode()
        found = [
            at
            for at in self.labels
            if at <= offset
            and self.data[at : at + len(raw)] == raw
            and self.data[at + len(raw) : at + len(raw) + 80].lstrip()[:1] == b":"
        ]
        return max(found, default=offset)

    def is_set_again(self, name: str, scope: int) -> bool:
        """Is a variable of a scope assigned again after its declaration?"""
        found = (self.resolve(name, at) for at in self._sets.get(name, ()))
        return any(one is not None and one.scope == scope for one in found)

    def bound(self, declaration: Declaration) -> Bound:
        """Return how a declaration gets its value: as text, and what the tree says of it."""
        nominal = self.language in NOMINAL
        return Bound(
            "" if nominal else self._text(declaration.annotation).lstrip(": "),
            "" if nominal else self._text(declaration.value),
            *declaration[-3:],
        )

    def bound_of(self, assigned: Assigned) -> Bound:
        """Return the value assigned to an attribute, as text."""
        return Bound(self._text(assigned.annotation).lstrip(": "), self._text(assigned.value))

    def quiet(self, offset: int) -> str:
        """Return the kind of a place outside code: `comment`, or a capture of a string; else ""."""
        kind = self._quiet[2][at] if (at := self._quiet_at(offset)) >= 0 else ""
        return str(kind) if kind != "code" else ""

    def quiet_span(self, offset: int) -> tuple[int, int]:
        """Return the range of the comment or string at an offset; empty in code."""
        at = self._quiet_at(offset)
        return (self._quiet[0][at], self._quiet[1][at]) if at >= 0 else (0, 0)

    def _quiet_at(self, offset: int) -> int:
        """Return the number of the comment or string at an offset; -1 in code."""
        starts, ends, _, around = self._quiet
        at = bisect_right(starts, offset) - 1
        while at >= 0 and not starts[at] <= offset < ends[at]:
            at = around[at]
        return at

    def _text(self, span: tuple[int, int]) -> str:
        return self.data[span[0] : span[1]].decode("utf-8", "replace") if span[1] else ""


def _declaration(row: list[Any]) -> Declaration:
    *first, annotation, value, pick, chain, kind = row
    spans = tuple(annotation), tuple(value)
    return Declaration._make([*first, *spans, pick, to_parts(chain), to_type(kind)])
