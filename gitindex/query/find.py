"""Find symbols and files whose names are near a text, in one ranked list. Writes nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from gitindex.base.escape import path_fields
from gitindex.base.path_kind import is_test
from gitindex.query.near_names import near_names, rank_names
from gitindex.query.symbols import SymbolQuery, named_symbols

if TYPE_CHECKING:
    from gitindex.view.tree import TreeView

MAX_NAMES = 200


def find_places(view: TreeView, query: str, limit: int = 50) -> dict[str, Any]:
    """Return the definitions and files nearest to a text, as an envelope, best first."""
    view.ensure_facts()
    query = query.strip()
    ranked = [*_symbols(view, query, limit), *_files(view, query)] if query else []
    ranked.sort(key=lambda row: row[0])
    return view.envelope(
        results=[fields for _, fields in ranked[:limit]], truncated=len(ranked) > limit
    )


def _symbols(
    view: TreeView, query: str, limit: int
) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    near = near_names(view, query, MAX_NAMES)
    ranks = {one.name: (one.rank, place) for place, one in enumerate(near)}
    symbols = named_symbols(view, SymbolQuery(), list(ranks), 4 * limit)
    return [
        (
            (ranks[symbol["name"]][0], is_test(symbol["path"]), 0, *ranks[symbol["name"]], number),
            {"type": "symbol", **symbol},
        )
        for number, symbol in enumerate(symbols)
    ]


def _files(view: TreeView, query: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Return files by their name, or by their whole path if the text has a slash."""
    rows = view.rows("SELECT path FROM {live}")
    paths: dict[str, list[bytes]] = {}
    for (path,) in rows:
        text = os.fsdecode(path)
        paths.setdefault(text if "/" in query else os.path.basename(text), []).append(path)
    return [
        (
            (near.rank, is_test(os.fsdecode(path)), 1, len(near.name), path),
            {"type": "file", "name": os.path.basename(os.fsdecode(path)), **path_fields(path)},
        )
        for near in rank_names(query, paths)
        for path in paths[near.name]
    ]
