"""The meaning of a name, and its possible states."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from gitindex.languages.scopes.bound import Bound
from gitindex.languages.syntax.kinds import SPACES, TYPES
from gitindex.query.names.source import Definition, FileNames

ECMA = frozenset({"javascript", "typescript", "tsx"})
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
UNBOUND = Meaning(State.UNBOUND)
UNKNOWN = Meaning(State.UNKNOWN)


def defined(found: Iterable[Definition], sure: bool = False) -> Meaning:
    """Return a meaning for definitions."""
    return Meaning(State.DEFINED, tuple(found), sure=sure)


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
    found = list(dict.fromkeys(one for value in values for one in value.each()))
    ours = [value for value in found if value.kind is not ValueKind.OUTSIDE]
    if len(found) == 1 or not ours:
        return found[0]
    others = list(filter(None, (value.definition for value in ours)))
    if len(others) < len(ours) or len({value.kind for value in ours}) > 1:
        return NOT_KNOWN
    sure = all(value.sure for value in found)
    return ours[0]._replace(sure=sure, others=tuple(others[1:]))


def of_space(found: tuple[Definition, ...], place: ExpressionPlace) -> list[Definition]:
    """Return the definitions that can be at the place, if a type and a value share a name."""
    if place.source.language not in ECMA or len(found) == 1:
        return list(found)
    if place.of_type:
        return [d for d in found if is_type(d) or d.kind in SPACES] or list(found)
    return [d for d in found if d.kind not in ("interface", "type")] or list(found)
