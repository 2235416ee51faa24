"""The control-flow graph of a unit, and which nodes decide whether a node runs.

A statement may have several nodes, as in finally blocks.
"""

from __future__ import annotations

from typing import NamedTuple

from gitindex.languages.slicing.ir import JUMPS, Block, Statement, StatementKind, Trait

MAX_NODES = 40_000
"""Most nodes of a graph: copies of finally blocks multiply, and larger units are not analysed."""

EXIT = 0


class TooLarge(Exception):
    """The unit has more than MAX_NODES steps."""


class FlowGraph(NamedTuple):
    """Nodes by number; node 0 is the exit and has no statement."""

    statements: list[Statement | None]
    after: list[set[int]]  # what may run next
    thrown: list[set[int]]  # what runs next if this node raises
    guarded: list[set[int]]  # `after`, and where a jump would have gone on: for control dependence
    raisers: dict[int, set[int]]  # handler → the nodes that may raise into it


class _Edge(NamedTuple):
    """A way out of a node that has no target yet."""

    node: int
    real: bool = True  # False: never executed, but needed for control dependence
    decides: bool = True  # False: taken after a failure, ignored by control dependence


_Edges = list[_Edge]


class _Target:
    """A statement that jumps can leave: a loop, a switch, a labelled block, a try."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        self.breaks: _Edges = []
        self.continues: _Edges = []
        self.raises: _Edges = []
        self.falls: _Edges = []
        self.handling = True  # for a try: its body is being built, not its handlers


def build_graph(body: Block) -> FlowGraph:
    """Return the graph of a unit's body. Raises TooLarge above MAX_NODES."""
    return _Builder().build(body)


