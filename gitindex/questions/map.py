"""`gitindex map`, `repo_map`: the files that matter most and their signatures."""

from __future__ import annotations

import os
from collections.abc import Iterable

from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING, NamedTuple
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, Row, question

if TYPE_CHECKING:
    from gitindex.query.map.nodes import ShownNode
    from gitindex.view.tree import TreeView

    Marks = dict[str, str]

MAX_TOKENS = 20_000
"""Of one call over MCP."""


def ask(here: Here, params: Params) -> Answer:
    """Return the map of a tree, or its picture."""
    from gitindex.query.map.answer import MapQuery, read_sections, repo_map

    focus = tuple(map(here.inside, params["focus"]))
    include = read_sections(params["include"])
    with here.tree() as view, here.doing("ranking the files"):
        focus = focus or here.below(view)
        if params["svg"]:
            graph = here.remember("map", view, TreeGraph)
            drawn = graph.picture(view, [], _neighbours(graph, focus))
            return {"status": "ok", "map": _svg(drawn)}
        return dict(repo_map(view, MapQuery(params["tokens"], focus, include)))


def _svg(drawn: Picture) -> str:
    """Return what the page draws as a file."""
    from gitindex.query.svg import Arrow, LabelledBox, picture

    boxes = {}
    for row in drawn.nodes:
        width, height = row["width"], row["height"]
        corner = 10 + row["x"] - width / 2, 10 + row["y"] - height / 2
        text = (row["label"],)
        boxes[row["id"]] = LabelledBox(*corner, width, height, row["id"], text, is_open=row["open"])
    arrows = (Arrow(e["from"], e["to"], f"{e['from']} imports {e['to']}") for e in drawn.edges)
    return picture(boxes, arrows)


def text(answer: Answer, _ink: Ink) -> Lines:
    """Yield the map."""
    yield answer["map"].rstrip("\n") if not _ink.width else answer["map"]


def fit(answer: Answer, params: Params) -> Answer:
    """Leave out the fields that only repeat the text."""
    fields = {name: value for name, value in answer.items() if not isinstance(value, list)}
    more = min(2 * params["tokens"], MAX_TOKENS)
    goes_on = answer["truncated"] and more > params["tokens"]
    return fields | ({"continuation": {"tokens": more}} if goes_on else {})


MAX_SYMBOLS = 120
IMPACT_DEPTH = 2
MAX_PICTURES = 8
_SYMBOLS = (
    "SELECT n.text, s.qualified_name, s.kind FROM {live} l JOIN {symbols} s ON s.blob_id=l.blob_id"
    " JOIN {names} n ON n.id=s.name_id WHERE l.path=? AND s.parent<0 ORDER BY s.ordinal LIMIT ?"
)


class Picture(NamedTuple):
    """Nodes with their places, and edges, as JSON has them."""

    nodes: list[Row]
    edges: list[Row]
    truncated: bool


class TreeGraph:
    """What the map needs of one tree; a server keeps it between clicks."""

    def __init__(self, view: TreeView) -> None:
        from gitindex.query.map.file_graph import FileGraph
        from gitindex.query.map.nodes import MapFile

        graph = FileGraph(view)
        paths = {path: path for path in graph.files}  # one string for each path
        self.imports = {
            paths[path]: tuple(paths[target] for target in targets)
            for path, targets in graph.imports.items()
        }
        joined = {path for path, targets in self.imports.items() if targets} | {*graph.importers}
        ranks = graph.ranks(set())
        self.files = {
            path: MapFile(path, path in joined, rank=ranks.get(path, 0.0)) for path in paths
        }
        self.pictures: dict[tuple[str, ...], Picture] = {}  # the last few: a page asks twice

    def picture(self, view: TreeView, opened: list[str], marks: Marks | None) -> Picture:
        """Return what is drawn with these folders open and these files marked."""
        from gitindex.query.map.nodes import choose_nodes, join_nodes

        key = (*opened, "\0", *(f"{path}\0{mark}" for path, mark in (marks or {}).items()))
        if key not in self.pictures:
            files = self.files | {
                path: self.files[path]._replace(symbols=_top_symbols(view, path))
                for path in opened
                if path in self.files
            }
            nodes, cut = choose_nodes(files, opened, marks)
            edges, less = join_nodes(nodes, self.imports)
            self.pictures = dict(list(self.pictures.items())[-MAX_PICTURES:])
            self.pictures[key] = Picture(_rows(nodes), [*map(_edge, edges)], cut or less)
        return self.pictures[key]


