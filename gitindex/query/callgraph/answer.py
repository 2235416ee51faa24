"""The call graph around a symbol: callers, callees, and the certainty of each edge. Read-only."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

from gitindex.base.escape import path_fields, safe_text
from gitindex.base.vocabulary import Direction
from gitindex.query.absence import partition
from gitindex.query.callgraph.walk import (
    CallEdge,
    CallNode,
    GraphQuery,
    Walk,
    file_notes,
    node_order,
    note_fields,
)
from gitindex.query.names.finder import Finder
from gitindex.query.names.memory import Memory
from gitindex.query.names.semantic import coverage
from gitindex.semantic.coverage import layer_fields
from gitindex.view.tree import TreeView

if TYPE_CHECKING:
    from gitindex.base.answers import CallGraphAnswer

__all__ = ["GraphQuery", "call_graph"]

MAX_POSSIBLE = 100
"""Possible places that an answer about callers lists."""


def call_graph(view: TreeView, query: GraphQuery, memory: Memory | None = None) -> CallGraphAnswer:
    """Return nodes, edges and notes around the requested symbol, as an envelope."""
    walk = Walk(Finder(view, memory), query)
    roots = walk.roots()
    if len(roots) != 1:
        return _undecided(view, walk, roots)
    walk.run(roots[0])
    nodes = sorted(walk.nodes.values(), key=node_order)
    edges = sorted(walk.edges, key=CallEdge.order)
    fields: dict[str, Any] = {
        "root": safe_text(roots[0].id),
        "direction": str(query.direction),
        "depth": query.depth,
        "nodes": [_node_fields(node) for node in nodes],
        "edges": [_edge_fields(edge) for edge in edges],
        "nodeCount": len(nodes),
        "edgeCount": len(edges),
        "truncated": walk.truncated,
    }
    files = {node.path for node in nodes} | {edge.path for edge in edges}
    fields |= layer_fields(coverage(walk.finder.project), map(os.fsencode, files))
    notes = [*walk.notes, *file_notes(walk.finder.project, files)]
    fields |= note_fields(notes, files, {node.id for node in nodes}, query.note_limit)
    definition = roots[0].definition
    if definition is not None and query.direction is not Direction.CALLEES:
        part = partition(walk.finder, [definition])
        fields |= part.fields(walk.finder.project, MAX_POSSIBLE)
    receipt = walk.finder.project.receipt(query)
    return cast("CallGraphAnswer", view.envelope(**fields) | {"receipt": receipt})


def _node_fields(node: CallNode) -> dict[str, Any]:
    """Return the fields of one node."""
    fields: dict[str, Any] = {"id": safe_text(node.id), "name": node.name, "kind": node.kind}
    return fields | path_fields(os.fsencode(node.path)) | {"line": node.line + 1}


def _edge_fields(edge: CallEdge) -> dict[str, Any]:
    return {
        "from": safe_text(edge.source),
        "to": safe_text(edge.target),
        "kind": str(edge.kind),
        "site": {**path_fields(os.fsencode(edge.path)), "line": edge.line + 1},
        "tier": str(edge.tier),
        "layer": str(edge.layer),
    }


def _undecided(view: TreeView, walk: Walk, roots: list[CallNode]) -> CallGraphAnswer:
    """Return an answer, not an error, if no symbol or several symbols match."""
    shown = roots[: walk.query.limit]
    status = "ambiguous" if roots else "not_found"
    name = safe_text(walk.query.symbol)
    message = f"{name} is {len(roots)} symbols: name one" if roots else f"no symbol {name}"
    fields = {"message": message, "candidates": [_node_fields(node) for node in shown]}
    return cast(
        "CallGraphAnswer",
        view.envelope(**fields, nodes=[], edges=[], notes=[]) | {"status": status},
    )