class _Builder:
    def __init__(self) -> None:
        self._graph = FlowGraph([None], [set()], [set()], [set()], {})
        self._targets: list[_Target] = []
        self._labels: dict[str, int] = {}
        self._gotos: list[tuple[int, str]] = []

    def build(self, body: Block) -> FlowGraph:
        self._link(self._block(body, []), EXIT)
        for node, label in self._gotos:
            self._link([_Edge(node)], self._labels.get(label, EXIT))
        return self._graph

    def _add(self, statement: Statement, before: _Edges) -> int:
        graph = self._graph
        node = len(graph.statements)
        if node >= MAX_NODES:
            raise TooLarge
        graph.statements.append(statement)
        for edges in (graph.after, graph.thrown, graph.guarded):
            edges.append(set())
        self._link(before, node)
        return node

    def _link(self, edges: _Edges, target: int) -> None:
        for edge in edges:
            if edge.decides:
                self._graph.guarded[edge.node].add(target)
            if edge.real:
                self._graph.after[edge.node].add(target)

    def _block(self, block: Block, edges: _Edges) -> _Edges:
        for statement in block:
            edges = self._statement(statement, edges)
        return edges

    def _statement(self, statement: Statement, edges: _Edges) -> _Edges:
        if statement.label and statement.kind not in JUMPS:
            self._labels.setdefault(statement.label, len(self._graph.statements))
        if statement.kind in JUMPS:
            return self._jump(statement, edges)
        match statement.kind:
            case StatementKind.BRANCH:
                return self._branch(statement, edges)
            case StatementKind.LOOP:
                return self._loop(statement, edges)
            case StatementKind.SWITCH:
                return self._switch(statement, edges)
            case StatementKind.TRY:
                return self._try(statement, edges)
            case StatementKind.BLOCK:
                return self._labelled(statement, edges)
            case _:
                return [_Edge(self._add(statement, edges))]

    def _branch(self, statement: Statement, edges: _Edges) -> _Edges:
        """Build a chain of else-ifs in a loop: it may be longer than the stack is deep."""
        out: _Edges = []
        while True:
            head = [_Edge(self._add(statement, edges))]
            out += self._block(statement.body, head)
            rest = statement.otherwise
            if len(rest) != 1 or rest[0].kind is not StatementKind.BRANCH:
                return out + self._block(rest, head)
            statement, edges = rest[0], head

    def _loop(self, statement: Statement, edges: _Edges) -> _Edges:
        if Trait.TESTED_LAST in statement.traits:
            return self._tested_last(statement, edges)
        head = self._add(statement, edges)
        target = self._enter(statement)
        out = self._block(statement.body, [_Edge(head)])
        self._link(self._block(statement.last, out + target.continues), head)
        self._targets.pop()
        failed = [_Edge(head, Trait.ENDLESS not in statement.traits)]
        return self._block(statement.otherwise, failed) + target.breaks

    def _tested_last(self, statement: Statement, edges: _Edges) -> _Edges:
        first = len(self._graph.statements)
        target = self._enter(statement)
        out = self._block(statement.body, edges)
        self._targets.pop()
        head = self._add(statement, out + target.continues)
        self._link([_Edge(head)], first)
        return [_Edge(head), *target.breaks]

    def _switch(self, statement: Statement, edges: _Edges) -> _Edges:
        head = self._add(statement, edges)
        target = self._enter(statement)
        out: _Edges = []
        falling: _Edges = []
        for case in statement.cases:
            chosen = self._block(case[:1], [_Edge(head)])
            ended = self._block(case[1:], chosen + falling)
            falling, target.falls = target.falls, []
            if Trait.FALLS in statement.traits:
                falling += ended
            else:
                out += ended
            out += [_Edge(edge.node, False) for edge in chosen]
        self._targets.pop()
        missed = [_Edge(head, Trait.COMPLETE not in statement.traits)]
        return out + falling + missed + target.breaks

    def _labelled(self, statement: Statement, edges: _Edges) -> _Edges:
        target = self._enter(statement)
        out = self._block(statement.body, edges)
        self._targets.pop()
        return out + target.breaks

    def _try(self, statement: Statement, edges: _Edges) -> _Edges:
        head = self._add(statement, edges)
        target = self._enter(statement)
        first = len(self._graph.statements)
        out = self._block(statement.body, [_Edge(head)])
        raisers = self._raisers(first, head)
        target.handling = False
        out = self._block(statement.otherwise, out)
        for case in statement.cases:
            catcher = self._block(case[:1], [*target.raises, _Edge(head, False)])
            self._throw(raisers, catcher)
            handled = self._block(case[1:], catcher)
            out += handled + [_Edge(edge.node, False) for edge in catcher]
        self._targets.pop()
        return self._finally(statement, out, first, head)

    def _finally(self, statement: Statement, out: _Edges, first: int, head: int) -> _Edges:
        if not statement.last:
            return out
        raisers = self._raisers(first, head)
        out = self._block(statement.last, out)
        begin = len(self._graph.statements)
        failing = self._block(statement.last, [_Edge(head, False)])
        if len(self._graph.statements) > begin:
            for node in raisers:
                self._graph.thrown[node].add(begin)
        going = [edge._replace(decides=False) for edge in failing if edge.real]
        self._leave(going, self._targets, StatementKind.RAISE)
        return out + [_Edge(edge.node, False) for edge in failing]

    def _raisers(self, first: int, head: int) -> list[int]:
        """Return the nodes from `first` on that may raise; all of them if none is known to."""
        made = range(first, len(self._graph.statements))
        raisers = [node for node in made if self._may_raise(node)]
        return raisers or list(made) or [head]

    def _may_raise(self, node: int) -> bool:
        statement = self._graph.statements[node]
        assert statement is not None
        return statement.kind is StatementKind.RAISE or Trait.MAY_RAISE in statement.traits

    def _throw(self, raisers: list[int], catcher: _Edges) -> None:
        for edge in catcher:
            self._graph.raisers.setdefault(edge.node, set()).update(raisers)
            for node in raisers:
                self._graph.thrown[node].add(edge.node)

    def _enter(self, statement: Statement) -> _Target:
        self._targets.append(_Target(statement))
        return self._targets[-1]

    def _jump(self, statement: Statement, edges: _Edges) -> _Edges:
        node = self._add(statement, edges)
        if statement.kind is StatementKind.GOTO:
            self._gotos.append((node, statement.label))
        else:
            self._leave([_Edge(node)], self._targets, statement.kind, statement.label)
        return [_Edge(node, False)]

    def _leave(
        self, edges: _Edges, targets: list[_Target], kind: StatementKind, label: str = ""
    ) -> None:
        """Connect a jump to its target, through the finally blocks on its way."""
        for depth in range(len(targets) - 1, -1, -1):
            target = targets[depth]
            if self._stops(target, edges, kind, label):
                return
            if target.statement.kind is StatementKind.TRY and target.statement.last:
                inside, self._targets = self._targets, targets[:depth]
                edges = self._block(target.statement.last, edges)
                self._targets = inside
        self._link(edges, EXIT)

    def _stops(self, target: _Target, edges: _Edges, kind: StatementKind, label: str) -> bool:
        statement = target.statement
        match kind:
            case StatementKind.RAISE if statement.kind is StatementKind.TRY and target.handling:
                target.raises += edges
                return Trait.COMPLETE in statement.traits and bool(statement.cases)
            case StatementKind.FALL if statement.kind is StatementKind.SWITCH:
                target.falls += edges
            case StatementKind.CONTINUE if statement.kind is StatementKind.LOOP and label in (
                "",
                statement.label,
            ):
                target.continues += edges
            case StatementKind.BREAK if label in ("", statement.label) and _breaks(
                statement, label
            ):
                target.breaks += edges
            case _:
                return False
        return True


