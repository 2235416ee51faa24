"""Infer what an expression is an instance of: annotations, constructors, attributes, bases."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from gitindex.languages.scopes.model import (
    CLASS,
    EACH,
    EXPORTED_WHOLE,
    GIVEN,
    LISTED,
    LITERAL,
    MEMBERLESS,
    MOST_GIVEN,
    NOMINAL,
    SCOPED,
    TYPED,
    UNION,
    WHOLE,
    Bound,
    DeclaredType,
    FileScopes,
    Part,
    dotted,
)
from gitindex.languages.syntax.kinds import FUNCTIONS, SPACES
from gitindex.query.names.expressions import read_chain
from gitindex.query.names.model import (
    ECMA,
    MAX_DEPTH,
    NOT_KNOWN,
    NOT_OURS,
    OUTSIDE,
    STRICT,
    UNKNOWN,
    Definition,
    ExpressionPlace,
    FileNames,
    Meaning,
    Module,
    State,
    Value,
    ValueKind,
    defined,
    instance_of,
    is_type,
    of_space,
    one_of,
)
from gitindex.query.names.modules import PACKAGED
from gitindex.query.names.names import BUILTINS, OF_EACH, PASSING_EACH, PLAIN, WRAPPERS, Names
from gitindex.query.names.project import Project

_ROOTS = ("object", "Protocol", "Generic")
"""Base classes whose members are never looked up."""


class Classes:
    """The class hierarchy of one tree; `named_type` resolves the name of a type."""

    def __init__(
        self, names: Names, named_type: Callable[[Sequence[Part] | None, ExpressionPlace], Value]
    ) -> None:
        self._names = names
        self._project = names.project
        self._named_type = named_type

    @cached_property
    def _bases(self) -> dict[tuple[str, int], tuple[list[Definition], bool]]:
        """A cache of the bases of each class, valid for the tree."""
        return self._project.tree.table("bases")

    @cached_property
    def _guessed(self) -> set[tuple[str, int]]:
        """Classes with a base that could not be resolved."""
        guessed: set[tuple[str, int]] = self._project.tree.notes.setdefault("guessed", set())
        return guessed

    @cached_property
    def _foreign(self) -> set[tuple[str, int]]:
        """Classes with a base outside the tree that is not of the language itself."""
        foreign: set[tuple[str, int]] = self._project.tree.notes.setdefault("foreign", set())
        return foreign

    def has_outer_base(self, definition: Definition) -> bool:
        """Return whether a class has a base of a library."""
        self.bases(definition)
        return (definition.path, definition.ordinal) in self._foreign

    def owner(self, source: FileNames, scope: int) -> Definition | None:
        """Return the class whose code contains a place."""
        symbol = source.symbol(scope)
        while symbol is not None:
            if is_type(symbol):
                return symbol
            if symbol.parent < 0 and "." in symbol.qualified:
                return self._receiver_type(source, symbol)
            symbol = source.symbol(symbol.parent)
        return None

    def inherited_type(self, source: FileNames, name: str, scope: int) -> Definition | None:
        """Return the class that a class around a place inherits: it hides those of the package."""
        symbol = source.symbol(scope)
        while symbol is not None:
            members = self.members(symbol, name, True)[0] if is_type(symbol) else []
            if any(map(is_type, members)):
                return next(filter(is_type, members))
            symbol = source.symbol(symbol.parent)
        return None

    def bases(self, definition: Definition) -> tuple[list[Definition], bool]:
        """Return the bases of a class, and whether some are not in this tree."""
        key = (definition.path, definition.ordinal)
        if key not in self._bases:
            self._bases[key] = ([], True)  # set while they are being resolved, for cycles
            self._bases[key] = self._read_bases(definition)
        return self._bases[key]

    def ancestors(self, definition: Definition) -> tuple[list[Definition], bool]:
        """Return a class with all its ancestors, and whether some base could not be resolved."""
        classes, unknown = [definition], False
        for one in classes:  # grows during the loop
            classes += [base for base in self.bases(one)[0] if base not in classes]
            unknown = unknown or (one.path, one.ordinal) in self._guessed
        return classes, unknown

    def class_of(self, member: Definition) -> Definition | None:
        """Return the class that a member belongs to; None if it is not a member."""
        source = self._project.source(member.path)
        if source is None:
            return None
        outer = source.symbol(member.parent)
        if outer is not None and is_type(outer):
            return outer
        if member.parent < 0 and "." in member.qualified:
            return self._receiver_type(source, member)
        return None

    def is_innermost(self, definition: Definition | None, at: int) -> bool:
        """Return whether no other class, also without a name, lies between a class and a place."""
        scopes = self._project.scopes(definition.path) if definition else None
        if definition is None or scopes is None or scopes.partial:
            return False
        here = scopes.scope_at(at)
        while here > 0 and scopes.ranges[here].kind != CLASS:
            here = scopes.ranges[here].outer
        name = self._project.offset(definition.path, definition.line, definition.column)
        inner, outer = scopes.ranges[here], scopes.ranges[max(scopes.ranges[here].around, 0)]
        if outer.kind == CLASS and outer.end == inner.end:  # a declaration and its body
            inner = outer
        return inner.kind == CLASS and inner.start <= name < inner.end

    def is_receiver(self, source: FileNames, function: Definition, name: str) -> bool:
        """Return whether a name is the first parameter of a Python method (`self`, `cls`)."""
        owner = source.symbol(function.parent)
        if source.language != "python" or owner is None or not is_type(owner):
            return False
        scopes = self._project.scopes(source.path)
        if scopes is None or "staticmethod" in self._decorators(scopes, function):
            return False
        return [found for found, _ in self.parameters(scopes, function)[:1]] == [name]

    def parameters(self, scopes: FileScopes, function: Definition) -> list[tuple[str, bool]]:
        """Return the parameters of a function; is one given by position only?"""
        return scopes.parameters(scopes.scope_at(self.at(function)))

    def at(self, definition: Definition) -> int:
        """Return the offset of the name of a definition."""
        return self._project.offset(definition.path, definition.line, definition.column)

    def _decorators(self, scopes: FileScopes, definition: Definition) -> list[str]:
        return scopes.decorators.get(self.at(definition), [])

    def members(
        self, definition: Definition, name: str, above: bool, depth: int = 0
    ) -> tuple[list[Definition], bool]:
        """Return the members of a class or its bases, and whether a base is outside the tree."""
        is_open = False
        todo = [] if above else [definition]
        if above:
            todo, is_open = self.bases(definition)
            todo = list(todo)
        seen = set()
        while todo:
            at = todo.pop(0)
            if (at.path, at.ordinal) in seen:
                continue
            seen.add((at.path, at.ordinal))
            members = self._own(at, name) or self._of_alias(at, name, depth)
            if members:
                return members, is_open
            more, opened = self.bases(at)
            is_open = is_open or opened
            todo = [*more, *todo]
        return [], is_open

    def _of_alias(self, alias: Definition, name: str, depth: int) -> list[Definition]:
        """Return the members of each type that an alias stands for: a value is one of them."""
        bases = self.bases(alias)[0] if alias.kind == "type" and depth < MAX_DEPTH else []
        inherited = (self.members(base, name, False, depth + 1)[0] for base in bases)
        return list(dict.fromkeys(member for members in inherited for member in members))

    def beside(
        self, source: FileNames, definition: Definition, scope: int, depth: int
    ) -> ExpressionPlace:
        """Return the place of a definition, for evaluating its text there."""
        at = -1
        if source.language == "python":
            at = self._project.offset(source.path, definition.line, 0)
        elif source.language in SCOPED:
            at = self._project.offset(source.path, definition.line, definition.column)
        return ExpressionPlace(source, scope, at, depth)

    def _own(self, definition: Definition, name: str) -> list[Definition]:
        source = self._project.source(definition.path)
        if source is None:
            return []
        members = source.children(definition.ordinal, name)
        if members or source.language in STRICT:
            return members
        qualified = f"{definition.qualified}.{name}"
        near = [d for d in self._project.definitions(name) if d.qualified == qualified]
        if source.language == "ruby":  # any file may reopen a module
            return [d for d in near if self._project.family(d) == source.origin.family]
        return [d for d in near if d.path.rpartition("/")[0] == source.path.rpartition("/")[0]]

    def _receiver_type(self, source: FileNames, method: Definition) -> Definition | None:
        """Return the type of a method that is defined outside of the type: Go, Rust, C++."""
        name = method.qualified.rpartition(".")[0].rpartition(".")[2]
        meaning = self._names.lookup(source, name, -1)
        return next((d for d in meaning.definitions if is_type(d)), None)

    def _read_bases(self, definition: Definition) -> tuple[list[Definition], bool]:
        source = self._project.source(definition.path)
        if source is None:
            return [], True
        place = self.beside(source, definition, definition.parent, 1)
        bases, is_open = [], False
        for chain in self._written_bases(source, definition):
            value = self._named_type(chain, place)
            if value.definition is not None and value.definition != definition:
                bases.append(value.definition)
            elif not chain or chain[-1].name not in _ROOTS:
                is_open, key = True, (definition.path, definition.ordinal)
                if value.kind is not ValueKind.OUTSIDE:
                    self._guessed.add(key)
                if not chain or chain[-1].name not in BUILTINS.get(source.language, ()):
                    self._foreign.add(key)
        return bases, is_open

    def may_inherit(self, definition: Definition, name: str) -> bool:
        """Return whether a base outside of the tree may have a member; Python's own are looked into."""
        source = self._project.source(definition.path)
        if source is None or source.language != "python":
            return self.bases(definition)[1]
        place = self.beside(source, definition, definition.parent, 1)
        for chain in self._written_bases(source, definition):
            last = chain[-1].name if chain else ""
            known = getattr(builtins, last, None) if chain and len(chain) == 1 else None
            lacks = last in _ROOTS or (isinstance(known, type) and not hasattr(known, name))
            if not lacks and self._named_type(chain, place).definition in (None, definition):
                return True
        return False

    def _written_bases(
        self, source: FileNames, definition: Definition
    ) -> Iterable[Sequence[Part] | None]:
        """Return the bases of a class as chains; None where they cannot be read."""
        if source.language not in SCOPED:
            return ()
        scopes = self._project.scopes(source.path)
        return scopes.bases.get(self.at(definition), ()) if scopes is not None else [None]


