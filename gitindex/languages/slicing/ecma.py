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
)
from gitindex.languages.slicing.ir import Block, Statement, StatementKind, Trait
from gitindex.languages.slicing.reader import Grammar, Reader, jump
from gitindex.languages.slicing.walk import Findings, NodeContext, field_of

if TYPE_CHECKING:
    from tree_sitter import Node


def _read_declaration(reader: Reader, node: Node, _: int) -> list[Statement]:
    """Read one statement for each variable."""
    found: list[Statement] = []
    for child in node.named_children:
        if child.type == "variable_declarator":
            head = reader.head((child, NodeContext()), start=None if found else node)
            if node.type not in LEXICAL and field_of(child, "value") is None:
                head = head._replace(found=Findings())  # its variable keeps its value
            found.append(reader.make(StatementKind.SIMPLE, head))
    return found


def _read_export(reader: Reader, node: Node, depth: int) -> list[Statement]:
    declaration = field_of(node, "declaration")
    if declaration is None:
        return [reader.simple(node)]
    return reader.statement(declaration, depth)


def _read_for(reader: Reader, node: Node, depth: int) -> list[Statement]:
    depth += 1
    initializer = field_of(node, "initializer")
    before = reader.statement(initializer, depth) if initializer is not None else []
    conditions = [c for c in node.children_by_field_name("condition") if c.is_named]
    condition = conditions[0] if conditions and conditions[0].type != "empty_statement" else None
    updates = node.children_by_field_name("increment")
    return braces.counting_loop(reader, node, depth, before, condition, updates)


def _read_for_in(reader: Reader, node: Node, depth: int) -> list[Statement]:
    depth += 1
    source, target = field_of(node, "right"), field_of(node, "left")
    return braces.each_loop(reader, node, depth, source, target)


def _read_switch(reader: Reader, node: Node, depth: int) -> list[Statement]:
    head = reader.head((field_of(node, "value"), NodeContext()), start=node)
    depth += 1
    body = field_of(node, "body")
    clauses = [c for c in body.named_children if c.type.startswith("switch_")] if body else []
    cases: list[Block] = []
    for clause in clauses:
        values = [(v, NodeContext()) for v in clause.children_by_field_name("value")]
        inside = reader.sequence(clause.children_by_field_name("body"), depth + 1)
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
