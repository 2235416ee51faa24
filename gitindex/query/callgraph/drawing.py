"""Draw a call graph as dot, mermaid or svg. All text from a repository is escaped."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING

from gitindex.query.svg import Arrow, LabelledBox, picture

if TYPE_CHECKING:
    from gitindex.base.answers import CallGraphAnswer, NodeRow

_ROW, _COLUMN, _HEIGHT = 56, 320, 40
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
    """Return a picture: callers left, callees right."""
    places = _places(answer)
    boxes = {
        node["id"]: LabelledBox(
            *places[node["id"]],
            *(_COLUMN - 80, _HEIGHT),
            title=node["id"],
            lines=tuple(_label(node).split("\n", 1)),
            border=2 if node["id"] == answer.get("root") else 1,
        )
        for node in answer["nodes"]
    }
    arrows = []
    for edge in answer["edges"]:
        title = f"{edge['kind']} {edge['site']['path']}:{edge['site']['line']}"
        arrows.append(Arrow(edge["from"], edge["to"], title, edge["tier"] == "name"))
    return picture(boxes, arrows)


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
