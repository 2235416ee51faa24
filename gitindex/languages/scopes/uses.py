"""How the names of a text are used, each by its place in the tree. Pure: imports no parser."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from gitindex.languages.scopes.bound import Part, to_parts

USES = b"uses:"
"""Start of the request for the uses of some words, which follow as JSON."""

DEFINED, IMPORTED, KEYWORD, PATTERN = "defined", "imported", "keyword", "pattern"
"""A name that is declared, imported, a keyword of a call, a keyword of a class pattern."""
CALLED, MEMBER, ITEM, TARGET, GLOBAL = "called", "member", "item", "target", "global"
"""It is called; a member or an item of it is taken; it is assigned to; named by `global`."""
BASE, DECORATOR, TYPE, TESTED, COMPARED, SHOWN = (
    *("base", "decorator", "type", "tested", "compared", "shown"),
)
"""Of a class; of a definition; an annotation; of `isinstance`, `except` or `raise`; a format."""
ARGUMENT, VALUE, UNKNOWN = "argument", "value", "unknown"
"""It is given to a call; any other value; a place that the grammar does not understand."""


class Argument(NamedTuple):
    """What a call gets."""

    name: str  # the keyword; `*` for any number of arguments; empty by position
    parts: tuple[Part, ...]  # the value as a chain; empty for any other value
    items: tuple[tuple[Part, ...], ...] | None = None  # those of a tuple or a list

    def is_name(self, name: str) -> bool:
        """Return whether it is a bare name."""
        return self.parts == (Part(name, False),)


class NameUse(NamedTuple):
    """The use of a name: of the whole expression that ends in it, brackets around it apart."""

    word: str
    at: int
    kind: str
    of: str = ""  # the member that is taken; what gets an argument; `is` or `==` that compares
    receiver: tuple[Part, ...] | None = None  # None for a bare name, empty if it is not known
    arguments: tuple[Argument, ...] = ()  # of a call
    result: str = ""  # how the result of the call, the item or the member is used: a kind
    taken: str = ""  # the member taken of the result
    given: tuple[Argument, ...] = ()  # the arguments if the result is called again
    around: tuple[str, ...] = ()  # the functions that get what it is part of
    position: int = -1  # of an argument without a keyword
    keys: frozenset[str] = frozenset()  # words of its statement: strings, keywords, keys, targets

    def takes_many(self) -> bool:
        """Return whether a call gets a number of arguments that is not known."""
        return any(one.name == "*" for one in self.arguments)


UNREAD = NameUse("", -1, UNKNOWN)
"""What is known of a file that cannot be read."""


def to_uses(payload: bytes) -> tuple[NameUse, ...]:
    """Return the uses of a payload; one of unknown kind if the text could not be read."""
    if not payload:
        return (UNREAD,)
    return tuple(map(_use, json.loads(payload)))


def _use(row: list[Any]) -> NameUse:
    word, at, kind, of, receiver, arguments, result, taken, given, around, position, keys = row
    known = None if receiver is None else to_parts(receiver)
    return NameUse(
        *(word, at, kind, of, known, _arguments(arguments), result, taken),
        *(_arguments(given), tuple(around), position, frozenset(keys)),
    )


def _arguments(rows: list[Any]) -> tuple[Argument, ...]:
    return tuple(
        Argument(name, to_parts(chain), None if items is None else tuple(map(to_parts, items)))
        for name, chain, items in rows
    )
