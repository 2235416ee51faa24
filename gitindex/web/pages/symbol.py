"""`/symbol/<id>`: a definition, its uses with certainty, its callees, the tests that reach it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from gitindex.base.path_kind import is_test
from gitindex.base.vocabulary import Tier
from gitindex.query.absence import summary
from gitindex.questions.definition import doc_of
from gitindex.questions.graph import QUESTION as GRAPH
from gitindex.questions.refs import QUESTION as REFERENCES
from gitindex.web.frame import copy_button
from gitindex.web.html import Html, element, empty, hint, hit, join, kind, link, place, shorten
from gitindex.web.pages.search import source_chip
from gitindex.web.session import Answer, WebPage, WebQuestion, WebSession

LIMIT = 300
NODES = 150
SHOWN_POSSIBLE = 50
_TIERS = [str(tier) for tier in Tier]
_CLASSES = {
    "definitions": "its own definitions",
    "references": "bound to it",
    "possible": "cannot be excluded",
    "unlikely": "members on another type, as far as inference goes",
    "elsewhere": "bound to something else of the same name",
    "prose": "comments, strings and documents",
}
"""The classes of the partition, the surest first."""
_ABOUT = {
    "semantic": "proven by a compiler's index",
    "exact": "bound by scopes",
    "import": "bound through imports",
    "dispatch": "may be called through a base class or an interface",
}


def _answer(session: WebSession, request: WebQuestion) -> Answer:
    every = bool(request.text("all"))
    with session.page(request.choice, names=True) as here:
        answer = here.ask(
            REFERENCES, symbol=request.path, limit=LIMIT, everything=every, mentions=every
        )
        if not (answer["definitions"] or answer["references"]):
            return answer | {"status": "not_found", "message": f"no symbol {request.path}"}
        graph = here.ask(GRAPH, symbol=request.path, limit=NODES, note_limit=0)
        answer["graph"] = {
            name: graph[name]
            for name in ("status", "root", "nodes", "edges", "candidates", "truncated")
            if name in graph
        }
        with here.tree() as view:
            first = answer["definitions"][:1]
            answer["doc"] = doc_of(view, first[0]) if first else ""
        answer["tests"] = _tests(answer)
    return answer


def _tests(answer: Answer) -> list[str]:
    """Return test files that use it directly."""
    used = (row["path"] for row in answer["references"] if row["role"] != "definition")
    return sorted({path for path in used if is_test(path)})


def _render(request: WebQuestion, answer: Answer) -> Html:
    return join(
        _head(request, answer),
        element(
            "div",
            element(
                "section",
                _certificate(answer),
                _partition(request, answer),
                _references(request, answer),
                _possible(request, answer),
                _others(request, answer),
            ),
            element(
                "section",
                _calls(request, answer, callers=True),
                _calls(request, answer, callers=False),
                _tests_block(request, answer),
            ),
            class_="split",
        ),
    )


def _head(request: WebQuestion, answer: Answer) -> Html:
    at = request.text("at")
    rows = []
    for row in answer["definitions"][:10]:
        target = link("file", row["path"], f"L{row['line']}", at=at)
        rows.append(
            element(
                "p",
                kind(row["kind"]),
                element("code", shorten(row["signature"] or row["qualifiedName"], 160)),
                place(shorten(f"{row['path']}:{row['line']}", 90), href=target),
                source_chip(row),
                class_="head",
            )
        )
    more = len(answer["definitions"]) - 10
    focus = answer["definitions"][0]["path"] if answer["definitions"] else ""
    return join(
        element(
            "h1",
            element("strong", shorten(answer["name"], 80)),
            copy_button("copy as command", shlex.join(["gitindex", REFERENCES.name, request.path])),
            element("a", "on the map", href=link("map", focus=focus, at=at)) if focus else None,
            class_="crumbs",
        ),
        rows,
        hint(f"{more} more definitions") if more > 0 else None,
        element("p", answer["doc"].strip()[:1_500], class_="doc") if answer.get("doc") else None,
    )


def _certificate(answer: Answer) -> Html:
    sure = answer["accountedFor"]
    name = "absent" if answer["absent"] else "complete" if answer["complete"] else "open"
    return element(
        "p",
        element("strong", name),
        " ",
        summary(answer),
        ".",
        class_=f"certificate {'fresh' if sure else 'stale'}",
    )


def _partition(request: WebQuestion, answer: Answer) -> Html | None:
    """Return every occurrence of the name as a bar: one part for each class, as wide as its share."""
    counts = {name: answer["accounted"].get(name, 0) for name in _CLASSES}
    total = sum(counts.values())
    if not total:
        return None
    shown = [(name, count) for name, count in counts.items() if count]
    bar = [
        element("rect", x=x, width=width, y=0, height=10, class_=name, rx=1)
        for (name, _), (x, width) in zip(shown, _shares([n for _, n in shown]), strict=True)
    ]
    legend = [
        element(
            "li",
            element(
                "a",
                element("span", class_=f"swatch {name}", aria_hidden="true"),
                f"{count} {name if count > 1 else name.removesuffix('s')}",
                href=_class_link(request, name),
                title=_CLASSES[name],
            ),
        )
        for name, count in shown
    ]
    return element(
        "div",
        element(
            "svg",
            bar,
            viewBox="0 0 1000 10",
            preserveAspectRatio="none",
            role="img",
            aria_label=f"{total} occurrences of the name by class",
        ),
        element("ul", legend),
        class_="partition",
    )


def _shares(counts: list[int]) -> Iterator[tuple[int, int]]:
    """Yield place and width of each part of 1,000; none is too narrow to be seen."""
    total, x = sum(counts), 0
    least = 12
    room = 1_000 - least * len(counts)
    for count in counts:
        width = least + room * count // total
        yield x, width
        x += width


def _class_link(request: WebQuestion, name: str) -> str:
    listed = name in ("definitions", "references", "possible")
    query = {} if listed else {"all": "1"}
    return link("symbol", request.path, name, at=request.text("at"), **query)


def _others(request: WebQuestion, answer: Answer) -> Html | None:
    """Return what is listed on request: other types, and comments, strings and documents."""
    parts = []
    for name, field in (("unlikely", "unlikely"), ("prose", "mentioned")):
        rows = answer.get(field, ())[:SHOWN_POSSIBLE]
        if rows:
            title = element("h2", f"{answer['accounted'].get(name, len(rows))} {name}", id=name)
            listed = [_place_row(request, row, row.get("why") or _CLASSES[name]) for row in rows]
            parts.append(join(title, element("ol", listed, class_="hits uses")))
    return join(parts) if parts else None


def _place_row(request: WebQuestion, row: dict[str, Any], why: str) -> Html:
    target = link("file", row["path"], f"L{row['line']}", at=request.text("at"))
    return hit(
        place(_spot(row["path"], "/", f":{row['line']}"), href=target),
        element("code", row["text"][:200]),
        kind(why.replace("_", " ")),
    )


def _references(request: WebQuestion, answer: Answer) -> Html:
    uses = [row for row in answer["references"] if row["role"] != "definition"]
    order = sorted(uses, key=lambda row: (_tier(row), row["path"], row["line"]))
    groups = []
    for tier, rows in groupby(order, key=lambda row: row["tier"]):
        listed = [_use(request, row) for row in rows]
        head = element("h3", tier, element("span", _ABOUT.get(tier, ""), class_="hint"))
        groups.append(element("div", head, element("ol", listed, class_="hits uses")))
    total = answer.get("totalReferences", len(uses))
    title = f"{total} reference{'' if total == 1 else 's'}"
    cut = f", {len(answer['references'])} shown" if answer.get("truncated") else ""
    return join(element("h2", title + cut, id="references"), groups or empty("Nobody uses it."))


def _tier(row: dict[str, Any]) -> int:
    return _TIERS.index(row["tier"]) if row["tier"] in _TIERS else len(_TIERS)


def _use(request: WebQuestion, row: dict[str, Any]) -> Html:
    target = link("file", row["path"], f"L{row['line']}", at=request.text("at"))
    return hit(
        place(_spot(row["path"], "/", f":{row['line']}"), href=target),
        element("code", row["text"][:200]),
        kind(row.get("use", row["role"])),
        source_chip(row) if row["source"] == "worktree" else None,
    )


def _spot(name: str, mark: str, tail: str = "") -> Html:
    """Return a path or a symbol whose first part is dimmed, and cut where there is no room."""
    first, found, last = name.rpartition(mark)
    sharp = element("span", mark, class_="mark") if found == "#" else None
    return join(
        element("span", first, None if sharp else found, class_="folder", title=name[:2_000]),
        sharp,
        element("span", shorten(last, 60), tail, class_="name"),
    )


def _possible(request: WebQuestion, answer: Answer) -> Html | None:
    rows = answer["possible"]
    if not rows:
        return None
    listed = [_place_row(request, row, row["why"]) for row in rows[:SHOWN_POSSIBLE]]
    title = f"{answer['accounted']['possible']} possible"
    return join(element("h2", title, id="possible"), element("ol", listed, class_="hits uses"))


def _calls(request: WebQuestion, answer: Answer, callers: bool) -> Html:
    graph = answer["graph"]
    title = "Callers" if callers else "Calls"
    if graph.get("status") != "ok":
        return join(element("h2", title), _choose(graph)) if callers else Html("")
    return _shown_calls(request, graph, callers, title)


def _shown_calls(request: WebQuestion, graph: Answer, callers: bool, title: str) -> Html:
    near, far = ("to", "from") if callers else ("from", "to")
    nodes = {node["id"]: node for node in graph["nodes"]}
    edges = [edge for edge in graph["edges"] if edge[near] == graph["root"]]
    rows = []
    for identity, tier, how in dict.fromkeys((e[far], e["tier"], e["kind"]) for e in edges):
        target = link("symbol", identity, at=request.text("at"))
        rows.append(
            hit(
                place(_spot(identity, "#"), href=target),
                kind(f"{tier} {how}"),
                title=nodes.get(identity, {}).get("kind") or None,
            )
        )
    empty = "No caller is known." if callers else "It calls nothing of this repository."
    body = element("ol", rows, class_="hits uses") if rows else hint(empty)
    return join(element("h2", title, element("span", len(rows), class_="hint")), body)


def _choose(graph: Answer) -> Html:
    """Return the symbols of a name that several have."""
    names = [
        element("li", element("a", shorten(node["id"], 70), href=link("symbol", node["id"])))
        for node in graph.get("candidates", ())[:20]
    ]
    several = hint("Several symbols have this name: choose one.")
    return join(several, element("ul", names))


def _tests_block(request: WebQuestion, answer: Answer) -> Html:
    """Render tests that use it; those that reach it through calls arrive after the page."""
    at = request.text("at")
    rows = [
        hit(place(_spot(path, "/"), href=link("file", path, at=at))) for path in answer["tests"]
    ]
    listed = element("ol", rows, class_="hits uses") if rows else hint("No test uses it directly.")
    return join(
        element("h2", "Tests that reach it"),
        element("div", listed, data_part=link("reach", request.path, at=at), data_when="seen"),
    )


SYMBOL = WebPage("symbol", "Symbol", _answer, _render)
