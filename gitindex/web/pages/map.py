"""`/map`: folders, files and symbols; imports; the neighbours of a file; what a change reaches."""

from __future__ import annotations

from collections import Counter
from math import log2
from typing import Any

from gitindex.base.escape import counted
from gitindex.query.map.nodes import MAX_NODES
from gitindex.questions.map import NODES as MAP_NODES
from gitindex.web.frame import copy_button
from gitindex.web.html import Html, address, element, empty, hint, join, link, shorten
from gitindex.web.session import Answer, WebPage, WebQuestion, WebSession

LONGEST = 22
"""Characters of a label; the title has all."""
MARGIN = 12
HUES = 6
"""Colours of top folders; the sheet has as many."""


def picture(nodes: list[dict[str, Any]], edges: list[dict[str, Any]], label: str) -> Html:
    """Return the map. A click on a node follows the link that the list beside it has."""
    placed = {node["id"]: node for node in nodes}
    lines = [_line(edge, placed[edge["from"]], placed[edge["to"]]) for edge in edges]
    hues = hues_of(nodes)
    boxes = [_node(node, None) for node in nodes if node["open"]]
    leaves = [_node(node, hues.get(top_of(node))) for node in nodes if not node["open"]]
    return element(
        "svg",
        [element("g", part) for part in (boxes, lines, leaves)],
        id="graph",
        role="img",
        aria_label=label,
        viewBox=_view(nodes),
        data_nodes=len(nodes),
        tabindex=0,
    )


def top_of(node: dict[str, Any]) -> str:
    """Return the folder at the top that a node is in; empty for a file beside them."""
    top, slash, _ = node["id"].partition("/")
    return top if slash or node["kind"] == "folder" else ""


def hues_of(nodes: list[dict[str, Any]]) -> dict[str, int]:
    """Return a colour for each top folder, the one with most nodes first; the rest has none."""
    counts = Counter(filter(None, map(top_of, nodes)))
    return {name: number for number, (name, _) in enumerate(counts.most_common(HUES))}


