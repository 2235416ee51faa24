"""Collects what an expression, or any text, defines and uses. Driven by tables, not recursive."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from gitindex.languages.scopes.model import CLASS, FUNCTION, FileScopes
from gitindex.languages.slicing.grammar import (
    Grammar,
    Parts,
    children_of,
    field_of,
    span_of,
    text_of,
)
from gitindex.languages.slicing.ir import VariableRead, VariableWrite

if TYPE_CHECKING:
    from tree_sitter import Node

_SHORT_CIRCUITS = ("&&", "||", "??")
_KEYED = ("map_type", "array_type", "slice_type")


class ValueRole(Enum):
    """What happens to the value of a node."""

    LOAD = auto()  # it is read
    DROP = auto()  # it is read and discarded: a call may still change its receiver
    STORE = auto()  # it is written
    UPDATE = auto()  # it is read and written
    MUTATE = auto()  # it is read, and a part of it is written
    MATCH = auto()  # a pattern: names are written, all else is read


WRITING = frozenset((ValueRole.STORE, ValueRole.UPDATE, ValueRole.MUTATE, ValueRole.MATCH))


class NodeContext(NamedTuple):
    """The role and the surroundings of a node."""

    role: ValueRole = ValueRole.LOAD
    conditional: bool = False  # may not run even if its statement does
    captured: bool = False  # inside a nested function
    early: bool = False  # the rest of the statement sees the written value

    def to(self, role: ValueRole) -> NodeContext:
        """Return this context in another role."""
        return self._replace(role=role, early=False)

    def load(self) -> NodeContext:
        """Return this context in the reading role."""
        return self.to(ValueRole.LOAD)

    def part(self) -> NodeContext:
        """Return the context of a whole of which this is a part: writing a part changes the whole."""
        return self.to(ValueRole.MUTATE if self.role in WRITING else ValueRole.LOAD)

    def pattern(self) -> NodeContext:
        """Return this context if it is that of a pattern, else the reading one."""
        return self if self.role is ValueRole.MATCH else self.load()

    def stored_early(self) -> NodeContext:
        """Return the context of a name that the rest of the statement may see."""
        return self._replace(role=ValueRole.STORE, early=self.role is not ValueRole.MATCH)


NESTED = NodeContext(conditional=True, captured=True)
"""The context inside a nested function: it runs later, or never."""

ROLES: dict[str, Callable[[NodeContext], NodeContext]] = {
    "load": NodeContext.load,
    "same": lambda context: context,
    "store": lambda context: context.to(ValueRole.STORE),
    "written": lambda context: context._replace(role=ValueRole.STORE),
    "bind": lambda context: context.to(ValueRole.STORE),
    "update": lambda context: context.to(ValueRole.UPDATE),
    "mutate": lambda context: context.to(ValueRole.MUTATE),
    "match": lambda context: context.to(ValueRole.MATCH),
    "maybe": lambda context: context.load()._replace(conditional=True),
    "part": NodeContext.part,
    "pattern": NodeContext.pattern,
    "early": NodeContext.stored_early,
    "inner": lambda _: NESTED,
    "inner_store": lambda _: NESTED.to(ValueRole.STORE),
}
"""The roles of the tables; `written` keeps whether it is early; a `bind` is a name of whatever node type."""


class UnitVariables:
    """Which variable of a unit a name refers to, by the scopes of its file."""

    def __init__(self, scopes: FileScopes | None, unit: Node, body: Node | None) -> None:
        self._scopes = scopes  # None: too deeply nested; then a name is one variable everywhere
        self._inside = (unit.start_byte, unit.end_byte)
        own = (unit, body) if body is not None else (unit,)
        self._own = {(node.start_byte, node.end_byte) for node in own}
        self._undeclared: dict[str, int] = {}

    def at(self, name: str, offset: int) -> int | None:
        """Return the variable used at an offset; None if it is one of a nested function or class.

        It is the offset of its first declaration; negative if the file does not declare it.
        """
        variable = self._scopes and self._scopes.resolve(name, offset)
        if not variable:
            return self._undeclared.setdefault(name, -1 - len(self._undeclared))
        return None if self._is_nested(variable.scope) else variable.declarations[0].offset

    def _is_nested(self, scope: int) -> bool:
        assert self._scopes is not None
        here = self._scopes.ranges[scope]
        while scope > 0 and self._inside[0] <= here.start and here.end <= self._inside[1]:
            if here.kind in (FUNCTION, CLASS) and (here.start, here.end) not in self._own:
                return True
            scope = here.around
            here = self._scopes.ranges[scope]
        return False


@dataclass
class Findings:
    """What one statement defines and uses."""

    definitions: list[VariableWrite] = field(default_factory=list)
    uses: list[VariableRead] = field(default_factory=list)
    raises: bool = False


Placed = tuple["Node | None", NodeContext]


class Walker:
    """Walks some nodes of one statement."""

    def __init__(self, grammar: Grammar, variables: UnitVariables) -> None:
        self.grammar = grammar
        self.findings = Findings()
        self._variables = variables
        self._stack: list[tuple[Node, NodeContext]] = []

    def walk(self, placed: Iterable[Placed]) -> Findings:
        """Visit nodes and everything below them, in order."""
        self.push(*placed)
        while self._stack:
            node, context = self._stack.pop()
            self._visit(node, context)
        return self.findings

    def push(self, *placed: Placed) -> None:
        """Visit these next, in this order."""
        self._stack += [(node, context) for node, context in reversed(placed) if node is not None]

    def _visit(self, node: Node, context: NodeContext) -> None:
        grammar, kind = self.grammar, node.type
        if kind in grammar.skipped:
            return
        if kind in grammar.raising:
            self.findings.raises = True
        visitor = grammar.visit.get(kind)
        if kind in grammar.names:
            self.name(node, context)
        elif isinstance(visitor, str):
            _VISITORS[visitor](self, node, context)
        elif visitor is not None:
            self._visit_parts(visitor, node, context)
        else:
            context = context if kind in grammar.transparent else context.load()
            self.push(*((child, context) for child in node.named_children))

    def _visit_parts(self, parts: Parts, node: Node, context: NodeContext) -> None:
        selected = [part.of(node) for part in parts]
        if any(part.required and not some for part, some in zip(parts, selected, strict=True)):
            return
        for each, role in chain(*selected):
            if role == "bind":
                self.name(each, ROLES[role](context))
            else:
                self.push((each, ROLES[role](context)))

    def name(self, node: Node, context: NodeContext) -> None:
        """Record a variable's name."""
        text = text_of(node)
        variable = self._variables.at(text, node.start_byte)
        if variable is None:
            return
        span = span_of(node)
        if context.role not in WRITING or context.role in (ValueRole.UPDATE, ValueRole.MUTATE):
            self.findings.uses.append(VariableRead(variable, text, span, context.captured))
        if context.role in WRITING:
            weak = context.conditional or context.captured or context.role is ValueRole.MUTATE
            self.findings.definitions.append(
                VariableWrite(variable, text, span, weak, context.early, context.captured)
            )


