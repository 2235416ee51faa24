"""Values of expressions: a module, a class, an instance of it, a function, or nothing we know."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from gitindex.languages.syntax.kinds import SPACES
from gitindex.query.names.meanings import ECMA, Module, is_type
from gitindex.query.names.source import Definition, FileNames

MAX_DEPTH = 12
"""Steps from one expression to the next."""


class ValueKind(StrEnum):
    """What a value is."""

    MODULE = "module"
    TYPE = "type"  # the class itself
    OBJECT = "object"  # an instance of it
    FUNCTION = "function"
    SUPER = "super"  # an instance, seen as one of its bases
    OUTSIDE = "outside"
    UNKNOWN = "unknown"


class Value(NamedTuple):
    """What an expression gives."""

    kind: ValueKind
    definition: Definition | None = None
    module: Module | None = None
    sure: bool = False  # nothing was inferred on the way


NOT_OURS = Value(ValueKind.OUTSIDE)
NOT_KNOWN = Value(ValueKind.UNKNOWN)


class ExpressionPlace(NamedTuple):
    """Where an expression stands."""

    source: FileNames
    scope: int
    at: int  # in the text
    depth: int = 0
    of_type: bool = False  # a type is expected there, not a value

    def deeper(self) -> ExpressionPlace:
        """The same place, a step further."""
        return self._replace(depth=self.depth + 1)


def instance_of(definition: Definition | None) -> Value:
    """An instance of a class, if there is one."""
    return Value(ValueKind.OBJECT, definition) if definition else NOT_KNOWN


def of_space(found: tuple[Definition, ...], place: ExpressionPlace) -> list[Definition]:
    """Of a type and a value with one name, what can stand at the place."""
    if place.source.language not in ECMA or len(found) == 1:
        return list(found)
    if place.of_type:
        return [d for d in found if is_type(d) or d.kind in SPACES] or list(found)
    return [d for d in found if d.kind not in ("interface", "type")] or list(found)
