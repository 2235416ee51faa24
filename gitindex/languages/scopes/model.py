"""The scopes of one file, what they declare, and how values flow in it. Pure: imports no parser."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from gitindex.languages.scopes.packed import ScopesReader, read_links

WHOLE, EACH, EITHER = -1, -2, -3
"""What of a value a name takes: all of it, each element, the first of alternatives; or the n-th item."""
GIVEN, MOST_GIVEN = -16, 16
"""At most GIVEN: what a function passes to a callback, by the numbers of the argument and the parameter."""


LITERAL = '"'
"""The name of a part that is a literal: its members are of the language."""


class Part(NamedTuple):
    """One link of a chain: `name`, or `name(…)`. An empty name means that it cannot be parsed."""

    name: str
    called: bool
    load: str = ""  # the module in `require('…')` or `import('…')`; the type in `new(…)`


NAMED, POINTER, LISTED, STRUCT, OTHER, UNION, MEMBERLESS, NOTHING = range(8)
"""Forms of types: a name, a pointer, elements, a Go struct without embedded fields, any other; one of
several, a literal or a function, which have no members of ours, and none."""


class DeclaredType(NamedTuple):
    """The type that is declared for a name."""

    at: int  # where it stands
    form: int
    parts: tuple[Part, ...] = ()  # of a named type
    inner: tuple[
        DeclaredType, ...
    ] = ()  # what a pointer points to, elements, arguments, alternatives

    def target(self) -> DeclaredType:
        """Return what a pointer leads to, and the one alternative to nothing; others as they are."""
        if self.form not in (POINTER, UNION):
            return self
        inner = tuple(one for one in self.inner if one.form != NOTHING)
        return inner[0].target() if len(inner) == 1 else self._replace(inner=inner)

    def has_no_name(self) -> bool:
        """Return whether its members are not those of a type with a name."""
        return self.form in (LISTED, STRUCT)


class Bound(NamedTuple):
    """How a name gets its value: by its type, or from an expression or a part of it."""

    value: str = ""  # as text
    pick: int = WHOLE  # or each element, or the n-th of a tuple
    parts: tuple[Part, ...] = ()  # the value as a chain of the tree; empty for any other value
    type: DeclaredType | None = None
    either: bool = False  # the value is one of several, and the chain the first of them


def to_parts(rows: Any) -> tuple[Part, ...]:
    """Return the chain of a payload; empty if there is none."""
    return tuple(Part(*row) for row in rows or ())


def to_type(row: Any, base: int) -> DeclaredType:
    """Return the declared type of a payload, which stands at an offset."""
    at, form, name, *inner = row
    return DeclaredType(base + at, form, dotted(name), tuple(to_type(one, base) for one in inner))


def dotted(name: str) -> tuple[Part, ...]:
    """Return the chain of a dotted name."""
    return tuple(Part(part, False) for part in name.split(".") if part)


FLOW = b"flow"
"""The request to a worker for the flow of a text."""

FLOWING = frozenset({"python", "javascript", "typescript", "tsx"})
"""Languages that have a flow query."""

Span = tuple[int, int]


class ContainerItem(NamedTuple):
    """`container[key] = value`."""

    at: int
    container: str
    key: str
    value: Span


class FileFlow:
    """The value flow of one file."""

    def __init__(self, payload: bytes, data: bytes) -> None:
        fields = json.loads(payload)
        self._data = data
        self.returns: list[Span] = [(start, end) for start, end in fields["returns"]]
        self.calls: list[Span] = [(start, end) for start, end in fields["calls"]]
        self.implicit: list[tuple[list[str], Span]] = [
            (methods, (start, end)) for methods, start, end in fields["implicit"]
        ]
        self.decorators: dict[int, list[Span]] = {}
        for at, start, end in fields["decorated"]:
            self.decorators.setdefault(at, []).append((start, end))
        self.items = [
            ContainerItem(at, name, key, (start, end))
            for at, name, key, start, end in fields["items"]
        ]

    def text(self, span: Span) -> str:
        """Return the text of an expression."""
        return self._data[span[0] : span[1]].decode("utf-8", "replace")


KINDS_AT = b"kinds:"
"""Start of the request for the kinds of some offsets, which follow as JSON."""

ECMA = frozenset({"javascript", "typescript", "tsx"})
MODELLED = ECMA | {"python", "go", "java"}
"""Languages with fully modelled scopes: there a local binding excludes other meanings of a name."""

TYPED = frozenset({"csharp", "kotlin", "rust", "cpp", "c", "swift", "scala", "dart", "php"})
"""Languages with scopes of local names and declared types; not all of their names are modelled."""

COMPILED = frozenset({"go", "java"})
"""Languages with declared types whose names are all modelled."""

NOMINAL = COMPILED | TYPED
"""Languages where the declared type is the type."""

CALLS_APART = frozenset({"java", "kotlin"})
"""Languages where a call of a bare name means no variable."""

SCOPED = MODELLED | TYPED | {"ruby", "lua", "elixir", "julia", "zig", "haskell", "ocaml"}
"""Languages whose scopes are read; of the last, only receivers and bases."""

ORDERED = frozenset({"go", "java"}) | TYPED
"""Languages in which a local name is visible only after its declaration."""

OFFSETS = ("keys", "labels", "stars", "members", "unnamed", "shorthands", "slashes")
"""Lists of places in a payload."""
MARKS = (
    *OFFSETS,
    *("assigned", "exports", "literals", "taken", "given", "typed", "keyed"),
    *("bases", "decorators", "defaults"),
)
"""What is read of a text in addition to ranges and names."""

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
MAX_OWNER = 100
"""Bytes of the object of an assigned attribute that are read."""
_TYPES = frozenset({"class", "type", "typeparam", "enum", "import", "own"})
_ONLY_TYPES = frozenset({"type", "typeparam"})
_OF_HEAD = frozenset({"param", "rest", "typeparam", "own"})
_ENDS = frozenset({b"", b"\n", b"\r", b";", b",", b"#", b"/"})
_SEPARATE = frozenset({"typescript", "tsx", "java"}) | TYPED
"""Languages that separate the names of types and values."""


class TextKind(NamedTuple):
    """What a place is: `comment`, `string`, `token` (a keyword) or `code`; and its extent."""

    kind: str
    start: int
    end: int


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
    value: tuple[int, int]
    bound: Bound


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
    bound: Bound


class _NameAt(NamedTuple):
    """A name that is looked up, and where it stands."""

    name: str
    offset: int
    of_type: bool
    callable_only: bool


_Rows = list[tuple[int, ...]]


class FileScopes:
    """All scopes of one file, searchable by name and offset."""

    def __init__(self, payload: bytes, language: str, data: bytes) -> None:
        reader = ScopesReader(payload, 3)
        self.language = language
        self.data = data
        self._chains, self._types, self._words = reader.chains, reader.types, reader.words
        chains, words = len(self._chains), len(self._words)
        spans = (
            (start, start + size, kind) for start, size, kind in reader.numbered(OUTER + 1, 3, 2)
        )
        self.ranges = [TextRange(*row) for row in nest_ranges(len(data), spans)]
        self._starts = [scope.start for scope in self.ranges]
        self._rows = reader.numbered(words, 11, 3)
        self._receivers = dict(zip(*reader.columns(2), strict=True))
        self._given = dict(zip(*reader.columns(2), strict=True))
        taken = reader.numbered(chains)
        self._quiet_rows = reader.numbered(words, 3, 2)
        keys, labels, self.stars, members, unnamed, shorthands, self._slashes = (
            reader.columns(1)[0] for _ in OFFSETS
        )
        bases = reader.numbered(chains)
        decorators, literals = reader.numbered(words), reader.numbered(words)
        self._typed, self._keyed = (
            {at: (kind, at + far) for at, kind, far in reader.numbered(len(self._types), 3)}
            for _ in range(2)
        )
        self._assigned = reader.rows(10)
        self._defaults = {self.scope_at(at): (at, at + size) for at, size in reader.rows(2)}
        partial, moved, exports = reader.rest
        self.partial = bool(partial)
        self._read_rest(moved, exports)
        self.keys = frozenset(keys)
        self.literals = {at: self._words[word] for at, word in literals}
        """Go only: offset of a composite literal's key → the literal's named type, if known."""
        self.unnamed = frozenset(unnamed)
        """Go only: offsets of fields that a struct without a name declares."""
        self.labels = frozenset(labels)
        self.members = frozenset(members)
        """Offsets of members without a receiver: `case A(name=x)`."""
        self.shorthands = frozenset(shorthands)
        """ECMA only: offsets of names in `{ a, b }`, an object or a pattern."""
        self.taken = {at: self._chain(number) for at, number in taken}
        """Offsets of names in destructuring patterns, with the chain that they take a member of."""
        self._read_heads(bases, decorators)
        self._declared: dict[str, _Declared] = {}

    def _read_rest(self, moved: Any, exports: Any) -> None:
        """Keep which names are `global` or `nonlocal`, and the exports of ECMAScript."""
        self._moved = {(scope, name): how for scope, name, how in moved}
        self.exports = {name: self._chain(chain) for name, _, chain in exports}
        """Exported names that differ from the local name, each with what it stands for as a chain."""
        self.exported_at = frozenset(
            at for name, at, chain in exports if self._chains[chain] != name
        )

    def _read_heads(self, bases: _Rows, decorators: _Rows) -> None:
        """Keep what the heads of classes and functions say."""
        self.bases: dict[int, list[tuple[Part, ...]]] = {}
        """Offset of a class's name → its bases; an empty chain is one that the tree does not name."""
        for at, number in bases:
            self.bases.setdefault(at, []).append(self._chain(number))
        self.decorators: dict[int, list[str]] = {}
        """Offset of a name → its decorators and its metaclass; empty for what is no plain name."""
        for at, number in decorators:
            self.decorators.setdefault(at, []).append(self._words[number])

    @cached_property
    def _by_name(self) -> dict[str, list[tuple[int, ...]]]:
        """The rows of the declarations by name."""
        rows_by_name: dict[str, list[tuple[int, ...]]] = {}
        for row in self._rows:
            name = self._text((row[0], row[0] + row[1]))
            rows_by_name.setdefault(name, []).append(row)
        return rows_by_name

    @cached_property
    def assigned(self) -> dict[str, list[Assigned]]:
        """Assignments to attributes, by their names."""
        by_name: dict[str, list[Assigned]] = {}
        for at, size, owner, length, first, long, *rest in self._assigned:
            said = self._text((at + owner, at + owner + min(length, MAX_OWNER))) or "this"
            bound = self._bound(_span(at, first, long), at, *rest)
            by_name.setdefault(self._text((at, at + size)), []).append(Assigned(at, said, bound))
        return by_name

    def _bound(self, value: tuple[int, int], at: int, *row: int) -> Bound:
        """Return how a name at an offset gets its value, from the numbers of its row."""
        pick, chain, kind, far = row
        declared = to_type(self._types[kind], at + far) if kind else None
        either, pick = pick == EITHER, WHOLE if pick == EITHER else pick
        return Bound(self._text(value), pick, self._chain(chain), declared, either)

    @property
    def names(self) -> dict[str, list[Declaration]]:
        """All declarations by name."""
        return {name: self.declared(name) for name in self._by_name}

    def declared(self, name: str) -> list[Declaration]:
        """Return the declarations of a name in all scopes, in their order."""
        return self._of_name(name).listed

    def _of_name(self, name: str) -> _Declared:
        if name not in self._declared:
            rows = self._by_name.get(name, ())
            self._declared[name] = _Declared(list(map(self._declaration, rows)))
        return self._declared[name]

    def is_declared_inside(self, name: str) -> bool:
        """Does a scope inside the module declare a name? Where not, it means the same everywhere."""
        return name in self._by_name and self._of_name(name).inside

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

        `callable_only`: the name is called, in a language of `CALLS_APART`.
        """
        if name not in self._by_name:
            return None
        lookup = _NameAt(name, offset, of_type, callable_only)
        declaration = self._of_name(name).at.get(offset)
        own = declaration is not None and (declaration.scope, name) not in self._moved
        if declaration is not None and own and self._fits(declaration, lookup):
            return self._of_scope(lookup, declaration.scope, False)
        return self._around(lookup)

    def _around(self, lookup: _NameAt) -> Resolved | None:
        """Return the declarations of a name in the scopes around its place, the innermost first."""
        through = inside = False
        for scope in self._outwards(self.scope_at(lookup.offset)):
            here = self.ranges[scope]
            if here.kind == OUTER:
                heads = self._known(lookup, here.head, only_typeparams=True)
                if heads:
                    return Resolved(tuple(heads), FUNCTION, here.head, through)
                continue
            moved = self._moved.get((scope, lookup.name))
            if moved == "global":
                return self._of_module(lookup, through)
            # a Python function does not see the names of its class
            hidden = inside and here.kind == CLASS and self.language == "python"
            resolved = self._of_scope(lookup, scope, through, hidden) if moved is None else None
            if resolved is not None:
                return resolved
            through = through or here.kind == CLASS
            inside = inside or here.kind in (FUNCTION, COMPREHENSION)
        return None

    def _of_module(self, lookup: _NameAt, through: bool) -> Resolved | None:
        """Return a name declared `global`; if the module does not assign it, its functions do."""
        known = self._known(lookup, 0) or [d._replace(scope=0) for d in self.declared(lookup.name)]
        return Resolved(tuple(known), MODULE, 0, through)

    def _outwards(self, scope: int) -> Iterator[int]:
        for _ in range(MAX_DEPTH):
            yield scope
            if scope == 0:
                return
            scope = self.ranges[scope].outer

    def _of_scope(
        self, lookup: _NameAt, scope: int, through: bool, hidden: bool = False
    ) -> Resolved | None:
        here, at = self.ranges[scope].kind, lookup.offset
        declarations = self._known(lookup, scope, only_typeparams=hidden)
        if self.language in ORDERED and here in (FUNCTION, BLOCK):
            declarations = [d for d in declarations if d.start <= at or d.offset == at]
        start, end = self._defaults.get(scope, (0, 0))
        if start <= at < end:  # a default value does not see the body
            declarations = [d for d in declarations if d.kind in _OF_HEAD]
        return Resolved(tuple(declarations), here, scope, through) if declarations else None

    def _known(
        self, lookup: _NameAt, scope: int, only_typeparams: bool = False
    ) -> list[Declaration]:
        """Return the declarations of a scope that can be meant."""
        declarations = self._of_name(lookup.name).by_scope.get(scope, [])
        if only_typeparams:
            declarations = [d for d in declarations if d.kind == "typeparam"]
        if self.language in _SEPARATE:
            declarations = [d for d in declarations if self._fits(d, lookup)]
        return declarations

    def _fits(self, declaration: Declaration, lookup: _NameAt) -> bool:
        """Can this declaration be meant? Some languages separate the names of types and values."""
        if self.language in CALLS_APART:
            return declaration.kind in _TYPES or not (lookup.of_type or lookup.callable_only)
        if self.language in _SEPARATE:
            return (
                declaration.kind in _TYPES
                if lookup.of_type
                else declaration.kind not in _ONLY_TYPES
            )
        return True

    def receiver(self, offset: int) -> tuple[Part, ...] | None:
        """Return the object that the name at an offset is a member of; None for a bare name.

        An empty chain is an object that the tree does not name.
        """
        number = self._receivers.get(offset)
        return self._chain(number) if number is not None else None

    def given(self, offset: int) -> tuple[Part, ...]:
        """Return the chain that is called with the keyword argument of Python at an offset."""
        number = self._given.get(offset)
        return self._chain(number) if number is not None else ()

    def _chain(self, number: int) -> tuple[Part, ...]:
        return to_parts(read_links(self._chains[number]))

    def bound_at(self, name: str, offset: int) -> Bound | None:
        """Return the type of the field or of the first result named there, or the value it gets."""
        if offset in self._typed:
            number, at = self._typed[offset]
            return Bound(type=to_type(self._types[number], at) if number else None)
        declarations = [d for d in self.declared(name) if d.offset == offset]
        return declarations[0].bound if declarations else None

    def literal_at(self, offset: int) -> DeclaredType | None:
        """Return the type that is declared for the literal of TypeScript with the key at an offset."""
        number, at = self._keyed.get(offset, (0, 0))
        return to_type(self._types[number], at) if number else None

    def parameters(self, scope: int) -> list[tuple[str, bool]]:
        """Return the parameters of the function of a scope; is one given by position only?"""
        inside = self.ranges[scope]
        last = max((at for at in self._slashes if inside.start < at < inside.end), default=-1)
        return [
            (self._text((at, at + size)), kind == "rest" or at < last)
            for at, size, kind in self._parameters.get(scope, ())
        ]

    def parameter_types(self, scope: int) -> list[DeclaredType | None]:
        """Return the declared types of the parameters of the function of a scope."""
        listed = self._parameters.get(scope, ())
        bounds = (self.bound_at(self._text((at, at + size)), at) for at, size, _ in listed)
        return [bound.type if bound is not None else None for bound in bounds]

    @cached_property
    def _parameters(self) -> dict[int, list[tuple[int, int, str]]]:
        by_scope: dict[int, list[tuple[int, int, str]]] = {}
        for at, size, inner, word, *_ in self._rows:
            if self._words[word] in ("param", "rest"):
                scope = self.scope_at(at) - inner
                by_scope.setdefault(scope, []).append((at, size, self._words[word]))
        return by_scope

    def _declaration(self, row: tuple[int, ...]) -> Declaration:
        at, size, inner, word, start, first, long, *rest = row
        value = _span(at + size, first, long)
        scope, how = self.scope_at(at) - inner, self._words[word]
        return Declaration(at, scope, how, at + start, value, self._bound(value, at, *rest))

    @cached_property
    def _by_value(self) -> dict[int, list[tuple[str, Declaration]]]:
        by_end: dict[int, list[tuple[str, Declaration]]] = {}
        for name, listed in self.names.items():
            for made in listed:
                if made.kind != "param" and made.value[1]:
                    by_end.setdefault(made.value[1], []).append((name, made))
        return by_end

    def holders(self, name: str, offset: int) -> list[tuple[str, int]]:
        """Return the variables, and where they are declared, that hold what a name at an offset is."""
        if offset in self.taken:
            return [(name, offset)]
        end = offset + len(name.encode())
        after = self.data[end : end + 80].lstrip(b" \t")[:1]  # most names end no statement
        given = self._by_value.get(end, ()) if after in _ENDS else ()
        return [(holder, made.offset) for holder, made in given if _is_whole(made, name)]

    def label_of(self, name: str, offset: int) -> int:
        """Return the offset of the declaration of the label used at an offset."""
        raw = name.encode()
        offsets = [
            at
            for at in self.labels
            if at <= offset
            and self.data[at : at + len(raw)] == raw
            and self.data[at + len(raw) : at + len(raw) + 80].lstrip()[:1] == b":"
        ]
        return max(offsets, default=offset)

    def quiet(self, offset: int) -> str:
        """Return the kind of a place outside code: `comment`, or a capture of a string; else ""."""
        at = self._quiet_at(offset)
        kind = self._words[self._quiet[2][at]] if at >= 0 else ""
        return kind if kind != "code" else ""

    def quiet_span(self, offset: int) -> tuple[int, int]:
        """Return the range of the comment or string at an offset; empty in code."""
        at = self._quiet_at(offset)
        return (self._quiet[0][at], self._quiet[1][at]) if at >= 0 else (0, 0)

    @cached_property
    def _quiet(self) -> tuple[list[int], list[int], list[int], list[int]]:
        """Starts, ends, kinds and containers of comments and strings."""
        starts, ends, kinds, around = list[int](), list[int](), list[int](), list[int]()
        skipped, inside = 0, -1
        for far, size, kind in self._quiet_rows:
            start = far + skipped
            skipped += size
            while inside >= 0 and ends[inside] <= start:
                inside = around[inside]
            around.append(inside)
            inside = len(starts)
            starts.append(start)
            ends.append(start + size)
            kinds.append(kind)
        return starts, ends, kinds, around

    def _quiet_at(self, offset: int) -> int:
        """Return the number of the comment or string at an offset; -1 in code."""
        starts, ends, _, around = self._quiet
        at = bisect_right(starts, offset) - 1
        while at >= 0 and not starts[at] <= offset < ends[at]:
            at = around[at]
        return at

    def _text(self, span: tuple[int, int]) -> str:
        return self.data[span[0] : span[1]].decode("utf-8", "replace") if span[1] else ""


def nest_ranges(size: int, spans: Iterable[tuple[int, int, int]]) -> list[list[int]]:
    """Return the ranges of a text, given in their order, each with those around it; first the module."""
    ranges = [[0, size + 1, MODULE, -1, -1, -1]]
    stack = [0]
    for start, end, kind in spans:
        while ranges[stack[-1]][1] <= start:
            stack.pop()
        around = stack[-1]
        outer, head = around, -1
        if kind == OUTER:
            head = around
            while head > 0 and ranges[head][2] == OUTER:
                head = ranges[head][3]
            outer = max(ranges[head][4], 0)
        ranges.append([start, end, kind, around, outer, head])
        stack.append(len(ranges) - 1)
    return ranges


def _span(at: int, far: int, size: int) -> tuple[int, int]:
    """Return a span from its distance and its size; empty where the size is 0."""
    return (at + far, at + far + size) if size else (0, 0)


def _is_whole(made: Declaration, name: str) -> bool:
    """Return whether the value of a declaration is a name, or a member of that name."""
    parts = made.bound.parts
    whole = made.bound.pick == WHOLE and not made.bound.either
    return whole and bool(parts) and parts[-1][:2] == (name, False)
