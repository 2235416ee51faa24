"""Which folders, files and symbols a map shows, their edges and their positions. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from gitindex.base.escape import safe_text
from gitindex.base.path_kind import is_test

MAX_NODES = 300
MAX_EDGES = 1_500
FIRST_NODES = 60
"""Folders are opened automatically up to this many nodes."""
FIRST_DEPTH = 5
"""And so many folders deep."""
WORTHLESS = 1_000
"""A folder that is worth so much less than the first has nothing that is joined to anything."""
GAP, TOP, CHAR, LINE = 14.0, 22.0, 7.2, 26.0
ASPECT = 1.7


Rect = tuple[float, float, float, float]
"""The upper left corner, width and height."""


class MapFile(NamedTuple):
    """A file of the tree, and the names it defines at top level."""

    path: str
    joined: bool  # has an import edge in either direction
    symbols: tuple[tuple[str, str, str], ...] = ()  # name, qualified name, kind
    rank: float = 0.0  # its share of the importance of all files


class ShownNode(NamedTuple):
    """One node of the map."""

    id: str
    label: str
    kind: str  # folder, file, symbol
    parent: str
    files: int
    is_open: bool
    mark: str = ""  # focus, changed, reached, test


class Box(NamedTuple):
    """A rectangle with the corners and sizes of the nodes in it, relative to its own corner."""

    width: float
    height: float
    nodes: dict[str, Rect]


def choose_nodes(
    files: Mapping[str, MapFile], opened: Iterable[str], marks: Mapping[str, str] | None = None
) -> tuple[list[ShownNode], bool]:
    """Return the nodes to show: open folders with their contents; True if some were left out.

    With `marks`, all of those files are shown, and no others.
    """
    shown = {path: files[path] for path in marks if path in files} if marks else files
    below = _folders(shown)
    names = {*opened} if opened else None
    if names is None and not marks:
        below = _without_lone(files, below)
    open_ids = _closure(names) if names is not None else _first_open(shown, below)
    if marks:
        open_ids |= {folder for folder in below if folder}
    nodes: list[ShownNode] = []
    cut = _add("", shown, below, open_ids, marks or {}, nodes)
    return nodes, cut


def _without_lone(
    files: Mapping[str, MapFile], below: dict[str, list[str]]
) -> dict[str, list[str]]:
    """Leave out what imports nothing and is imported by nothing; a folder that is opened has it."""
    lone = {path for path, file in files.items() if not file.joined}
    if len(lone) == len(files):
        return below
    return {folder: [one for one in inner if one not in lone] for folder, inner in below.items()}


def _folders(files: Mapping[str, MapFile]) -> dict[str, list[str]]:
    """Return the folders and files directly in each folder; the root is the empty name."""
    folders: dict[str, set[str]] = {"": set()}
    for path in files:
        folder = ""
        for entry in (*_ancestors(path), path):
            folders.setdefault(folder, set()).add(entry)
            folder = entry
    return {folder: sorted(entries) for folder, entries in folders.items()}


def _ancestors(path: str) -> Iterator[str]:
    """Yield the folders that a path is in."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


def _closure(names: set[str]) -> set[str]:
    """Add the ancestors of each open folder."""
    return names.union(*map(_ancestors, names))


def _worth(files: Mapping[str, MapFile]) -> dict[str, float]:
    """Return the rank of each folder: the sum of its files', without those that nothing joins.

    A thousand translations or pages have some rank each, and nothing to be drawn.
    """
    worth: dict[str, float] = {}
    for path, file in files.items():
        for folder in _ancestors(path):
            worth[folder] = worth.get(folder, 0.0) + (file.rank if file.joined else 1e-9)
    return worth


def _first_open(files: Mapping[str, MapFile], below: Mapping[str, list[str]]) -> set[str]:
    """Open the folders that matter most first, while there is room; tests and dot folders stay closed."""
    worth = _worth(files)
    opened: set[str] = set()
    count = len(below[""])
    least = max(worth.values(), default=0.0) / WORTHLESS
    for folder, value in sorted(worth.items(), key=lambda item: (-item[1], item[0])):
        parent, _, name = folder.rpartition("/")
        if (parent and parent not in opened) or folder.count("/") >= FIRST_DEPTH:
            continue
        if value < least or name.startswith(".") or is_test(f"{folder}/x"):
            continue
        if count + len(below[folder]) <= FIRST_NODES:
            opened.add(folder)
            count += len(below[folder])
    return opened


