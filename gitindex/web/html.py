"""Builds HTML from Python. Every text goes through the escaper; only `Html` made here does not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from html import escape
from urllib.parse import quote, urlencode

from gitindex.base.escape import safe_text

_VOID = frozenset({"input", "link", "meta", "br"})


class Html(str):
    """Markup that was built here and is escaped already."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]


def element(tag: str, *children: Child, **attributes: str | int | bool | None) -> Html:
    """One element. Attributes: `class_` is class, `data_x` is data-x; None and False are left out."""
    parts = [f"<{tag}"]
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        shown = name.rstrip("_").replace("_", "-")
        parts.append(f" {shown}" if value is True else f' {shown}="{text(str(value))}"')
    parts.append(">")
    if tag not in _VOID:
        parts.append(f"{join(*children)}</{tag}>")
    return Html("".join(parts))


def join(*children: Child) -> Html:
    """Children in a row."""
    parts: list[str] = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, str | int):
            parts.append(text(child))
        else:
            parts.append(join(*child))
    return Html("".join(parts))


def text(value: str | int) -> Html:
    """Escaped for HTML; control characters, bidi marks and bytes that are not UTF-8 are spelled out."""
    if isinstance(value, Html):
        return value
    return Html(escape(safe_text(str(value), keep="\n\t"), quote=True))


def link(page: str, path: str = "", anchor: str = "", **query: str) -> str:
    """The address of a page: `path` may hold any bytes."""
    return address(page, path, {name: [value] for name, value in query.items()}, anchor)


def address(page: str, path: str, query: Mapping[str, Iterable[str]], anchor: str = "") -> str:
    """The address of a page with any parameters; empty ones are left out."""
    pairs = [(name, one) for name, values in query.items() for one in values if one]
    asked = f"?{urlencode(pairs, errors='surrogateescape')}" if pairs else ""
    tail = f"/{quote(os.fsencode(path), safe='/')}" if path else ""
    return f"/{page}{tail}{asked}{f'#{quote(anchor)}' if anchor else ''}"


def shorten(value: str, most: int = 80) -> Html:
    """A name that is cut in the middle where it is long; its title has all of it."""
    if len(value) <= most:
        return element("span", value)
    head = most // 2 - 1
    return element("span", f"{value[:head]}…{value[-head:]}", title=value[:2_000])
