"""Draw a repo map: files on a circle, imports as curves through it, a colour for each folder."""

from __future__ import annotations

import math
from collections import Counter
from typing import NamedTuple

from gitindex.query.svg import Drawing, shortened

RADIUS = 300
_CHARS = 40
_LETTER = 7
"""Width of a letter, enough for most fonts of this size."""
SIZE = 2 * (RADIUS + 20 + _CHARS * _LETTER)
_LEVELS = 2
"""Components of a path that name the folder of a colour."""
PALETTE = (
    *("#1f77b4", "#d95f02", "#2ca02c", "#9467bd", "#c62828"),
    *("#8c564b", "#b8569f", "#5f6b6d", "#8a8d16", "#0e8f9e"),
)
_OTHERS = "#888888"
"""Folders after the last colour."""


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
    colours = _colours(nodes)
    drawing = Drawing(SIZE, SIZE)
    for edge in edges:
        ends = places[edge.source], places[edge.target]
        _curve(drawing, ends, len(nodes), edge, colours[_folder(edge.source)])
    for number, node in enumerate(nodes):
        _dot(drawing, node, number, len(nodes), most, colours[_folder(node.path)])
    _legend(drawing, colours)
    return str(drawing)


def _folder(path: str) -> str:
    return "/".join(path.split("/")[:-1][:_LEVELS]) or "."


def _colours(nodes: list[MapNode]) -> dict[str, str]:
    """A colour for each folder; those with most files come first."""
    counts = Counter(_folder(node.path) for node in nodes)
    ordered = sorted(counts, key=lambda folder: (-counts[folder], folder))
    return {
        folder: PALETTE[number] if number < len(PALETTE) else _OTHERS
        for number, folder in enumerate(ordered)
    }


def _legend(drawing: Drawing, colours: dict[str, str]) -> None:
    named = [folder for folder, colour in colours.items() if colour != _OTHERS]
    for number, folder in enumerate(named):
        y = 24 + 20 * number
        drawing.add("circle", cx=20, cy=y, r=6, fill=colours[folder])
        drawing.add("text", shortened(folder, _CHARS), x=34, y=y, dominant_baseline="middle")


def _point(number: int, count: int, radius: float) -> tuple[float, float]:
    angle = 2 * math.pi * number / max(1, count) - math.pi / 2
    return SIZE / 2 + radius * math.cos(angle), SIZE / 2 + radius * math.sin(angle)


def _curve(drawing: Drawing, ends: tuple[int, int], count: int, edge: MapEdge, colour: str) -> None:
    (x1, y1), (x2, y2) = (_point(end, count, RADIUS) for end in ends)
    half = SIZE / 2
    drawing.add(
        "path",
        title=f"{edge.source} imports {edge.target}",
        d=f"M{x1:.1f} {y1:.1f}Q{half:.0f} {half:.0f} {x2:.1f} {y2:.1f}",
        fill="none",
        stroke=colour,
        stroke_width=1.4,
        stroke_opacity=0.45,
    )


def _dot(
    drawing: Drawing, node: MapNode, number: int, count: int, most: float, colour: str
) -> None:
    x, y = _point(number, count, RADIUS)
    tx, ty = _point(number, count, RADIUS + 16)
    angle = 360 * number / max(1, count) - 90
    turned, anchor = (angle, "start") if -90 <= angle <= 90 else (angle + 180, "end")
    size = 3 + 9 * math.sqrt(node.rank / most)
    group = drawing.add("g", title=node.path)
    drawing.add("circle", inside=group, cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{size:.1f}", fill=colour)
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
