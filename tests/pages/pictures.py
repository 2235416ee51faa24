"""The pictures of the explanation pages: boxes and arrows in lanes, drawn as SVG from pictures.txt.

A lane is `label: box > box` with arrows, `box | box` without (blanks around the bar); a bare bar ends a line
inside of a box. `*` marks what matters, `-` what is left aside.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as Xml

CHARACTER, LINE, GAP, PAD = 7.5, 17, 34, 12
PLAIN, STRONG, FAINT = "#ffffff", "#dbeafe", "#f1f5f9"


def all_pictures() -> dict[str, str]:
    """File name → SVG."""
    text = Path(__file__).with_name("pictures.txt").read_text()
    pictures = [part.splitlines() for part in text.split("[")[1:]]
    return {f"{name.rstrip(']')}.svg": draw(lanes) for name, *lanes in pictures}


def draw(lanes: list[str]) -> str:
    """Draw lanes below each other."""
    parsed = [_parse(lane) for lane in lanes]
    left = PAD + max(len(label) for label, _ in parsed) * CHARACTER + GAP / 2
    svg = Xml.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "font-family": "sans-serif"})
    svg.set("font-size", "13")
    back = Xml.SubElement(
        svg, "rect", {"width": "100%", "height": "100%", "fill": PLAIN, "rx": "6"}
    )
    marker = Xml.SubElement(
        Xml.SubElement(svg, "defs"),
        "marker",
        {"id": "tip", "viewBox": "0 0 8 8", "refX": "7", "refY": "4", "orient": "auto"},
    )
    marker.set("markerWidth", "8")
    marker.set("markerHeight", "8")
    Xml.SubElement(marker, "path", {"d": "M0,0 L8,4 L0,8 z", "fill": "#475569"})
    y, widest = float(PAD), 0.0
    for label, boxes in parsed:
        high = max(len(text.split("\n")) for text, _, _ in boxes) * LINE + PAD
        _text(svg, PAD, y + high / 2 + 4, label, "#64748b")
        x = left
        for text, fill, arrow in boxes:
            lines = text.split("\n")
            wide = max(map(len, lines)) * CHARACTER + 2 * PAD
            if arrow:
                middle = f"{y + high / 2:.0f}"
                line = {
                    "x1": f"{x - GAP + 3:.0f}",
                    "x2": f"{x - 2:.0f}",
                    "y1": middle,
                    "y2": middle,
                }
                Xml.SubElement(
                    svg, "line", {**line, "stroke": "#475569", "marker-end": "url(#tip)"}
                )
            box = {
                "x": f"{x:.0f}",
                "y": f"{y:.0f}",
                "width": f"{wide:.0f}",
                "height": f"{high:.0f}",
            }
            Xml.SubElement(svg, "rect", {**box, "rx": "5", "fill": fill, "stroke": "#94a3b8"})
            top = y + high / 2 - (len(lines) - 1) * LINE / 2 + 4
            for number, part in enumerate(lines):
                _text(svg, x + PAD, top + number * LINE, part, "#0f172a")
            x += wide + GAP
        y, widest = y + high + 14, max(widest, x - GAP)
    width, height = f"{widest + PAD:.0f}", f"{y - 14 + PAD:.0f}"
    svg.set("viewBox", f"0 0 {width} {height}")
    svg.set("width", width)
    back.attrib.update(width=width, height=height)
    Xml.indent(svg)
    return Xml.tostring(svg, encoding="unicode") + "\n"


def _parse(lane: str) -> tuple[str, list[tuple[str, str, bool]]]:
    """The label of a lane and its boxes: text, colour, whether an arrow leads to it."""
    label, _, rest = lane.partition(": ")
    boxes = []
    for group in rest.split(" | "):
        for number, text in enumerate(group.split(" > ")):
            fill = {"*": STRONG, "-": FAINT}.get(text[0], PLAIN)
            boxes.append((text.lstrip("*-").replace("|", "\n"), fill, number > 0))
    return label, boxes


def _text(svg: Xml.Element, x: float, y: float, text: str, fill: str) -> None:
    Xml.SubElement(svg, "text", {"x": f"{x:.0f}", "y": f"{y:.0f}", "fill": fill}).text = text
