"""Finds the functions around a place, and reads the one that a question is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gitindex.languages.scopes.model import FileScopes
from gitindex.languages.slicing.analysis import flatten
from gitindex.languages.slicing.ir import (
    Statement,
    StatementKind,
    Unit,
    VariableRead,
    VariableWrite,
)
from gitindex.languages.slicing.reader import Grammar, Reader
from gitindex.languages.slicing.walk import field_of, span_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_NAMELESS = "<anonymous>"


class UnitQuery(NamedTuple):
    """The unit of a question, and the statements or name that the question points at."""

    unit: Unit
    statements: list[Statement]
    definition: VariableWrite | None = None
    use: VariableRead | None = None


def find_line(
    root: Node, grammar: Grammar, scopes: FileScopes | None, line: int
) -> UnitQuery | None:
    """Return the statements that start on a line, or the one that contains it."""
    for node in _around(root, grammar, line):
        span = span_of(node)
        if span.line == line and node.type in grammar.functions - grammar.named:
            continue  # part of a statement of the enclosing function
        unit = _read(node, grammar, scopes)
        if found := _statements_at(unit, line):
            return UnitQuery(unit, found)
        inner = span.line < line < span.end_line
        if inner and node.type in grammar.functions:
            return None
    return None


def find_name(
    root: Node, grammar: Grammar, scopes: FileScopes | None, line: int, column: int
) -> UnitQuery | None:
    """Return the variable at a place, in the innermost unit that defines it."""
    first: UnitQuery | None = None
    for node in _around(root, grammar, line):
        if not _holds(node, line, column):
            continue
        unit = _read(node, grammar, scopes)
        for asked in _names_at(unit, line, column):
            if _is_defined(asked):
                return asked
            first = first or asked
    return first


def _around(root: Node, grammar: Grammar, line: int) -> list[Node]:
    """Yield the functions and classes that touch a line, the smallest first, then the file."""
    kinds = grammar.functions | grammar.classes
    found = []
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in kinds:
            found.append(node)
        stack += [
            child
            for child in node.named_children
            if child.start_point[0] <= line <= child.end_point[0]
        ]
    found.sort(key=lambda node: node.end_byte - node.start_byte)
    return [*found, root]


def _read(node: Node, grammar: Grammar, scopes: FileScopes | None) -> Unit:
    name = "<module>" if node.parent is None else _name(node, grammar)
    return Reader(grammar, scopes).unit(node, name)


def _name(node: Node, grammar: Grammar) -> str:
    """Return the qualified name of a unit; an anonymous function takes its variable's name."""
    parts: list[str] = []
    kinds = grammar.functions | grammar.classes
    here: Node | None = node
    while here is not None:
        if here.type in kinds:
            named = field_of(here, "name") or (here.parent and _variable(here.parent))
            parts.append(text_of(named) if named else _NAMELESS)
        here = here.parent
    return ".".join(reversed(parts))


def _variable(parent: Node) -> Node | None:
    return field_of(parent, "name") or field_of(parent, "left") or field_of(parent, "key")


def _statements_at(unit: Unit, line: int) -> list[Statement]:
    steps = [s for s in flatten(unit.body) if s.kind is not StatementKind.BLOCK]
    starting = [s for s in steps if s.span.line == line]
    covering = [s for s in steps if s.span.line <= line <= s.span.end_line]
    innermost = sorted(covering, key=lambda s: s.span.end_line - s.span.line)[:1]
    return starting or innermost


def _names_at(unit: Unit, line: int, column: int) -> Iterator[UnitQuery]:
    """Yield at most one query: a place that is both read and written is one update."""
    for statement in flatten(unit.body):
        made = [d for d in statement.definitions if d.span.holds(line, column)]
        read = [u for u in statement.uses if u.span.holds(line, column)]
        if made or read:
            definition = made[0] if made else None
            yield UnitQuery(unit, [statement], definition, read[0] if read else None)
            return


def _is_defined(asked: UnitQuery) -> bool:
    name = asked.definition or asked.use
    assert name is not None
    return any(
        definition.variable == name.variable
        for statement in flatten(asked.unit.body)
        for definition in statement.definitions
    )


def _holds(node: Node, line: int, column: int) -> bool:
    return node.parent is None or span_of(node).holds(line, column)
