"""JavaScript, TypeScript and TSX: what their statements do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitindex.languages.slicing import braces
from gitindex.languages.slicing.ecma_values import (
    CLASSES,
    DECLARED,
    FUNCTIONS,
    LEXICAL,
    TABLE,
    declared_names,
    hoist,
    target_of,
)
from gitindex.languages.slicing.ir import Block, Statement, StatementKind, Trait
from gitindex.languages.slicing.reader import Grammar, ReadContext, Reader, jump
from gitindex.languages.slicing.walk import Findings, NodeContext, field_of

if TYPE_CHECKING:
    from tree_sitter import Node


def _read_declaration(reader: Reader, node: Node, place: ReadContext) -> list[Statement]:
    """Read one statement for each variable; `var` belongs to the function."""
    context = NodeContext(place.scope)
    if node.type == "variable_declaration":
        context = NodeContext(place.scope.function)
    found: list[Statement] = []
    for child in node.named_children:
        if child.type == "variable_declarator":
            head = reader.head((child, context), start=None if found else node)
            if node.type not in LEXICAL and field_of(child, "value") is None:
                head = head._replace(found=Findings())  # its variable keeps its value
            found.append(reader.make(StatementKind.SIMPLE, head))
    return found


def _read_export(reader: Reader, node: Node, place: ReadContext) -> list[Statement]:
    declaration = field_of(node, "declaration")
    if declaration is None:
        return [reader.simple(node, place)]
    return reader.statement(declaration, place)


def _read_for(reader: Reader, node: Node, place: ReadContext) -> list[Statement]:
    place = place.inner()
    initializer = field_of(node, "initializer")
    before: list[Statement] = []
    if initializer is not None:
        scope = place.scope
        if initializer.type in LEXICAL:
            scope.declare_all(declared_names(initializer))
        before = reader.statement(initializer, place)
    conditions = [c for c in node.children_by_field_name("condition") if c.is_named]
    condition = conditions[0] if conditions and conditions[0].type != "empty_statement" else None
    updates = node.children_by_field_name("increment")
    return braces.counting_loop(reader, node, place, before, condition, updates)


def _read_for_in(reader: Reader, node: Node, place: ReadContext) -> list[Statement]:
    place = place.inner()
    role = target_of(node, NodeContext(place.scope))
    source, target = field_of(node, "right"), field_of(node, "left")
    return braces.each_loop(reader, node, place, source, target, role)


def _read_switch(reader: Reader, node: Node, place: ReadContext) -> list[Statement]:
    head = reader.head((field_of(node, "value"), NodeContext(place.scope)), start=node)
    place = place.inner()
    body = field_of(node, "body")
    if body is not None:
        hoist(body, place.scope)
    clauses = [c for c in body.named_children if c.type.startswith("switch_")] if body else []
    cases: list[Block] = []
    for clause in clauses:
        values = [(v, NodeContext(place.scope)) for v in clause.children_by_field_name("value")]
        inside = reader.sequence(clause.children_by_field_name("body"), place.below())
        cases.append(braces.case(reader, clause, values, inside))
    traits = [Trait.COMPLETE for clause in clauses if clause.type == "switch_default"]
    return [reader.make(StatementKind.SWITCH, head, Trait.FALLS, *traits, cases=cases)]


GRAMMAR = Grammar(
    table=TABLE,
    statements={
        "statement_block": braces.read_block,
        "lexical_declaration": _read_declaration,
        "using_declaration": _read_declaration,
        "variable_declaration": _read_declaration,
        "export_statement": _read_export,
        "if_statement": braces.read_if,
        "while_statement": braces.read_while,
        "do_statement": braces.read_do,
        "for_statement": _read_for,
        "for_in_statement": _read_for_in,
        "switch_statement": _read_switch,
        "try_statement": braces.read_try,
        "labeled_statement": braces.read_labelled,
        "return_statement": jump(StatementKind.RETURN),
        "throw_statement": jump(StatementKind.RAISE),
        "break_statement": jump(StatementKind.BREAK),
        "continue_statement": jump(StatementKind.CONTINUE),
    },
    functions=FUNCTIONS,
    named=DECLARED | {"method_definition", "class_static_block"},
    classes=CLASSES,
    hoisted=DECLARED,
    parameters=("parameters", "parameter"),
)
