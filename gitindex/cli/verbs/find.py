"""`gitindex find` on a terminal: a picker, then the user's editor."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from gitindex.base.errors import Exit
from gitindex.base.extras import missing_extra
from gitindex.base.worktree import find_worktree
from gitindex.cli.shell_here import place_of
from gitindex.cli.terminal import say
from gitindex.questions.find import ask
from gitindex.questions.here import Here, Memories
from gitindex.view.overlay import FactsMemory


def has_picker(words: str) -> bool:
    """Return whether a picker can be shown; without its library `find WORDS` prints its list."""
    if find_spec("prompt_toolkit") is None:
        if not words:
            raise missing_extra("the picker", "tui")
        return False
    return True


def pick_place(params: dict[str, Any]) -> int:
    """Let the user pick a place and open it."""
    from gitindex.cli.picker import pick

    here = Here(params["path"], memories=Memories(FactsMemory()))
    text = params["words"]
    ask(here, {"words": text or "a", "limit": 1})  # report a closed gate before the picker starts
    chosen = pick(text, lambda typed: ask(here, params | {"words": typed})["results"])
    return int(Exit.NO) if chosen is None else _open(params["path"], chosen)


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
