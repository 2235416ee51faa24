"""Paths for display: relative to the current folder, as git and rg print them."""

from __future__ import annotations

import os
from functools import lru_cache

from gitindex.base.errors import GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.worktree import find_worktree, inside_root

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


def named_path(root: str, start: str, file: str) -> str:
    """Resolve a path given from `start`, or from the root as answers print it."""
    here = inside_root(root, start, file, folder=True)
    if os.path.lexists(os.path.join(root, here)) or os.path.isabs(file):
        return here
    from_root = os.path.normpath(file)
    is_inside = not from_root.startswith("..")
    return from_root if is_inside and os.path.lexists(os.path.join(root, from_root)) else here


def named_place(path: str, asked: str) -> str:
    """Make FILE, FILE:LINE or FILE#NAME, given from `path`, relative to the root."""
    file, mark, rest = asked.partition("#") if "#" in asked else asked.partition(":")
    is_place = bool(mark) and (mark == "#" or rest[:1].isdigit())
    if is_place or os.path.isfile(os.path.join(path, asked)):
        try:
            return named_path(find_worktree(path).root, path, file) + mark + rest
        except GitIndexError:
            return asked
    return asked


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
