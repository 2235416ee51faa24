"""The repo map: the most important files and their signatures, within a budget of tokens."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.vocabulary import MapSection
from gitindex.base.worktree import normalize_rel_path
from gitindex.languages.syntax.kinds import VALUES
from gitindex.query.map.file_graph import FileGraph, TopDefinition
from gitindex.query.map.sections import RenderedSection, Subject, draw
from gitindex.view.tree import TreeView

if TYPE_CHECKING:
    from gitindex.base.answers import MapAnswer

CHARS_PER_TOKEN = 4
"""Estimated characters per token: not exact for any tokenizer, close enough for all."""
TOKENS = 2_000
MAX_TOKENS = 100_000
MAX_FILES = 500
MAX_SIGNATURE = 160
INNER = 0.3
"""Weight of a member relative to its class."""
VALUE = 0.3
"""Weight of a variable relative to a function."""


class MapQuery(NamedTuple):
    """Options of a map."""

    tokens: int = TOKENS
    focus: tuple[str, ...] = ()  # files or folders of the tree
    include: tuple[MapSection, ...] = ()


class Choice(NamedTuple):
    """A definition that may be shown, and its importance."""

    path: str
    top: TopDefinition
    worth: float


MAX_REMEMBERED = 8
_remembered: dict[tuple[Any, ...], dict[str, Any]] = {}
"""A cache of the last maps of published trees, for a long-running process."""


class Budget:
    """The characters left. A line costs its length plus its line end."""

    def __init__(self, tokens: int) -> None:
        self.left = CHARS_PER_TOKEN * tokens
        self.cut = False

    def take(self, *lines: str) -> bool:
        """Take the cost of all lines from the budget, or of none."""
        cost = sum(len(line) + 1 for line in lines)
        if cost > self.left:
            self.cut = True
            return False
        self.left -= cost
        return True


def repo_map(view: TreeView, query: MapQuery = MapQuery()) -> MapAnswer:  # noqa: B008 - a constant
    """Return the map as text and as fields, in one envelope."""
    key = _unchanged_key(view, query)
    fields = _remembered.get(key) if key else None
    if fields is None:
        fields = _map_fields(view, query)
        if key:
            _remembered[key] = fields
            if len(_remembered) > MAX_REMEMBERED:
                del _remembered[next(iter(_remembered))]
    return cast("MapAnswer", view.envelope(**deepcopy(fields)))


def _unchanged_key(view: TreeView, query: MapQuery) -> tuple[Any, ...] | None:
    """Return the cache key of the map; None if the tree is not just the published one."""
    overlay, published = view.overlay, view.served.published
    if overlay.files or overlay.left_out or overlay.tree != published.tree:
        return None
    return view.worktree.database, published.run_id, published.tree, query


def _map_fields(view: TreeView, query: MapQuery) -> dict[str, Any]:
    graph = FileGraph(view)
    focus = focused(graph.files, query.focus)
    ranks = graph.ranks(focus)
    budget = Budget(max(1, min(query.tokens, MAX_TOKENS)))
    subject = Subject(view, graph, ranks)
    sections = [draw(subject, name) for name in dict.fromkeys(query.include)]
    shown = _show_sections(sections, budget)
    files = _show_files(graph, ranks, focus, budget)
    text = "\n\n".join(filter(None, [*map(_section_text, shown), _files_text(files)]))
    return {
        "map": text,
        "tokens": math.ceil(len(text) / CHARS_PER_TOKEN),
        "tokenBudget": query.tokens,
        "focus": [safe_text(path) for path in query.focus],
        "files": [_file_fields(path, tops, ranks) for path, tops in files.items()],
        **{str(section.name): [fields for _, fields in section.lines] for section in shown},
        "truncated": budget.cut,
    }


def read_sections(names: Iterable[str]) -> tuple[MapSection, ...]:
    """Return sections by their names, which may be joined by commas."""
    sections = []
    for name in (part.strip() for text in names for part in text.split(",") if part.strip()):
        if name not in [*MapSection]:
            raise GitIndexError(
                f"no such section: {name}", f"one of {', '.join(MapSection)}", Exit.USAGE
            )
        sections.append(MapSection(name))
    return tuple(dict.fromkeys(sections))


def focused(files: Collection[str], paths: Iterable[str]) -> set[str]:
    """Return the files that some paths are or contain; a path that is no file or folder is an error."""
    focus: set[str] = set()
    for path in paths:
        clean = normalize_rel_path(path)
        below = [p for p in files if not clean or p == clean or p.startswith(f"{clean}/")]
        if not below:
            raise GitIndexError(
                f"not in the tree: {safe_text(path)}", "see `git ls-files`", Exit.USAGE
            )
        focus.update(below)
    return focus


def _by_rank(ranks: Mapping[str, float]) -> list[str]:
    return sorted(ranks, key=lambda path: (-ranks[path], path))


def _show_sections(sections: list[RenderedSection], budget: Budget) -> list[RenderedSection]:
    """Give each section an equal part of half the budget; the rest is left for the files."""
    share = budget.left // 2 // max(1, len(sections))
    shown = []
    for section in sections:
        own = Budget(0)
        own.left = min(share, budget.left)
        kept = []
        if own.take(section.name, ""):
            kept = [line for line in section.lines if own.take(f"  {line[0]}")]
            budget.left -= min(share, budget.left) - own.left
        budget.cut |= own.cut
        shown.append(RenderedSection(section.name, kept))
    return shown


def _show_files(
    graph: FileGraph, ranks: Mapping[str, float], focus: set[str], budget: Budget
) -> dict[str, list[TopDefinition]]:
    """Return the best definitions of the best files, in the order of files and lines."""
    chosen: dict[str, list[TopDefinition]] = defaultdict(list)
    seen: set[tuple[str, str]] = set()
    for choice in _choices(graph, ranks, focus):
        path, top = choice.path, choice.top
        parent = top.qualified.rpartition(".")[0]
        if top.depth and (path, parent) not in seen:
            continue
        header = [] if path in chosen else [safe_text(path)]
        if budget.take(*header, _signature(top)):
            chosen[path].append(top)
            seen.add((path, top.qualified))
    order = sorted(chosen, key=lambda path: (-ranks[path], path))
    return {path: sorted(chosen[path], key=lambda top: (top.line, top.depth)) for path in order}


def _choices(graph: FileGraph, ranks: Mapping[str, float], focus: set[str]) -> list[Choice]:
    choices: list[Choice] = []
    best = _by_rank(ranks)[:MAX_FILES]
    definitions = graph.definitions(best)
    for path in best:
        mentions = graph.mentions.get(path, {})
        tops = [t for t in definitions.get(path, ()) if t.exported or path in focus]
        worths = [
            (1 + math.log1p(len(mentions.get(top.name, ())))) * _kind_share(top) for top in tops
        ]
        order = sorted(range(len(tops)), key=lambda n: (-worths[n], tops[n].line))
        for place, number in enumerate(order):
            worth = ranks[path] * worths[number] / (1 + place)
            choices.append(Choice(path, tops[number], worth))
    return sorted(choices, key=lambda c: (-c.worth, c.path, c.top.line, c.top.qualified))


def _kind_share(top: TopDefinition) -> float:
    """Return the weight of a kind: members and values less than functions and types."""
    return (INNER if top.depth else 1.0) * (VALUE if top.kind in VALUES else 1.0)


def _signature(top: TopDefinition) -> str:
    text = top.signature or f"{top.kind} {top.name}"
    indent = "  " * (1 + top.depth)
    return f"{indent}{safe_text(text[:MAX_SIGNATURE])}"


def _section_text(section: RenderedSection) -> str:
    return (
        "\n".join([section.name, *(f"  {text}" for text, _ in section.lines)])
        if section.lines
        else ""
    )


def _files_text(files: Mapping[str, list[TopDefinition]]) -> str:
    return "\n".join(_lines(files))


def _lines(files: Mapping[str, list[TopDefinition]]) -> Iterator[str]:
    for path, tops in files.items():
        yield safe_text(path)
        yield from map(_signature, tops)


def _file_fields(
    path: str, tops: list[TopDefinition], ranks: Mapping[str, float]
) -> dict[str, Any]:
    symbols = [
        {
            "name": safe_text(top.name),
            "kind": top.kind,
            "line": top.line + 1,
            "signature": safe_text(top.signature[:MAX_SIGNATURE]),
        }
        for top in tops
    ]
    return {"path": safe_text(path), "rank": round(ranks[path], 6), "symbols": symbols}
