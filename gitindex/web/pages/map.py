"""`/map`: folders, files and symbols; imports; the neighbours of a file; what a change reaches."""

from __future__ import annotations

from typing import Any

from gitindex.base.escape import counted
from gitindex.query.map.nodes import MAX_NODES
from gitindex.questions.map_nodes import QUESTION as MAP_NODES
from gitindex.web.frame import copy_button
from gitindex.web.html import Html, address, element, join, link, shorten
from gitindex.web.pages.map_picture import hues_of, picture
from gitindex.web.session import Answer, WebPage, WebQuestion, WebSession

MAX_OPEN = 30
NOTHING = "."
"""The value of `open` for no open folder; without a value the map opens some itself."""


def _answer(session: WebSession, asked: WebQuestion) -> Answer:
    focus, impact = asked.text("focus"), asked.text("impact")
    return session.ask(MAP_NODES, asked.choice, open=asked.many("open"), focus=focus, impact=impact)


def _render(asked: WebQuestion, answer: Answer) -> Html:
    opened = asked.many("open") or [n["id"] for n in answer["nodes"] if n["open"]]
    told = (
        f"{counted(answer['nodeCount'], 'nodes')} of a tree of {counted(answer['files'], 'files')}"
    )
    if answer["truncated"]:
        told += f"; at most {MAX_NODES} are drawn"
    return join(
        element("h1", _title(answer), class_="crumbs"),
        element(
            "p",
            element("span", told, f" · {counted(answer['edgeCount'], 'imports')}"),
            _choices(asked),
            class_="summary",
        ),
        element(
            "div",
            _tree(asked, answer, opened),
            element(
                "section",
                picture(
                    answer["nodes"],
                    answer["edges"],
                    f"Map: {told}. The list beside it has the same entries. Arrow keys, + and - move it.",
                ),
                element("div", id="picked", role="status", class_="hint"),
                element("p", _legend(answer), class_="hint"),
                _colours(answer),
            ),
            class_="cols map",
        )
        if answer["nodes"]
        else element(
            "p", "There is nothing to draw: the index has no file of this tree.", class_="empty"
        ),
    )


def _kept(asked: WebQuestion) -> dict[str, list[str]]:
    return {name: asked.many(name) for name in ("open", "focus", "impact", "at")}


def _title(answer: Answer) -> Html:
    if answer["focus"]:
        return join("Around ", shorten(answer["focus"], 80))
    return (
        join("What ", shorten(answer["impact"], 60), " reaches")
        if answer["impact"]
        else join("Map")
    )


def _choices(asked: WebQuestion) -> Html:
    at = asked.text("at")
    links = [
        ("whole map", link("map", at=at)),
        ("what my edits reach", link("map", impact="worktree")),
    ]
    picture = copy_button("copy as command", "gitindex map --svg > map.svg")
    return join([element("a", name, href=to) for name, to in links], picture)


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


def _tree(asked: WebQuestion, answer: Answer, opened: list[str]) -> Html:
    """Return the same nodes as a list: for keyboards, screen readers and no JavaScript."""
    inside: dict[str | None, list[dict[str, Any]]] = {}
    for node in answer["nodes"]:
        inside.setdefault(node["parent"], []).append(node)

    def listed(parent: str | None) -> Html | None:
        rows = [row(node) for node in inside.get(parent, [])]
        return element("ul", rows) if rows else None

    def row(node: dict[str, Any]) -> Html:
        name, target = shorten(node["label"], 40), _target(asked, node, opened)
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
            _also(asked, node),
            listed(node["id"]),
        )

    return element("aside", element("nav", listed(None), aria_label="Map as a list"), class_="tree")


def _target(asked: WebQuestion, node: dict[str, Any], opened: list[str]) -> str:
    """Return where a click on a node leads: a symbol's page, or the map with the node open or closed."""
    if node["kind"] == "symbol":
        return link("symbol", node["id"], at=asked.text("at"))
    rest = [one for one in opened if one != node["id"] and not one.startswith(node["id"] + "/")]
    now = rest if node["open"] else [*opened, node["id"]][-MAX_OPEN:]
    return address("map", "", _kept(asked) | {"open": now or [NOTHING]})


def _also(asked: WebQuestion, node: dict[str, Any]) -> Html | None:
    if node["kind"] == "folder":
        return element("span", node["files"], class_="count")
    at = asked.text("at")
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


MAP = WebPage("map", "Map", _answer, _render)
