"""Facets that narrow results, counted over the results shown."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

from gitindex.base.path_kind import place_of
from gitindex.languages.table import language_of
from gitindex.web.html import Html, element, shorten
from gitindex.web.pages.questions import SearchTab
from gitindex.web.session import WebQuestion

MAX_SHOWN = 8
_TITLES = {"in": "Where", "lang": "Language", "path": "Folder", "kind": "Kind", "tag": "Topic"}
_SINGLE = frozenset({("symbols", "path"), ("symbols", "kind")})
"""Facets for which the command accepts one value only."""


def facet_panel(tab: SearchTab, asked: WebQuestion, rows: list[dict[str, Any]]) -> Html:
    """Return the switches and facets of a tab."""
    groups = [_group(name, tab.label.lower(), asked, rows) for name in tab.facets]
    switches = [
        _box(name, "1", label, None, bool(asked.text(name)), "checkbox")
        for name, label in tab.flags
    ]
    options = element("fieldset", element("legend", "Options"), switches) if switches else None
    return element("aside", options, groups, id="facets", aria_label="Narrow the results")


def _group(name: str, tab: str, asked: WebQuestion, rows: list[dict[str, Any]]) -> Html | None:
    chosen = asked.many(name)
    counts: Counter[str] = Counter(value for row in rows for value in _values(name, row, chosen))
    shown = [value for value, _ in counts.most_common(MAX_SHOWN)]
    shown = [*chosen, *(value for value in shown if value not in chosen)]
    if not shown or (len(shown) == 1 and not chosen):
        return None
    kind = "radio" if (tab, name) in _SINGLE and not chosen else "checkbox"
    boxes = [_box(name, v, v, counts.get(v, 0), v in chosen, kind) for v in shown]
    return element("fieldset", element("legend", _TITLES[name]), boxes)


def _values(name: str, row: dict[str, Any], chosen: list[str]) -> list[str]:
    """Return the facet values of one result."""
    if name == "in":
        return [str(place_of(row["path"]))]
    if name == "lang":
        return [language_of(os.fsencode(row["path"]), b"")]
    if name == "kind":
        return [row["kind"]] if row.get("kind") else []
    if name == "tag":
        return [*row.get("topics", ())]
    start = max((len(one) for one in chosen if row["path"].startswith(one)), default=0)
    folder, slash, _ = row["path"][start:].partition("/")
    return [row["path"][:start] + folder + slash] if slash else []


def _box(name: str, value: str, label: str, count: int | None, on: bool, kind: str) -> Html:
    return element(
        "label",
        element("input", type=kind, name=name, value=value, checked=on, id=f"f-{name}-{value}"),
        shorten(label, 34),
        element("span", count, class_="count") if count is not None else None,
    )