def _node(node: dict[str, Any], hue: int | None) -> Html:
    x, y, width, height = node["x"], node["y"], node["width"], node["height"]
    shown = node["label"]
    if len(shown) > LONGEST:
        shown = f"{shown[: LONGEST - 1]}…"
    kind = "box" if node["open"] else "node"
    return element(
        "g",
        element("title", node["label"]),
        element("rect", x=x - width // 2, y=y - height // 2, width=width, height=height, rx=5),
        element("text", shown, x=x, y=y - height // 2 + 11 if node["open"] else y),
        class_=f"{kind} {node['kind']} {node.get('mark', '')}".rstrip() + _hue(hue),
        data_id=node["id"],
    )


def _hue(hue: int | None) -> str:
    return "" if hue is None else f" hue{hue}"


def _line(edge: dict[str, Any], start: dict[str, Any], end: dict[str, Any]) -> Html:
    count = edge["count"]
    imports = f"{start['id']} imports {end['id']}" + (f", {count} times" if count > 1 else "")
    return element(
        "line",
        element("title", imports),
        x1=start["x"],
        y1=start["y"],
        x2=end["x"],
        y2=end["y"],
        stroke_width=f"{min(4.0, 0.8 + 0.4 * log2(count)):.1f}",
        data_from=edge["from"],
        data_to=edge["to"],
    )


def _view(nodes: list[dict[str, Any]]) -> str:
    """Return the part of the plane that shows every node."""
    right = max(node["x"] + node["width"] // 2 for node in nodes)
    bottom = max(node["y"] + node["height"] // 2 for node in nodes)
    return f"{-MARGIN} {-MARGIN} {right + 2 * MARGIN} {bottom + 2 * MARGIN}"


MAX_OPEN = 30
NOTHING = "."
"""The value of `open` for no open folder; without a value the map opens some itself."""


def _answer(session: WebSession, request: WebQuestion) -> Answer:
    focus, impact = request.text("focus"), request.text("impact")
    return session.ask(
        MAP_NODES, request.choice, open=request.many("open"), focus=focus, impact=impact
    )


def _render(request: WebQuestion, answer: Answer) -> Html:
    opened = request.many("open") or [n["id"] for n in answer["nodes"] if n["open"]]
    summary = (
        f"{counted(answer['nodeCount'], 'nodes')} of a tree of {counted(answer['files'], 'files')}"
    )
    if answer["truncated"]:
        summary += f"; at most {MAX_NODES} are drawn"
    return join(
        element("h1", _title(answer), class_="crumbs"),
        element(
            "p",
            element("span", summary, f" · {counted(answer['edgeCount'], 'imports')}"),
            _choices(request),
            class_="summary",
        ),
        element(
            "div",
            _tree(request, answer, opened),
            element(
                "section",
                picture(
                    answer["nodes"],
                    answer["edges"],
                    f"Map: {summary}. The list beside it has the same entries. Arrow keys, + and - move it.",
                ),
                element("div", id="picked", role="status", class_="hint"),
                hint(_legend(answer)),
                _colours(answer),
            ),
            class_="cols map",
        )
        if answer["nodes"]
        else empty("There is nothing to draw: the index has no file of this tree."),
    )


def _kept(request: WebQuestion) -> dict[str, list[str]]:
    return {name: request.many(name) for name in ("open", "focus", "impact", "at")}


def _title(answer: Answer) -> Html:
    if answer["focus"]:
        return join("Around ", shorten(answer["focus"], 80))
    return (
        join("What ", shorten(answer["impact"], 60), " reaches")
        if answer["impact"]
        else join("Map")
    )


def _choices(request: WebQuestion) -> Html:
    at = request.text("at")
    links = [
        ("whole map", link("map", at=at)),
        ("what my edits reach", link("map", impact="worktree")),
    ]
    picture = copy_button("copy as command", "gitindex map --svg > map.svg")
    save = element("button", "save as SVG", type="button", id="save", hidden=True)
    return join([element("a", name, href=to) for name, to in links], picture, save)


def _legend(answer: Answer) -> str:
    if answer["impact"]:
        return "Red: changed. Orange: reached. Green: tests."
    if answer["focus"]:
        return "Blue: the file. Green: what imports it. Orange: what it imports."
    return "Click a folder to open it, a file to read it; drag and wheel move the map."


def _colours(answer: Answer) -> Html | None:
    """Return which colour is which folder."""
    hues = hues_of(answer["nodes"])
    rows = [
        element("li", element("span", class_=f"swatch hue{hue}", aria_hidden="true"), f"{name}/")
        for name, hue in hues.items()
    ]
    return element("ul", rows, class_="legend") if len(rows) > 1 else None


def _tree(request: WebQuestion, answer: Answer, opened: list[str]) -> Html:
    """Return the same nodes as a list: for keyboards, screen readers and no JavaScript."""
    inside: dict[str | None, list[dict[str, Any]]] = {}
    for node in answer["nodes"]:
        inside.setdefault(node["parent"], []).append(node)

    def listed(parent: str | None) -> Html | None:
        rows = [row(node) for node in inside.get(parent, [])]
        return element("ul", rows) if rows else None

    def row(node: dict[str, Any]) -> Html:
        name, target = shorten(node["label"], 40), _target(request, node, opened)
        if node["kind"] == "symbol":
            return element("li", element("a", name, href=target, data_id=node["id"]))
        return element(
            "li",
            element(
                "a",
                element("span", "▾ " if node["open"] else "▸ ", aria_hidden="true"),
                name,
                href=target,
                aria_expanded="true" if node["open"] else "false",
                role="button",
                class_=node.get("mark"),
                data_id=node["id"],
            ),
            _also(request, node),
            listed(node["id"]),
        )

    return element("aside", element("nav", listed(None), aria_label="Map as a list"), class_="tree")


def _target(request: WebQuestion, node: dict[str, Any], opened: list[str]) -> str:
    """Return where a click on a node leads: a symbol's page, or the map with the node open or closed."""
    if node["kind"] == "symbol":
        return link("symbol", node["id"], at=request.text("at"))
    rest = [one for one in opened if one != node["id"] and not one.startswith(node["id"] + "/")]
    now = rest if node["open"] else [*opened, node["id"]][-MAX_OPEN:]
    return address("map", "", _kept(request) | {"open": now or [NOTHING]})


def _also(request: WebQuestion, node: dict[str, Any]) -> Html | None:
    if node["kind"] == "folder":
        return element("span", node["files"], class_="count")
    at = request.text("at")
    focus = element(
        "a",
        "around",
        href=link("map", focus=node["id"], at=at),
        aria_label=f"around {node['label']}: what it imports and what imports it",
    )
    code = element(
        "a", "code", href=link("file", node["id"], at=at), aria_label=f"code of {node['label']}"
    )
    return element("span", focus, " ", code, class_="also")


MAP = WebPage("map", "Map", _answer, _render, scripts=("map.js",))
