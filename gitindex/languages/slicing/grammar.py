"""The table of a language: where its node types have their parts, and what happens to these.

A table (`tables/*.toml`) lists node types, several in one key. A part is `selector=role`: what is
selected of a node, and what happens to it, by default that it is read. Selectors are a field, `@kind`
for children of a type, `@kind[field]` for those with a field, `*` for all children, `0` or `1:` for
some, `outer/inner` for a field of the children of a field, and `!selector` for all children but these.
`a=x|b=y` takes the first of the two that is there; without a part that ends in `!`, nothing is visited.
`word()` names a function of `walk.py`.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from gitindex.languages.slicing.ir import TextSpan

if TYPE_CHECKING:
    from tree_sitter import Node

TABLES = {
    "go": "go",
    "java": "java",
    "javascript": "ecma",
    "python": "python",
    "tsx": "ecma",
    "typescript": "ecma",
}

Selector: TypeAlias = "Callable[[Node], list[Node]]"


class GrammarPart(NamedTuple):
    """Some nodes below a node, and their role."""

    choices: tuple[tuple[Selector, str], ...]  # the first that selects something counts
    required: bool  # if it is missing, the other parts do not count either

    def of(self, node: Node) -> list[tuple[Node, str]]:
        """Return what this part selects below a node, each with its role."""
        for select, role in self.choices:
            if nodes := select(node):
                return [(each, role) for each in nodes]
        return []


Parts = tuple[GrammarPart, ...]


class StatementRule(NamedTuple):
    """How a type of statement is read, and where it has its parts."""

    read: str  # a function of `reader.py`, or a jump
    before: Parts = ()  # statements that run before it
    head: Parts = ()
    each: Parts = ()  # what a declaration declares
    target: Parts = ()  # what a loop writes at the start of every iteration
    after: Parts = ()  # what a loop runs after every iteration
    labels: Parts = ()  # of a case
    body: Parts = ()  # of a case
    cases: frozenset[str] = frozenset()
    defaults: frozenset[str] = frozenset()  # cases that are chosen if no other is
    falls: frozenset[str] = frozenset()  # cases that run into the next one
    traits: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Grammar:
    """A language. All sets are of node types, but `mutators` and `catch_all`."""

    names: frozenset[str]  # a variable's name
    skipped: frozenset[str]  # no variables in them
    transparent: frozenset[str]  # pass their role on to their children
    raising: frozenset[str]  # may fail when they run
    functions: frozenset[str]  # begin a unit
    named: frozenset[str]  # those of them that are statements, not values
    members: Mapping[str, tuple[str, ...]]  # fields: the receiver, the member's name
    visit: Mapping[str, Parts | str]
    statements: Mapping[str, StatementRule]
    mutators: frozenset[str]  # methods that change their receiver even if their value is used
    classes: frozenset[str] = frozenset()
    hoisted: frozenset[str] = frozenset()  # statements that take effect when their block begins
    catch_all: frozenset[str] = frozenset()  # exceptions; without any, every handler catches all
    parameters: tuple[str, ...] = ("parameters",)  # fields of a function
    results: str = ""  # field with named results
    caught: str = "store"  # the role of what a handler names


@cache
def grammar_of(language: str) -> Grammar:
    """Return the table of a language; KeyError if it has none."""
    folder = os.path.join(os.path.dirname(__file__), "tables")
    with open(os.path.join(folder, f"{TABLES[language]}.toml"), "rb") as file:
        fields = tomllib.load(file)
    read: dict[str, Callable[[Any], Any]] = {
        "results": str,
        "caught": str,
        "parameters": lambda text: tuple(text.split()),
        "members": lambda rows: {kind: tuple(text.split()) for kind, text in rows.items()},
        "visit": lambda rows: {k: t if t[-2:] == "()" else _parts(t) for k, t in _each(rows)},
        "statements": lambda rows: {kind: _rule(value) for kind, value in _each(rows)},
    }
    return Grammar(**{key: read.get(key, _kinds)(value) for key, value in fields.items()})


def _kinds(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _each(table: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Return the entries of a table by single node type."""
    return [(kind, value) for kinds, value in table.items() for kind in kinds.split()]


def _rule(value: str | dict[str, str]) -> StatementRule:
    if isinstance(value, str):
        return StatementRule(value)
    kinds = {"cases", "defaults", "falls", "traits"}
    rest: dict[str, Any] = {k: (_kinds if k in kinds else _parts)(t) for k, t in value.items()}
    return StatementRule(**rest | {"read": value["read"]})


def _parts(text: str) -> Parts:
    parts = []
    for word in text.split():
        choices = [one.partition("=") for one in word.rstrip("!").split("|")]
        pairs = tuple((_selector(text), role or "load") for text, _, role in choices)
        parts.append(GrammarPart(pairs, required=word.endswith("!")))
    return tuple(parts)


def _selector(text: str) -> Selector:
    if text[0] == "!":
        others = _selector(text[1:])
        return lambda node: _without(children_of(node), others(node))
    if text[0] == "@":
        kind, _, field = text[1:].rstrip("]").partition("[")
        kept = _of_kind(kind)
        return lambda node: [c for c in kept(node) if not field or field_of(c, field)]
    if text == "*":
        return children_of
    if text[0].isdigit():
        first, colon, _ = text.partition(":")
        at = slice(int(first), None if colon else int(first) + 1)
        return lambda node: children_of(node)[at]
    outer, slash, inner = text.partition("/")
    if slash:
        return lambda node: _inner_fields(node, outer, inner)
    return lambda node: node.children_by_field_name(text)


def _inner_fields(node: Node, outer: str, inner: str) -> list[Node]:
    children = [c for whole in node.children_by_field_name(outer) for c in whole.named_children]
    return [each for child in children for each in child.children_by_field_name(inner)]


def _without(nodes: list[Node], others: list[Node]) -> list[Node]:
    ids = {other.id for other in others}
    return [node for node in nodes if node.id not in ids]


def _of_kind(kind: str) -> Selector:
    return lambda node: [child for child in node.named_children if child.type == kind]


def children_of(node: Node) -> list[Node]:
    """Return the named children without comments."""
    return [c for c in node.named_children if not c.is_extra or c.type == "ERROR"]


def span_of(node: Node) -> TextSpan:
    """Return a node's span. Never use `.row` of a point: tree-sitter 0.26.0 crashes (issue 472)."""
    return TextSpan(*node.start_point, *node.end_point)


def text_of(node: Node) -> str:
    """Return the text of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def field_of(node: Node, name: str) -> Node | None:
    """Return one field of a node."""
    return node.child_by_field_name(name)
