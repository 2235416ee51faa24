"""Reaching definitions, computed on demand: back from a use, or forward from a definition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gitindex.languages.slicing.graph import FlowGraph
from gitindex.languages.slicing.ir import Statement, VariableRead, VariableWrite


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
        self._captured: dict[int, set[UseSite]] = defaultdict(set)
        self._shared: set[int] = set()
        self._reaching: dict[tuple[int, int], set[DefSite]] = {}
        self._runs = _reachable(graph)
        for statement in graph.statements:
            self._defined.append(self._note(statement))

    def _note(self, statement: Statement | None) -> dict[int, list[VariableWrite]]:
        found: dict[int, list[VariableWrite]] = defaultdict(list)
        if statement is None:
            return found
        for definition in statement.definitions:
            found[definition.variable].append(definition)
            self._all_defined[definition.variable].add(DefSite(statement.id, definition))
            if definition.captured:
                self._shared.add(definition.variable)
        for use in statement.uses:
            if use.captured:
                self._captured[use.variable].add(UseSite(statement.id, use))
        return found

    def definitions_of(self, node: int, use: VariableRead) -> set[DefSite]:
        """Return the definitions whose value this use may read."""
        if use.captured:
            return set(self._all_defined[use.variable])
        own = [d for d in self._defined[node].get(use.variable, ()) if d.early]
        found = {DefSite(self._id(node), definition) for definition in own}
        if not self._is_settled(own, use) and use.variable in self._all_defined:
            asked = (node, use.variable)
            if asked not in self._reaching:
                self._reaching[asked] = self._search_back(*asked)
            found |= self._reaching[asked]
        return found

    def uses_of(self, node: int, definition: VariableWrite) -> set[UseSite]:
        """Return the uses that may read this definition's value."""
        variable = definition.variable
        found = set(self._captured[variable])
        if definition.early:
            own = self._statement(node).uses
            found |= {UseSite(self._id(node), use) for use in own if use.variable == variable}
        seen: set[int] = set()
        stack = [*self._graph.after[node], *self._graph.thrown[node]]
        while stack:
            here = stack.pop()
            if here in seen or self._graph.statements[here] is None:
                continue
            if here in self._runs and node not in self._runs:
                continue
            seen.add(here)
            found |= set(self._seen_uses(here, variable))
            stack += self._graph.thrown[here]
            if not self._kills(here, variable):
                stack += self._graph.after[here]
        return found

    def _search_back(self, node: int, variable: int) -> set[DefSite]:
        found: set[DefSite] = set()
        seen: set[tuple[int, bool]] = set()
        stack = list(self._ways_back(node))
        while stack:
            here, thrown = stack.pop()
            if (here, thrown) in seen or (node in self._runs and here not in self._runs):
                continue  # unreachable code defines nothing for reachable code
            seen.add((here, thrown))
            made = self._defined[here].get(variable, ())
            found |= {DefSite(self._id(here), definition) for definition in made}
            if thrown or not self._kills(here, variable):
                stack += self._ways_back(here)
        return found

    def _ways_back(self, node: int) -> Iterator[tuple[int, bool]]:
        yield from ((before, False) for before in self._before[node])
        yield from ((before, True) for before in self._thrown_from[node])

    def _seen_uses(self, node: int, variable: int) -> Iterator[UseSite]:
        own = [d for d in self._defined[node].get(variable, ()) if d.early]
        for use in self._statement(node).uses:
            if use.variable == variable and not self._is_settled(own, use):
                yield UseSite(self._id(node), use)

    def _is_settled(self, own: Iterable[VariableWrite], use: VariableRead) -> bool:
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
    found: set[int] = set()
    stack = [1] if len(graph.statements) > 1 else []
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack += graph.after[node] | graph.thrown[node]
    return found


def _reversed(edges: list[set[int]]) -> list[list[int]]:
    back: list[list[int]] = [[] for _ in edges]
    for node, targets in enumerate(edges):
        for target in targets:
            back[target].append(node)
    return back
