"""Reads the statements of a unit into the IR. The language modules define the node types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gitindex.languages.scopes.model import FileScopes
from gitindex.languages.slicing.ir import Block, Statement, StatementKind, TextSpan, Trait, Unit
from gitindex.languages.slicing.scope import UnitVariables
from gitindex.languages.slicing.walk import (
    Findings,
    NodeContext,
    Table,
    ValueRole,
    Walker,
    field_of,
    span_of,
    text_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH = 60
"""Most nested blocks; deeper code becomes one statement that may or may not run."""


class StatementHead(NamedTuple):
    """A statement's own text, and what it defines and uses."""

    span: TextSpan
    found: Findings


StatementReader: TypeAlias = "Callable[[Reader, Node, int], list[Statement]]"


@dataclass(frozen=True)
class Grammar:
    """A language: its table for expressions, and its statement and function node types."""

    table: Table
    statements: Mapping[str, StatementReader]
    functions: frozenset[str]  # node types that begin a unit
    named: frozenset[str]  # those that are statements, not values
    classes: frozenset[str]
    hoisted: frozenset[str] = frozenset()  # statements that take effect when their block begins
    parameters: tuple[str, ...] = ("parameters",)  # fields of a function
    results: str = ""  # field with named results


class Reader:
    """Reads one unit."""

    def __init__(self, grammar: Grammar, scopes: FileScopes | None) -> None:
        self.grammar = grammar
        self._scopes = scopes
        self.results: tuple[Node, ...] = ()  # named results of the function
        self._ids = count()
        self._outer = False  # the unit is a file or a class: functions are only declared in it

    def unit(self, node: Node, name: str) -> Unit:
        """Return the unit that begins at this node."""
        body = field_of(node, "body") or next(filter(self.is_block, node.named_children), None)
        self._variables = UnitVariables(self._scopes, node, body)
        if node.type in self.grammar.functions:
            entry = self._entry(node)
            return Unit(name, "function", span_of(node), (*entry, *self._function(body)))
        self._outer = True
        is_class = node.type in self.grammar.classes
        block = self.block(body if is_class and body is not None else node, 0)
        return Unit(name, "class" if is_class else "module", span_of(node), block)

    def _entry(self, node: Node) -> list[Statement]:
        """Return the head of a function, then one statement for each parameter."""
        start = span_of(node)
        end = span_of(field_of(node, "name") or node)
        same = TextSpan(start.line, start.column, start.line, start.column + 1)
        named = end._replace(line=start.line, column=start.column)
        entry = [
            self.make(
                StatementKind.ENTRY, StatementHead(named if end != start else same, Findings())
            )
        ]
        for field in self.grammar.parameters:
            for whole in node.children_by_field_name(field):
                entry += self._parameters(whole)
        results = field_of(node, self.grammar.results) if self.grammar.results else None
        if results is not None and results.type == "parameter_list":
            entry += self._parameters(results)
            self.results = tuple(
                name
                for each in results.named_children
                for name in each.children_by_field_name("name")
            )
        return entry

    def _parameters(self, whole: Node) -> list[Statement]:
        each = [whole] if whole.type in self.grammar.table.names else whole.named_children
        context = NodeContext(ValueRole.STORE)
        return [
            self.make(StatementKind.ENTRY, self.head((n, context))) for n in each if not n.is_extra
        ]

    def _function(self, body: Node | None) -> Block:
        if body is None:
            return ()
        if self.is_block(body):
            return self.block(body, 0)
        return (self.make(StatementKind.RETURN, self.head((body, NodeContext()))),)

    def is_block(self, node: Node) -> bool:
        """Is this a block of statements?"""
        return node.type in BLOCKS

    def block(self, node: Node | None, depth: int) -> Block:
        """Return the statements of a block, or the one statement in place of a block."""
        if node is None:
            return ()
        if not self.is_block(node):
            return tuple(self.statement(node, depth))
        return self.sequence(node.named_children, depth)

    def sequence(self, nodes: Iterable[Node], depth: int) -> Block:
        """Return statements in order, hoisted ones first."""
        listed = list(nodes)
        if self.grammar.hoisted:
            listed.sort(key=lambda node: _declared(node).type not in self.grammar.hoisted)
        return tuple(s for node in listed for s in self.statement(node, depth))

    def statement(self, node: Node, depth: int) -> list[Statement]:
        """Return the steps of one statement."""
        if (node.is_extra and node.type != "ERROR") or node.type in self.grammar.table.skipped:
            return []
        if depth > MAX_DEPTH:
            return [self.simple(node, conditional=True)]
        if node.type == "ERROR":
            return list(self.sequence(node.named_children, depth + 1))
        read = self.grammar.statements.get(node.type)
        return [self.simple(node)] if read is None else read(self, node, depth)

    def simple(
        self,
        node: Node,
        kind: StatementKind = StatementKind.SIMPLE,
        conditional: bool = False,
    ) -> Statement:
        """Return a statement without blocks."""
        head = self.head((node, NodeContext(ValueRole.DROP, conditional)))
        declared = _declared(node)
        nested = self.grammar.functions | self.grammar.classes
        body = field_of(declared, "body") if declared.type in nested else None
        if body is not None and self._outer:
            head = head._replace(span=_until(span_of(node), declared, body))
        return self.make(kind, head)

    def head(
        self, *parts: tuple[Node | None, NodeContext], start: Node | None = None
    ) -> StatementHead:
        """Return what some nodes define and use, and the text from `start` to the last of them."""
        present = [(node, context) for node, context in parts if node is not None]
        found = Walker(self.grammar.table, self._variables).walk(present)
        spans = [span_of(node) for node, _ in present]
        if start is not None:
            spans.append(span_of(start.children[0] if start.children else start))
        return StatementHead(_covering(spans), found)

    def make(
        self,
        kind: StatementKind,
        head: StatementHead,
        *traits: Trait,
        body: Block = (),
        otherwise: Block = (),
        last: Block = (),
        cases: Iterable[Block] = (),
        label: str = "",
    ) -> Statement:
        """Return a statement of the IR."""
        found = head.found
        if found.raises:
            traits = (*traits, Trait.MAY_RAISE)
        return Statement(
            next(self._ids),
            kind,
            _trimmed(head.span),
            tuple(found.definitions),
            tuple(found.uses),
            body,
            otherwise,
            last,
            tuple(cases),
            label,
            frozenset(traits),
        )

    def chain(self, heads: list[tuple[StatementHead, Block]], otherwise: Block) -> list[Statement]:
        """Return an if with its else-ifs, built from the end."""
        for head, body in reversed(heads):
            otherwise = (self.make(StatementKind.BRANCH, head, body=body, otherwise=otherwise),)
        return list(otherwise)

    def labelled(self, label: str, inner: list[Statement]) -> list[Statement]:
        """Give a loop or a switch its label; anything else becomes a labelled block."""
        if inner and inner[-1].kind in (StatementKind.LOOP, StatementKind.SWITCH):
            return [*inner[:-1], replace(inner[-1], label=label)]
        head = StatementHead(inner[0].span if inner else TextSpan(0, 0, 0, 0), Findings())
        return [self.make(StatementKind.BLOCK, head, body=tuple(inner), label=label)]

    def keyword(self, node: Node) -> StatementHead:
        """Return the head of a statement that consists of its first word."""
        return StatementHead(span_of(node.children[0] if node.children else node), Findings())


