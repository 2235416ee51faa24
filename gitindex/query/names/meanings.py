"""The meaning of a name, and its possible states."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from gitindex.languages.scopes.bound import Bound
from gitindex.languages.syntax.kinds import TYPES
from gitindex.query.names.source import Definition

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
