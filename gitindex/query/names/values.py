"""Values of expressions: a module, a class, an instance, a function, or unknown."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from gitindex.languages.syntax.kinds import SPACES
from gitindex.query.names.meanings import ECMA, Module, is_type
from gitindex.query.names.source import Definition, FileNames

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
