"""A repo map as a picture: files on a circle, imports as curves through it. Everything is escaped."""

from __future__ import annotations

import html
import math
from typing import NamedTuple

RADIUS = 300
_CHARS = 40
_LETTER = 7
"""Wide enough for a letter of most fonts of this size."""
SIZE = 2 * (RADIUS + 20 + _CHARS * _LETTER)


class MapNode(NamedTuple):
    """A file and how much it matters."""

    path: str
    rank: float


class MapEdge(NamedTuple):
    """One file imports another."""

    source: str
    target: str


def picture(nodes: list[MapNode], edges: list[MapEdge]) -> str:
    """An SVG by itself: no script, no style sheet, no reference to anything outside."""
    places = {node.path: number for number, node in enumerate(nodes)}
    most = max((node.rank for node in nodes), default=0.0) or 1.0
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{SIZE}" height="{SIZE}"'
        f' viewBox="0 0 {SIZE} {SIZE}" font-family="sans-serif" font-size="12">',
        f'<rect width="{SIZE}" height="{SIZE}" fill="#fff"/>',
        *(_curve(places[e.source], places[e.target], len(nodes), e) for e in edges),
        *(_dot(node, number, len(nodes), most) for number, node in enumerate(nodes)),
    ]
    return "\n".join([*lines, "</svg>"])


def _point(number: int, count: int, radius: float) -> tuple[float, float]:
    angle = 2 * math.pi * number / max(1, count) - math.pi / 2
    return SIZE / 2 + radius * math.cos(angle), SIZE / 2 + radius * math.sin(angle)


def _curve(source: int, target: int, count: int, edge: MapEdge) -> str:
    (x1, y1), (x2, y2) = _point(source, count, RADIUS), _point(target, count, RADIUS)
    half = SIZE / 2
    return (
        f'<path d="M{x1:.1f} {y1:.1f}Q{half:.0f} {half:.0f} {x2:.1f} {y2:.1f}" fill="none"'
        f' stroke="#369" stroke-opacity="0.25"><title>{_xml(edge.source)} imports'
        f" {_xml(edge.target)}</title></path>"
    )


def _dot(node: MapNode, number: int, count: int, most: float) -> str:
    x, y = _point(number, count, RADIUS)
    tx, ty = _point(number, count, RADIUS + 16)
    angle = 360 * number / max(1, count) - 90
    turned, anchor = (angle, "start") if -90 <= angle <= 90 else (angle + 180, "end")
    size = 3 + 9 * math.sqrt(node.rank / most)
    label = node.path if len(node.path) <= _CHARS else f"…{node.path[1 - _CHARS :]}"
    return (
        f'<g><title>{_xml(node.path)}</title><circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"'
        f' fill="#369"/><text x="{tx:.1f}" y="{ty:.1f}" text-anchor="{anchor}"'
        f' dominant-baseline="middle" transform="rotate({turned:.1f} {tx:.1f} {ty:.1f})">'
        f"{_xml(label)}</text></g>"
    )


def _xml(text: str) -> str:
    return html.escape(text, quote=True)
