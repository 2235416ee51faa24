"""Slices of one unit: what a statement depends on, and what it influences.

Reaching definitions are computed on demand, back from a use.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from gitindex.languages.slicing.graph import FlowGraph, build_graph, control_dependence
from gitindex.languages.slicing.ir import (
    Block,
    Statement,
    StatementKind,
    Unit,
    VariableRead,
    VariableWrite,
)

_VALUED = (StatementKind.RETURN, StatementKind.RAISE)


class DefSite(NamedTuple):
    """A definition and its statement."""

    statement: int
    definition: VariableWrite


class UseSite(NamedTuple):
    """A use and its statement."""

    statement: int
    use: VariableRead


class Flow:
    """Answers about one graph, computed on demand."""

    def __init__(self, graph: FlowGraph) -> None:
        self._graph = graph
        self._before = _reversed(graph.after)
        self._thrown_from = _reversed(graph.thrown)
        self._defined: list[dict[int, list[VariableWrite]]] = []
        self._all_defined: dict[int, set[DefSite]] = defaultdict(set)
        self._shared: set[int] = set()
        self._reaching: dict[tuple[int, int], set[DefSite]] = {}
        self._runs = _reachable(graph)
        for statement in graph.statements:
            self._defined.append(self._note(statement))

    def _note(self, statement: Statement | None) -> dict[int, list[VariableWrite]]:
        written: dict[int, list[VariableWrite]] = defaultdict(list)
        if statement is None:
            return written
        for definition in statement.definitions:
            written[definition.variable].append(definition)
            self._all_defined[definition.variable].add(DefSite(statement.id, definition))
            if definition.captured:
                self._shared.add(definition.variable)
        return written

    def definitions_of(self, node: int, use: VariableRead) -> set[DefSite]:
        """Return the definitions whose value this use may read."""
        if use.captured:
            return set(self._all_defined[use.variable])
        own = [d for d in self._defined[node].get(use.variable, ()) if d.early]
        sites = {DefSite(self._id(node), definition) for definition in own}
        if not self._is_overwritten(own, use) and use.variable in self._all_defined:
            key = (node, use.variable)
            if key not in self._reaching:
                self._reaching[key] = self._search_back(*key)
            sites |= self._reaching[key]
        return sites

    def _search_back(self, node: int, variable: int) -> set[DefSite]:
        sites: set[DefSite] = set()
        seen: set[tuple[int, bool]] = set()
        stack = list(self._ways_back(node))
        while stack:
            here, thrown = stack.pop()
            if (here, thrown) in seen or (node in self._runs and here not in self._runs):
                continue  # unreachable code defines nothing for reachable code
            seen.add((here, thrown))
            made = self._defined[here].get(variable, ())
            sites |= {DefSite(self._id(here), definition) for definition in made}
            if thrown or not self._kills(here, variable):
                stack += self._ways_back(here)
        return sites

    def _ways_back(self, node: int) -> Iterator[tuple[int, bool]]:
        yield from ((before, False) for before in self._before[node])
        yield from ((before, True) for before in self._thrown_from[node])

    def _is_overwritten(self, own: Iterable[VariableWrite], use: VariableRead) -> bool:
        """Does its own statement certainly assign the variable before this use?"""
        shared = use.variable in self._shared
        return not shared and any(not d.weak and d.span < use.span for d in own)

    def _kills(self, node: int, variable: int) -> bool:
        """Does a node overwrite a variable? Never if shared: a closure may write it at any time."""
        made = self._defined[node].get(variable, ())
        return variable not in self._shared and any(not d.weak for d in made)

    def _statement(self, node: int) -> Statement:
        statement = self._graph.statements[node]
        assert statement is not None
        return statement

    def _id(self, node: int) -> int:
        return self._statement(node).id


def _reachable(graph: FlowGraph) -> set[int]:
    """Return the nodes that an execution can reach; the unit begins at node 1."""
    reached: set[int] = set()
    stack = [1] if len(graph.statements) > 1 else []
    while stack:
        node = stack.pop()
        if node not in reached:
            reached.add(node)
            stack += graph.after[node] | graph.thrown[node]
    return reached


def _reversed(edges: list[set[int]]) -> list[list[int]]:
    back: list[list[int]] = [[] for _ in edges]
    for node, targets in enumerate(edges):
        for target in targets:
            back[target].append(node)
    return back


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
        self._readers: dict[int, dict[DefSite, set[UseSite]]] = {}
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
        """Return the uses that one definition reaches: those that it is found from."""
        variable = definition.variable
        if variable not in self._readers:
            readers = self._readers[variable] = defaultdict(set)
            sites = (UseSite(s.id, use) for s in self.statements.values() for use in s.uses)
            for user in (site for site in sites if site.use.variable == variable):
                for made in self.definitions_of(*user):
                    readers[made].add(user)
        return self._readers[variable][DefSite(statement, definition)]

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
    lines: set[int] = set()
    for statement in statements:
        span = statement.span
        lines.update(range(span.line, span.end_line + 1))
    return sorted(lines)


def _closure(start: Iterable[_Reached], step: Callable[[_Reached], Iterable[_Reached]]) -> set[int]:
    closed = set(start)
    stack = list(closed)
    while stack:
        for other in step(stack.pop()):
            if other not in closed:
                closed.add(other)
                stack.append(other)
    return {reached.statement for reached in closed}