BLOCKS = frozenset(
    (
        "block",
        "statement_block",
        "statement_list",
        "module",
        "program",
        "source_file",
        "class_body",
        "constructor_body",
        "enum_body",
        "enum_body_declarations",
        "interface_body",
        "switch_body",
    )
)


def _covering(spans: list[TextSpan]) -> TextSpan:
    """Return the text from the first to the last of some spans."""
    first, last = min(spans), max(spans, key=lambda s: (s.end_line, s.end_column))
    return TextSpan(first.line, first.column, last.end_line, last.end_column)


def _trimmed(span: TextSpan) -> TextSpan:
    """Remove the line end that some grammars count as part of a statement."""
    if span.end_column == 0 and span.end_line > span.line:
        return span._replace(end_line=span.end_line - 1, end_column=1 << 20)
    return span


def jump(kind: StatementKind) -> StatementReader:
    """Return a reader for statements that jump elsewhere."""

    def read(reader: Reader, node: Node, _: int) -> list[Statement]:
        made = reader.simple(node, kind)
        return [
            replace(
                made,
                label="" if kind in (StatementKind.RETURN, StatementKind.RAISE) else label_of(node),
            )
        ]

    return read


def label_of(node: Node) -> str:
    """Return the label of a jump or of a labelled statement."""
    found = field_of(node, "label")
    if found is None and node.named_child_count:
        found = node.named_children[0]
    labels = ("statement_identifier", "label_name", "identifier")
    return text_of(found) if found is not None and found.type in labels else ""


def _declared(node: Node) -> Node:
    """Return the function or class inside a decorated or exported one."""
    return field_of(node, "definition") or field_of(node, "declaration") or node


def _until(span: TextSpan, declared: Node, body: Node) -> TextSpan:
    """Return the head of a function or class, up to its body."""
    before = [child for child in declared.children if child.end_byte <= body.start_byte]
    end = span_of(before[-1]) if before else span
    return TextSpan(span.line, span.column, end.end_line, end.end_column)
