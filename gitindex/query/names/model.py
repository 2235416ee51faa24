"""What name resolution works with: files, definitions, meanings of names, values, classes of occurrences."""

from __future__ import annotations

import os
from collections.abc import Iterable
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

from gitindex.base.vocabulary import Layer, OccurrenceClass, Tier, Why
from gitindex.languages.facts import Import, Occurrence
from gitindex.languages.scopes.model import ECMA as ECMA
from gitindex.languages.scopes.model import Bound
from gitindex.languages.syntax.kinds import SPACES, TYPES
from gitindex.languages.syntax.source import line_starts, read_source
from gitindex.languages.table import may_be_of

_FAMILIES = {
    "javascript": "ecma",
    "typescript": "ecma",
    "tsx": "ecma",
    "c": "c",
    "cpp": "c",
    "java": "jvm",
    "kotlin": "jvm",
    "scala": "jvm",
    "ocaml_interface": "ocaml",
}


def family_of(language: str) -> str:
    """Return the group of languages that can name each other's symbols."""
    return _FAMILIES.get(language, language)


def is_python(path: str) -> bool:
    """Can a file be of Python? By its name: a script without a suffix may be."""
    return may_be_of(path, ("python",))


class Definition(NamedTuple):
    """One symbol of the tree. Lines and columns are 0-based."""

    path: str
    ordinal: int
    name: str
    qualified: str
    kind: str
    line: int
    column: int
    start_line: int
    end_line: int
    signature: str
    parent: int
    exported: bool


class LiveFile(NamedTuple):
    """A live path: its blob, and the stored facts about it."""

    path: str
    oid: bytes
    language: str
    status: str
    flags: tuple[str, ...]

    @property
    def family(self) -> str:
        """The group of languages that can name each other's symbols."""
        return family_of(self.language)


class Text:
    """The bytes of a file as columns count them, and where its lines start."""

    def __init__(self, data: bytes) -> None:
        self.data = read_source(data).data
        self.decoded = self.data is not data

    @cached_property
    def starts(self) -> list[int]:
        return line_starts(self.data)


class FileNames:
    """One file: its symbols and imports, indexed by name."""

    def __init__(
        self, origin: LiveFile, symbols: list[Definition], imports: tuple[Import, ...]
    ) -> None:
        self.origin = origin
        self.path = origin.path
        self.language = origin.language
        self.symbols = symbols
        self.imports = imports
        self.notes: dict[Any, Any] = {}
        """Results computed from exactly these bytes."""

    @cached_property
    def _by_name(self) -> dict[str, list[Definition]]:
        by_name: dict[str, list[Definition]] = {}
        for symbol in self.symbols:
            by_name.setdefault(symbol.name, []).append(symbol)
        return by_name

    @cached_property
    def bindings(self) -> dict[str, list[tuple[Import, str]]]:
        """Imports by local name: the import, and the name in the imported module."""
        bindings: dict[str, list[tuple[Import, str]]] = {}
        for imported in self.imports:
            for name, local in imported.names:
                if local != "*":
                    bindings.setdefault(local, []).append((imported, name))
        return bindings

    @cached_property
    def stars(self) -> list[Import]:
        """Imports that bind names without listing them."""
        bare = self.origin.family != "ecma"  # in ECMA an import without names binds nothing
        return [i for i in self.imports if (bare and not i.names) or ("*", "*") in i.names]

    def named(self, name: str) -> list[Definition]:
        """Return all symbols with this name, at any depth."""
        return self._by_name.get(name, [])

    def children(self, parent: int, name: str) -> list[Definition]:
        """Return symbols with this name directly below another (-1: the module)."""
        return [symbol for symbol in self.named(name) if symbol.parent == parent]

    def symbol_at(self, line: int, column: int) -> Definition | None:
        """Return the symbol whose name stands at a place."""
        return self._by_place.get((line, column))

    @cached_property
    def _by_place(self) -> dict[tuple[int, int], Definition]:
        return {(symbol.line, symbol.column): symbol for symbol in reversed(self.symbols)}

    def symbol(self, ordinal: int) -> Definition | None:
        """Return the symbol with this ordinal; None at module level."""
        return self.symbols[ordinal] if 0 <= ordinal < len(self.symbols) else None


def enclosing(source: FileNames, line: int) -> Definition | None:
    """Return the innermost definition that contains a line."""
    around = [s for s in source.symbols if s.start_line <= line <= s.end_line]
    return max(around, key=lambda s: (s.start_line, -s.end_line, s.ordinal), default=None)


def place_of(definition: Definition) -> tuple[bytes, int, int]:
    """Sort key of definitions: path as bytes, then line and column."""
    return os.fsencode(definition.path), definition.line, definition.column


STRICT = ECMA | {"python"}
"""Languages where a name of another file is visible only through an import."""


class State(StrEnum):
    """The state of a name at one place."""

    DEFINED = "defined"  # definitions of the tree
    MODULE = "module"  # a file or package of the tree
    LOCAL = "local"  # a variable of the enclosing function
    OUTSIDE = "outside"  # not in the tree
    UNBOUND = "unbound"  # not bound here: a built-in, or a mistake
    UNKNOWN = "unknown"  # not decidable from the text
    KEY = "key"  # a keyword argument or a key: a member of something


class Module(NamedTuple):
    """The files of one module name."""

    paths: tuple[str, ...]
    name: str = ""  # the imported name, to resolve submodules
    home: str = ""  # the file that imports it


