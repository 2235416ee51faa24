"""The picture of a map as SVG: boxes of open folders, imports as lines, nodes above them."""

from __future__ import annotations

from math import log2
from typing import Any

from gitindex.web.html import Html, element

LONGEST = 22
"""Characters of a label; the title has all."""
MARGIN = 12


def picture(nodes: list[dict[str, Any]], edges: list[dict[str, Any]], label: str) -> Html:
    """Return the map. A click on a node follows the link that the list beside it has."""
    placed = {node["id"]: node for node in nodes}
    lines = [_line(edge, placed[edge["from"]], placed[edge["to"]]) for edge in edges]
    boxes = [_node(node) for node in nodes if node["open"]]
    leaves = [_node(node) for node in nodes if not node["open"]]
    return element(
        "svg",
        [element("g", part) for part in (boxes, lines, leaves)],
        id="graph",
        role="img",
        aria_label=label,
        viewBox=_view(nodes),
        data_nodes=len(nodes),
        tabindex=0,
    )


def _node(node: dict[str, Any]) -> Html:
    x, y, width, height = node["x"], node["y"], node["width"], node["height"]
    shown = node["label"]
    if len(shown) > LONGEST:
        shown = f"{shown[: LONGEST - 1]}…"
    kind = "box" if node["open"] else "node"
    return element(
        "g",
        element("title", node["label"]),
        element("rect", x=x - width // 2, y=y - height // 2, width=width, height=height, rx=5),
        element("text", shown, x=x, y=y - height // 2 + 11 if node["open"] else y),
        class_=f"{kind} {node['kind']} {node.get('mark', '')}".rstrip(),
        data_id=node["id"],
    )


def _line(edge: dict[str, Any], start: dict[str, Any], end: dict[str, Any]) -> Html:
    return element(
        "line",
        x1=start["x"],
        y1=start["y"],
        x2=end["x"],
        y2=end["y"],
        stroke_width=f"{min(4.0, 0.8 + 0.4 * log2(edge['count'])):.1f}",
        data_from=edge["from"],
        data_to=edge["to"],
    )


def _view(nodes: list[dict[str, Any]]) -> str:
    """Return the part of the plane that shows every node."""
    right = max(node["x"] + node["width"] // 2 for node in nodes)
    bottom = max(node["y"] + node["height"] // 2 for node in nodes)
    return f"{-MARGIN} {-MARGIN} {right + 2 * MARGIN} {bottom + 2 * MARGIN}"
