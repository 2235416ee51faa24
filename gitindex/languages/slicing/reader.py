"""Reads the statements of a unit into the IR, by the table of the language."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from gitindex.languages.scopes.model import FileScopes
from gitindex.languages.slicing.grammar import (
    Grammar,
    Parts,
    StatementRule,
    children_of,
    field_of,
    span_of,
    text_of,
)
from gitindex.languages.slicing.ir import Block, Statement, StatementKind, TextSpan, Trait, Unit
from gitindex.languages.slicing.walk import (
    ROLES,
    Findings,
    NodeContext,
    Placed,
    UnitVariables,
    ValueRole,
    Walker,
)

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH = 60
"""Most nested blocks; deeper code becomes one statement that may or may not run."""

_BLOCKS = """
    block statement_block statement_list module program source_file class_body constructor_body enum_body
    enum_body_declarations interface_body switch_body
"""
BLOCKS = frozenset(_BLOCKS.split())
_HANDLERS = ("catch_clause", "except_clause", "except_group_clause")
_ALWAYS = ("true", "(true)", "True", "1", "(1)")
_LABELS = ("statement_identifier", "label_name", "identifier")
_RULELESS = StatementRule("simple")


class StatementHead(NamedTuple):
    """A statement's own text, and what it defines and uses."""

    span: TextSpan
    findings: Findings


class StatementNode(NamedTuple):
    """A statement in the tree, how many blocks are around its own blocks, and the rule for its type."""

    node: Node
    depth: int
    rule: StatementRule


