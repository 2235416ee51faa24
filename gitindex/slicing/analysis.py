"""Slices of one unit: what a statement depends on, and what it influences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from gitindex.slicing.control import control_dependence
from gitindex.slicing.flow import DefSite, Flow, UseSite
from gitindex.slicing.graph import build_graph
from gitindex.slicing.ir import Block, Definition, Statement, Unit, Use


class Analysis:
    """All questions about one unit. Statements are named by their ids."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.statements = {s.id: s for s in flatten(unit.body)}
        self._graph = build_graph(unit.body)
        self._flow = Flow(self._graph)
        self._nodes: dict[int, list[int]] = defaultdict(list)
        for node, statement in enumerate(self._graph.statements):
            if statement is not None:
                self._nodes[statement.id].append(node)
        self._deciders = control_dependence(self._graph)
        self._decided: list[set[int]] = [set() for _ in self._deciders]
        for node, deciders in enumerate(self._deciders):
            for decider in deciders:
                self._decided[decider].add(node)

    def definitions_of(self, statement: int, use: Use) -> set[DefSite]:
        """The definitions that reach one use."""
        nodes = self._nodes[statement]
        return set().union(*(self._flow.definitions_of(node, use) for node in nodes))

    def uses_of(self, statement: int, definition: Definition) -> set[UseSite]:
        """The uses that one definition reaches."""
        nodes = self._nodes[statement]
        return set().union(*(self._flow.uses_of(node, definition) for node in nodes))

    def backward(self, statements: Iterable[int]) -> set[int]:
        """These statements and all they depend on."""
        return _closure(statements, self._dependencies)

    def forward(self, statements: Iterable[int]) -> set[int]:
        """These statements and all they influence."""
        return _closure(statements, self._dependents)

    def backward_of_use(self, statement: int, use: Use) -> set[int]:
        """What the value of one use depends on, and whether its statement runs."""
        sources = {site.statement for site in self.definitions_of(statement, use)}
        return {statement} | self.backward(sources | self._deciding(statement))

    def forward_of_definition(self, statement: int, definition: Definition) -> set[int]:
        """What the value of one definition influences."""
        readers = {site.statement for site in self.uses_of(statement, definition)}
        return {statement} | self.forward(readers)

    def _dependencies(self, statement: int) -> Iterator[int]:
        for use in self.statements[statement].uses:
            yield from (site.statement for site in self.definitions_of(statement, use))
        yield from self._deciding(statement)

    def _deciding(self, statement: int) -> set[int]:
        nodes = self._nodes[statement]
        return {self._id(decider) for node in nodes for decider in self._deciders[node]}

    def _dependents(self, statement: int) -> Iterator[int]:
        for definition in self.statements[statement].definitions:
            yield from (site.statement for site in self.uses_of(statement, definition))
        for node in self._nodes[statement]:
            yield from (self._id(decided) for decided in self._decided[node])

    def _id(self, node: int) -> int:
        statement = self._graph.statements[node]
        assert statement is not None
        return statement.id


def flatten(block: Block) -> Iterator[Statement]:
    """Every statement of a block, those below it included."""
    stack = [block]
    while stack:
        for statement in stack.pop():
            yield statement
            stack += (statement.body, statement.otherwise, statement.last, *statement.cases)


def lines_of(statements: Iterable[Statement]) -> list[int]:
    """The lines these statements stand on."""
    found: set[int] = set()
    for statement in statements:
        span = statement.span
        found.update(range(span.line, span.end_line + 1))
    return sorted(found)


def _closure(start: Iterable[int], step: Callable[[int], Iterable[int]]) -> set[int]:
    found = set(start)
    stack = list(found)
    while stack:
        for other in step(stack.pop()):
            if other not in found:
                found.add(other)
                stack.append(other)
    return found
