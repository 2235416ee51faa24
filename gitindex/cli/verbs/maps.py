"""`gitindex map`: queries and prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitindex.base.worktree import find_worktree, inside_root
from gitindex.cli.printing import any_of, in_tree, print_answer
from gitindex.cli.progress import progress_bar
from gitindex.cli.terminal import say
from gitindex.query.map.answer import MapQuery, map_picture, repo_map
from gitindex.view.tree import NOW, TreeChoice, TreeView


def show_map(
    wanted: MapQuery,
    path: str = ".",
    ask: TreeChoice = NOW,
    svg: bool = False,
    as_json: bool = False,
) -> int:
    """Print the map of a tree."""
    worktree = find_worktree(path)
    focus = tuple(inside_root(worktree.root, path, place) for place in wanted.focus)
    wanted = wanted._replace(focus=focus)

    def question(view: TreeView) -> Mapping[str, Any]:
        with progress_bar("map") as report:
            report("ranking the files", None)
            return {"map": map_picture(view, wanted)} if svg else repo_map(view, wanted)

    return print_answer(
        in_tree(path, ask, question),
        as_json and not svg,
        lambda answer: say(answer["map"]),
        any_of("map"),
    )