class Reader:
    """Reads one unit."""

    def __init__(self, grammar: Grammar, scopes: FileScopes | None) -> None:
        self.grammar = grammar
        self._rules = grammar.statements
        self._scopes = scopes
        self._results: tuple[Node, ...] = ()  # named results of the function
        self._ids = count()
        self._outer = False  # the unit is a file or a class: functions are only declared in it

    def unit(self, node: Node, name: str) -> Unit:
        """Return the unit that begins at this node."""
        blocks = (child for child in node.named_children if child.type in BLOCKS)
        body = field_of(node, "body") or next(blocks, None)
        self._variables = UnitVariables(self._scopes, node, body)
        if node.type in self.grammar.functions:
            entry = self._entry(node)
            return Unit(name, "function", span_of(node), (*entry, *self._function(body)))
        self._outer = True
        is_class = node.type in self.grammar.classes
        block = self._block(body if is_class and body is not None else node, 0)
        return Unit(name, "class" if is_class else "module", span_of(node), block)

    def _entry(self, node: Node) -> list[Statement]:
        """Return the head of a function, then one statement for each parameter."""
        start = span_of(node)
        end = span_of(field_of(node, "name") or node)
        same = TextSpan(start.line, start.column, start.line, start.column + 1)
        named = end._replace(line=start.line, column=start.column)
        head = StatementHead(named if end != start else same, Findings())
        entry = [self._make(StatementKind.ENTRY, head)]
        for name in self.grammar.parameters:
            for whole in node.children_by_field_name(name):
                entry += self._parameters(whole)
        results = field_of(node, self.grammar.results) if self.grammar.results else None
        if results is not None and results.type == "parameter_list":
            entry += self._parameters(results)
            named_results = (c.children_by_field_name("name") for c in results.named_children)
            self._results = tuple(name for names in named_results for name in names)
        return entry

    def _parameters(self, whole: Node) -> list[Statement]:
        each = [whole] if whole.type in self.grammar.names else children_of(whole)
        context = NodeContext(ValueRole.STORE)
        return [self._make(StatementKind.ENTRY, self._head((node, context))) for node in each]

    def _function(self, body: Node | None) -> Block:
        if body is None or body.type in BLOCKS:
            return self._block(body, 0)
        return (self._make(StatementKind.RETURN, self._head((body, NodeContext()))),)

    def _block(self, node: Node | None, depth: int) -> Block:
        """Return the statements of a block, or the one statement in place of a block."""
        if node is None:
            return ()
        return self._sequence(node.named_children if node.type in BLOCKS else [node], depth)

    def _sequence(self, nodes: Iterable[Node], depth: int) -> Block:
        """Return statements in order, hoisted ones first."""
        ordered = list(nodes)
        if self.grammar.hoisted:
            ordered.sort(key=lambda node: _declared(node).type not in self.grammar.hoisted)
        return tuple(s for node in ordered for s in self._statement(node, depth))

    def _statement(self, node: Node, depth: int) -> list[Statement]:
        """Return the steps of one statement."""
        kind = node.type
        if (node.is_extra and kind != "ERROR") or kind in self.grammar.skipped:
            return []
        if depth > MAX_DEPTH:
            return [self._simple(node, conditional=True)]
        if kind == "ERROR" or kind in BLOCKS:
            return list(self._sequence(node.named_children, depth + 1))
        rule = self._rules.get(kind, _RULELESS)
        return _READERS[rule.read](self, StatementNode(node, depth + 1, rule))

    def _simple(
        self,
        node: Node,
        kind: StatementKind = StatementKind.SIMPLE,
        conditional: bool = False,
    ) -> Statement:
        """Return a statement without blocks."""
        head = self._head((node, NodeContext(ValueRole.DROP, conditional)))
        declared = _declared(node)
        nested = self.grammar.functions | self.grammar.classes
        body = field_of(declared, "body") if declared.type in nested else None
        if body is not None and self._outer:
            head = head._replace(span=_until(span_of(node), declared, body))
        return self._make(kind, head)

    def _head(self, *placed: Placed, start: Node | None = None) -> StatementHead:
        """Return what some nodes define and use, and the text from `start` to the last of them.

        Without nodes it is the first word of `start`.
        """
        present = [(node, context) for node, context in placed if node is not None]
        findings = Walker(self.grammar, self._variables).walk(present)
        spans = [span_of(node) for node, _ in present]
        if start is not None:
            spans.append(span_of(start.children[0] if start.children else start))
        first, last = min(spans), max(spans, key=lambda span: (span.end_line, span.end_column))
        return StatementHead(first._replace(end_line=last[2], end_column=last[3]), findings)

    def _select(self, parts: Parts, node: Node) -> list[tuple[Node, NodeContext]]:
        context = NodeContext()
        return [(each, ROLES[role](context)) for part in parts for each, role in part.of(node)]

    def _steps(self, parts: Parts, node: Node, depth: int) -> Block:
        """Return the statements that a part of another one consists of."""
        nodes = [each for each, _ in self._select(parts, node)]
        return self._sequence(nodes, depth)

    def _make(self, kind: StatementKind, head: StatementHead, *traits: Trait) -> Statement:
        """Return a statement of the IR, without its blocks."""
        if head.findings.raises:
            traits = (*traits, Trait.MAY_RAISE)
        return Statement(
            next(self._ids),
            kind,
            _trimmed(head.span),
            tuple(head.findings.definitions),
            tuple(head.findings.uses),
            traits=frozenset(traits),
        )

    def read_simple(self, at: StatementNode) -> list[Statement]:
        """Read a statement without blocks."""
        node = at.node
        return [self._simple(node)]

    def read_jump(self, at: StatementNode) -> list[Statement]:
        """Read a statement that jumps elsewhere; a bare return returns the named results."""
        node, _, rule = at
        kind = StatementKind(rule.read)
        if kind is StatementKind.RETURN and self._results and not node.named_child_count:
            head = self._head(start=node)
            read = self._head(*((name, NodeContext()) for name in self._results)).findings
            read.uses[:] = [use._replace(span=head.span) for use in read.uses]
            return [self._make(kind, head._replace(findings=read))]
        made = self._simple(node, kind)
        if kind in (StatementKind.RETURN, StatementKind.RAISE):
            return [made]
        return [replace(made, label=_label_of(node))]

    def read_inner(self, at: StatementNode) -> list[Statement]:
        """Read what is exported, or an expression that is a statement."""
        node, depth, _ = at
        inside = children_of(node)
        inner = field_of(node, "declaration") or (inside[0] if len(inside) == 1 else node)
        is_statement = inner is not node and inner.type in self._rules
        if is_statement or field_of(node, "declaration") is not None:
            return self._statement(inner, depth)
        return [self._simple(node)]

    def read_declare(self, at: StatementNode) -> list[Statement]:
        """Read one statement for each variable, the keyword with the first that is not in a group."""
        node, _, rule = at
        each = self._select(rule.each, node)
        for child in [] if each else node.named_children:
            each += self._select(rule.each, child)
        visited = {each.id for each, _ in self._select(self._visits(node), node)}
        made: list[Statement] = []
        for variable, context in each:
            grouped = len(each) > 1 and _has(variable.parent, "(")
            head = self._head((variable, context), start=None if made or grouped else node)
            if visited and variable.id not in visited:
                head = head._replace(findings=Findings())  # its variable keeps its value
            made.append(self._make(StatementKind.SIMPLE, head))
        return made

    def _visits(self, node: Node) -> Parts:
        """Return what the walker visits of a node."""
        parts = self.grammar.visit.get(node.type, ())
        return () if isinstance(parts, str) else parts

    def read_if(self, at: StatementNode) -> list[Statement]:
        """Read an if with its else-ifs; variables declared in its head are visible in all branches."""
        node, depth, _ = at
        before: list[Statement] = []
        heads: list[tuple[StatementHead, Block]] = []
        otherwise: Block = ()
        rest = [node]
        while rest:
            part = rest.pop(0)
            body = field_of(part, "consequence")
            if body is not None:
                initializer = field_of(part, "initializer")
                before += self._block(initializer, depth)
                head = self._head((field_of(part, "condition"), NodeContext()), start=part)
                heads.append((head, self._block(body, depth)))
                rest += part.children_by_field_name("alternative")
            elif part.type == "else_clause" and field_of(part, "body") is None:
                rest += children_of(part)[:1]
            else:
                otherwise = self._block(field_of(part, "body") or part, depth)
        for head, taken in reversed(
            heads
        ):  # from the end: a chain may be longer than the stack is deep
            made = self._make(StatementKind.BRANCH, head)
            otherwise = (replace(made, body=taken, otherwise=otherwise),)
        return [*before, *otherwise]

    def _loop(self, node: Node, depth: int, head: StatementHead, *traits: Trait) -> Statement:
        alternative = field_of(node, "alternative")
        return replace(
            self._make(StatementKind.LOOP, head, *traits),
            body=self._block(field_of(node, "body"), depth),
            otherwise=self._block(alternative and field_of(alternative, "body"), depth),
        )

    def read_while(self, at: StatementNode) -> list[Statement]:
        """Read a loop with a test before its body, or after it."""
        node, depth, rule = at
        condition = field_of(node, "condition")
        if rule.read == "do":
            head = self._head((condition, NodeContext()), start=None if condition else node)
            return [self._loop(node, depth, head, Trait.TESTED_LAST)]
        endless = condition is not None and text_of(condition) in _ALWAYS
        head = self._head((condition, NodeContext()), start=node)
        return [self._loop(node, depth, head, *([Trait.ENDLESS] if endless else []))]

    def read_for(self, at: StatementNode) -> list[Statement]:
        """Read `for (before; condition; after) …`, whose three parts may be in a clause of their own."""
        node, depth, rule = at
        clauses = (c for c in children_of(node) if c.type in ("for_clause", "range_clause"))
        clause = next(clauses, node)
        rule = self._rules[clause.type]
        if rule.read == "each":
            return self.read_each(StatementNode(node, depth, rule), clause)
        before = self._steps(rule.before, clause, depth)
        tests = [
            (test, context)
            for test, context in self._select(rule.head, clause)
            if test.is_named and test.type not in self.grammar.skipped
        ][:1]
        head = self._head(*tests, start=node)
        loop = self._loop(node, depth, head, *([] if tests else [Trait.ENDLESS]))
        return [*before, replace(loop, last=self._steps(rule.after, clause, depth))]

    def read_each(self, at: StatementNode, clause: Node | None = None) -> list[Statement]:
        """Read a loop over elements; its target is written at the start of every iteration."""
        node, depth, rule = at
        clause = clause or node
        head = self._head(*self._select(rule.head, clause), start=node)
        head.findings.raises = True  # the iterator may raise
        loop = self._loop(node, depth, head)
        targets = self._select(rule.target, clause)
        stored = [self._make(StatementKind.SIMPLE, self._head(*targets))] if targets else []
        return [replace(loop, body=(*stored, *loop.body))]

    def read_guard(self, at: StatementNode) -> list[Statement]:
        """Read a block with resources or a lock: it runs after its head."""
        node, depth, rule = at
        head = self._head(*self._select(rule.head, node), start=node)
        return [self._make(StatementKind.SIMPLE, head), *self._block(field_of(node, "body"), depth)]

    def read_labelled(self, at: StatementNode) -> list[Statement]:
        """Read a statement with a label before it; what is no loop or switch becomes a block."""
        node, depth, _ = at
        label = _label_of(node)
        inner = self._sequence(children_of(node)[1:], depth)
        if inner and inner[-1].kind in (StatementKind.LOOP, StatementKind.SWITCH):
            return [*inner[:-1], replace(inner[-1], label=label)]
        head = StatementHead(inner[0].span if inner else TextSpan(0, 0, 0, 0), Findings())
        return [replace(self._make(StatementKind.BLOCK, head), body=inner, label=label)]

    def read_switch(self, at: StatementNode) -> list[Statement]:
        """Read a statement that runs one of several cases."""
        node, depth, rule = at
        before = self._steps(rule.before, node, depth)
        head = self._head(*self._select(rule.head, node), start=node)
        clauses = [c for c in children_of(field_of(node, "body") or node) if c.type in rule.cases]
        cases = []
        for clause in clauses:
            labels = self._head(*self._select(rule.labels, clause), start=clause)
            body = self._steps(rule.body, clause, depth + 1)
            cases.append((self._make(StatementKind.CASE, labels), *body))
        traits = [Trait[name.upper()] for name in rule.traits]
        if any(clause.type in rule.falls for clause in clauses):
            traits.append(Trait.FALLS)
        if any(self._is_default(clause, rule) for clause in clauses):
            traits.append(Trait.COMPLETE)
        made = self._make(StatementKind.SWITCH, head, *traits)
        return [*before, replace(made, cases=tuple(cases))]

    def _is_default(self, clause: Node, rule: StatementRule) -> bool:
        """Is a case chosen whatever the value is? A pattern is, if it is one name without a test."""
        labels = [label for label, _ in self._select(rule.labels, clause)]
        if clause.type in rule.defaults or any(_has(label, "default") for label in labels):
            return True
        (first, *_) = labels[0].children if len(labels) == 1 and labels[0].children else [clause]
        return first.type == "_" or (first.type == "dotted_name" and first.child_count == 1)

    def read_try(self, at: StatementNode) -> list[Statement]:
        """Read a try with its handlers; its resources come first in its body."""
        node, depth, _ = at
        resources = field_of(node, "resources")
        opened = self._sequence(resources.named_children if resources else (), depth)
        handlers = [child for child in node.named_children if child.type in _HANDLERS]
        complete = any(self._catches_all(handler) for handler in handlers)
        others = {child.type: child for child in node.named_children}
        made = self._make(
            StatementKind.TRY, self._head(start=node), *([Trait.COMPLETE] if complete else [])
        )
        return [
            replace(
                made,
                body=opened + self._block(field_of(node, "body"), depth),
                otherwise=self._block(_block_in(others.get("else_clause")), depth),
                last=self._block(_block_in(others.get("finally_clause")), depth),
                cases=tuple(self._handler(handler, depth) for handler in handlers),
            )
        ]

    def _handler(self, node: Node, depth: int) -> Block:
        context = ROLES[self.grammar.caught](NodeContext())
        head = self._head(*((part, context) for part in self._caught(node)), start=node)
        return (self._make(StatementKind.CASE, head), *self._block(_block_in(node), depth))

    def _caught(self, handler: Node) -> list[Node]:
        """Return what stands between a handler's keyword and its block."""
        skipped = BLOCKS | self.grammar.skipped
        return [child for child in children_of(handler) if child.type not in skipped]

    def _catches_all(self, handler: Node) -> bool:
        caught = self._caught(handler)
        if not caught or not self.grammar.catch_all:
            return True
        typed = children_of(caught[0]) or caught
        named = [child for child in typed if child.type == "catch_type"]
        kind = (named or (typed if caught[0].type == "as_pattern" else caught))[0]
        return text_of(kind) in self.grammar.catch_all


