"""Paths as a person sees them: relative to the folder they stand in, as git and rg print them."""

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
    """A path of the tree as it can be pasted back into the next command; safe for a terminal."""
    prefix = _prefix()
    return safe_text(os.path.relpath(path, prefix) if prefix else path)


def shown_node(node: str) -> str:
    """A node's id, `FILE#NAME` or `FILE`, as it can be pasted back."""
    path, mark, name = node.partition("#")
    return shown_path(path) + mark + safe_text(name)


def named_path(root: str, start: str, file: str) -> str:
    """The path of the tree that somebody names from `start`, or from the root as answers do."""
    here = inside_root(root, start, file)
    if os.path.lexists(os.path.join(root, here)) or os.path.isabs(file):
        return here
    from_root = os.path.normpath(file)
    is_inside = not from_root.startswith("..")
    return from_root if is_inside and os.path.lexists(os.path.join(root, from_root)) else here


def named_place(path: str, asked: str) -> str:
    """FILE, FILE:LINE and FILE#NAME are given from where one stands; the tree knows them from its root."""
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
    """The folder one stands in, below the root; empty at the root and outside of a repository."""
    if _full_name:
        return ""
    try:
        root = find_worktree(_start).root
        prefix = inside_root(root, _start, ".")
    except (GitIndexError, OSError):
        return ""
    return "" if prefix == "." else prefix
