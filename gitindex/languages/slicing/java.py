"""Java: what its node types define, use and do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitindex.languages.slicing import braces
from gitindex.languages.slicing.ir import Block, Statement, StatementKind, Trait
from gitindex.languages.slicing.reader import Grammar, Reader, jump
from gitindex.languages.slicing.walk import (
    NESTED,
    NodeContext,
    Table,
    ValueRole,
    Walker,
    field_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node

CLASSES = frozenset(
    (
        "class_declaration",
        "enum_declaration",
        "record_declaration",
        "interface_declaration",
    )
)
METHODS = frozenset(
    (
        "method_declaration",
        "constructor_declaration",
        "compact_constructor_declaration",
    )
)


def _name_and_value(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit a parameter, a resource or a loop variable."""
    name = field_of(node, "name")
    if name is None:
        walker.push_children(node, context.load())
        return
    target = context.to(ValueRole.STORE)
    walker.push((field_of(node, "value"), context.load()), (name, target))
    walker.push((field_of(node, "body"), context.load()))


def _each(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push(
        (field_of(node, "value"), context.load()),
        (field_of(node, "name"), context.to(ValueRole.STORE)),
        (field_of(node, "body"), context.load()),
    )


def _spread(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push(*((c, context) for c in node.named_children if c.type == "variable_declarator"))


def _field(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.part_of(field_of(node, "object"), context)


def _array(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.part_of(field_of(node, "array"), context, field_of(node, "index"))


def _invocation(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push((field_of(node, "arguments"), context.load()))
    walker.receive(field_of(node, "object"), field_of(node, "name"), context)


def _reference(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push(*((child, context.load()) for child in node.named_children[:1]))


def _creation(walker: Walker, node: Node, context: NodeContext) -> None:
    for child in reversed(node.named_children):
        if child.type == "class_body":
            walker.push((child, NESTED))
        elif child.type == "argument_list":
            walker.push((child, context.load()))


def _lambda(walker: Walker, node: Node, _: NodeContext) -> None:
    """Visit a lambda: captured outer variables are used, its own names are not."""
    walker.push((field_of(node, "body"), NESTED))
    walker.push((field_of(node, "parameters"), NESTED.to(ValueRole.STORE)))


def _local_class(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push((field_of(node, "body"), NESTED))
    walker.push((field_of(node, "name"), context.to(ValueRole.STORE)))


def _instanceof(walker: Walker, node: Node, context: NodeContext) -> None:
    new = context._replace(role=ValueRole.STORE, early=True)
    left = (field_of(node, "left"), context.load())
    walker.push(left, (field_of(node, "name"), new), (field_of(node, "pattern"), new))


def _pattern(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit a pattern: the last name is the variable, everything before it is its type."""
    new = context._replace(role=ValueRole.STORE)
    names = [child for child in node.named_children if child.type == "identifier"]
    walker.push(*((name, new) for name in names[-1:]))


def _record_pattern(walker: Walker, node: Node, context: NodeContext) -> None:
    bodies = [child for child in node.named_children if child.type == "record_pattern_body"]
    new = context._replace(role=ValueRole.STORE)
    walker.push(*((c, new) for body in bodies for c in body.named_children))


def _labelled(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push(*((child, context.load()) for child in node.named_children[1:]))


def _nothing(_: Walker, __: Node, ___: NodeContext) -> None:
    """Visit nothing: a jump's label is not a variable."""


def _read_for(reader: Reader, node: Node, depth: int) -> list[Statement]:
    depth += 1
    inits = node.children_by_field_name("init")
    before = [s for init in inits for s in reader.statement(init, depth)]
    updates = node.children_by_field_name("update")
    condition = field_of(node, "condition")
    return braces.counting_loop(reader, node, depth, before, condition, updates)


def _read_each(reader: Reader, node: Node, depth: int) -> list[Statement]:
    depth += 1
    source, target = field_of(node, "value"), field_of(node, "name")
    return braces.each_loop(reader, node, depth, source, target)


def _read_switch(reader: Reader, node: Node, depth: int) -> list[Statement]:
    """Read a switch statement; with arrows its cases do not fall through."""
    head = reader.head((field_of(node, "condition"), NodeContext()), start=node)
    depth += 1
    body = field_of(node, "body")
    clauses = body.named_children if body is not None else []
    groups = [c for c in clauses if c.type in ("switch_block_statement_group", "switch_rule")]
    cases: list[Block] = []
    traits: list[Trait] = []
    for group in groups:
        labels = [c for c in group.named_children if c.type == "switch_label"]
        others = [c for c in group.named_children if c.type != "switch_label"]
        parts = [(c, NodeContext()) for label in labels for c in label.named_children]
        cases.append(braces.case(reader, group, parts, reader.sequence(others, depth + 1)))
        traits += _traits(group, labels)
    return [reader.make(StatementKind.SWITCH, head, *traits, cases=cases)]


def _traits(group: Node, labels: list[Node]) -> list[Trait]:
    """Return whether a case falls through, and whether it is the default."""
    falls = [Trait.FALLS] if group.type != "switch_rule" else []
    is_default = any(label.children[0].type == "default" for label in labels)
    return [*falls, Trait.COMPLETE] if is_default else falls


def _read_synchronized(reader: Reader, node: Node, depth: int) -> list[Statement]:
    body = field_of(node, "body")
    locks = [c for c in node.named_children if c.type == "parenthesized_expression"]
    head = reader.head(*((lock, NodeContext()) for lock in locks), start=node)
    return [reader.make(StatementKind.SIMPLE, head), *reader.block(body, depth + 1)]


def _read_expression(reader: Reader, node: Node, depth: int) -> list[Statement]:
    """Read an expression statement; a switch is an expression, even as a statement."""
    inside = [child for child in node.named_children if not child.is_extra]
    if len(inside) == 1 and inside[0].type == "switch_expression":
        return _read_switch(reader, inside[0], depth)
    return [reader.simple(node)]


TABLE = Table(
    names=frozenset(("identifier", "this")),
    skipped=frozenset(
        (
            "line_comment",
            "block_comment",
            "package_declaration",
            "import_declaration",
            "modifiers",
            "marker_annotation",
            "annotation",
            "type_arguments",
            "generic_type",
            "scoped_type_identifier",
            "dimensions",
            "throws",
            "catch_type",
            "type_parameters",
            "class_literal",
        )
    ),
    transparent=frozenset(
        (
            "expression_statement",
            "parenthesized_expression",
            "formal_parameters",
            "inferred_parameters",
            "pattern",
            "record_pattern_component",
        )
    ),
    raising=frozenset(
        (
            "method_invocation",
            "object_creation_expression",
            "field_access",
            "array_access",
            "throw_statement",
            "cast_expression",
            "array_creation_expression",
            "assert_statement",
            "resource",
        )
    ),
    mutators=frozenset(
        (
            "add",
            "remove",
            "poll",
            "pop",
            "push",
            "offer",
            "put",
            "next",
            "read",
            "readLine",
            "computeIfAbsent",
            "append",
            "getAndIncrement",
            "incrementAndGet",
        )
    ),
    visitors={
        "variable_declarator": braces.declarator,
        "formal_parameter": _name_and_value,
        "catch_formal_parameter": _name_and_value,
        "resource": _name_and_value,
        "spread_parameter": _spread,
        "enhanced_for_statement": _each,
        "assignment_expression": braces.assign,
        "update_expression": braces.update,
        "field_access": _field,
        "array_access": _array,
        "method_invocation": _invocation,
        "method_reference": _reference,
        "object_creation_expression": _creation,
        "lambda_expression": _lambda,
        **dict.fromkeys(METHODS, _lambda),
        **dict.fromkeys(CLASSES, _local_class),
        "instanceof_expression": _instanceof,
        "type_pattern": _pattern,
        "record_pattern": _record_pattern,
        "record_pattern_component": _pattern,
        "binary_expression": braces.binary,
        "ternary_expression": braces.ternary,
        "labeled_statement": _labelled,
        "break_statement": _nothing,
        "continue_statement": _nothing,
    },
)

GRAMMAR = Grammar(
    table=TABLE,
    statements={
        "block": braces.read_block,
        "local_variable_declaration": braces.separately("variable_declarator"),
        "field_declaration": braces.separately("variable_declarator"),
        "if_statement": braces.read_if,
        "while_statement": braces.read_while,
        "do_statement": braces.read_do,
        "for_statement": _read_for,
        "enhanced_for_statement": _read_each,
        "switch_expression": _read_switch,
        "switch_statement": _read_switch,
        "expression_statement": _read_expression,
        "try_statement": braces.read_try,
        "try_with_resources_statement": braces.read_try,
        "synchronized_statement": _read_synchronized,
        "labeled_statement": braces.read_labelled,
        "enum_body_declarations": braces.read_list,
        "return_statement": jump(StatementKind.RETURN),
        "throw_statement": jump(StatementKind.RAISE),
        "break_statement": jump(StatementKind.BREAK),
        "continue_statement": jump(StatementKind.CONTINUE),
    },
    functions=METHODS | {"lambda_expression", "static_initializer"},
    named=METHODS | {"static_initializer"},
    classes=CLASSES,
)
