"""The picture of a map as SVG: boxes of open folders, imports as lines, nodes above them."""

from __future__ import annotations

from collections import Counter
from math import log2
from typing import Any

from gitindex.web.html import Html, element

LONGEST = 22
"""Characters of a label; the title has all."""
MARGIN = 12
HUES = 6
"""Colours of top folders; the sheet has as many."""


def picture(nodes: list[dict[str, Any]], edges: list[dict[str, Any]], label: str) -> Html:
    """Return the map. A click on a node follows the link that the list beside it has."""
    placed = {node["id"]: node for node in nodes}
    lines = [_line(edge, placed[edge["from"]], placed[edge["to"]]) for edge in edges]
    hues = hues_of(nodes)
    boxes = [_node(node, None) for node in nodes if node["open"]]
    leaves = [_node(node, hues.get(top_of(node))) for node in nodes if not node["open"]]
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


def top_of(node: dict[str, Any]) -> str:
    """Return the folder at the top that a node is in; empty for a file beside them."""
    top, slash, _ = node["id"].partition("/")
    return top if slash or node["kind"] == "folder" else ""


def hues_of(nodes: list[dict[str, Any]]) -> dict[str, int]:
    """Return a colour for each top folder, the one with most nodes first; the rest has none."""
    counts = Counter(filter(None, map(top_of, nodes)))
    return {name: number for number, (name, _) in enumerate(counts.most_common(HUES))}


def _node(node: dict[str, Any], hue: int | None) -> Html:
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
        class_=f"{kind} {node['kind']} {node.get('mark', '')}".rstrip() + _hue(hue),
        data_id=node["id"],
    )


def _hue(hue: int | None) -> str:
    return "" if hue is None else f" hue{hue}"


def _line(edge: dict[str, Any], start: dict[str, Any], end: dict[str, Any]) -> Html:
    count = edge["count"]
    imports = f"{start['id']} imports {end['id']}" + (f", {count} times" if count > 1 else "")
    return element(
        "line",
        element("title", imports),
        x1=start["x"],
        y1=start["y"],
        x2=end["x"],
        y2=end["y"],
        stroke_width=f"{min(4.0, 0.8 + 0.4 * log2(count)):.1f}",
        data_from=edge["from"],
        data_to=edge["to"],
    )


def _view(nodes: list[dict[str, Any]]) -> str:
    """Return the part of the plane that shows every node."""
    right = max(node["x"] + node["width"] // 2 for node in nodes)
    bottom = max(node["y"] + node["height"] // 2 for node in nodes)
    return f"{-MARGIN} {-MARGIN} {right + 2 * MARGIN} {bottom + 2 * MARGIN}"