def _add(
    folder: str,
    files: Mapping[str, MapFile],
    below: Mapping[str, list[str]],
    opened: set[str],
    marks: Mapping[str, str],
    nodes: list[ShownNode],
) -> bool:
    """Add the entries of a folder, then those of open ones: breadth first, within the cap."""
    cut = False
    sizes = Counter(part for path in files for part in _ancestors(path))
    ring = [folder]
    while ring:
        following = []
        for here in ring:
            for entry in below[here]:
                if len(nodes) >= MAX_NODES:
                    cut = True
                    continue
                is_open = entry in opened
                if entry in files:
                    nodes.append(_file_node(files[entry], here, is_open, marks.get(entry, "")))
                    if is_open:
                        cut = _add_symbols(files[entry], nodes) or cut
                else:
                    label = entry.rpartition("/")[2] + "/"
                    nodes.append(ShownNode(entry, label, "folder", here, sizes[entry], is_open))
                    if is_open:
                        following.append(entry)
        ring = following
    return cut


def _file_node(file: MapFile, parent: str, is_open: bool, mark: str) -> ShownNode:
    shown = is_open and bool(file.symbols)
    return ShownNode(file.path, file.path.rpartition("/")[2], "file", parent, 1, shown, mark)


def _add_symbols(file: MapFile, nodes: list[ShownNode]) -> bool:
    for name, qualified, _kind in file.symbols:
        if len(nodes) >= MAX_NODES:
            return True
        nodes.append(ShownNode(f"{file.path}#{qualified}", name, "symbol", file.path, 0, False))
    return False


def join_nodes(
    nodes: list[ShownNode], imports: Mapping[str, Iterable[str]]
) -> tuple[list[dict[str, Any]], bool]:
    """Return imports between shown nodes; imports of a hidden file count for its folder."""
    shown = {node.id for node in nodes if node.kind != "symbol"}
    opened = {node.id for node in nodes if node.is_open and node.kind == "folder"}
    homes: dict[str, str] = {}

    def home(path: str) -> str:
        if path not in homes:
            here = path
            while here and (here not in shown or here in opened):
                here = here.rpartition("/")[0]
            homes[path] = here
        return homes[path]

    counts: Counter[tuple[str, str]] = Counter()
    for path, targets in imports.items():
        for target in targets:
            ends = (home(path), home(target))
            if all(ends) and ends[0] != ends[1]:
                counts[ends] += 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rows = [{"from": a, "to": b, "kind": "import", "count": n} for (a, b), n in ordered]
    return rows[:MAX_EDGES], len(rows) > MAX_EDGES


def place_nodes(nodes: list[ShownNode]) -> dict[str, Rect]:
    """Return where each node stands: open folders and files are boxes, filled row by row."""
    inside: dict[str, list[ShownNode]] = {}
    for node in nodes:
        inside.setdefault(node.parent, []).append(node)

    def box(node: ShownNode) -> Box:
        children = inside.get(node.id, [])
        if not (node.is_open and children):
            width = max(48.0, min(170.0, CHAR * len(safe_text(node.label)) + 18))
            return Box(width, LINE, {node.id: (0.0, 0.0, width, LINE)})
        packed = _pack([box(child) for child in children])
        width = max(packed.width, min(170.0, CHAR * len(safe_text(node.label)))) + 2 * GAP
        height = packed.height + GAP + TOP
        return Box(width, height, {node.id: (0, 0, width, height)} | _moved(packed.nodes, GAP, TOP))

    return _pack([box(node) for node in inside.get("", [])]).nodes


def _moved(nodes: dict[str, Rect], dx: float, dy: float) -> dict[str, Rect]:
    return {name: (x + dx, y + dy, w, h) for name, (x, y, w, h) in nodes.items()}


def _pack(boxes: list[Box]) -> Box:
    """Pack boxes in rows as wide as makes the smallest picture of a screen's shape."""
    area = sum((box.width + GAP) * (box.height + GAP) for box in boxes)
    widest = max((box.width for box in boxes), default=0.0)
    least = max(math.sqrt(area * ASPECT), widest)
    tries = (_rows(boxes, least * (1 + step / 8)) for step in range(9))
    return min(tries, key=lambda box: max(box.width, box.height * ASPECT))


def _rows(boxes: list[Box], most: float) -> Box:
    """Pack boxes in rows of a width, the tallest first."""
    nodes: dict[str, Rect] = {}
    x = y = row = width = 0.0
    for box in sorted(boxes, key=lambda box: -box.height):
        if x and x + box.width > most:
            x, y, row = 0.0, y + row + GAP, 0.0
        nodes |= _moved(box.nodes, x, y)
        x += box.width + GAP
        row = max(row, box.height)
        width = max(width, x - GAP)
    return Box(width, y + row, nodes)
