"""Resolve one occurrence of a name: its definitions, or why they cannot be determined."""

from __future__ import annotations

from collections.abc import Sequence

from gitindex.base.pattern import compile_later
from gitindex.languages.facts import Occurrence, Use
from gitindex.languages.scopes.expressions import UNNAMED
from gitindex.languages.scopes.model import CALLS_APART, NOMINAL, TYPED, FileScopes, Part
from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.names.model import (
    ECMA,
    NOT_BOUND,
    OUTSIDE,
    STRICT,
    UNKNOWN,
    Definition,
    ExpressionPlace,
    FileNames,
    Meaning,
    State,
    ValueKind,
    defined,
    is_type,
)
from gitindex.query.names.modules import PACKAGED, dotted
from gitindex.query.names.names import Names
from gitindex.query.names.project import Project
from gitindex.query.names.types import IMPLICIT, Types

_TYPE_USES = (Use.TYPE, Use.INHERIT)
_CALL_USES = (Use.CALL, Use.DECORATOR)
_EXTENDED = {"csharp": "(this ", "kotlin": ".{}("}
"""What the signature of a function has that extends a type, by language."""
_WORDS = compile_later(r"\W+")
QUALIFIED = STRICT | {"go"}
"""Languages where a member always has a receiver."""
_PATH = compile_later(rb"(?<![\w.:)\]?>])(?:\w+(?:::|\.))+\Z")
_NAMES = compile_later(rb"\w+")
MAX_PATH = 200
_BOUND_STATES = (State.DEFINED, State.LOCAL)
_KEY = Meaning(State.KEY)
LABEL = Meaning(State.LOCAL, sure=True)
_PARAMETER = Meaning(State.LOCAL, sure=True, typed=True)
"""A keyword argument of a function of the tree, or of a class with a constructor of its own."""
_UNNAMED = Meaning(State.LOCAL, sure=True, typed=True)
"""A field of a Go struct without a name."""


