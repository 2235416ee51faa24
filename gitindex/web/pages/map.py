"""`/map`: folders, files and symbols; imports; the neighbours of a file; what a change reaches."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import counted, safe_text
from gitindex.query.impact.change import comparing, parse_range
from gitindex.query.impact.reach import impact
from gitindex.query.map.file_graph import FileGraph
from gitindex.view.tree import TreeView
from gitindex.web.html import Html, address, element, join, link, shorten
from gitindex.web.pages.map_nodes import (
    MAX_NODES,
    MapFile,
    ShownNode,
    choose_nodes,
    join_nodes,
    place_nodes,
)
from gitindex.web.pages.map_picture import picture
from gitindex.web.session import Answer, WebPage, WebQuestion, WebSession

MAX_SYMBOLS = 120
IMPACT_DEPTH = 2
MAX_OPEN = 30
NOTHING = "."
"""The value of `open` for no open folder; without a value the map opens some itself."""
MAX_PICTURES = 8
Marks = dict[str, str]
_SYMBOLS = (
    "SELECT n.text, s.qualified_name, s.kind FROM {live} l JOIN {symbols} s ON s.blob_id=l.blob_id"
    " JOIN {names} n ON n.id=s.name_id WHERE l.path=? AND s.parent<0 ORDER BY s.ordinal LIMIT ?"
)


class Picture(NamedTuple):
    """Nodes with their places, and edges, as JSON has them."""

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    truncated: bool


class TreeGraph:
    """The data of one tree that the map needs, cached between clicks."""

    def __init__(self, view: TreeView) -> None:
        graph = FileGraph(view)
        paths = {path: path for path in graph.files}  # one string for each path
        self.imports = {
            paths[path]: tuple(paths[target] for target in targets)
            for path, targets in graph.imports.items()
        }
        joined = {path for path, targets in self.imports.items() if targets} | {*graph.importers}
        self.files = {path: MapFile(path, path in joined) for path in paths}
        self.pictures: dict[tuple[str, ...], Picture] = {}  # the last few: a page asks twice

    def picture(self, view: TreeView, opened: list[str], marks: Marks | None) -> Picture:
        """Return what is drawn with these folders open and these files marked."""
        key = (*opened, "\0", *(f"{path}\0{mark}" for path, mark in (marks or {}).items()))
        if key not in self.pictures:
            shown_files = self.files | {
                path: self.files[path]._replace(symbols=_top_symbols(view, path))
                for path in opened
                if path in self.files
            }
            nodes, cut = choose_nodes(shown_files, opened, marks)
            edges, less = join_nodes(nodes, self.imports)
            shown = [_shown_edge(edge) for edge in edges]
            self.pictures = dict(list(self.pictures.items())[-MAX_PICTURES:])
            self.pictures[key] = Picture(_rows(nodes), shown, cut or less)
        return self.pictures[key]


def _answer(session: WebSession, asked: WebQuestion) -> Answer:
    changed = asked.text("impact")
    reached = _impact(session, changed) if changed else None
    with session.open(asked.choice) as view:
        graph = session.remember("map", view, TreeGraph)
        marks = reached if reached is not None else _neighbours(graph, asked.text("focus"))
        drawn = graph.picture(view, asked.many("open"), marks)
        return view.envelope(
            nodes=drawn.nodes,
            edges=drawn.edges,
            nodeCount=len(drawn.nodes),
            edgeCount=len(drawn.edges),
            files=len(graph.files),
            focus=safe_text(asked.text("focus")),
            impact=safe_text(changed),
            truncated=drawn.truncated,
        )


def _top_symbols(view: TreeView, path: str) -> tuple[tuple[str, str, str], ...]:
    """Return name, qualified name and kind of the definitions at the top level of a file."""
    raw = os.fsencode(path)
    view.ensure_facts(paths=[raw])
    return tuple(view.rows(_SYMBOLS, raw, MAX_SYMBOLS))


def _neighbours(graph: TreeGraph, focus: str) -> Marks | None:
    """Return a file, the files it imports, and those that import it."""
    if not focus:
        return None
    if focus not in graph.files:
        raise GitIndexError(f"not in the tree: {safe_text(focus)}", "see `gitindex map`", Exit.NO)
    marks = dict.fromkeys(graph.imports.get(focus, ()), "imported")
    marks |= {path: "imports" for path, targets in graph.imports.items() if focus in targets}
    return marks | {focus: "focus"}


def _impact(session: WebSession, changed: str) -> Marks:
    """Return the files in the answer of `impact`."""
    between = parse_range("" if changed == "worktree" else changed, False)
    worktree = session.worktree
    with comparing(worktree, worktree.root, between) as change:
        answer = impact(change, IMPACT_DEPTH)
    marks: Marks = dict.fromkeys(answer["files"], "reached")
    marks |= dict.fromkeys(answer["tests"], "test")
    return marks | {row["path"]: "changed" for row in answer["changedFiles"]}


def _rows(nodes: list[ShownNode]) -> list[dict[str, Any]]:
    places = place_nodes(nodes)
    opened = {node.parent for node in nodes}
    rows = []
    for node in nodes:
        row: dict[str, Any] = {
            "id": safe_text(node.id),
            "label": safe_text(node.label),
            "kind": node.kind,
            "parent": safe_text(node.parent) or None,
            "files": node.files,
            "open": node.id in opened,
        }
        if node.mark:
            row["mark"] = node.mark
        x, y, width, height = places[node.id]
        row |= {"x": round(x + width / 2), "y": round(y + height / 2)}
        row |= {"width": round(width), "height": round(height)}
        rows.append(row)
    return rows


def _shown_edge(edge: dict[str, Any]) -> dict[str, Any]:
    return edge | {"from": safe_text(edge["from"]), "to": safe_text(edge["to"])}


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
    return join([element("a", name, href=to) for name, to in links])


def _legend(answer: Answer) -> str:
    if answer["impact"]:
        return "Red: changed. Orange: reached. Green: tests."
    if answer["focus"]:
        return "Blue: the file. Green: what imports it. Orange: what it imports."
    return "Click a folder or a file to open it, again to close it; drag and wheel move the map."


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
