"""`gitindex map`: asks and prints."""

from __future__ import annotations

import json

from gitindex.base.errors import Exit
from gitindex.base.worktree import find_worktree, inside_root
from gitindex.cli.printing import say_gated
from gitindex.cli.progress import progress_bar
from gitindex.cli.terminal import say
from gitindex.query.map.answer import MapQuery, map_picture, repo_map
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import NOW, TreeChoice, open_tree


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
    try:
        with open_tree(worktree, path, ask) as view, progress_bar("map") as report:
            report("ranking the files", None)
            if svg:
                say(map_picture(view, wanted))
                return int(Exit.OK)
            answer = repo_map(view, wanted)
    except GateClosed as closed:
        return say_gated(closed, as_json)
    say(json.dumps(answer, ensure_ascii=True) if as_json else answer["map"])
    return int(Exit.OK if answer["map"] else Exit.NO)