class Binder:
    """Resolves occurrences in one tree."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.names = Names(project)
        self.types = Types(self.names)
        self._candidates: dict[tuple[str, str], tuple[list[Definition], list[Definition]]] = {}

    def meaning(self, source: FileNames, place: Occurrence) -> Meaning:
        """Return the meaning of the name at a place."""
        if place.use == Use.DEFINITION:
            return _definition_at(source, place)
        if place.use == Use.IMPORT:
            return self._imported(source, place)
        at = self.project.offset(source.path, place.line, place.column)
        scopes = self.project.scopes(source.path)
        marked = self._marked(source, place, at, scopes) if scopes is not None else None
        if marked is not None:
            return marked
        chain = self.receiver(source, at)
        if chain is not None:
            return self.member_of(chain, source, place, at)
        if self._is_key(source, place, at):
            called = scopes.given(at) if scopes is not None else ()
            if called and self._is_parameter(called, source, place, at):
                return _PARAMETER
            ecma = source.language in ECMA
            find = self._field_of_literal if ecma else self._key_as_value
            return find(source, place, at) or _KEY
        return self._bare(source, place, at)._replace(bare=True)

    def _marked(
        self, source: FileNames, place: Occurrence, at: int, scopes: FileScopes
    ) -> Meaning | None:
        """Return the meaning of a place that its form alone decides; else None."""
        if at in scopes.labels:
            return LABEL
        if at in scopes.unnamed:
            return _UNNAMED
        if at in scopes.members:
            return UNKNOWN
        if at in scopes.exported_at and place.use != Use.CALL:
            meaning = self.names.modules.exported((source.path,), place.name)
            return meaning if meaning.state is State.DEFINED else None
        return None

    def member_of(
        self,
        chain: Sequence[Part],
        source: FileNames,
        place: Occurrence,
        at: int,
    ) -> Meaning:
        """Return the meaning of a member of a chain; UNKNOWN if the tree does not name the chain."""
        value = self.types.chain(chain, ExpressionPlace(source, place.enclosing, at))
        meaning = self.types.member(value, place.name)
        if meaning.state is not State.DEFINED and source.language in _EXTENDED:
            extending = self._extending(source, place.name)
            meaning = defined(extending) if extending else meaning
        if meaning.state is State.OUTSIDE:
            return self._outside_member(chain, source, value.sure)
        declared = source.language in NOMINAL and value.module is None
        return meaning._replace(sure=value.sure and (declared or meaning.sure))

    def _extending(self, source: FileNames, name: str) -> list[Definition]:
        """Return the functions of a name that extend a type and that a file sees."""
        sign = _EXTENDED[source.language].format(name)
        definitions = [d for d in self.project.definitions(name) if sign in d.signature]
        definitions = [
            d for d in definitions if d.path == source.path or "private " not in d.signature
        ]
        return self.names.modules.packages.visible(source, definitions) if definitions else []

    def _outside_member(self, chain: Sequence[Part], source: FileNames, sure: bool) -> Meaning:
        """Return a member of a module or a type outside the tree."""
        plain = not any(part.called for part in chain)
        imported = self._is_imported(source, chain[0].name)
        lexical = imported or source.language in NOMINAL
        typed = len(chain) > 1 or not imported
        return OUTSIDE._replace(sure=sure and plain and lexical, typed=typed)

    def _bare(self, source: FileNames, place: Occurrence, at: int) -> Meaning:
        variable = self._php_variable(source, place, at) if source.language == "php" else UNKNOWN
        if variable.state is State.LOCAL:
            return variable
        apart = place.use in _CALL_USES and source.language in CALLS_APART
        of_type = place.use in _TYPE_USES
        meaning = self.names.lookup(source, place.name, place.enclosing, at, of_type, apart)
        if meaning.state is State.LOCAL and self._may_be_member(source, at):
            return UNKNOWN
        if source.language in IMPLICIT and meaning.state is not State.LOCAL:
            return self._inherited(source, place, at, meaning)
        if meaning.state is State.UNKNOWN and source.language not in QUALIFIED:
            return self._implicit(source, place)
        shorthand = meaning.state is State.LOCAL and self.is_short(source, at)
        return meaning._replace(state=State.KEY) if shorthand else meaning

    def is_short(self, source: FileNames, at: int) -> bool:
        """Return whether a name is both a variable and a member: `{ name }`."""
        scopes = self.project.scopes(source.path) if source.language in ECMA else None
        return scopes is not None and at in scopes.shorthands

    def _php_variable(self, source: FileNames, place: Occurrence, at: int) -> Meaning:
        """Return the variable `$name` of a function of PHP."""
        if self.project.text(source.path)[at - 1 : at] != b"$":
            return UNKNOWN
        return self.names.lookup(source, f"${place.name}", place.enclosing, at)

    def _may_be_member(self, source: FileNames, at: int) -> bool:
        """Return whether a name without a receiver in the tree may have one: in a macro, as an operator."""
        if source.language not in TYPED:
            return False
        before = self.project.text(source.path)[max(0, at - 80) : at].rstrip()
        infix = source.language == "scala" and before[-1:].isalnum()
        return infix or before.endswith(
            (b".", b"::", b"->", b")" if source.language == "scala" else b".")
        )

    def _inherited(
        self, source: FileNames, place: Occurrence, at: int, meaning: Meaning
    ) -> Meaning:
        """Return a member of the enclosing class, or else what the name means outside of it."""
        inherited = self._implicit(source, place)
        if source.language == "java":
            inherited = self._by_use(source, place, at, inherited)
        if inherited.state is State.DEFINED or meaning.state is State.UNKNOWN:
            return inherited
        around, symbol = list[Definition](), source.symbol(place.enclosing)
        while symbol is not None:
            around += [symbol] if is_type(symbol) else []
            symbol = source.symbol(symbol.parent)
        members = self.types.classes.members
        known = not any(members(one, place.name, True)[1] for one in around)
        return meaning._replace(sure=meaning.sure and known)

    def receiver(self, source: FileNames, at: int) -> Sequence[Part] | None:
        """Return the object of the member at an offset, empty if the tree does not name it.

        None for a bare name.
        """
        scopes = self.project.scopes(source.path)
        chain = scopes.receiver(at) if scopes else None
        if source.language != "rust" or (chain is not None and chain):
            return chain
        before = self.project.text(source.path)[max(0, at - MAX_PATH) : at]
        path = _PATH.search(before)  # macros have tokens only
        if path is None:
            return chain
        return [Part(name.decode(), False) for name in _NAMES.findall(path.group())]

    def assigned(self, source: FileNames, place: Occurrence) -> list[tuple[str, int]]:
        """Return where members that are not symbols get their values, in a class or an object."""
        at = self.project.offset(source.path, place.line, place.column)
        chain = self.receiver(source, at)
        if not chain:
            return []
        value = self.types.chain(chain, ExpressionPlace(source, place.enclosing, at))
        owners = [value.definition] if value.definition is not None else []
        places: list[tuple[str, int]] = []
        for owner in owners:  # grows during the loop
            places += [(w.source.path, w.at) for _, w in self.types.assignments(owner, place.name)]
            owners += [base for base in self.types.classes.bases(owner)[0] if base not in owners]
        return places

    def candidates(self, source: FileNames, meaning: Meaning, name: str) -> list[Definition]:
        """Return the definitions that a name may refer to by its spelling alone.

        A bare name is never a member in languages that require a receiver; a key names a field.
        """
        if meaning.state not in (State.UNKNOWN, State.KEY):
            return []
        same_name, members = self._same_name(source.origin.family, name)
        if meaning.state is State.KEY:
            is_object = source.language in ECMA or source.language == "java"  # an annotation
            return [d for d in members if is_object or d.kind in ("field", "property")]
        if meaning.bare and source.language in QUALIFIED:
            return [d for d in same_name if d not in members]
        return members or same_name

    def _same_name(self, family: str, name: str) -> tuple[list[Definition], list[Definition]]:
        """Return all definitions of a name in a family of languages, and the members among them."""
        key = (family, name)
        if key not in self._candidates:
            definitions = self.project.definitions(name)
            self.project.load(d.path for d in definitions)
            definitions = [d for d in definitions if self.project.family(d) == family]
            self._candidates[key] = definitions, [d for d in definitions if self.is_member(d)]
        return self._candidates[key]

    def is_near(self, definition: Definition, source: FileNames, bare: bool) -> bool:
        """Return whether a definition is of a file's languages, and no member if the name is bare."""
        near = self.project.family(definition) == source.origin.family
        return near and self.is_member(definition) != bare

    def is_member(self, definition: Definition) -> bool:
        """Return whether a definition is accessed through an instance or a class."""
        source = self.project.source(definition.path)
        outer = source.symbol(definition.parent) if source else None
        if outer is not None:
            return is_type(outer)
        exported = definition.qualified.removeprefix("module.") == f"exports.{definition.name}"
        return definition.parent < 0 and "." in definition.qualified and not exported

    def _implicit(self, source: FileNames, place: Occurrence) -> Meaning:
        """Return a member of the enclosing class, in languages that need no `this`."""
        owner = self.types.classes.owner(source, place.enclosing)
        if owner is None:
            return UNKNOWN
        value = self.types.of_definition(owner)
        member = self.types.member(value, place.name)
        return member if member.state is State.DEFINED else UNKNOWN

    def _by_use(self, source: FileNames, place: Occurrence, at: int, meaning: Meaning) -> Meaning:
        """Return the methods that a call means, the fields otherwise; sure in the innermost class."""
        called = place.use == Use.CALL
        if place.use in _TYPE_USES:
            inner = [d for d in meaning.definitions if is_type(d)]
            return meaning._replace(definitions=tuple(inner)) if inner else UNKNOWN
        kept = [d for d in meaning.definitions if (d.kind in FUNCTIONS) == called]
        types = any(map(is_type, meaning.definitions))  # `new Inner()` is a call, too
        if types or place.use not in (Use.CALL, Use.REFERENCE):
            return meaning
        if not kept:
            return UNKNOWN  # a name of a class around it
        owner = self.types.classes.owner(source, place.enclosing)
        return defined(kept, owner is not None and self.types.classes.is_innermost(owner, at))

    def _is_imported(self, source: FileNames, name: str) -> bool:
        """Return whether a name is only bound by imports in the file."""
        scopes = self.project.scopes(source.path)
        declared = scopes.declared(name) if scopes else ()
        return name in source.bindings and all(d.kind == "import" for d in declared)

    def _is_key(self, source: FileNames, place: Occurrence, at: int) -> bool:
        if source.language in ECMA:
            return place.use == Use.ATTRIBUTE
        if source.language == "go" and place.use == Use.ATTRIBUTE:
            return True  # a field of an anonymous struct
        scopes = self.project.scopes(source.path)
        return scopes is not None and at in scopes.keys

    def _is_parameter(
        self, called: Sequence[Part], source: FileNames, place: Occurrence, at: int
    ) -> bool:
        """Is a keyword argument a parameter of the function, or of the class's own `__init__`?"""
        value = self.types.chain(called, ExpressionPlace(source, place.enclosing, at))
        owner = value.definition
        if owner is None or not value.sure:
            return False
        home, scopes = self.project.source(owner.path), self.project.scopes(owner.path)
        functions = [owner] if value.kind is ValueKind.FUNCTION else []
        if value.kind is ValueKind.TYPE and home is not None:
            functions = home.children(owner.ordinal, "__init__")
        if scopes is None or len(functions) != 1:  # a decorator may make one, or a base have it
            return False
        return (place.name, False) in self.types.classes.parameters(scopes, functions[0])

    def _field_of_literal(self, source: FileNames, place: Occurrence, at: int) -> Meaning | None:
        """Return the field that a key of a literal of TypeScript is; None if no type is declared."""
        scopes = self.project.scopes(source.path)
        kind = scopes.literal_at(at) if scopes is not None else None
        if kind is None:
            return None
        value = self.types.typed(kind, ExpressionPlace(source, place.enclosing, kind.at))
        member = self.types.member(value, place.name)
        return member if member.state is State.DEFINED else None

    def _key_as_value(self, source: FileNames, place: Occurrence, at: int) -> Meaning | None:
        """Return the field that a key of a Go composite literal is, or the value."""
        scopes = self.project.scopes(source.path)
        kind = scopes.literals.get(at) if scopes is not None else None
        if scopes is None or kind is None or kind == UNNAMED:
            return _UNNAMED if kind else None
        type_meaning = self._struct(source, place, at, kind)
        struct = next((d for d in type_meaning.definitions if d.kind == "struct"), None)
        if struct is not None:
            sure = type_meaning.sure and not scopes.partial and len(type_meaning.definitions) == 1
            fields = self._fields(struct, place.name)
            return defined(fields, sure) if fields else None
        return self._bound_value(source, place, at, bool(type_meaning.definitions))

    def _bound_value(
        self, source: FileNames, place: Occurrence, at: int, known: bool
    ) -> Meaning | None:
        """Return what a key means as a value; None if nothing binds it, or it may be a foreign field."""
        if not known and place.name[:1].isupper():
            return None
        value = self._bare(source, place, at)
        return value._replace(bare=True, sure=False) if value.state in _BOUND_STATES else None

    def _fields(self, struct: Definition, name: str) -> list[Definition]:
        own = self.project.source(struct.path)
        return own.children(struct.ordinal, name) if own is not None else []

    def _struct(self, source: FileNames, place: Occurrence, at: int, kind: str) -> Meaning:
        """Return what the type of a Go literal means: `T`, or `package.T`."""
        package, _, name = kind.rpartition(".")
        meaning = self.names.lookup(source, package or name, place.enclosing, at, not package)
        return self.names.modules.below(meaning.module, name) if meaning.module else meaning

    def _imported(self, source: FileNames, place: Occurrence) -> Meaning:
        """Return the meaning of a name inside an import statement."""
        line = max((i.line for i in source.imports if i.line <= place.line), default=-1)
        for item in (i for i in source.imports if i.line == line):
            for there, local in item.names:
                if place.name in (there, local if there != "*" or source.language in ECMA else ""):
                    return self.names.modules.imported(source, item, there)
            if place.name in _WORDS.split(item.module):
                return self._segment(source, item.module, place.name)
        return NOT_BOUND if line >= 0 else OUTSIDE

    def _segment(self, source: FileNames, module: str, name: str) -> Meaning:
        """Return the meaning of a part of an imported path: a module, in Java also a class."""
        if source.language not in PACKAGED:  # in Python nothing but a module can stand there
            return Meaning(State.MODULE, sure=source.language == "python")
        full = dotted(module)
        head = full[: f"{full}.".index(f".{name}.") + 1] if f".{name}." in f"{full}." else ""
        return self.names.modules.packages.member(source, f"{head}{name}")


def _definition_at(source: FileNames, place: Occurrence) -> Meaning:
    symbol = source.symbol_at(place.line, place.column)
    return Meaning(State.DEFINED, (symbol,)) if symbol is not None else Meaning(State.LOCAL)
