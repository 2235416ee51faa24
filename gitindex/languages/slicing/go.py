"""Go: what its node types define, use and do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitindex.languages.slicing import braces
from gitindex.languages.slicing.ir import Block, Statement, StatementKind, Trait
from gitindex.languages.slicing.reader import Grammar, Reader, jump
from gitindex.languages.slicing.walk import (
    NESTED,
    WRITING,
    NodeContext,
    Table,
    ValueRole,
    Walker,
    field_of,
    text_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node


def _short(walker: Walker, node: Node, context: NodeContext) -> None:
    right, left = field_of(node, "right"), field_of(node, "left")
    walker.push((right, context.load()), (left, context.to(ValueRole.STORE)))


def _spec(walker: Walker, node: Node, context: NodeContext) -> None:
    names = node.children_by_field_name("name")
    target = context.to(ValueRole.STORE)
    walker.push((field_of(node, "value"), context.load()), *((name, target) for name in names))


def _step(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push_children(node, context.to(ValueRole.UPDATE))


def _selector(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.part_of(field_of(node, "operand"), context)


def _index(walker: Walker, node: Node, context: NodeContext) -> None:
    others = [field_of(node, name) for name in ("index", "start", "end", "capacity")]
    walker.part_of(field_of(node, "operand"), context, *others)


def _unary(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit a unary operator: `&` may lead to writes; a write through a pointer is a mutation."""
    operator, operand = field_of(node, "operator"), field_of(node, "operand")
    taken = operator is not None and text_of(operator) == "&"
    changes = taken or context.role in WRITING
    walker.push((operand, context.to(ValueRole.MUTATE if changes else ValueRole.LOAD)))


def _call(walker: Walker, node: Node, context: NodeContext) -> None:
    called = field_of(node, "function")
    walker.push((field_of(node, "arguments"), context.load()))
    if called is not None and called.type == "selector_expression":
        walker.receive(field_of(called, "operand"), field_of(called, "field"), context)
    else:
        walker.push((called, context.load()))


def _send(walker: Walker, node: Node, context: NodeContext) -> None:
    channel, value = field_of(node, "channel"), field_of(node, "value")
    walker.push((value, context.load()), (channel, context.to(ValueRole.MUTATE)))