def _breaks(statement: Statement, label: str) -> bool:
    """Can a break leave this statement? A plain block only by its label; a try never."""
    if statement.kind is StatementKind.BLOCK:
        return bool(label)
    if statement.kind is StatementKind.SWITCH:
        return Trait.UNBROKEN not in statement.traits
    return statement.kind is StatementKind.LOOP


def control_dependence(graph: FlowGraph) -> list[set[int]]:
    """Return for every node the nodes that decide whether it runs.

    A jump counts as a decision between its target and the next statement (Ball and Horwitz), so
    code after an early return depends on it. A handler depends on all nodes that may raise into it.
    """
    after = graph.guarded
    parent = _post_dominators(after)
    deciders: list[set[int]] = [set() for _ in after]
    for node, targets in enumerate(after):
        if len(targets) < 2 or node not in parent:
            continue
        for target in targets:
            runner = target
            while runner != parent[node]:
                deciders[runner].add(node)
                runner = parent[runner]
    deciders = [_through_tries(graph, node, deciders) for node in range(len(after))]
    for handler, raisers in graph.raisers.items():
        deciders[handler] |= raisers
    return deciders


def _through_tries(graph: FlowGraph, node: int, deciders: list[set[int]]) -> set[int]:
    """Return a node's deciders. A try decides only on its handlers; else its own deciders count."""
    if _kind(graph, node) is StatementKind.CASE:
        return set(deciders[node])
    outer: set[int] = set()
    seen: set[int] = set()
    stack = list(deciders[node])
    while stack:
        decider = stack.pop()
        if _kind(graph, decider) is not StatementKind.TRY:
            outer.add(decider)
        elif decider not in seen:
            seen.add(decider)
            stack += deciders[decider]
    return outer


def _kind(graph: FlowGraph, node: int) -> StatementKind | None:
    statement = graph.statements[node]
    return statement.kind if statement else None


def _post_dominators(after: list[set[int]]) -> dict[int, int]:
    """Return each node's immediate post-dominator (Cooper, Harvey and Kennedy)."""
    before: list[list[int]] = [[] for _ in after]
    for node, targets in enumerate(after):
        for target in targets:
            before[target].append(node)
    order = _postorder(before)
    rank = {node: at for at, node in enumerate(order)}
    parent = {EXIT: EXIT}
    changed = True
    while changed:
        changed = False
        for node in reversed(order[:-1]):
            known = [target for target in after[node] if target in parent]
            best = known[0]
            for target in known[1:]:
                best = _meet(best, target, parent, rank)
            if parent.get(node) != best:
                parent[node] = best
                changed = True
    return parent


def _meet(one: int, two: int, parent: dict[int, int], rank: dict[int, int]) -> int:
    while one != two:
        while rank[one] < rank[two]:
            one = parent[one]
        while rank[two] < rank[one]:
            two = parent[two]
    return one


def _postorder(edges: list[list[int]]) -> list[int]:
    """Return the nodes that lead to the exit, in postorder of the reversed graph; exit last."""
    order: list[int] = []
    seen = {EXIT}
    stack = [(EXIT, iter(edges[EXIT]))]
    while stack:
        node, rest = stack[-1]
        for target in rest:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(edges[target])))
                break
        else:
            stack.pop()
            order.append(node)
    return order
