"""How a name gets its value: by a declared type, or from an expression. Imports no parser."""

from __future__ import annotations

from typing import Any, NamedTuple

WHOLE, EACH = -1, -2
"""What of a value a name takes: all of it, each element; or the n-th item."""


LITERAL = '"'
"""The name of a part that is a literal: its members are of the language."""


class Part(NamedTuple):
    """One link of a chain: `name`, or `name(…)`. An empty name means that it cannot be parsed."""

    name: str
    called: bool
    load: str = ""  # the module in `require('…')` or `import('…')`; the type in `new(…)`


NAMED, POINTER, LISTED, STRUCT, OTHER = range(5)
"""Forms of types: a name, a pointer, elements, a Go struct without embedded fields, any other."""


class DeclaredType(NamedTuple):
    """The type that is declared for a name."""

    at: int  # where it stands
    form: int
    parts: tuple[Part, ...] = ()  # of a named type
    inner: DeclaredType | None = None  # what a pointer points to, the type of elements

    def target(self) -> DeclaredType:
        """Return what a pointer leads to; any other type as it is."""
        return self.inner.target() if self.form == POINTER and self.inner else self

    def has_no_name(self) -> bool:
        """Return whether its members are not those of a type with a name."""
        return self.form in (LISTED, STRUCT)


class Bound(NamedTuple):
    """How a name gets its value: by its type, or from an expression or a part of it."""

    annotation: str = ""
    value: str = ""
    pick: int = WHOLE  # or each element, or the n-th of a tuple
    parts: tuple[Part, ...] = ()  # the value as a chain of the tree; empty for any other value
    type: DeclaredType | None = None  # in NOMINAL languages, which have no annotation


def to_parts(rows: Any) -> tuple[Part, ...]:
    """Return the chain of a payload; empty if there is none."""
    return tuple(Part(*row) for row in rows or ())


def to_type(row: Any, base: int) -> DeclaredType | None:
    """Return the declared type of a payload, which stands at an offset."""
    if row is None:
        return None
    at, form, told = row
    inner = to_type(told, base) if isinstance(told, list) else None
    return DeclaredType(base + at, form, () if inner else dotted(told), inner)


def dotted(name: str) -> tuple[Part, ...]:
    """Return the chain of a dotted name."""
    return tuple(Part(part, False) for part in name.split(".") if part)