class Meaning(NamedTuple):
    """What a name refers to."""

    state: State
    definitions: tuple[Definition, ...] = ()
    module: Module | None = None
    bound: Bound | None = None  # for a local name
    within: Definition | None = None  # the function that binds it
    at: int = -1  # offset of its value or annotation
    variable: int = -1  # the scope that declares it
    sure: bool = False  # follows from scopes and imports, without inference
    bare: bool = False  # without a receiver
    typed: bool = False  # a member of a value whose type is not in the tree


OUTSIDE = Meaning(State.OUTSIDE)
NOT_BOUND = Meaning(State.UNBOUND)
UNKNOWN = Meaning(State.UNKNOWN)


def defined(definitions: Iterable[Definition], sure: bool = False) -> Meaning:
    """Return a meaning for definitions."""
    return Meaning(State.DEFINED, tuple(definitions), sure=sure)


def module(paths: tuple[str, ...], name: str = "", home: str = "") -> Meaning:
    """Return a meaning for the files of one module."""
    return Meaning(State.MODULE, module=Module(paths, name, home), sure=True)


def is_type(definition: Definition) -> bool:
    """Return whether a definition is a class or another kind with members."""
    return definition.kind in TYPES


MAX_DEPTH = 12
"""Maximum steps from one expression to the next."""


class ValueKind(StrEnum):
    """Kinds of values."""

    MODULE = "module"
    TYPE = "type"  # the class itself
    OBJECT = "object"  # an instance of it
    FUNCTION = "function"
    SUPER = "super"  # an instance, used as one of its bases
    OUTSIDE = "outside"
    UNNAMED = "unnamed"  # an array, or a Go struct of a type without a name
    UNKNOWN = "unknown"


class Value(NamedTuple):
    """The value of an expression."""

    kind: ValueKind
    definition: Definition | None = None
    module: Module | None = None
    sure: bool = False  # nothing was inferred
    others: tuple[Definition, ...] = ()  # of the other types that it may have

    def each(self) -> list[Value]:
        """Return the value once for each type that it may have."""
        return [self._replace(definition=d, others=()) for d in (self.definition, *self.others)]


NOT_OURS = Value(ValueKind.OUTSIDE)
NOT_KNOWN = Value(ValueKind.UNKNOWN)


class ExpressionPlace(NamedTuple):
    """The place of an expression."""

    source: FileNames
    scope: int
    at: int  # offset in the text
    depth: int = 0
    of_type: bool = False  # a type is expected there, not a value

    def deeper(self) -> ExpressionPlace:
        """Return the same place, one step deeper."""
        return self._replace(depth=self.depth + 1)


def instance_of(definition: Definition | None) -> Value:
    """Return an instance of a class; NOT_KNOWN without a class."""
    return Value(ValueKind.OBJECT, definition) if definition else NOT_KNOWN


def one_of(values: Iterable[Value]) -> Value:
    """Return a value that is one of several; NOT_KNOWN if nothing is known of one of them."""
    alternatives = list(dict.fromkeys(one for value in values for one in value.each()))
    ours = [value for value in alternatives if value.kind is not ValueKind.OUTSIDE]
    if len(alternatives) == 1 or not ours:
        return alternatives[0]
    others = list(filter(None, (value.definition for value in ours)))
    if len(others) < len(ours) or len({value.kind for value in ours}) > 1:
        return NOT_KNOWN
    sure = all(value.sure for value in alternatives)
    return ours[0]._replace(sure=sure, others=tuple(others[1:]))


def of_space(definitions: tuple[Definition, ...], place: ExpressionPlace) -> list[Definition]:
    """Return the definitions that can be at the place, if a type and a value share a name."""
    if place.source.language not in ECMA or len(definitions) == 1:
        return list(definitions)
    if place.of_type:
        return [d for d in definitions if is_type(d) or d.kind in SPACES] or list(definitions)
    return [d for d in definitions if d.kind not in ("interface", "type")] or list(definitions)


_RANK = {tier: rank for rank, tier in enumerate(Tier)}

At = tuple[str, int, int]  # path, line, column


class PlaceClass(NamedTuple):
    """The class of an occurrence that is no reference, and the reason where it is possible."""

    group: OccurrenceClass
    why: str = ""  # a Why, or for prose a MentionKind


ELSEWHERE = PlaceClass(OccurrenceClass.ELSEWHERE)
UNLIKELY = PlaceClass(OccurrenceClass.UNLIKELY)
RECEIVER = PlaceClass(OccurrenceClass.POSSIBLE, Why.RECEIVER)
UNBOUND = PlaceClass(OccurrenceClass.POSSIBLE, Why.UNBOUND)
KEY = PlaceClass(OccurrenceClass.POSSIBLE, Why.KEY)
STRING = PlaceClass(OccurrenceClass.POSSIBLE, Why.STRING)
NOT_PARSED = PlaceClass(OccurrenceClass.POSSIBLE, Why.NOT_PARSED)
BUDGET = PlaceClass(OccurrenceClass.POSSIBLE, Why.BUDGET)


class Site(NamedTuple):
    """One place that refers to a target; with tier NAME, one that may."""

    path: str
    line: int
    column: int
    end_column: int
    use: int  # facts.Use
    tier: Tier
    layer: Layer
    enclosing: Definition | None
    targets: tuple[Definition, ...]
    via: str = ""  # the alias that stands there

    def order(self) -> tuple[int, bytes, int, int]:
        """Sort key: the surest first, then by place."""
        return _RANK[self.tier], os.fsencode(self.path), self.line, self.column


def make_site(
    source: FileNames, place: Occurrence, tier: Tier, targets: tuple[Definition, ...]
) -> Site:
    """Return the site of an occurrence."""
    end = place.column + len(place.name.encode())
    around = source.symbol(place.enclosing)
    span = (source.path, place.line, place.column, end)
    return Site(*span, place.use, tier, Layer.SYNTACTIC, around, targets)
