"""What a name may stand for, and how that is said."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from gitindex.languages.scopes.model import Bound
from gitindex.languages.syntax.kinds import TYPES
from gitindex.query.names.source import Definition

ECMA = frozenset({"javascript", "typescript", "tsx"})
STRICT = ECMA | {"python"}
"""Here a name of another file is only in reach if an import binds it."""


class State(StrEnum):
    """What is known of a name at one place."""

    DEFINED = "defined"  # definitions of the tree
    MODULE = "module"  # a file or package of the tree
    LOCAL = "local"  # a variable of the function around it
    OUTSIDE = "outside"  # something that is not in the tree
    UNBOUND = "unbound"  # nothing here binds it: a built-in, or a mistake
    UNKNOWN = "unknown"  # cannot be told from the text
    KEY = "key"  # a keyword argument or a key: a member of something


class Module(NamedTuple):
    """Files that one module name stands for."""

    paths: tuple[str, ...]
    name: str = ""  # as it is imported, to find what is below it
    home: str = ""  # the file that imports it


class Meaning(NamedTuple):
    """What a name stands for."""

    state: State
    definitions: tuple[Definition, ...] = ()
    module: Module | None = None
    bound: Bound | None = None  # of a local name
    within: Definition | None = None  # the function that binds it
    at: int = -1  # where what it gets is written
    variable: int = -1  # the scope that declares it
    sure: bool = False  # follows from scopes and imports, nothing was inferred
    single: bool = False  # a local name that is bound once
    bare: bool = False  # nothing stands before it
    typed: bool = False  # a member of a value whose type is not in the tree


OUTSIDE = Meaning(State.OUTSIDE)
UNBOUND = Meaning(State.UNBOUND)
UNKNOWN = Meaning(State.UNKNOWN)


def defined(found: Iterable[Definition], sure: bool = False) -> Meaning:
    """Definitions as a meaning."""
    return Meaning(State.DEFINED, tuple(found), sure=sure)


def module(paths: tuple[str, ...], name: str = "", home: str = "") -> Meaning:
    """Files of one module as a meaning."""
    return Meaning(State.MODULE, module=Module(paths, name, home), sure=True)


def is_type(definition: Definition) -> bool:
    """A class or whatever has members."""
    return definition.kind in TYPES
