"""Where a command line asks: files are named from the current folder, and a person may wait."""

from __future__ import annotations

import os
from functools import lru_cache

from gitindex.base.errors import GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.base.worktree import find_worktree, inside_root
from gitindex.cli.progress import patience, progress_bar
from gitindex.questions.here import Here

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from typing import Any

    from gitindex.questions.here import Report


class ShellHere(Here):
    """The place of a question on the command line."""

    def doing(self, what: str) -> AbstractContextManager[None]:
        """Print what takes long, on a terminal."""
        return patience(what)

    def progress(self, title: str) -> AbstractContextManager[Report]:
        """Show a progress bar."""
        return progress_bar(title)

    def inside(self, file: str) -> str:
        """Return a file named from the current folder, or from the root."""
        return named_path(self.worktree.root, self.path, file)

    def placed(self, symbol: str) -> str:
        """Return FILE:LINE or FILE#NAME relative to the root; a plain name as it is."""
        return named_place(self.path, symbol)

    def shown(self, path: str) -> str:
        """Return a path relative to the current folder."""
        return shown_path(path)


_start = "."
_full_name = False


def stand_in(folder: str) -> None:
    """Print paths relative to this folder."""
    global _start
    _start = folder
    _prefix.cache_clear()


def show_full_names() -> None:
    """Print paths relative to the root of the work tree."""
    global _full_name
    _full_name = True
    _prefix.cache_clear()


def shown_path(path: str) -> str:
    """Return a path of the tree as the next command accepts it; safe for a terminal."""
    prefix = _prefix()
    return safe_text(os.path.relpath(path, prefix) if prefix else path)


def place_of(result: Mapping[str, Any]) -> str:
    """Return `FILE` or `FILE:LINE`, relative to the current folder."""
    line = f":{result['line']}" if "line" in result else ""
    return shown_path(result["path"]) + line


def named_path(root: str, start: str, file: str) -> str:
    """Resolve a path given from `start`, or from the root as answers print it."""
    here = inside_root(root, start, file, folder=True)
    if os.path.lexists(os.path.join(root, here)) or os.path.isabs(file):
        return here
    from_root = os.path.normpath(file)
    is_inside = not from_root.startswith("..")
    return from_root if is_inside and os.path.lexists(os.path.join(root, from_root)) else here


def named_place(path: str, symbol: str) -> str:
    """Make FILE, FILE:LINE or FILE#NAME, given from `path`, relative to the root."""
    file, mark, rest = symbol.partition("#") if "#" in symbol else symbol.partition(":")
    is_place = bool(mark) and (mark == "#" or rest[:1].isdigit())
    if is_place or os.path.isfile(os.path.join(path, symbol)):
        try:
            return named_path(find_worktree(path).root, path, file) + mark + rest
        except GitIndexError:
            return symbol
    return symbol


@lru_cache(maxsize=1)
def _prefix() -> str:
    """Return the current folder below the root; empty at the root and outside a repository."""
    if _full_name:
        return ""
    try:
        root = find_worktree(_start).root
        prefix = inside_root(root, _start, ".", folder=True)
    except (GitIndexError, OSError):
        return ""
    return "" if prefix == "." else prefix