ENTERS = frozenset({"__enter__", "__aenter__"})
"""Methods whose only argument is the receiver: a type variable there is the type of it."""
_THIS = frozenset({"this", "self", "$this", "Self", "static"})
_SUPER = frozenset({"super", "parent", "base"})
_CLASS = frozenset({"cls", "mcs", "mcls", "klass"})
_CONCRETE = frozenset({"class", "struct", "enum", "union"})
IMPLICIT = frozenset({"java", "csharp", "kotlin", "scala"})
"""Languages where a bare name may be a member of the enclosing class, also an inherited one."""
_OTHER_THIS = frozenset({"kotlin", "dart", "php"})
"""Languages where `this` may be what a function extends, or what a lambda is given."""
MAX_TYPES = 4
"""Definitions of one name whose values are looked at."""


class Types:
    """Evaluates chains by declared types. Returns NOT_KNOWN instead of guessing."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.project: Project = names.project
        self.classes = Classes(names, self._named_type)
        self._busy: set[tuple[str, int, str]] = set()

    def chain(self, parts: Sequence[Part], place: ExpressionPlace) -> Value:
        """Return the value of `a.b(…).c`; NOT_KNOWN for a chain that the tree does not name."""
        if not parts:
            return NOT_KNOWN
        own = self._own_exports(parts, place) if place.source.language in ECMA else 0
        if own:
            value = Value(ValueKind.MODULE, module=Module((place.source.path,)), sure=True)
        else:
            value = self._first(parts[0], place)
        for part in parts[own or 1 :]:
            holder = value
            if value.kind is ValueKind.UNNAMED:
                return NOT_KNOWN  # the types of its fields are not looked at
            meaning = self.member(value, part.name, place.depth)
            value = self._value(meaning, place, part.name, value)
            value = self._call(value, place, holder) if part.called else value
            value = value._replace(sure=value.sure and holder.sure)
            if value.kind is ValueKind.UNKNOWN:
                break
        return value

    def _own_exports(self, parts: Sequence[Part], place: ExpressionPlace) -> int:
        """Return how many parts name this module's `exports` or `module.exports`."""
        names = [part.name for part in parts[:2] if not part.called]
        count = 1 if names[:1] == ["exports"] else 2 if names == ["module", "exports"] else 0
        free = count and self._look(names[0], place).state in (State.UNBOUND, State.UNKNOWN)
        return count if free else 0

    def member(self, value: Value, name: str, depth: int = 0) -> Meaning:
        """Return the meaning of an attribute of a value."""
        if value.kind in (ValueKind.OUTSIDE, ValueKind.UNNAMED):
            return OUTSIDE._replace(sure=value.sure)
        if value.module is not None:
            return self.names.modules.below(value.module, name)
        if value.definition is None or depth >= MAX_DEPTH:
            return UNKNOWN
        if value.kind is ValueKind.FUNCTION:  # a property, seen as its result
            results = one_of(self._result(one, depth + 1) for one in value.each())
            return self.member(results, name, depth + 1)
        if value.others:
            return _one_of([self.member(one, name, depth) for one in value.each()])
        return self._class_member(value.definition, name, value.kind is ValueKind.SUPER)

    def _class_member(self, owner: Definition, name: str, above: bool) -> Meaning:
        """Return a member of a class; OUTSIDE for an attribute that its code assigns."""
        members, is_open = self.classes.members(owner, name, above)
        if members:
            return defined(members)
        closed = not is_open and owner.kind != "object"  # which may also have a type
        return OUTSIDE if closed and self.assignments(owner, name) else UNKNOWN

    def assignments(self, definition: Definition, name: str) -> list[tuple[Bound, ExpressionPlace]]:
        """Return what the code of a class assigns to an attribute of its instances."""
        source = self.project.source(definition.path)
        scopes = self.project.scopes(definition.path)
        if source is None or scopes is None:
            return []
        first = self.project.offset(source.path, definition.start_line, 0)
        last = self.project.offset(source.path, definition.end_line + 1, 0)
        return [
            (one.bound, ExpressionPlace(source, definition.ordinal, one.offset))
            for one in scopes.assigned.get(name, ())
            if first <= one.offset < last
            and (
                one.object in ("self", "this", "cls")
                or (definition.kind == "object" and one.object == definition.name)
            )
        ]

    def typed(self, kind: DeclaredType, place: ExpressionPlace, pick: int = WHOLE) -> Value:
        """Return an instance of a declared type, or an element of one."""
        if place.depth > MAX_DEPTH:
            return NOT_KNOWN
        at, inner = kind.target(), place._replace(at=kind.at).deeper()
        if at.form == UNION:
            value = (
                one_of(self.typed(one, inner, pick) for one in at.inner) if at.inner else NOT_KNOWN
            )
        elif at.form == MEMBERLESS:
            value = NOT_OURS
        elif place.source.language in NOMINAL:
            return self._nominal(kind, at, place, pick)
        else:
            value = self._annotated(at, inner, pick)
        return value if place.source.language in NOMINAL else value._replace(sure=False)

    def _nominal(
        self, kind: DeclaredType, at: DeclaredType, place: ExpressionPlace, pick: int
    ) -> Value:
        """Return an instance of a type of a language where the declared type is the type."""
        if pick != WHOLE:
            each = at.inner[0] if pick == EACH and at.inner else None
            return self.typed(each, place.deeper()) if each is not None else NOT_KNOWN
        if at.has_no_name():
            return Value(ValueKind.UNNAMED, sure=True)
        value = self._named_type(at.parts, place._replace(at=at.at).deeper())
        if place.source.language in TYPED:
            return value._replace(sure=self._is_only(value.definition, at.parts, place.source))
        if value.kind is ValueKind.OUTSIDE:  # in Go it may be an interface, to which none points
            return value._replace(sure=at is not kind or place.source.language == "java")
        return value

    def _annotated(self, kind: DeclaredType, place: ExpressionPlace, pick: int) -> Value:
        """Return an instance of an annotation of Python or TypeScript, or an element of it."""
        name = kind.parts[-1].name if kind.parts else ""
        if kind.form == LISTED:
            return self.typed(kind.inner[0], place) if pick != WHOLE else NOT_OURS
        if name in ("Self", "this") and not kind.inner:
            return instance_of(self.classes.owner(place.source, place.scope))
        if kind.inner:
            value = self._of_arguments(name, kind, place, pick)
            if value is not None:
                return value
        return self._named_type(kind.parts, place) if pick == WHOLE else NOT_KNOWN

    def _of_arguments(
        self, name: str, kind: DeclaredType, place: ExpressionPlace, pick: int
    ) -> Value | None:
        """Return what a generic type says by its arguments; None if it is a class like others."""
        given = kind.inner
        if name in WRAPPERS:
            return self.typed(given[0], place, pick)
        if name == "Coroutine":
            return self.typed(given[-1], place, pick)
        if name == "Union":
            return self.typed(kind._replace(form=UNION, parts=()), place, pick)
        if name in ("Type", "type") and pick == WHOLE:
            value = self.typed(given[0], place)
            return value._replace(kind=ValueKind.TYPE) if value.definition else NOT_KNOWN
        if name in ("tuple", "Tuple") and 0 <= pick < len(given):
            return self.typed(given[pick], place)
        return self.typed(given[0], place) if pick == EACH and name in OF_EACH else None

    def _is_only(
        self, definition: Definition | None, parts: Sequence[Part], source: FileNames
    ) -> bool:
        """Return whether nothing else in the tree can be the type of this name, nor implement it."""
        if (
            definition is None
            or definition.kind not in _CONCRETE
            or definition.name != parts[-1].name
        ):
            return False
        if any(there != definition.name for _, there in source.bindings.get(parts[0].name, ())):
            return False
        if source.origin.family == "c" and self.classes.members(definition, "operator->", False)[0]:
            return False
        same = (d for d in self.project.definitions(definition.name) if is_type(d))
        return [d for d in same if self.project.family(d) == source.origin.family] == [definition]

    def expression(self, text: str, place: ExpressionPlace) -> Value:
        """Return the value of an expression that is a chain."""
        parts = read_chain(text) if place.depth <= MAX_DEPTH else None
        return self.chain(parts, place.deeper()) if parts else NOT_KNOWN

    def of_definition(self, definition: Definition, depth: int = 0) -> Value:
        """Return the value of a definition."""
        if is_type(definition) or definition.kind in SPACES:
            return Value(ValueKind.TYPE, definition, sure=True)
        if definition.kind in FUNCTIONS:
            return Value(ValueKind.FUNCTION, definition, sure=True)
        source = self.project.source(definition.path)
        if source is None or depth > MAX_DEPTH:
            return NOT_KNOWN
        place = self.classes.beside(source, definition, definition.parent, depth + 1)
        value = self._bound(self._declared(source, definition), place, definition.name)
        owner = source.symbol(definition.parent)
        if value.kind is ValueKind.UNKNOWN and owner is not None and is_type(owner):
            return self._attribute(instance_of(owner), definition.name, depth + 1) or value
        return value

    def _declared(self, source: FileNames, definition: Definition) -> Bound:
        """Return how a variable or a field gets its value, or the declared result of a function."""
        scopes = self.project.scopes(source.path)
        at = self.project.offset(source.path, definition.line, definition.column)
        bound = scopes.bound_at(definition.name, at) if scopes else None
        return bound or Bound()

    def _first(self, part: Part, place: ExpressionPlace) -> Value:
        if not part.name or part.name == LITERAL:
            return NOT_OURS if part.name else NOT_KNOWN
        source = place.source
        if part.name == "new" and part.load:  # also a cast, which proves nothing in TypeScript
            value = self._named_type(dotted(part.load), place.deeper())
            return value._replace(sure=value.sure and source.language in NOMINAL)
        if part.load and source.language in ECMA:
            return self._value(self.names.modules.loaded(source, part.load), place, part.name)
        itself = self._itself(part, place)
        if itself is not None:
            return itself
        value = self._value(self._start(part.name, place), place, part.name)
        return self._call(value, place) if part.called else value

    def _start(self, name: str, place: ExpressionPlace) -> Meaning:
        """Return what the first name of a chain means: also an inherited field, a crate of Rust."""
        meaning = self._look(name, place)
        if meaning.state is State.UNKNOWN and place.source.language in IMPLICIT:
            owner = self.classes.owner(place.source, place.scope)
            return self.member(instance_of(owner), name, place.depth) if owner else meaning
        if place.source.language != "rust" or meaning.state is not State.UNKNOWN:
            return meaning
        inline = name == "super" and any(s.kind in SPACES for s in _around(place))
        return self.names.modules.rust_start(place.source, "self" if inline else name)

    def _itself(self, part: Part, place: ExpressionPlace) -> Value | None:
        """Return the object whose code a place is in, if a part names it: `this`, `super()`."""
        python = place.source.language == "python"
        if place.source.language == "rust" and part.name == "super":
            return None
        if part.name in _SUPER and (part.called or not python):
            owner = self.classes.owner(place.source, place.scope)
            sure = python or self.classes.is_innermost(owner, place.at)
            return Value(ValueKind.SUPER, owner, sure=sure) if owner else NOT_KNOWN
        if part.name in _THIS and not python:
            owner = self.classes.owner(place.source, place.scope)
            return instance_of(owner)._replace(sure=self._is_this(owner, place))
        return None

    def _is_this(self, owner: Definition | None, place: ExpressionPlace) -> bool:
        """Return whether `this` is certainly an instance of a class, or of one below it."""
        language = place.source.language
        if owner is None or language in _OTHER_THIS:
            return False
        concrete = language not in TYPED or owner.kind in _CONCRETE
        return concrete and self.classes.is_innermost(owner, place.at)

    def _value(
        self, meaning: Meaning, place: ExpressionPlace, name: str, holder: Value = NOT_KNOWN
    ) -> Value:
        if meaning.state is State.OUTSIDE:
            attribute = self._attribute(holder, name, place.depth)
            return attribute or NOT_OURS._replace(sure=meaning.sure)
        if meaning.module is not None:
            return Value(ValueKind.MODULE, module=meaning.module, sure=meaning.sure)
        if meaning.bound is not None:
            return self._local(meaning.bound, meaning, place, name)
        if meaning.definitions:
            return self._of_definitions(meaning, place, holder)
        if meaning.state is State.UNBOUND and name in PLAIN:
            return NOT_OURS
        packages = self.names.modules.packages
        if place.source.language in PACKAGED and holder is NOT_KNOWN and packages.is_package(name):
            return Value(ValueKind.MODULE, module=Module((), name, place.source.path), sure=True)
        return self._attribute(holder, name, place.depth) or NOT_KNOWN

    def _of_definitions(self, meaning: Meaning, place: ExpressionPlace, holder: Value) -> Value:
        """Return the value of what a name, or a member of a holder, is defined as."""
        definitions = of_space(meaning.definitions, place)
        values = [self.of_definition(d, place.depth + 1) for d in definitions[:MAX_TYPES]]
        if holder.others:
            return one_of(values) if len(definitions) <= MAX_TYPES else NOT_KNOWN
        value = next((v for v in values if v.kind is not ValueKind.UNKNOWN), NOT_KNOWN)
        sure = value.sure and (meaning.sure or holder.sure) and len(definitions) == 1
        return value._replace(sure=sure)

    def _local(self, bound: Bound, meaning: Meaning, place: ExpressionPlace, name: str) -> Value:
        source, within = place.source, meaning.within
        if within is not None:
            plain = bound.type is None and not bound.value
            if plain and self.classes.is_receiver(source, within, name):
                owner = source.symbol(within.parent)
                if owner is not None and (name in _CLASS or within.name == "__new__"):
                    return Value(ValueKind.TYPE, owner)
                return instance_of(owner)
            place = place._replace(scope=within.ordinal)
        value = self._bound(bound, place._replace(at=meaning.at).deeper(), name)
        return value._replace(sure=value.sure and source.language in NOMINAL)

    def _look(self, name: str, place: ExpressionPlace) -> Meaning:
        meaning = self.names.lookup(place.source, name, place.scope, place.at, place.of_type)
        if place.source.language == "java" and all(d.parent < 0 for d in meaning.definitions):
            inherited = self.classes.inherited_type(place.source, name, place.scope)
            return defined([inherited], True) if inherited is not None else meaning
        return meaning

    def _bound(self, bound: Bound, place: ExpressionPlace, name: str) -> Value:
        key = (place.source.path, place.scope, name)
        if key in self._busy or place.depth > MAX_DEPTH:
            return NOT_KNOWN
        self._busy.add(key)
        try:
            value = NOT_KNOWN
            if bound.type is not None:
                value = self.typed(bound.type, place.deeper(), bound.pick)
            if value.kind is ValueKind.UNKNOWN and bound.parts:
                inner = place.deeper()
                if bound.pick == WHOLE:
                    value = self.chain(bound.parts, inner)
                elif bound.pick <= GIVEN:
                    value = self._given(bound.parts, inner, GIVEN - bound.pick)
                else:
                    value = self._part(bound.parts, inner, bound.pick)
                sure = bound.type is None and not bound.either
                return value._replace(sure=value.sure and sure)
            return value
        finally:
            self._busy.discard(key)

    def _given(self, parts: Sequence[Part], place: ExpressionPlace, which: int) -> Value:
        """Return what a function passes to a callback: by its declared type, or each element."""
        *front, last = parts
        if front and not which and last.name in PASSING_EACH:
            value = self._part(front, place)
            if value.kind is not ValueKind.UNKNOWN:
                return value
        number, at = divmod(which, MOST_GIVEN)
        for one in self._functions(self.chain(parts, place)):
            home, scopes = self.project.source(one.path), self.project.scopes(one.path)
            if home is None or scopes is None:
                break
            types = scopes.parameter_types(scopes.scope_at(self.classes.at(one)))[number:]
            inner = types[0].target().inner[at:] if types and types[0] is not None else ()
            beside = self.classes.beside(home, one, one.ordinal, place.depth + 1)
            return self.typed(inner[0], beside) if inner else NOT_KNOWN
        return NOT_KNOWN

    def _functions(self, value: Value) -> list[Definition]:
        """Return the function that a call of a value runs: of a class of ECMAScript its constructor."""
        owner = value.definition
        home = self.project.source(owner.path) if owner is not None else None
        if owner is None or home is None:
            return []
        if value.kind is ValueKind.TYPE:
            return home.children(owner.ordinal, "constructor")[:1]
        return [owner] if value.kind is ValueKind.FUNCTION else []

    def _call(self, value: Value, place: ExpressionPlace, holder: Value = NOT_KNOWN) -> Value:
        if value.module is not None and place.source.language in ECMA:  # CommonJS, as a whole
            whole = self.names.modules.exported(value.module.paths, EXPORTED_WHOLE)
            value = self._value(whole._replace(module=None), place, "")._replace(sure=value.sure)
        if value.kind is ValueKind.TYPE:
            return value._replace(kind=ValueKind.OBJECT)
        if value.kind is ValueKind.FUNCTION:
            result = one_of(self._result(one, place.depth, holder=holder) for one in value.each())
            source = self.project.source(value.definition.path) if value.definition else None
            nominal = source is not None and source.language in NOMINAL
            return result._replace(sure=value.sure and result.sure and nominal)
        return NOT_KNOWN if value.kind is not ValueKind.SUPER else value

    def _result(
        self, value: Value, depth: int, pick: int = WHOLE, holder: Value = NOT_KNOWN
    ) -> Value:
        definition = value.definition
        source = self.project.source(definition.path) if definition else None
        if definition is None or source is None:
            return NOT_KNOWN
        kind = self._declared(source, definition).type
        if kind is None:
            return NOT_KNOWN
        beside = self.classes.beside(source, definition, definition.ordinal, depth + 1)
        if holder.kind is ValueKind.OBJECT and self._is_own(kind, definition, beside):
            return holder
        return self.typed(kind, beside, pick)

    def _is_own(self, kind: DeclaredType, method: Definition, place: ExpressionPlace) -> bool:
        """Return whether a method's result has the type of its receiver, a subclass included."""
        if place.source.language in NOMINAL or len(kind.parts) != 1 or kind.inner:
            return False
        name = kind.parts[0].name
        if name in ("Self", "this"):
            return True
        typed = place._replace(of_type=True)  # `def __enter__(self: T) -> T`
        return method.name in ENTERS and self._type_variable(self._look(name, typed)) is not None

    def _part(self, parts: Sequence[Part], place: ExpressionPlace, pick: int = EACH) -> Value:
        """Return an element or item of a chain's value, if an annotation declares it."""
        *front, last = parts
        value = self.chain(front, place) if front else NOT_KNOWN
        meaning = (
            self.member(value, last.name, place.depth) if front else self._look(last.name, place)
        )
        item = self._part_of(meaning, last.called, place, pick)
        if item.kind is ValueKind.UNKNOWN and not last.called:
            return self._attribute(value, last.name, place.depth, pick=pick) or NOT_KNOWN
        sure = (value if front else meaning).sure and len(meaning.definitions) < 2
        return item._replace(sure=item.sure and sure)

    def _part_of(self, meaning: Meaning, called: bool, place: ExpressionPlace, pick: int) -> Value:
        """Return an element or item of what a name means, or of the result of its call."""
        depth = place.depth + 1
        function = next((d for d in meaning.definitions if d.kind in FUNCTIONS), None)
        if depth > MAX_DEPTH or (called and function is None):
            return NOT_KNOWN
        if function is not None:  # called, or a property
            return self._result(Value(ValueKind.FUNCTION, function), place.depth, pick)
        kind, inner = self._declared_type(meaning, place, depth)
        return self.typed(kind, inner, pick) if kind is not None else NOT_KNOWN

    def _declared_type(
        self, meaning: Meaning, place: ExpressionPlace, depth: int
    ) -> tuple[DeclaredType | None, ExpressionPlace]:
        """Return the type that is declared for what a name means, and where it stands."""
        for definition in meaning.definitions[:1]:
            source = self.project.source(definition.path) or place.source
            beside = self.classes.beside(source, definition, definition.parent, depth)
            return self._declared(source, definition).type, beside
        scope = meaning.within.ordinal if meaning.within else place.scope
        inner = ExpressionPlace(place.source, scope, meaning.at, depth)
        return (meaning.bound.type if meaning.bound is not None else None), inner

    def _named_type(self, parts: Sequence[Part] | None, place: ExpressionPlace) -> Value:
        """Return an instance of the type that a chain names."""
        if not parts or any(part.called for part in parts):
            return NOT_KNOWN
        place, first = place._replace(of_type=True), parts[0].name
        meaning = self._look(first, place)
        if len(parts) == 1 and (variable := self._type_variable(meaning)) is not None:
            return self.typed(variable, place.deeper())
        value = self.chain(parts, place.deeper())
        if value.kind is ValueKind.TYPE:
            return value._replace(kind=ValueKind.OBJECT)
        outside = value.kind is ValueKind.OUTSIDE or self._is_outside(parts, meaning, place.source)
        return NOT_OURS if outside else NOT_KNOWN

    def _type_variable(self, meaning: Meaning) -> DeclaredType | None:
        """Return the bound of a type variable of Python; None for anything else."""
        for definition in meaning.definitions[:1]:
            source = self.project.source(definition.path)
            if source is not None and source.language == "python" and not is_type(definition):
                return self._declared(source, definition).type
        return None

    def _is_outside(self, parts: Sequence[Part], meaning: Meaning, source: FileNames) -> bool:
        """Return whether a type is of the language or of a library, by its name."""
        if source.language in NOMINAL and self.project.definitions(parts[-1].name):
            return False
        unbound = parts[0].name not in source.bindings and meaning.state is not State.LOCAL
        return parts[-1].name in PLAIN or (source.language in TYPED and unbound)

    def _attribute(self, holder: Value, name: str, depth: int, pick: int = WHOLE) -> Value | None:
        """Return the value of `self.name`, from the assignments in the class."""
        if holder.definition is None or depth > MAX_DEPTH:
            return None
        todo, seen = [holder.definition], set()
        while todo:
            at = todo.pop(0)
            if (at.path, at.ordinal) in seen:
                continue
            seen.add((at.path, at.ordinal))
            for bound, place in self.assignments(at, name):
                inner = place._replace(depth=depth + 1)
                value = self._bound(bound._replace(pick=pick), inner, f"self.{name}")
                if value.kind is not ValueKind.UNKNOWN:
                    return value._replace(sure=False)  # code anywhere may assign it
            todo = [*self.classes.bases(at)[0], *todo]
        return None


def _around(place: ExpressionPlace) -> Iterator[Definition]:
    """Yield the definitions around a place, the innermost first."""
    symbol = place.source.symbol(place.scope)
    while symbol is not None:
        yield symbol
        symbol = place.source.symbol(symbol.parent)


def _one_of(meanings: list[Meaning]) -> Meaning:
    """Return the meaning of a member of a value that has one of several types."""
    definitions = dict.fromkeys(d for meaning in meanings for d in meaning.definitions)
    if definitions:
        return defined(definitions)
    return OUTSIDE if all(m.state is State.OUTSIDE for m in meanings) else UNKNOWN
