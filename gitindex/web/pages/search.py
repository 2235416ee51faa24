"""`/`: search as you type in four tabs; without a query, the folders to browse."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from textwrap import dedent
from typing import Any

from gitindex.questions.ink import signature
from gitindex.web.frame import copy_button, refusal_block
from gitindex.web.highlight import Tokens, token_html
from gitindex.web.html import (
    Html,
    address,
    element,
    hint,
    hit,
    join,
    kind,
    line_of,
    link,
    links,
    place,
    shorten,
)
from gitindex.web.pages.home import home_answer, render_home
from gitindex.web.pages.tabs import MAX_LIMIT, TABS, answer_of, command_line, facet_panel, tab_of
from gitindex.web.session import Answer, WebPage, WebQuestion, WebSession

MAX_LINE = 400
MAX_LINES = 12
"""Of a snippet."""
MAX_MARKED = 24
"""Maximum number of query terms marked in snippets."""
_QUICK = re.compile(r"[^()|*+?{]*(?:[*+?][^()|*+?{]*){0,2}")
"""A pattern without groups that repeats two things at most."""
_FACETS = ("lang", "path", "kind", "in", "tag", "i", "F", "word", "re")


def _answer(session: WebSession, request: WebQuestion) -> Answer:
    name = tab_of(request)
    if request.text("q").strip() or request.text("tag"):
        answer = answer_of(session, request, TABS[name])
        if name in _CODE and answer["status"] == "ok":
            texts = [(row["path"], _CODE[name](row)) for row in answer["results"]]
            answer["coloured"] = session.highlighter.many(texts)
        return answer
    with session.page(request.choice) as here:
        return home_answer(here) | {"query": "", "results": [], "truncated": False}


def _snippet_of(row: dict[str, Any]) -> str:
    """Return a snippet; the indent its lines share and the ends of long ones are cut."""
    lines = dedent(row["snippet"]).split("\n")[:MAX_LINES]
    return "\n".join(line[:MAX_LINE] for line in lines)


_CODE: dict[str, Callable[[dict[str, Any]], str]] = {
    "search": _snippet_of,
    "grep": lambda row: row["text"][:MAX_LINE],
}
"""The code that a result shows, in the tabs that colour it."""


def _render(request: WebQuestion, answer: Answer) -> Html:
    name = tab_of(request)
    tab = TABS[name]
    rows = answer.get("symbols") if name == "symbols" else answer.get("results")
    rows = [] if rows is None else rows
    if answer["status"] != "ok":
        body = refusal_block(answer, "div")
    elif "entries" in answer:
        body = render_home(request, answer)
    elif rows:
        body = element(
            "ol", _ROWS[name](request, answer), class_=f"hits {name}", aria_label="Results"
        )
    else:
        body = _nothing(request, answer, name)
    panel = facet_panel(tab, request, rows)
    return join(
        element("h1", tab.label, class_="unseen"),
        _tabs(request, name),
        element(
            "div", panel, element("section", _summary(request, answer, rows), body), class_="cols"
        ),
    )


def _tabs(request: WebQuestion, current: str) -> Html:
    kept = {"q": request.text("q"), "at": request.text("at")}
    now = {current: "true"}
    tabs = [
        element("a", tab.label, href=link("", tab=name, **kept), aria_current=now.get(name))
        for name, tab in TABS.items()
    ]
    return element("nav", tabs, class_="tabs", aria_label="Kinds of search")


def _summary(request: WebQuestion, answer: Answer, rows: list[dict[str, Any]]) -> Html | None:
    if answer["status"] != "ok" or "entries" in answer:
        return None
    count = f"{len(rows)}{'+' if answer.get('truncated') else ''}"
    what = "result" if len(rows) == 1 and not answer.get("truncated") else "results"
    return element(
        "p",
        element("span", f"{count} {what}", role="status"),
        _more(request, answer),
        [element("span", warning, class_="warning") for warning in answer.get("warnings", ())],
        copy_button("copy as command", command_line(request)),
        class_="summary",
    )


def _more(request: WebQuestion, answer: Answer) -> Html | None:
    """Return the link to five times as many results, where there are more."""
    now = request.number("n", TABS[tab_of(request)].limit, 10 * MAX_LIMIT)
    if not answer.get("truncated") or now >= MAX_LIMIT:
        return None
    values = {name: values for name, values in request.values.items() if name != "n"}
    return element(
        "a", "more", href=address("", "", values | {"n": [str(min(5 * now, MAX_LIMIT))]})
    )


def _place(request: WebQuestion, row: dict[str, Any], line: str = "line") -> Html:
    folder, slash, name = row["path"].rpartition("/")
    return place(
        element("span", shorten(folder + slash, 60), class_="folder"),
        element("span", shorten(name, 60), class_="name"),
        element("span", f":{row[line]}", class_="line"),
        href=line_of(row, request.text("at"), line),
        title=row.get("source"),
    )


def source_chip(row: dict[str, Any]) -> Html | None:
    """Label a row that is not from the index; of the others the tooltip of the place says the tree."""
    if row.get("source") != "worktree":
        return None
    return element("span", "edited", class_="source edited", title="from the file on disk")


def _found(request: WebQuestion, answer: Answer) -> Iterator[Html]:
    """Yield a hit for each file, its places in their order."""
    for places in _by_file(answer).values():
        parts = []
        for number, (row, tokens) in enumerate(places):
            also = {"href": line_of(row, request.text("at")), "class_": "place also"}
            at = element("a", f":{row['line']}", **also) if number else _place(request, row)
            chip = None if number else source_chip(row)
            head = element("div", at, _symbol_link(request, row), chip, class_="head")
            parts += [head, _snippet(row, tokens)]
        yield element("li", parts, class_="hit")


def _by_file(answer: Answer) -> dict[str, list[tuple[dict[str, Any], list[Tokens]]]]:
    files: dict[str, list[tuple[dict[str, Any], list[Tokens]]]] = {}
    for row, tokens in zip(answer["results"], answer["coloured"], strict=True):
        files.setdefault(row["path"], []).append((row, tokens))
    return files


def _snippet(row: dict[str, Any], lines: list[Tokens]) -> Html | None:
    if not row["snippet"]:
        return None
    find = _terms(row["matched"])
    shown = [
        element("span", element("span", number, class_="number"), token_html(tokens, find), "\n")
        for number, tokens in enumerate(lines, row["line"])
    ]
    return element("pre", shown, class_="code")


def _symbol_link(request: WebQuestion, row: dict[str, Any]) -> Html | None:
    if "name" not in row:
        return None
    target = f"{row['path']}#{row.get('qualifiedName', row['name'])}"
    href = link("symbol", target, at=request.text("at"))
    return element(
        "a", kind(row["kind"]), " ", shorten(row["name"], 60), href=href, class_="symbol"
    )


def _lines(request: WebQuestion, answer: Answer) -> Iterator[Html]:
    find, at = _pattern_of(request), request.text("at")
    for path, lines in _by_file(answer).items():
        first, to = lines[0][0], {"href": link("file", path, at=at), "class_": "name"}
        head = element("a", shorten(path, 90), title=first.get("source"), **to)
        yield element("li", head, source_chip(first), class_="group")
        for row, tokens in lines:
            number = element("span", row["line"], class_="line")
            code = element("code", token_html(tokens[0], find), class_="code")
            yield hit(place(number, code, href=line_of(row, at)))


def _definitions(request: WebQuestion, answer: Answer) -> Iterator[Html]:
    for row in answer["symbols"]:
        target = link("symbol", f"{row['path']}#{row['qualifiedName']}", at=request.text("at"))
        shown = place(
            element("code", shorten(signature(row["signature"] or row["qualifiedName"]), 110)),
            href=target,
        )
        head = (kind(row["kind"]), shown, _place(request, row), source_chip(row))
        yield hit(
            element("div", head, class_="head"),
            _doc(row.get("doc", "").strip().split("\n")[0][:200]),
        )


def _documents(request: WebQuestion, answer: Answer) -> Iterator[Html]:
    for row in answer["results"]:
        topics = [element("span", topic, class_="topic") for topic in row["topics"][:8]]
        day = element("time", row["createdAt"][:10]) if row.get("createdAt") else None
        head = (_place(request, row, "startLine"), day, topics, source_chip(row))
        find = _terms(row["matched"])
        text = (
            element("pre", token_html([["", _snippet_of(row)]], find)) if row["snippet"] else None
        )
        yield element(
            "li",
            element("div", head, class_="head"),
            _doc(row["summary"][:300]),
            text,
            class_="hit",
        )


def _doc(text: str) -> Html | None:
    return element("p", text, class_="doc") if text else None


_ROWS: dict[str, Callable[[WebQuestion, Answer], Iterator[Html]]] = {
    "search": _found,
    "grep": _lines,
    "symbols": _definitions,
    "docs": _documents,
}


def _terms(terms: list[str]) -> re.Pattern[str] | None:
    """Return a pattern that finds the terms, the longest first."""
    longest_first = sorted(
        {term for term in terms[:MAX_MARKED] if term.strip()}, key=len, reverse=True
    )
    return (
        re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)
        if longest_first
        else None
    )


def _pattern_of(request: WebQuestion) -> re.Pattern[str] | None:
    """Return the grep pattern to mark; none for one that Python might search for a long time."""
    text, fixed = request.text("q"), request.text("F")
    if not text or not (fixed or _QUICK.fullmatch(text)):
        return None
    try:
        return re.compile(
            re.escape(text) if fixed else text, re.IGNORECASE * bool(request.text("i"))
        )
    except re.error:
        return None


def _nothing(request: WebQuestion, answer: Answer, name: str) -> Html:
    query, at = request.text("q"), request.text("at")
    near = [*answer.get("near", ()), *answer.get("suggestions", ())][:5]
    others = [other for other in ("search", "grep", "symbols") if other != name]
    wider = element("a", "Remove the filters", href=link("", tab=name, q=query, at=at))
    narrowed = any(request.many(facet) for facet in _FACETS)
    nearby = links((one, link("", tab=name, q=one, at=at)) for one in near)
    said = [
        element("p", "Nothing found for ", element("q", shorten(query, 60)), "."),
        element("p", wider) if narrowed else None,
        element("p", "Near: ", nearby) if near else None,
        hint("Try ", links((TABS[o].label, link("", tab=o, q=query, at=at)) for o in others)),
    ]
    return element("div", said, class_="empty")


SEARCH = WebPage("", "Search", _answer, _render, ("coloured",), refuses=True)
