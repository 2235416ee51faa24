"""Chooses the reader of HEAD: libgit2 if it can open the repository, else the git command."""

from __future__ import annotations

import os
import re

from gitindex.base.atomic_file import read_small
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.pattern import compile_later
from gitindex.base.worktree import Worktree
from gitindex.git.git_objects import GitCommandRepository
from gitindex.git.interface import Repository

CHOICE = "GITINDEX_BACKEND"
"""Set to `git` or `pygit2` to force one; without it the repository decides."""

_BEYOND_LIBGIT2 = compile_later(
    rb"^\s*(objectformat\s*=\s*\"?sha256|refstorage\s*=\s*\"?reftable|compatobjectformat\s*=)",
    re.IGNORECASE | re.MULTILINE,
)


def open_repository(worktree: Worktree) -> Repository:
    """Open the repository of one worktree for reading."""
    choice = os.environ.get(CHOICE, "")
    if choice == "git":
        return GitCommandRepository(worktree)
    if choice == "pygit2":
        return _through_libgit2(worktree)
    if choice:
        raise GitIndexError(
            f"{CHOICE}={safe_text(choice)} is not a backend", "use git or pygit2", Exit.USAGE
        )
    return _chosen_for(worktree)


def _chosen_for(worktree: Worktree) -> Repository:
    if _is_beyond_libgit2(worktree):
        return GitCommandRepository(worktree)
    try:
        return _through_libgit2(worktree)
    except (GitIndexError, ImportError):
        return GitCommandRepository(worktree)  # reports what is wrong, if git cannot read it either


def _through_libgit2(worktree: Worktree) -> Repository:
    from gitindex.git.libgit2 import Pygit2Repository  # lazily: pygit2 costs 100 ms

    repository = Pygit2Repository(worktree)
    try:
        repository.head()
    except GitIndexError:
        repository.close()
        raise
    return repository


def _is_beyond_libgit2(worktree: Worktree) -> bool:
    """Is this a format that libgit2 is known to refuse? A wrong no only costs loading libgit2."""
    try:
        data = read_small(os.path.join(worktree.common_dir, "config"))
    except OSError:
        return False
    return data is not None and _BEYOND_LIBGIT2.search(data) is not None
