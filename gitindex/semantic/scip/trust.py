"""Decides whether indexers may run. They execute the project's code, so only the user's own
configuration, outside the repository, can allow them.

`gitindex.semantic` counts in the user's and the system's git configuration: `true` for every
repository, or the path of one. The repository's own configuration is ignored, `.git/config` too: it
may have come with an archive. So is any file that lies inside the repository, however it is included.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.worktree import Worktree
from gitindex.git.command import try_git
from gitindex.git.settings import USER_SCOPES, YES, is_inside, user_allows

KEY = "gitindex.semantic"
ON_COMMIT = "gitindex.semantic.oncommit"
_NO = ("false", "no", "off", "0", "")


class Trust(NamedTuple):
    """Whether indexers may run, and which setting decided it."""

    allowed: bool
    why: str


def read_trust(worktree: Worktree) -> Trust:
    """Return what the user's git configuration allows for this worktree now."""
    found = try_git(
        worktree.root, "config", "-z", "--show-scope", "--show-origin", "--get-all", KEY
    )
    words = os.fsdecode(found.output).split("\0")
    allowed, why = False, f"{KEY} is not set"
    for scope, origin, value in zip(words[0::3], words[1::3], words[2::3], strict=False):
        if scope not in USER_SCOPES or is_inside(origin.removeprefix("file:"), worktree):
            why = why if allowed else f"{KEY} counts only in your own git configuration"
        elif value.lower() in YES:
            allowed, why = True, f"{KEY} is true for every repository"
        elif value.lower() in _NO:
            allowed, why = False, f"{KEY} is false"
        elif _names(value, worktree):
            allowed, why = True, f"{KEY} names this repository"
    return Trust(allowed, why)


def is_allowed_on_commit(worktree: Worktree) -> bool:
    """May commits start the indexers? The setting must be in the user's own configuration."""
    return user_allows(worktree, ON_COMMIT)


def require_trust(worktree: Worktree) -> None:
    """Raise unless indexers may run."""
    trust = read_trust(worktree)
    if not trust.allowed:
        root = safe_text(worktree.root)
        hint = f"`git config --global --add {KEY} {root}`: indexers run the project's code"
        raise GitIndexError(f"indexers are off: {trust.why}", hint, Exit.GATED)


def _names(value: str, worktree: Worktree) -> bool:
    path = os.path.expanduser(value)
    roots = {worktree.root, os.path.dirname(worktree.common_dir)}
    return os.path.isabs(path) and os.path.realpath(path) in roots
