"""The four kinds of search: the question of each, its command line, its facets."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.path_kind import place_of
from gitindex.languages.table import language_of
from gitindex.questions.docs import QUESTION as DOCS
from gitindex.questions.grep import QUESTION as GREP
from gitindex.questions.search import QUESTION as SEARCH
from gitindex.questions.symbols import QUESTION as SYMBOLS
from gitindex.questions.table import Question
from gitindex.web.html import Html, element, shorten
from gitindex.web.session import Answer, WebQuestion, WebSession

MAX_LIMIT = 200


class SearchTab(NamedTuple):
    """One kind of search: its question, the parameters of its URL, and its filters."""

    label: str
    question: Question
    text: str  # the parameter that the search box gives
    limit: int
    params: Mapping[str, str]  # of the URL, and the question's names for them
    facets: tuple[str, ...]
    flags: tuple[tuple[str, str], ...] = ()  # parameter and label of its switches

    def values(self, request: WebQuestion) -> dict[str, Any]:
        """Return the question's parameters that a URL gives."""
        query = request.text("q")
        values: dict[str, Any] = {self.text: [query] if self.text == "patterns" else query}
        values["limit"] = request.number("n", self.limit, 10 * MAX_LIMIT)
        kinds = {param.name: param.kind for param in self.question.params}
        for name, own in self.params.items():
            given = request.many(name)
            if given:
                many, flag = kinds[own] == "texts", kinds[own] == "flag"
                values[own] = given if many else bool(given) if flag else given[-1]
        return values


TABS = {
    "search": SearchTab(
        "Search",
        SEARCH,
        "query",
        20,
        {"lang": "lang", "path": "below", "kind": "kind", "in": "place"},
        ("in", "lang", "path", "kind"),
    ),
    "grep": SearchTab(
        "Grep",
        GREP,
        "patterns",
        100,
        {"i": "ignore_case", "F": "fixed", "word": "word", "lang": "types", "path": "words"},
        ("lang", "path"),
        (("i", "ignore case"), ("word", "whole words")),
    ),
    "symbols": SearchTab(
        "Symbols", SYMBOLS, "name", 50, {"kind": "kind", "path": "below"}, ("kind", "path")
    ),
    "docs": SearchTab(
        "Docs",
        DOCS,
        "query",
        20,
        {"tag": "tags", "from": "date_from", "to": "date_to", "re": "regex"},
        ("tag",),
    ),
}


def tab_of(request: WebQuestion) -> str:
    """Return the name of the tab that answers: Grep for a regular expression in Search."""
    name = request.text("tab", "search")
    if name not in TABS:
        raise GitIndexError(f"`tab` must be one of {', '.join(TABS)}", code=Exit.USAGE)
    return "grep" if name == "search" and request.text("re") else name


def answer_of(session: WebSession, request: WebQuestion, tab: SearchTab) -> Answer:
    """Ask the question of a tab."""
    return session.ask(tab.question, request.choice, **tab.values(request))


def command_line(request: WebQuestion) -> str:
    """Return the command that gives the same answer."""
    tab = TABS[tab_of(request)]
    values = tab.values(request) | ({"at": request.text("at")} if request.text("at") else {})
    return shlex.join(["gitindex", tab.question.name, *_words(tab.question, values)])


def _words(question: Question, values: dict[str, Any]) -> Iterator[str]:
    """Yield the arguments, then options; options first where an argument looks like one."""
    words: list[str] = []
    options: list[str] = []
    for param in question.params:
        value = values.get(param.name)
        many = value if isinstance(value, list) else [value] if value else []
        if param.kind == "flag":
            options += [min(param.flags, key=len)] if value else []
        elif param.flags:
            options += [word for one in many for word in (param.flags[0], str(one))]
        else:
            words += many
    dashed = any(word.startswith("-") for word in words)
    yield from (*options, "--", *words) if dashed else (*words, *options)


MAX_SHOWN = 8
_TITLES = {"in": "Where", "lang": "Language", "path": "Folder", "kind": "Kind", "tag": "Topic"}
_SINGLE = frozenset({("symbols", "path"), ("symbols", "kind")})
"""Facets for which the command accepts one value only."""


def facet_panel(tab: SearchTab, request: WebQuestion, rows: list[dict[str, Any]]) -> Html:
    """Return the switches and facets of a tab."""
    groups = [_group(name, tab.label.lower(), request, rows) for name in tab.facets]
    switches = [
        _box(name, "1", label, None, bool(request.text(name)), "checkbox")
        for name, label in tab.flags
    ]
    options = element("fieldset", element("legend", "Options"), switches) if switches else None
    return element("aside", options, groups, id="facets", aria_label="Narrow the results")


def _group(name: str, tab: str, request: WebQuestion, rows: list[dict[str, Any]]) -> Html | None:
    chosen = request.many(name)
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
