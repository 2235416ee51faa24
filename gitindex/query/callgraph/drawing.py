"""Draw a call graph as dot, mermaid or svg. All text from a repository is escaped."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gitindex.query.svg import Drawing, shortened

if TYPE_CHECKING:
    from gitindex.base.answers import CallGraphAnswer, NodeRow

_ROW, _COLUMN, _HEIGHT = 56, 320, 40
_CHARS = 34
_UNSAFE = re.compile(r"[^A-Za-z0-9 ._/()-]")


def to_dot(answer: CallGraphAnswer) -> str:
    """Return the graph in Graphviz' language."""
    names = _names(answer)
    lines = ["digraph calls {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];']
    for node in answer["nodes"]:
        bold = ", penwidth=2" if node["id"] == answer.get("root") else ""
        lines.append(f"  {names[node['id']]} [label={_dot(_label(node))}{bold}];")
    for edge in answer["edges"]:
        style = ", style=dashed" if edge["tier"] == "name" else ""
        ends = f"{names[edge['from']]} -> {names[edge['to']]}"
        lines.append(f"  {ends} [label={_dot(edge['kind'])}{style}];")
    return "\n".join([*lines, "}"])


def to_mermaid(answer: CallGraphAnswer) -> str:
    """Return a Mermaid flowchart, as Markdown viewers draw it."""
    names = _names(answer)
    lines = ["flowchart LR"]
    for node in answer["nodes"]:
        lines.append(f'  {names[node["id"]]}["{_mermaid(_label(node))}"]')
    for edge in answer["edges"]:
        arrow = "-.->" if edge["tier"] == "name" else "-->"
        lines.append(f"  {names[edge['from']]} {arrow}|{edge['kind']}| {names[edge['to']]}")
    return "\n".join(lines)


def to_svg(answer: CallGraphAnswer) -> str:
    """Return a self-contained picture: callers left, callees right. No script, no style sheet."""
    places = _places(answer)
    width = max((x for x, _ in places.values()), default=0) + _COLUMN - 70
    height = max((y for _, y in places.values()), default=0) + _ROW - 6
    drawing = Drawing(width, height)
    end = drawing.add(
        "marker",
        inside=drawing.add("defs"),
        id="end",
        viewBox="0 0 10 10",
        refX=10,
        refY=5,
        markerWidth=7,
        markerHeight=7,
        orient="auto-start-reverse",
    )
    drawing.add("path", inside=end, d="M0 0L10 5L0 10z")
    for edge in answer["edges"]:
        _svg_edge(drawing, edge, places)
    for node in answer["nodes"]:
        _svg_node(drawing, node, places[node["id"]], node["id"] == answer.get("root"))
    return str(drawing)


FORMATS: dict[str, Callable[[CallGraphAnswer], str]] = {
    "dot": to_dot,
    "mermaid": to_mermaid,
    "svg": to_svg,
}


def _names(answer: CallGraphAnswer) -> dict[str, str]:
    """Return generated node names: names from the repository are used as labels only."""
    return {node["id"]: f"n{number}" for number, node in enumerate(answer["nodes"])}


def _label(node: NodeRow) -> str:
    name = node["id"].rpartition("#")[2] if "#" in node["id"] else node["name"]
    return f"{name}\n{node['path']}:{node['line']}"


def _dot(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _mermaid(text: str) -> str:
    first, _, second = text.partition("\n")
    return "<br/>".join(
        _UNSAFE.sub(lambda match: f"#{ord(match.group())};", part) for part in (first, second)
    )


def _places(answer: CallGraphAnswer) -> dict[str, tuple[int, int]]:
    """Return node positions: one column per step from the root, centred vertically."""
    levels = _levels(answer)
    tall = Counter(levels.values())
    rows: dict[int, int] = defaultdict(int)
    least, most = min(levels.values(), default=0), max(tall.values(), default=0)
    places = {}
    for node in answer["nodes"]:
        level = levels[node["id"]]
        above = (most - tall[level]) * _ROW // 2
        places[node["id"]] = (10 + (level - least) * _COLUMN, 10 + above + rows[level] * _ROW)
        rows[level] += 1
    return places


def _levels(answer: CallGraphAnswer) -> dict[str, int]:
    """Return the steps from the root: negative for callers, positive for callees."""
    levels = {answer["root"]: 0}
    for step, ends in ((-1, ("to", "from")), (1, ("from", "to"))):
        ring = [answer["root"]]
        while ring:
            reached = []
            for edge in answer["edges"]:
                here, there = edge[ends[0]], edge[ends[1]]
                if here in ring and there not in levels:
                    levels[there] = levels[here] + step
                    reached.append(there)
            ring = reached
    return {node["id"]: levels.get(node["id"], 0) for node in answer["nodes"]}


def _svg_node(drawing: Drawing, node: NodeRow, place: tuple[int, int], is_root: bool) -> None:
    x, y = place
    first, _, second = _label(node).partition("\n")
    group = drawing.add("g", title=node["id"])
    drawing.add(
        "rect",
        inside=group,
        x=x,
        y=y,
        width=_COLUMN - 80,
        height=_HEIGHT,
        rx=4,
        fill="#fff",
        stroke="#333",
        stroke_width=2 if is_root else 1,
    )
    drawing.add("text", shortened(first, _CHARS), inside=group, x=x + 8, y=y + 16)
    drawing.add("text", shortened(second, _CHARS), inside=group, x=x + 8, y=y + 32, fill="#666")


def _svg_edge(drawing: Drawing, edge: dict[str, Any], places: dict[str, tuple[int, int]]) -> None:
    (x1, y1), (x2, y2) = places[edge["from"]], places[edge["to"]]
    right, left = x1 + _COLUMN - 80, x2
    if x2 <= x1:
        right, left = x1, x2 + (0 if x2 == x1 else _COLUMN - 80)
    half = _HEIGHT // 2
    bend = (right + left) // 2 - (30 if x1 == x2 else 0)
    drawing.add(
        "path",
        title=f"{edge['kind']} {edge['site']['path']}:{edge['site']['line']}",
        d=f"M{right} {y1 + half}C{bend} {y1 + half} {bend} {y2 + half} {left} {y2 + half}",
        fill="none",
        stroke="#333",
        marker_end="url(#end)",
        stroke_dasharray="4 3" if edge["tier"] == "name" else "none",
    )
