"""Collects what an expression, or any text, defines and uses. Driven by tables, not recursive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gitindex.languages.slicing.ir import TextSpan, VariableRead, VariableWrite
from gitindex.languages.slicing.scope import UnitVariables

if TYPE_CHECKING:
    from tree_sitter import Node


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

    def load(self) -> NodeContext:
        """Return this context in the reading role."""
        return self.to(ValueRole.LOAD)

    def to(self, role: ValueRole) -> NodeContext:
        """Return this context in another role."""
        return self._replace(role=role, early=False)

    def maybe(self) -> NodeContext:
        """Return this context in the reading role, conditional."""
        return self._replace(role=ValueRole.LOAD, early=False, conditional=True)


Visitor: TypeAlias = "Callable[[Walker, Node, NodeContext], None]"


@dataclass(frozen=True)
class Table:
    """A language's node types and visitors, for the walker."""

    names: frozenset[str]  # node types that are a variable's name
    skipped: frozenset[str]  # node types without variables in them
    transparent: frozenset[str]  # node types that pass their role on to their children
    raising: frozenset[str]  # node types that may fail when they run
    mutators: frozenset[str]  # methods that change their receiver even if their value is used
    visitors: Mapping[str, Visitor]


@dataclass
class Findings:
    """What one statement defines and uses."""

    definitions: list[VariableWrite] = field(default_factory=list)
    uses: list[VariableRead] = field(default_factory=list)
    raises: bool = False


class Walker:
    """Walks some nodes of one statement."""

    def __init__(self, table: Table, variables: UnitVariables) -> None:
        self.table = table
        self.found = Findings()
        self._variables = variables
        self._stack: list[tuple[Node, NodeContext]] = []

    def walk(self, parts: Iterable[tuple[Node, NodeContext]]) -> Findings:
        """Visit nodes and everything below them, in order."""
        self.push(*parts)
        while self._stack:
            node, context = self._stack.pop()
            self._visit(node, context)
        return self.found

    def push(self, *parts: tuple[Node | None, NodeContext]) -> None:
        """Visit these next, in this order."""
        self._stack += [(node, context) for node, context in reversed(parts) if node is not None]

    def push_children(self, node: Node, context: NodeContext) -> None:
        """Visit all children next."""
        self.push(*((child, context) for child in node.named_children))

    def _visit(self, node: Node, context: NodeContext) -> None:
        table, kind = self.table, node.type
        if kind in table.skipped:
            return
        if kind in table.raising:
            self.found.raises = True
        if kind in table.names:
            self.name(node, context)
        elif visitor := table.visitors.get(kind):
            visitor(self, node, context)
        else:
            self.descend(node, context)

    def descend(self, node: Node, context: NodeContext) -> None:
        """Visit a node that has no visitor."""
        if node.type not in self.table.transparent:
            context = context.load()
        self.push_children(node, context)

    def name(self, node: Node, context: NodeContext) -> None:
        """Record a variable's name."""
        text = text_of(node)
        variable = self._variables.at(text, node.start_byte)
        if variable is None:
            return
        span = span_of(node)
        if context.role not in WRITING or context.role in (ValueRole.UPDATE, ValueRole.MUTATE):
            self.found.uses.append(VariableRead(variable, text, span, context.captured))
        if context.role in WRITING:
            weak = context.conditional or context.captured or context.role is ValueRole.MUTATE
            self.found.definitions.append(
                VariableWrite(variable, text, span, weak, context.early, context.captured)
            )

    def part_of(self, whole: Node | None, context: NodeContext, *others: Node | None) -> None:
        """Visit a part of `whole`: writing it changes `whole`. The others are read."""
        role = ValueRole.MUTATE if context.role in WRITING else ValueRole.LOAD
        self.push((whole, context.to(role)), *((other, context.load()) for other in others))

    def receive(self, receiver: Node | None, method: Node | None, context: NodeContext) -> None:
        """Visit the receiver of a call, which the call may change."""
        known = method is not None and text_of(method) in self.table.mutators
        changes = context.role is ValueRole.DROP or known
        self.push((receiver, context.to(ValueRole.MUTATE if changes else ValueRole.LOAD)))


NESTED = NodeContext(conditional=True, captured=True)
"""The context inside a nested function: it runs later, or never."""


def span_of(node: Node) -> TextSpan:
    """Return a node's span. Never use `.row` of a point: tree-sitter 0.26.0 crashes (issue 472)."""
    return TextSpan(*node.start_point, *node.end_point)


def text_of(node: Node) -> str:
    """Return the text of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def field_of(node: Node, name: str) -> Node | None:
    """Return one field of a node."""
    return node.child_by_field_name(name)
