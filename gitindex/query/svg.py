"""Write self-contained SVG, without scripts and references. ElementTree escapes every text."""

from __future__ import annotations

from xml.etree import ElementTree


class Drawing:
    """A picture with a white background."""

    def __init__(self, width: int, height: int) -> None:
        self._root = ElementTree.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "width": str(width),
                "height": str(height),
                "viewBox": f"0 0 {width} {height}",
                "font-family": "sans-serif",
                "font-size": "12",
            },
        )
        self.add("rect", width=width, height=height, fill="#fff")

    def add(
        self,
        tag: str,
        text: str = "",
        *,
        inside: ElementTree.Element | None = None,
        title: str = "",
        **attributes: object,
    ) -> ElementTree.Element:
        """Add an element; `_` in an attribute's name becomes `-`. The title shows on hover."""
        parent = self._root if inside is None else inside
        named = {name.replace("_", "-"): str(value) for name, value in attributes.items()}
        element = ElementTree.SubElement(parent, tag, named)
        if title:
            ElementTree.SubElement(element, "title").text = title
        if text:
            element.text = text
        return element

    def __str__(self) -> str:
        return ElementTree.tostring(self._root, encoding="unicode")


def shortened(text: str, most: int) -> str:
    """Shorten a long label to its end."""
    return text if len(text) <= most else f"…{text[1 - most :]}"
