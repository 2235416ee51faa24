"""`/symbol/<id>`: a definition, its uses with certainty, its callees, the tests that reach it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from gitindex.base.escape import counted
from gitindex.base.path_kind import is_test
from gitindex.base.vocabulary import Tier
from gitindex.query.absence import summary
from gitindex.questions.definition import doc_of
from gitindex.questions.graph import QUESTION as GRAPH
from gitindex.questions.ink import last_name, signature
from gitindex.questions.refs import QUESTION as REFERENCES
from gitindex.web import html
from gitindex.web.frame import copy_button
from gitindex.web.html import Html, element, hint, hit, hits, join, kind, link, place, shorten
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
_COUNTED = ("definitions", "references")
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
    uses = [
        _certificate(answer),
        _partition(request, answer),
        _references(request, answer),
        _listed(request, answer, "possible", "possible"),
        _listed(request, answer, "unlikely", "unlikely"),
        _listed(request, answer, "prose", "mentioned"),
    ]
    around = [_calls(request, answer, callers) for callers in (True, False)]
    tests = _tests_block(request, answer)
    columns = (element("section", uses), element("section", around, tests))
    return join(_head(request, answer), element("div", columns, class_="split"))


def _head(request: WebQuestion, answer: Answer) -> Html:
    at, definitions = request.text("at"), answer["definitions"]
    rows = [
        element(
            "p",
            kind(row["kind"]),
            element("code", shorten(signature(row["signature"] or row["qualifiedName"]), 160)),
            html.spot(row, at),
            element("a", "history", href=html.history_of(row, at)),
            source_chip(row),
            class_="head",
        )
        for row in definitions[:10]
    ]
    command = shlex.join(["gitindex", REFERENCES.name, request.path])
    focus = html.links(
        ("on the map", link("map", focus=row["path"], at=at)) for row in definitions[:1]
    )
    more = len(definitions) - 10
    return join(
        html.crumbs(
            element("strong", shorten(answer["name"], 80)),
            copy_button("copy as command", command),
            focus,
        ),
        rows,
        hint(f"{more} more definitions") if more > 0 else None,
        element("p", answer["doc"].strip()[:1_500], class_="doc") if answer.get("doc") else None,
    )


def _certificate(answer: Answer) -> Html:
    name = "absent" if answer["absent"] else "complete" if answer["complete"] else "open"
    state = "fresh" if answer["accountedFor"] else "stale"
    return element(
        "p", element("strong", name), f" {summary(answer)}.", class_=f"certificate {state}"
    )


def _partition(request: WebQuestion, answer: Answer) -> Html | None:
    """Return every occurrence of the name as a bar: one part for each class, as wide as its share."""
    counts = {name: answer["accounted"].get(name, 0) for name in _CLASSES}
    shown = {name: count for name, count in counts.items() if count}
    if not shown:
        return None
    bar = [
        element(
            "a",
            element("rect", x=x, width=width, y=0, height=10, class_=name, rx=1),
            href=_class_address(request, answer, name),
            tabindex=-1,  # the legend has the same links
        )
        for name, (x, width) in zip(shown, _shares([*shown.values()]), strict=True)
    ]
    legend = [
        element(
            "a",
            element("span", class_=f"swatch {name}", aria_hidden="true"),
            counted(count, name) if name in _COUNTED else f"{count} {name}",
            href=_class_address(request, answer, name),
            title=_CLASSES[name],
        )
        for name, count in shown.items()
    ]
    box = {"viewBox": "0 0 1000 10", "preserveAspectRatio": "none", "aria_hidden": "true"}
    title = f"{counted(sum(shown.values()), 'occurrences')} of the name by class"
    listed = element("ul", [element("li", one) for one in legend], aria_label=title)
    return element("div", element("svg", bar, **box), listed, class_="partition")


def _shares(counts: list[int]) -> Iterator[tuple[int, int]]:
    """Yield place and width of each part of 1,000; none is too narrow to be seen."""
    total, x = sum(counts), 0
    least = 12
    room = 1_000 - least * len(counts)
    for count in counts:
        width = least + room * count // total
        yield x, width
        x += width


def _class_address(request: WebQuestion, answer: Answer, name: str) -> str:
    """Return where a class is listed: on this page, or among all places of the name."""
    at = request.text("at")
    if name == "elsewhere":
        return link("", tab="grep", q=last_name(answer["name"]), F="1", word="1", at=at)
    query = {} if name in (*_COUNTED, "possible") else {"all": "1"}
    return link("symbol", request.path, name, at=at, **query)


def _listed(request: WebQuestion, answer: Answer, name: str, field: str) -> Html:
    """Return the places of one class of the partition, if the answer lists any."""
    rows = sorted(answer.get(field, ()), key=lambda row: row.get("why") in ("string", "not_parsed"))
    lines: dict[tuple[Any, ...], list[dict[str, Any]]] = {}  # code before translations and bundles
    for row in rows:
        lines.setdefault((row["path"], row["line"], row.get("why") or _CLASSES[name]), []).append(
            row
        )
    shown = [*lines.items()][:SHOWN_POSSIBLE]
    listed = [
        _use(request, same[0], why.replace("_", " ") + (f" ×{len(same)}" if same[1:] else ""))
        for (_, _, why), same in shown
    ]
    count = sum(len(same) for _, same in shown)
    total = answer["accounted"].get(name, count)
    cut = f", {count} shown" if total > count else ""
    return html.titled(f"{total} {name}{cut}", listed, id=name)


def _references(request: WebQuestion, answer: Answer) -> Html:
    uses = [row for row in answer["references"] if row["role"] != "definition"]
    order = sorted(uses, key=lambda row: (_tier(row), row["path"], row["line"]))
    groups = []
    for tier, rows in groupby(order, key=lambda row: row["tier"]):
        listed = [_use(request, row, row.get("use", row["role"])) for row in rows]
        head = element("h3", tier, element("span", _ABOUT.get(tier, ""), class_="hint"))
        groups.append(element("div", head, hits(listed)))
    title = counted(answer.get("totalReferences", len(uses)), "references")
    cut = f", {len(answer['references'])} shown" if answer.get("truncated") else ""
    return join(
        element("h2", title + cut, id="references"), groups or html.empty("Nobody uses it.")
    )


def _tier(row: dict[str, Any]) -> int:
    return _TIERS.index(row["tier"]) if row["tier"] in _TIERS else len(_TIERS)


def _use(request: WebQuestion, row: dict[str, Any], why: str) -> Html:
    spot = html.named(row["path"], "/", f":{row['line']}")
    edited = source_chip(row) if row.get("source") == "worktree" else None
    code = element("code", row["text"][:200])
    return hit(place(spot, href=html.line_of(row, request.text("at"))), code, kind(why), edited)


_CALLERS = ("to", "from", "Callers", "No caller is known.")
_CALLS = ("from", "to", "Calls", "It calls nothing of this repository.")


def _calls(request: WebQuestion, answer: Answer, callers: bool) -> Html:
    graph = answer["graph"]
    near, far, title, nothing = _CALLERS if callers else _CALLS
    if graph.get("status") != "ok":
        return join(element("h2", title), _choose(request, graph)) if callers else Html("")
    edges = [edge for edge in graph["edges"] if edge[near] == graph["root"]]
    ends = dict.fromkeys((e[far], e["tier"], e["kind"]) for e in sorted(edges, key=_tier))
    rows = [_end(request, *end, answer["name"] if callers else "") for end in ends]
    possible = sum(tier == Tier.NAME for _, tier, _ in ends)
    count = f"{len(rows) - possible}{f', {possible} possible' if possible else ''}"
    return html.titled((title, element("span", count, class_="hint")), rows, nothing)


def _end(request: WebQuestion, identity: str, tier: str, how: str, callee: str) -> Html:
    """Return one end of a call; of a function that calls with the commits since when, a file has none."""
    to = place(html.named(identity, "#"), href=link("symbol", identity, at=request.text("at")))
    href = link("since", identity, callee=callee) if callee and "#" in identity else None
    since = element("a", "since", href=href, class_="count") if href else None
    return hit(to, kind("possible" if tier == Tier.NAME else f"{tier} {how}"), since)


def _choose(request: WebQuestion, graph: Answer) -> Html:
    """Return the symbols of a name that several have."""
    at = request.text("at")
    names = [
        hit(place(html.named(node["id"], "#"), href=link("symbol", node["id"], at=at)))
        for node in graph.get("candidates", ())[:20]
    ]
    return join(hint("Several symbols have this name: choose one."), hits(names))


def _tests_block(request: WebQuestion, answer: Answer) -> Html:
    """Render tests that use it; those that reach it through calls arrive after the page."""
    at = request.text("at")
    rows = [
        hit(place(html.named(path, "/"), href=link("file", path, at=at)))
        for path in answer["tests"]
    ]
    late = {"data_part": link("reach", request.path, at=at), "data_when": "seen"}
    listed = element("div", hits(rows, "No test uses it directly."), **late)
    return join(element("h2", "Tests that reach it"), listed)


SYMBOL = WebPage("symbol", "Symbol", _answer, _render, tail=True)
