"""Control dependence: which nodes decide whether a node runs, by post-dominators of a graph."""

from __future__ import annotations

from gitindex.languages.slicing.graph import EXIT, FlowGraph
from gitindex.languages.slicing.ir import StatementKind


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
    found: set[int] = set()
    seen: set[int] = set()
    stack = list(deciders[node])
    while stack:
        decider = stack.pop()
        if _kind(graph, decider) is not StatementKind.TRY:
            found.add(decider)
        elif decider not in seen:
            seen.add(decider)
            stack += deciders[decider]
    return found


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
