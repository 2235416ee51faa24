"""Draw boxes and arrows as self-contained SVG: no script, no style sheet. ElementTree escapes every text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple
from xml.etree import ElementTree

_LETTER = 7
"""Width of a letter, enough for most fonts of this size."""
_MARGIN = 10
_DARK, _GREY = "#333", "#666"


class LabelledBox(NamedTuple):
    """A rectangle with its upper left corner, lines of text, and what shows on hover."""

    x: float
    y: float
    width: float
    height: float
    title: str
    lines: tuple[str, ...]
    border: int = 1
    is_open: bool = False  # other boxes are in it


class Arrow(NamedTuple):
    """A curve from one box to another, by their names."""

    source: str
    target: str
    title: str
    is_dashed: bool = False


def picture(boxes: Mapping[str, LabelledBox], arrows: Iterable[Arrow]) -> str:
    """Return the picture; arrows are behind the boxes that nothing is in."""
    width = max((b.x + b.width for b in boxes.values()), default=0.0) + _MARGIN
    height = max((b.y + b.height for b in boxes.values()), default=0.0) + _MARGIN
    drawing = _Drawing(width, height)
    for arrow in arrows:
        drawing.arrow(boxes[arrow.source], boxes[arrow.target], arrow)
    for box in boxes.values():
        drawing.box(box)
    return str(drawing)


class _Drawing:
    """A picture with a white background."""

    def __init__(self, width: float, height: float) -> None:
        self._root = ElementTree.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "width": f"{width:.0f}",
                "height": f"{height:.0f}",
                "viewBox": f"0 0 {width:.0f} {height:.0f}",
                "font-family": "sans-serif",
                "font-size": "12",
            },
        )
        self._add("rect", self._root, width=f"{width:.0f}", height=f"{height:.0f}", fill="#fff")
        end = self._add(
            "marker",
            self._add("defs", self._root),
            id="end",
            viewBox="0 0 10 10",
            refX=10,
            refY=5,
            markerWidth=7,
            markerHeight=7,
            orient="auto-start-reverse",
        )
        self._add("path", end, d="M0 0L10 5L0 10z")

    def box(self, box: LabelledBox) -> None:
        group = self._add("g", self._root, box.title)
        self._add(
            "rect",
            group,
            x=f"{box.x:.0f}",
            y=f"{box.y:.0f}",
            width=f"{box.width:.0f}",
            height=f"{box.height:.0f}",
            rx=4,
            fill="none" if box.is_open else "#fff",
            stroke=_DARK,
            stroke_width=box.border,
        )
        for number, line in enumerate(box.lines):
            x, y = box.x + 8, box.y + 16 * (number + 1)
            fill = _GREY if number else _DARK
            text = self._add("text", group, x=f"{x:.0f}", y=f"{y:.0f}", fill=fill)
            text.text = _shortened(line, int(box.width / _LETTER))

    def arrow(self, start: LabelledBox, end: LabelledBox, arrow: Arrow) -> None:
        x1, x2 = start.x + start.width, end.x
        if end.x <= start.x:
            x1, x2 = start.x, end.x + (0 if end.x == start.x else end.width)
        y1, y2 = start.y + start.height / 2, end.y + end.height / 2
        bend = (x1 + x2) / 2 - (30 if start.x == end.x else 0)
        self._add(
            "path",
            self._root,
            arrow.title,
            d=f"M{x1:.0f} {y1:.0f}C{bend:.0f} {y1:.0f} {bend:.0f} {y2:.0f} {x2:.0f} {y2:.0f}",
            fill="none",
            stroke=_DARK,
            marker_end="url(#end)",
            stroke_dasharray="4 3" if arrow.is_dashed else "none",
        )

    def _add(
        self, tag: str, inside: ElementTree.Element, title: str = "", **attributes: object
    ) -> ElementTree.Element:
        """Add an element; `_` in an attribute's name becomes `-`."""
        named = {name.replace("_", "-"): str(value) for name, value in attributes.items()}
        element = ElementTree.SubElement(inside, tag, named)
        if title:
            ElementTree.SubElement(element, "title").text = title
        return element

    def __str__(self) -> str:
        return ElementTree.tostring(self._root, encoding="unicode")


def _shortened(text: str, most: int) -> str:
    """Shorten a long label to its end."""
    return text if len(text) <= most else f"…{text[1 - most :]}"