def _assign(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit an assignment. Inside an expression, later parts see the new value."""
    operator = field_of(node, "operator")
    updates = operator is not None and operator.type != "="
    early = context.role is not ValueRole.DROP and not updates
    target = context._replace(role=ValueRole.UPDATE if updates else ValueRole.STORE, early=early)
    walker.push((field_of(node, "right"), context.load()), (field_of(node, "left"), target))


def _binary(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit a binary operator; the right side of a short circuit may not run."""
    operator = field_of(node, "operator")
    short = operator is not None and operator.type in _SHORT_CIRCUITS
    right = ROLES["maybe" if short else "load"](context)
    walker.push((field_of(node, "left"), context.load()), (field_of(node, "right"), right))


def _call(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit a call, which may change its receiver: surely if nobody takes its value."""
    called = field_of(node, "function") or node  # a call of Java is its member access, too
    fields = walker.grammar.members.get(called.type)
    walker.push((field_of(node, "arguments"), context.load()))
    if fields is None:
        walker.push((field_of(node, "function"), context.load()))
        return
    receiver, method = (field_of(called, name) for name in fields)
    known = method is not None and text_of(method) in walker.grammar.mutators
    changes = context.role is ValueRole.DROP or known
    walker.push((receiver, context.to(ValueRole.MUTATE if changes else ValueRole.LOAD)))


def _address(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit Go's unary operators: `&` may lead to writes; a write through a pointer is a mutation."""
    operator = field_of(node, "operator")
    taken = operator is not None and operator.type == "&"
    role = ValueRole.MUTATE if taken or context.role in WRITING else ValueRole.LOAD
    walker.push((field_of(node, "operand"), context.to(role)))


def _literal(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit a composite literal of Go: keys of a struct are its fields, other keys are values."""
    kind, body = field_of(node, "type"), field_of(node, "body")
    keyed = kind is not None and kind.type in _KEYED
    for element in body.named_children if body is not None else ():
        plain = keyed or element.type != "keyed_element"
        walker.push((element if plain else field_of(element, "value"), context.load()))


def _dotted(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit the first part of a dotted name: bound, or in a pattern with several parts, read."""
    names = children_of(node)
    value = context.role is ValueRole.MATCH and len(names) > 1
    walker.push(*((name, context.load() if value else context) for name in names[:1]))


_VISITORS = {
    "assign()": _assign,
    "binary()": _binary,
    "call()": _call,
    "address()": _address,
    "literal()": _literal,
    "dotted()": _dotted,
}