def _composite(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit a composite literal: keys of a struct are its fields, other keys are values."""
    kind = field_of(node, "type")
    keyed = kind is not None and kind.type in ("map_type", "array_type", "slice_type")
    body = field_of(node, "body")
    for element in reversed(body.named_children if body is not None else ()):
        if element.type == "keyed_element" and not keyed:
            walker.push((field_of(element, "value"), context.load()))
        else:
            walker.push((element, context.load()))


def _parameter(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push(*((name, context) for name in node.children_by_field_name("name")))


def _function(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit a nested function: captured outer variables are used, its own names are not."""
    walker.push((field_of(node, "body"), NESTED))
    for each in ("receiver", "parameters", "result"):
        walker.push((field_of(node, each), NESTED.to(ValueRole.STORE)))
    name = field_of(node, "name")
    if name is not None and node.type == "function_declaration":
        walker.push((name, context.to(ValueRole.STORE)))


def _type_switch(walker: Walker, node: Node, context: NodeContext) -> None:
    context = context.load()
    alias = field_of(node, "alias")
    for child in reversed(node.named_children):
        is_alias = alias is not None and child.id == alias.id
        walker.push((child, context.to(ValueRole.STORE) if is_alias else context))


def _read_grouped(reader: Reader, node: Node, _: int) -> list[Statement]:
    """Read `var ( … )` and `const ( … )`: one statement for each line of the group."""
    specs = []
    for child in node.named_children:
        listed = child.named_children if child.type.endswith("_spec_list") else [child]
        specs += [spec for spec in listed if spec.type in ("var_spec", "const_spec")]
    context = NodeContext()
    alone = node if len(specs) == 1 else None
    heads = [reader.head((spec, context), start=alone) for spec in specs]
    return [reader.make(StatementKind.SIMPLE, head) for head in heads]


def _read_for(reader: Reader, node: Node, depth: int) -> list[Statement]:
    depth += 1
    body = field_of(node, "body")
    parts = [c for c in node.named_children if not c.is_extra and (not body or c.id != body.id)]
    clause = parts[0] if parts else None
    if clause is not None and clause.type == "range_clause":
        source, target = field_of(clause, "right"), field_of(clause, "left")
        return braces.each_loop(reader, node, depth, source, target)
    if clause is None or clause.type != "for_clause":
        return braces.counting_loop(reader, node, depth, [], clause, ())
    initializer = field_of(clause, "initializer")
    before = reader.statement(initializer, depth) if initializer is not None else []
    updates = clause.children_by_field_name("update")
    condition = field_of(clause, "condition")
    return braces.counting_loop(reader, node, depth, before, condition, updates)


_CASES = ("expression_case", "default_case", "type_case", "communication_case")


def _read_switch(reader: Reader, node: Node, depth: int) -> list[Statement]:
    """Read switch, type switch and select; `fallthrough` is a separate jump."""
    depth += 1
    initializer, alias = field_of(node, "initializer"), field_of(node, "alias")
    before = reader.statement(initializer, depth) if initializer is not None else []
    context = NodeContext()
    parts = [(field_of(node, "value"), context), (alias, context.to(ValueRole.STORE))]
    head = reader.head(*parts, start=node)
    clauses = [child for child in node.named_children if child.type in _CASES]
    cases = [_read_case(reader, clause, depth + 1) for clause in clauses]
    has_default = any(clause.type == "default_case" for clause in clauses)
    complete = has_default or node.type == "select_statement"
    traits = [Trait.COMPLETE] if complete else []
    return [*before, reader.make(StatementKind.SWITCH, head, *traits, cases=cases)]


def _read_case(reader: Reader, node: Node, depth: int) -> Block:
    context = NodeContext()
    fields = ("value", "communication")
    labels = [(c, context) for f in fields for c in node.children_by_field_name(f)]
    lists = [c for c in node.named_children if c.type == "statement_list"]
    body = tuple(s for each in lists for s in reader.block(each, depth + 1))
    return braces.case(reader, node, labels, body)


def _read_return(reader: Reader, node: Node, _: int) -> list[Statement]:
    """Read a return; a bare one returns the named results."""
    if node.named_child_count or not reader.results:
        return [reader.simple(node, StatementKind.RETURN)]
    context = NodeContext()
    found = reader.head(*((name, context) for name in reader.results)).found
    at = reader.keyword(node)
    found.uses[:] = [use._replace(span=at.span) for use in found.uses]
    return [reader.make(StatementKind.RETURN, at._replace(found=found))]


TABLE = Table(
    names=frozenset(("identifier",)),
    skipped=frozenset(
        (
            "comment",
            "package_clause",
            "import_declaration",
            "type_declaration",
            "label_name",
            "empty_statement",
            "array_type",
            "slice_type",
            "map_type",
            "pointer_type",
            "generic_type",
            "channel_type",
            "function_type",
            "qualified_type",
            "struct_type",
            "interface_type",
            "blank_identifier",
            "type_arguments",
        )
    ),
    transparent=frozenset(
        (
            "expression_statement",
            "parenthesized_expression",
            "expression_list",
            "parameter_list",
            "var_spec_list",
            "defer_statement",
            "go_statement",
        )
    ),
    raising=frozenset(
        (
            "call_expression",
            "index_expression",
            "selector_expression",
            "type_assertion_expression",
        )
    ),
    mutators=frozenset(("Read", "Write", "Scan", "Next", "Pop", "Push", "Decode", "ReadString")),
    visitors={
        "short_var_declaration": _short,
        "var_spec": _spec,
        "const_spec": _spec,
        "assignment_statement": braces.assign,
        "inc_statement": _step,
        "dec_statement": _step,
        "range_clause": _short,
        "receive_statement": _short,
        "selector_expression": _selector,
        "index_expression": _index,
        "slice_expression": _index,
        "unary_expression": _unary,
        "call_expression": _call,
        "send_statement": _send,
        "composite_literal": _composite,
        "parameter_declaration": _parameter,
        "variadic_parameter_declaration": _parameter,
        "func_literal": _function,
        "function_declaration": _function,
        "method_declaration": _function,
        "type_switch_statement": _type_switch,
        "binary_expression": braces.binary,
    },
)

GRAMMAR = Grammar(
    table=TABLE,
    statements={
        "block": braces.read_block,
        "var_declaration": _read_grouped,
        "const_declaration": _read_grouped,
        "if_statement": braces.read_if,
        "for_statement": _read_for,
        "expression_switch_statement": _read_switch,
        "type_switch_statement": _read_switch,
        "select_statement": _read_switch,
        "statement_list": braces.read_list,
        "labeled_statement": braces.read_labelled,
        "return_statement": _read_return,
        "break_statement": jump(StatementKind.BREAK),
        "continue_statement": jump(StatementKind.CONTINUE),
        "goto_statement": jump(StatementKind.GOTO),
        "fallthrough_statement": jump(StatementKind.FALL),
    },
    functions=frozenset(("function_declaration", "method_declaration", "func_literal")),
    named=frozenset(("function_declaration", "method_declaration")),
    classes=frozenset(),
    parameters=("receiver", "parameters"),
    results="result",
)
