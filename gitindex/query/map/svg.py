"""Draw a repo map: files on a circle, imports as curves through it."""

from __future__ import annotations

import math
from typing import NamedTuple

from gitindex.query.svg import Drawing, shortened

RADIUS = 300
_CHARS = 40
_LETTER = 7
"""Width of a letter, enough for most fonts of this size."""
SIZE = 2 * (RADIUS + 20 + _CHARS * _LETTER)


class MapNode(NamedTuple):
    """A file and its importance."""

    path: str
    rank: float


class MapEdge(NamedTuple):
    """One file imports another."""

    source: str
    target: str


def picture(nodes: list[MapNode], edges: list[MapEdge]) -> str:
    """Return the map as SVG."""
    places = {node.path: number for number, node in enumerate(nodes)}
    most = max((node.rank for node in nodes), default=0.0) or 1.0
    drawing = Drawing(SIZE, SIZE)
    for edge in edges:
        _curve(drawing, places[edge.source], places[edge.target], len(nodes), edge)
    for number, node in enumerate(nodes):
        _dot(drawing, node, number, len(nodes), most)
    return str(drawing)


def _point(number: int, count: int, radius: float) -> tuple[float, float]:
    angle = 2 * math.pi * number / max(1, count) - math.pi / 2
    return SIZE / 2 + radius * math.cos(angle), SIZE / 2 + radius * math.sin(angle)


def _curve(drawing: Drawing, source: int, target: int, count: int, edge: MapEdge) -> None:
    (x1, y1), (x2, y2) = _point(source, count, RADIUS), _point(target, count, RADIUS)
    half = SIZE / 2
    drawing.add(
        "path",
        title=f"{edge.source} imports {edge.target}",
        d=f"M{x1:.1f} {y1:.1f}Q{half:.0f} {half:.0f} {x2:.1f} {y2:.1f}",
        fill="none",
        stroke="#369",
        stroke_opacity=0.25,
    )


def _dot(drawing: Drawing, node: MapNode, number: int, count: int, most: float) -> None:
    x, y = _point(number, count, RADIUS)
    tx, ty = _point(number, count, RADIUS + 16)
    angle = 360 * number / max(1, count) - 90
    turned, anchor = (angle, "start") if -90 <= angle <= 90 else (angle + 180, "end")
    size = 3 + 9 * math.sqrt(node.rank / most)
    group = drawing.add("g", title=node.path)
    drawing.add("circle", inside=group, cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{size:.1f}", fill="#369")
    drawing.add(
        "text",
        shortened(node.path, _CHARS),
        inside=group,
        x=f"{tx:.1f}",
        y=f"{ty:.1f}",
        text_anchor=anchor,
        dominant_baseline="middle",
        transform=f"rotate({turned:.1f} {tx:.1f} {ty:.1f})",
    )
