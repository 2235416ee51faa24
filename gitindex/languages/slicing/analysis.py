"""Slices of one unit: what a statement depends on, and what it influences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from gitindex.languages.slicing.control import control_dependence
from gitindex.languages.slicing.flow import DefSite, Flow, UseSite
from gitindex.languages.slicing.graph import build_graph
from gitindex.languages.slicing.ir import (
    Block,
    Statement,
    StatementKind,
    Unit,
    VariableRead,
    VariableWrite,
)

_VALUED = (StatementKind.RETURN, StatementKind.RAISE)


class _Reached(NamedTuple):
    """A statement of a slice; bare if only its jump belongs to the slice, not its value."""

    statement: int
    bare: bool = False


class Analysis:
    """Answers all questions about one unit. Statements are identified by their ids."""

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

    def definitions_of(self, statement: int, use: VariableRead) -> set[DefSite]:
        """Return the definitions that reach one use."""
        nodes = self._nodes[statement]
        return set().union(*(self._flow.definitions_of(node, use) for node in nodes))

    def uses_of(self, statement: int, definition: VariableWrite) -> set[UseSite]:
        """Return the uses that one definition reaches."""
        nodes = self._nodes[statement]
        return set().union(*(self._flow.uses_of(node, definition) for node in nodes))

    def backward(self, statements: Iterable[int]) -> set[int]:
        """Return these statements and everything they depend on."""
        return _closure((_Reached(id) for id in statements), self._dependencies)

    def forward(self, statements: Iterable[int]) -> set[int]:
        """Return these statements and everything they influence."""
        return _closure((_Reached(id) for id in statements), self._dependents)

    def backward_of_use(self, statement: int, use: VariableRead) -> set[int]:
        """Return what the value of one use and the execution of its statement depend on."""
        sources = {_Reached(site.statement) for site in self.definitions_of(statement, use)}
        return {statement} | _closure(sources.union(self._deciding(statement)), self._dependencies)

    def forward_of_definition(self, statement: int, definition: VariableWrite) -> set[int]:
        """Return what the value of one definition influences."""
        readers = map(self._reading, self.uses_of(statement, definition))
        return {statement} | _closure(readers, self._dependents)

    def _dependencies(self, reached: _Reached) -> Iterator[_Reached]:
        statement = self.statements[reached.statement]
        if not reached.bare:
            for use in statement.uses:
                sites = self.definitions_of(statement.id, use)
                yield from (_Reached(site.statement) for site in sites)
        yield from self._deciding(statement.id)

    def _deciding(self, statement: int) -> Iterator[_Reached]:
        """Yield what decides whether a statement runs; of a return or raise, not its value."""
        caught = self.statements[statement].kind is StatementKind.CASE
        for node in self._nodes[statement]:
            for decider in map(self._at, self._deciders[node]):
                yield _Reached(decider.id, decider.kind in _VALUED and not caught)

    def _dependents(self, reached: _Reached) -> Iterator[_Reached]:
        statement = self.statements[reached.statement]
        for definition in statement.definitions:
            yield from map(self._reading, self.uses_of(statement.id, definition))
        for node in self._nodes[statement.id]:
            for decided in map(self._at, self._decided[node]):
                if not reached.bare or decided.kind is StatementKind.CASE:
                    yield _Reached(decided.id)

    def _reading(self, site: UseSite) -> _Reached:
        """Return the statement of a use; bare if it returns or raises the value it reads."""
        return _Reached(site.statement, self.statements[site.statement].kind in _VALUED)

    def _at(self, node: int) -> Statement:
        statement = self._graph.statements[node]
        assert statement is not None
        return statement


def flatten(block: Block) -> Iterator[Statement]:
    """Yield every statement of a block, including nested ones."""
    stack = [block]
    while stack:
        for statement in stack.pop():
            yield statement
            stack += (statement.body, statement.otherwise, statement.last, *statement.cases)


def lines_of(statements: Iterable[Statement]) -> list[int]:
    """Return the lines of these statements."""
    found: set[int] = set()
    for statement in statements:
        span = statement.span
        found.update(range(span.line, span.end_line + 1))
    return sorted(found)


def _closure(start: Iterable[_Reached], step: Callable[[_Reached], Iterable[_Reached]]) -> set[int]:
    found = set(start)
    stack = list(found)
    while stack:
        for other in step(stack.pop()):
            if other not in found:
                found.add(other)
                stack.append(other)
    return {reached.statement for reached in found}
