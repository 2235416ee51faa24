"""Chooses who reads a repository's objects."""

from __future__ import annotations

from gitindex.git.interface import Repository
from gitindex.git.objects import Pygit2Repository
from gitindex.paths import Worktree


def open_repository(worktree: Worktree) -> Repository:
    """The repository of one worktree, ready to read."""
    return Pygit2Repository(worktree)
