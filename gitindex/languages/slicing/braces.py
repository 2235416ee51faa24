"""Shared by languages with braces: loops with three parts, chains of else, labels, switches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gitindex.languages.slicing.ir import Block, Statement, StatementKind, Trait
from gitindex.languages.slicing.reader import (
    Reader,
    StatementHead,
    StatementReader,
    label_of,
)
from gitindex.languages.slicing.walk import NodeContext, ValueRole, Walker, field_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_SHORT_CIRCUITS = ("&&", "||", "??")
_ALWAYS = ("true", "(true)", "1", "(1)")


def assign(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit an assignment. Inside an expression, later parts see the new value."""
    operator = field_of(node, "operator")
    updates = operator is not None and text_of(operator) != "="
    early = context.role is not ValueRole.DROP and not updates
    target = context._replace(role=ValueRole.UPDATE if updates else ValueRole.STORE, early=early)
    walker.push((field_of(node, "right"), context.load()), (field_of(node, "left"), target))


def update(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit `x++`, or another operator that reads and writes its operand."""
    walker.push_children(node, context.to(ValueRole.UPDATE))


def binary(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit a binary operator; the right side of a short circuit may not run."""
    operator = field_of(node, "operator")
    short = operator is not None and text_of(operator) in _SHORT_CIRCUITS
    right = context.maybe() if short else context.load()
    walker.push((field_of(node, "left"), context.load()), (field_of(node, "right"), right))


def ternary(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit a conditional expression: only one of the two values is computed."""
    walker.push(
        (field_of(node, "condition"), context.load()),
        (field_of(node, "consequence"), context.maybe()),
        (field_of(node, "alternative"), context.maybe()),
    )


def declarator(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit a new variable; its initial value does not see it."""
    value, name = field_of(node, "value"), field_of(node, "name")
    walker.push((value, context.load()), (name, context.to(ValueRole.STORE)))


def read_block(reader: Reader, node: Node, depth: int) -> list[Statement]:
    """Read a block."""
    return list(reader.block(node, depth + 1))


def read_list(reader: Reader, node: Node, depth: int) -> list[Statement]:
    """Read statements that are grouped in a node that is not a block."""
    return list(reader.sequence(node.named_children, depth + 1))


def read_if(reader: Reader, node: Node, depth: int) -> list[Statement]:
    """Read an if with its else-ifs; variables declared in its head are visible in all branches."""
    heads: list[tuple[StatementHead, Block]] = []
    before: list[Statement] = []
    here: Node | None = node
    depth += 1
    while here is not None and here.type == "if_statement":
        initializer = field_of(here, "initializer")
        if initializer is not None:
            before += reader.statement(initializer, depth)
        head = reader.head((field_of(here, "condition"), NodeContext()), start=here)
        heads.append((head, reader.block(field_of(here, "consequence"), depth + 1)))
        here = _else(here)
    otherwise = reader.block(here, depth + 1)
    return [*before, *reader.chain(heads, otherwise)]


def _else(node: Node) -> Node | None:
    """Read the part after the else."""
    found = field_of(node, "alternative")
    if found is not None and found.type == "else_clause":
        inside = [child for child in found.named_children if not child.is_extra]
        return inside[0] if inside else None
    return found


def read_while(reader: Reader, node: Node, depth: int) -> list[Statement]:
    """Read a loop with a test before its body."""
    condition = field_of(node, "condition")
    endless = condition is not None and text_of(condition) in _ALWAYS
    head = reader.head((condition, NodeContext()), start=node)
    body = reader.block(field_of(node, "body"), depth + 1)
    return [reader.make(StatementKind.LOOP, head, *([Trait.ENDLESS] if endless else []), body=body)]


def read_do(reader: Reader, node: Node, depth: int) -> list[Statement]:
    """Read a loop with a test after its body."""
    body = reader.block(field_of(node, "body"), depth + 1)
    head = reader.head((field_of(node, "condition"), NodeContext()))
    return [reader.make(StatementKind.LOOP, head, Trait.TESTED_LAST, body=body)]


def counting_loop(
    reader: Reader,
    node: Node,
    depth: int,
    before: list[Statement],
    condition: Node | None,
    updates: Iterable[Node],
) -> list[Statement]:
    """Read `for (before; condition; updates) …`."""
    if condition is None:
        head, traits = reader.keyword(node), [Trait.ENDLESS]
    else:
        head, traits = reader.head((condition, NodeContext()), start=node), []
    body = reader.block(field_of(node, "body"), depth + 1)
    last = tuple(s for update in updates for s in reader.statement(update, depth))
    return [*before, reader.make(StatementKind.LOOP, head, *traits, body=body, last=last)]


def each_loop(
    reader: Reader,
    node: Node,
    depth: int,
    source: Node | None,
    target: Node | None,
) -> list[Statement]:
    """Read a loop over elements; its target is written at the start of every iteration."""
    head = reader.head((source, NodeContext()), start=node)
    head.found.raises = True  # the iterator may raise
    written: Block = ()
    if target is not None:
        stored = reader.head((target, NodeContext(ValueRole.STORE)))
        written = (reader.make(StatementKind.SIMPLE, stored),)
    body = reader.block(field_of(node, "body"), depth + 1)
    return [reader.make(StatementKind.LOOP, head, body=(*written, *body))]


def read_labelled(reader: Reader, node: Node, depth: int) -> list[Statement]:
    """Read a statement with a label before it."""
    inner = [child for child in node.named_children if not child.is_extra][1:]
    statements = [s for child in inner for s in reader.statement(child, depth)]
    return reader.labelled(label_of(node), statements)


def separately(*kinds: str) -> StatementReader:
    """Read a declaration of several variables: one statement each, the keyword with the first."""

    def read(reader: Reader, node: Node, _: int) -> list[Statement]:
        each = [child for child in node.named_children if child.type in kinds]
        context = NodeContext(ValueRole.DROP)
        found = []
        for at, child in enumerate(each):
            head = reader.head((child, context), start=node if at == 0 else None)
            found.append(reader.make(StatementKind.SIMPLE, head))
        return found

    return read


def read_try(reader: Reader, node: Node, depth: int) -> list[Statement]:
    """Read try, catch and finally; the resources of a try come first in its body."""
    resources = field_of(node, "resources")
    opened = reader.sequence(resources.named_children if resources else (), depth + 1)
    body = reader.block(field_of(node, "body"), depth + 2)
    handlers = [child for child in node.named_children if child.type == "catch_clause"]
    cases = [_handler(reader, handler, depth + 1) for handler in handlers]
    last: Block = ()
    for child in node.named_children:
        if child.type == "finally_clause":
            last = reader.block(_block_in(child), depth + 1)
    complete = any(_catches_all(handler) for handler in handlers)
    traits = [Trait.COMPLETE] if complete else []
    head = reader.keyword(node)
    return [
        reader.make(StatementKind.TRY, head, *traits, body=opened + body, last=last, cases=cases)
    ]


def _catches_all(handler: Node) -> bool:
    caught = [c for c in handler.named_children if c.type == "catch_formal_parameter"]
    types = [text_of(t) for c in caught for t in c.named_children if t.type == "catch_type"]
    return not caught or types == ["Throwable"] or types == ["Exception"]


def _handler(reader: Reader, node: Node, depth: int) -> Block:
    context = NodeContext(ValueRole.STORE)
    body = field_of(node, "body")
    parts = [c for c in node.named_children if (body is None or c.id != body.id) and not c.is_extra]
    kept = [(c, context) for c in parts if c.type != "type_annotation"]
    head = reader.head(*kept, start=node)
    return (reader.make(StatementKind.CASE, head), *reader.block(body, depth + 1))


def _block_in(node: Node) -> Node | None:
    blocks = [child for child in node.named_children if not child.is_extra]
    return blocks[0] if blocks else None


def case(
    reader: Reader, node: Node, labels: Iterable[tuple[Node, NodeContext]], body: Block
) -> Block:
    """Read one case of a switch: its labels, then its statements."""
    listed = list(labels)
    head = reader.head(*listed, start=node) if listed else reader.keyword(node)
    return (reader.make(StatementKind.CASE, head), *body)