_Read = Callable[[Reader, StatementNode], list[Statement]]
_READERS: dict[str, _Read] = {
    "simple": Reader.read_simple,
    "inner": Reader.read_inner,
    "declare": Reader.read_declare,
    "if": Reader.read_if,
    "while": Reader.read_while,
    "do": Reader.read_while,
    "for": Reader.read_for,
    "each": Reader.read_each,
    "guard": Reader.read_guard,
    "labelled": Reader.read_labelled,
    "switch": Reader.read_switch,
    "try": Reader.read_try,
    **dict.fromkeys(("return", "raise", "break", "continue", "goto", "fall"), Reader.read_jump),
}


def _trimmed(span: TextSpan) -> TextSpan:
    """Remove the line end that some grammars count as part of a statement."""
    if span.end_column == 0 and span.end_line > span.line:
        return span._replace(end_line=span.end_line - 1, end_column=1 << 20)
    return span


def _label_of(node: Node) -> str:
    """Return the label of a jump or of a labelled statement."""
    label = field_of(node, "label") or next(iter(node.named_children), None)
    return text_of(label) if label is not None and label.type in _LABELS else ""


def _has(node: Node | None, word: str) -> bool:
    """Is a keyword a direct part of a node?"""
    return node is not None and any(child.type == word for child in node.children)


def _block_in(clause: Node | None) -> Node | None:
    """Return the block of a clause, for which not every grammar has a field."""
    if clause is None:
        return None
    blocks = (child for child in clause.named_children if child.type in BLOCKS)
    return field_of(clause, "body") or next(blocks, None)


def _declared(node: Node) -> Node:
    """Return the function or class inside a decorated or exported one."""
    return field_of(node, "definition") or field_of(node, "declaration") or node


def _until(span: TextSpan, declared: Node, body: Node) -> TextSpan:
    """Return the head of a function or class, up to its body."""
    before = [child for child in declared.children if child.end_byte <= body.start_byte]
    end = span_of(before[-1]) if before else span
    return TextSpan(span.line, span.column, end.end_line, end.end_column)