def ask_nodes(here: Here, params: Params) -> Answer:
    """Return the nodes and edges of the map, or of a part of it."""
    reached = _reached(here, params["impact"]) if params["impact"] else None
    with here.tree() as view:
        graph = here.remember("map", view, TreeGraph)
        marks = (
            reached if reached is not None else _neighbours(graph, filter(None, [params["focus"]]))
        )
        drawn = graph.picture(view, params["open"], marks)
        return view.envelope(
            nodes=drawn.nodes,
            edges=drawn.edges,
            nodeCount=len(drawn.nodes),
            edgeCount=len(drawn.edges),
            files=len(graph.files),
            focus=safe_text(params["focus"]),
            impact=safe_text(params["impact"]),
            truncated=drawn.truncated,
        )


def _top_symbols(view: TreeView, path: str) -> tuple[tuple[str, str, str], ...]:
    """Return name, qualified name and kind of the definitions at the top level of a file."""
    raw = os.fsencode(path)
    view.ensure_facts(paths=[raw])
    return tuple(view.rows(_SYMBOLS, raw, MAX_SYMBOLS))


def _neighbours(graph: TreeGraph, paths: Iterable[str]) -> Marks | None:
    """Return files, the files they import, and those that import them; None without a path."""
    from gitindex.query.map.answer import focused

    focus = focused(graph.files, paths)
    if not focus:
        return None
    marks = {target: "imported" for path in focus for target in graph.imports.get(path, ())}
    marks |= {p: "imports" for p, targets in graph.imports.items() if not focus.isdisjoint(targets)}
    return marks | dict.fromkeys(focus, "focus")


def _reached(here: Here, changed: str) -> Marks:
    """Return the files in the answer of `impact`, each with its part in it."""
    from gitindex.questions.impact import QUESTION as IMPACT

    between = "" if changed == "worktree" else changed
    answer = IMPACT.ask(here, IMPACT.given(between=between, depth=IMPACT_DEPTH))
    marks: Marks = dict.fromkeys(answer["files"], "reached")
    marks |= dict.fromkeys(answer["tests"], "test")
    return marks | {row["path"]: "changed" for row in answer["changedFiles"]}


def _rows(nodes: list[ShownNode]) -> list[Row]:
    from gitindex.query.map.nodes import place_nodes

    places = place_nodes(nodes)
    opened = {node.parent for node in nodes}
    rows = []
    for node in nodes:
        x, y, width, height = places[node.id]
        row: Row = {
            "id": safe_text(node.id),
            "label": safe_text(node.label),
            "kind": node.kind,
            "parent": safe_text(node.parent) or None,
            "files": node.files,
            "open": node.id in opened,
        }
        row |= {"mark": node.mark} if node.mark else {}
        row |= {"x": round(x + width / 2), "y": round(y + height / 2)}
        rows.append(row | {"width": round(width), "height": round(height)})
    return rows


def _edge(edge: Row) -> Row:
    return edge | {"from": safe_text(edge["from"]), "to": safe_text(edge["to"])}


TABLE = """
Explore: map | found=map tool=repo_map
  The files that matter most and their signatures. Never longer than its budget.
  > The files that matter most and their signatures.
    --tokens | tokens integer =2000 1..100000 | Length at most; 4 characters each. | =1000 100..20000:
      + budget
    --focus | focus texts @paths | A file or folder that matters most; repeatable. | path: file or
      + folder
    --include | include texts @structure,languages,entrypoints,hubs,tests,surface | structure,
      + languages, entrypoints, hubs, tests, surface; joined by commas. | text ..200: structure,
      + languages, entrypoints, hubs, tests, surface
    --svg | svg flag | A picture instead: SVG.
    at
"""
QUESTION = question(TABLE, ask, text, fit=fit)
NODES_TABLE = """
map nodes
  The map as nodes and edges with their places.
    --open | open texts | A folder or file that is open; repeatable.
    --focus | focus | A file whose neighbours are shown.
    --impact | impact | A..B, or `worktree`: the files that a change reaches.
    at
"""
NODES = question(NODES_TABLE, ask_nodes)
QUESTIONS = (QUESTION, NODES)
