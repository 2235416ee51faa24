"""Builds HTML from Python. Every text is escaped, except `Html` that was made here."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any
from urllib.parse import quote, urlencode

from gitindex.base.escape import safe_text

_VOID = frozenset({"input", "link", "meta", "br"})
_PLAIN = (str, int)
_ODD = re.compile(r"[^ !#-%(-;=?-~]")
"""Anything but printable ASCII, and the characters that mean something in HTML."""
_ATTRIBUTES = {"class_": "class", "href": "href", "id": "id"}


class Html(str):
    """Markup that was built here and is escaped already."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]


def element(tag: str, *children: Child, **attributes: str | int | bool | None) -> Html:
    """Return an element. `class_` becomes class, `data_x` data-x; None and False are left out."""
    parts = [f"<{tag}"]
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        shown = _ATTRIBUTES.get(name) or name.rstrip("_").replace("_", "-")
        parts.append(f" {shown}" if value is True else f' {shown}="{text(value)}"')
    parts.append(">")
    if tag not in _VOID:
        _collect(children, parts)
        parts.append(f"</{tag}>")
    return Html("".join(parts))


def hit(*children: Child, **attributes: str | int | bool | None) -> Html:
    """Return one row of a list that the keys j and k walk through."""
    return element("li", *children, class_="hit one", **attributes)


def place(*children: Child, **attributes: str | int | bool | None) -> Html:
    """Return the link of a row, which Enter opens."""
    return element("a", *children, class_="place", **attributes)


def kind(*children: Child) -> Html:
    """Return a word in small type that classifies a row."""
    return element("span", *children, class_="kind")


def crumbs(*children: Child) -> Html:
    """Return the heading of a page."""
    return element("h1", *children, class_="crumbs")


def hint(*children: Child) -> Html:
    """Return a paragraph that explains."""
    return element("p", *children, class_="hint")


def empty(*children: Child) -> Html:
    """Return a paragraph in place of an empty list."""
    return element("p", *children, class_="empty")


def hits(rows: list[Html], nothing: str = "", of: str = "hits uses") -> Html:
    """Return rows as a list; a hint where there are none."""
    return element("ol", rows, class_=of) if rows or not nothing else hint(nothing)


def titled(title: Child, rows: list[Html], nothing: str = "", **attributes: str) -> Html:
    """Return a list below its heading; without rows what is said instead, or nothing at all."""
    of = attributes.pop("of", "hits uses")
    head = element("h2", title, **attributes)
    return join(head, hits(rows, nothing, of)) if rows or nothing else Html("")


def join(*children: Child) -> Html:
    """Concatenate children."""
    parts: list[str] = []
    _collect(children, parts)
    return Html("".join(parts))


def _collect(children: Iterable[Child], parts: list[str]) -> None:
    for child in children:
        if isinstance(child, Html):
            parts.append(child)
        elif isinstance(child, _PLAIN):
            parts.append(text(child))
        elif child is not None:
            _collect(child, parts)


def text(value: str | int) -> Html:
    """Escape for HTML; control characters, bidi marks and non-UTF-8 bytes are spelled out."""
    if isinstance(value, Html):
        return value
    plain = str(value)
    if _ODD.search(plain) is None:
        return Html(plain)
    return Html(escape(safe_text(plain, keep="\n\t"), quote=True))


def link(page: str, path: str = "", anchor: str = "", **query: str) -> str:
    """Return the URL of a page: `path` may hold any bytes."""
    return address(page, path, {name: [value] for name, value in query.items()}, anchor)


def address(page: str, path: str, query: Mapping[str, Iterable[str]], anchor: str = "") -> str:
    """Return the URL of a page with any parameters; empty ones are left out."""
    pairs = [(name, one) for name, values in query.items() for one in values if one]
    search = f"?{urlencode(pairs, errors='surrogateescape')}" if pairs else ""
    tail = f"/{quote(os.fsencode(path), safe='/')}" if path else ""
    return f"/{page}{tail}{search}{f'#{quote(anchor)}' if anchor else ''}"


def line_of(row: Mapping[str, Any], at: str = "", line: str = "line") -> str:
    """Return the URL of the line of the file that a row names."""
    return link("file", row["path"], f"L{row[line]}", at=at)


def spot(row: Mapping[str, Any], at: str = "", most: int = 90) -> Html:
    """Return the link to the line that a row names, which Enter opens."""
    return place(shorten(f"{row['path']}:{row['line']}", most), href=line_of(row, at))


def named(name: str, mark: str, tail: str = "") -> Html:
    """Return a path or a symbol whose first part is dimmed, and cut where there is no room."""
    first, found, last = name.rpartition(mark)
    sharp = element("span", mark, class_="mark") if found == "#" else None
    return join(
        element("span", first, None if sharp else found, class_="folder", title=name[:2_000]),
        sharp,
        element("span", shorten(last, 60), tail, class_="name"),
    )


def file_place(path: str, at: str = "", most: int = 64) -> Html:
    """Return the link to a file, which Enter opens."""
    return place(shorten(path, most), href=link("file", path, at=at))


def history_of(row: Mapping[str, Any], at: str = "") -> str:
    """Return the URL of the commits that changed the definition in a row."""
    return link("history", row["path"], at=at, symbol=row["qualifiedName"])


def links(pairs: Iterable[tuple[str, str]], most: int = 60) -> list[Child]:
    """Return links in one line of text, from names and addresses."""
    return [[element("a", shorten(name, most), href=to), " "] for name, to in pairs]


def shorten(value: str, most: int = 80) -> Html:
    """Cut a long name in the middle; its title has the whole name."""
    if len(value) <= most:
        return element("span", value)
    head = most // 2 - 1
    return element("span", f"{value[:head]}…{value[-head:]}", title=value[:2_000])


def day_of(when: int) -> Html:
    """Return day and minute in UTC."""
    return element("time", time.strftime("%Y-%m-%d %H:%M", time.gmtime(when)), title="UTC")


def scrolled(label: str, head: Child, rows: Iterable[Child], class_: str = "scroll") -> Html:
    """Return a table that scrolls by itself where there is no room, also by keys."""
    body = element("tbody", [element("tr", row) for row in rows])
    table = element("table", element("thead", element("tr", head)), body)
    return element("div", table, class_=class_, tabindex=0, role="region", aria_label=label)


def commit_row(
    commit: Mapping[str, Any], href: str, *more: Child, **attributes: str | int | bool | None
) -> Html:
    """Return a commit as a row of a list: its id as a link, when, what and who."""
    return hit(
        place(element("code", commit["id"][:12]), href=href, **attributes),
        day_of(commit["time"]),
        element("span", shorten(commit["subject"], 100)),
        element("span", shorten(commit["author"], 24), class_="hint"),
        *more,
    )
