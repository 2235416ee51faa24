"""Python: what its statements do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gitindex.languages.slicing.ir import Block, Statement, StatementKind, Trait
from gitindex.languages.slicing.python_values import TABLE
from gitindex.languages.slicing.reader import Grammar, Reader, StatementHead, jump
from gitindex.languages.slicing.walk import NodeContext, ValueRole, field_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


def _read_if(reader: Reader, node: Node, depth: int) -> list[Statement]:
    heads: list[tuple[StatementHead, Block]] = []
    otherwise: Block = ()
    for part in (node, *node.children_by_field_name("alternative")):
        if part.type == "else_clause":
            otherwise = reader.block(field_of(part, "body"), depth + 1)
        else:
            body = reader.block(field_of(part, "consequence"), depth + 1)
            heads.append((_test(reader, part), body))
    return reader.chain(heads, otherwise)


def _test(reader: Reader, node: Node) -> StatementHead:
    condition = field_of(node, "condition")
    if condition is None:
        return reader.keyword(node)
    return reader.head((condition, NodeContext()), start=node)


def _read_while(reader: Reader, node: Node, depth: int) -> list[Statement]:
    condition = field_of(node, "condition")
    endless = condition is not None and text_of(condition) in ("True", "1")
    traits = [Trait.ENDLESS] if endless else []
    return [_loop(reader, node, depth, _test(reader, node), *traits)]


def _read_for(reader: Reader, node: Node, depth: int) -> list[Statement]:
    """Read a for loop: the target is written at the start of every iteration only."""
    head = reader.head((field_of(node, "right"), NodeContext()), start=node)
    head.found.raises = True  # the iterator may raise
    loop = _loop(reader, node, depth, head)
    target = reader.head((field_of(node, "left"), NodeContext(ValueRole.STORE)))
    return [replace(loop, body=(reader.make(StatementKind.SIMPLE, target), *loop.body))]


def _loop(reader: Reader, node: Node, depth: int, head: StatementHead, *traits: Trait) -> Statement:
    otherwise = field_of(node, "alternative")
    return reader.make(
        StatementKind.LOOP,
        head,
        *traits,
        body=reader.block(field_of(node, "body"), depth + 1),
        otherwise=reader.block(otherwise and field_of(otherwise, "body"), depth + 1),
    )


def _read_with(reader: Reader, node: Node, depth: int) -> list[Statement]:
    clauses = [child for child in node.named_children if child.type == "with_clause"]
    head = reader.head(*((clause, NodeContext()) for clause in clauses), start=node)
    body = reader.block(field_of(node, "body"), depth + 1)
    return [reader.make(StatementKind.SIMPLE, head), *body]


def _read_try(reader: Reader, node: Node, depth: int) -> list[Statement]:
    body = reader.block(field_of(node, "body"), depth + 1)
    cases: list[Block] = []
    otherwise: Block = ()
    last: Block = ()
    catches_all = False
    for part in node.named_children:
        match part.type:
            case "except_clause" | "except_group_clause":
                cases.append(_read_handler(reader, part, depth))
                value = field_of(part, "value")
                catches_all |= value is None or _names_all(value)
            case "else_clause":
                otherwise = reader.block(field_of(part, "body"), depth + 1)
            case "finally_clause":
                last = reader.sequence(_inside(part), depth + 1)
    traits = [Trait.COMPLETE] if catches_all else []
    return [
        reader.make(
            StatementKind.TRY,
            reader.keyword(node),
            *traits,
            body=body,
            otherwise=otherwise,
            last=last,
            cases=cases,
        )
    ]


def _names_all(value: Node) -> bool:
    caught = value.named_children[0] if value.type == "as_pattern" else value
    return text_of(caught) in ("Exception", "BaseException")


def _read_handler(reader: Reader, node: Node, depth: int) -> Block:
    value = field_of(node, "value")
    context = NodeContext()
    head = reader.head((value, context), start=node) if value else reader.keyword(node)
    return (reader.make(StatementKind.CASE, head), *reader.sequence(_inside(node), depth + 1))


def _inside(node: Node) -> list[Node]:
    """Read the block of a clause whose block has no field name."""
    blocks = [child for child in node.named_children if child.type == "block"]
    return [statement for block in blocks for statement in block.named_children]


def _read_match(reader: Reader, node: Node, depth: int) -> list[Statement]:
    subjects = node.children_by_field_name("subject")
    head = reader.head(*((s, NodeContext()) for s in subjects), start=node)
    body = field_of(node, "body")
    clauses = [c for c in body.named_children if c.type == "case_clause"] if body else []
    cases = [_read_case(reader, clause, depth) for clause in clauses]
    traits = [Trait.UNBROKEN] + [Trait.COMPLETE for clause in clauses[-1:] if _fits_all(clause)]
    return [reader.make(StatementKind.SWITCH, head, *traits, cases=cases)]


def _fits_all(clause: Node) -> bool:
    patterns = [child for child in clause.named_children if child.type == "case_pattern"]
    return (
        field_of(clause, "guard") is None
        and len(patterns) == 1
        and text_of(patterns[0]).isidentifier()
    )


def _read_case(reader: Reader, node: Node, depth: int) -> Block:
    context = NodeContext()
    patterns = [
        (c, context.to(ValueRole.MATCH)) for c in node.named_children if c.type == "case_pattern"
    ]
    head = reader.head(*patterns, (field_of(node, "guard"), context), start=node)
    body = reader.block(field_of(node, "consequence"), depth + 1)
    return (reader.make(StatementKind.CASE, head), *body)


GRAMMAR = Grammar(
    table=TABLE,
    statements={
        "if_statement": _read_if,
        "while_statement": _read_while,
        "for_statement": _read_for,
        "with_statement": _read_with,
        "try_statement": _read_try,
        "match_statement": _read_match,
        "return_statement": jump(StatementKind.RETURN),
        "raise_statement": jump(StatementKind.RAISE),
        "break_statement": jump(StatementKind.BREAK),
        "continue_statement": jump(StatementKind.CONTINUE),
    },
    functions=frozenset(("function_definition", "lambda")),
    named=frozenset(("function_definition",)),
    classes=frozenset(("class_definition",)),
)
