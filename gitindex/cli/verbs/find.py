"""`gitindex find`: a picker on a terminal, the same ranked list in a pipe."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import any_of, print_answer
from gitindex.cli.shown_path import shown_path
from gitindex.cli.terminal import paint, say
from gitindex.query.find import find_places
from gitindex.view.overlay_tables import FactsMemory
from gitindex.view.tree import open_tree


def find(asked: str, path: str = ".", limit: int = 50, as_json: bool = False) -> int:
    """Pick on a terminal; print the list in a pipe or as JSON."""
    if sys.stdin.isatty() and sys.stdout.isatty() and not as_json:
        return _pick(asked, path, limit)
    if not asked:
        raise GitIndexError("give a part of a name", "gitindex find NAME", Exit.USAGE)
    ask = partial(_places, path, asked, limit, None)
    return print_answer(ask, as_json, _say_places, any_of("results"))


def place_of(result: dict[str, Any]) -> str:
    """Return `FILE` or `FILE:LINE`, relative to the current folder."""
    line = f":{result['line']}" if "line" in result else ""
    return shown_path(result["path"]) + line


def _places(path: str, asked: str, limit: int, memory: FactsMemory | None) -> dict[str, Any]:
    with open_tree(find_worktree(path), path, memory=memory) as view:
        return find_places(view, asked, limit)


def _say_places(answer: dict[str, Any]) -> None:
    for result in answer["results"]:
        told = ""
        if result["type"] == "symbol":
            told = f"  {paint('kind', result['kind'])} {safe_text(result['qualifiedName'])}"
        say(paint("path", place_of(result)) + told)


def _pick(asked: str, path: str, limit: int) -> int:
    try:
        from gitindex.cli.picker import pick
    except ModuleNotFoundError as error:
        raise GitIndexError(
            "the picker needs the extra `tui`",
            "pip install 'gitindex[tui]', or pipe the list: gitindex find NAME | cat",
            Exit.USAGE,
        ) from error
    memory = FactsMemory()
    _places(path, asked or "a", 1, memory)  # report a closed gate before the picker starts
    chosen = pick(asked, lambda text: _places(path, text, limit, memory)["results"])
    if chosen is None:
        return int(Exit.NO)
    return _open(path, chosen)


def _open(path: str, result: dict[str, Any]) -> int:
    """Open a result in the user's editor, at its line."""
    import os
    import shlex
    import subprocess

    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        say(place_of(result))
        return int(Exit.OK)
    file = os.path.join(find_worktree(path).root, result["path"])
    at = [f"+{result['line']}"] if "line" in result else []
    done = subprocess.run([*shlex.split(editor), *at, file], check=False)
    return int(Exit.OK if done.returncode == 0 else Exit.ERROR)
