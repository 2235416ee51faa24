"""`gitindex map`: asks and prints."""

from __future__ import annotations

import json

from gitindex.base.errors import Exit
from gitindex.base.worktree import find_worktree, inside_root
from gitindex.cli.printing import say_gated
from gitindex.cli.progress import progress_bar
from gitindex.cli.terminal import say
from gitindex.query.map.answer import Wanted, map_picture, repo_map
from gitindex.view.snapshot import Gated
from gitindex.view.tree import NOW, Ask, answering


def show_map(
    wanted: Wanted, path: str = ".", ask: Ask = NOW, svg: bool = False, as_json: bool = False
) -> int:
    """Print the map of a tree."""
    worktree = find_worktree(path)
    focus = tuple(inside_root(worktree.root, path, place) for place in wanted.focus)
    wanted = wanted._replace(focus=focus)
    try:
        with answering(worktree, path, ask) as lens, progress_bar("map") as report:
            report("ranking the files", None)
            if svg:
                say(map_picture(lens, wanted))
                return int(Exit.OK)
            answer = repo_map(lens, wanted)
    except Gated as closed:
        return say_gated(closed, as_json)
    say(json.dumps(answer, ensure_ascii=True) if as_json else answer["map"])
    return int(Exit.OK if answer["map"] else Exit.NO)
