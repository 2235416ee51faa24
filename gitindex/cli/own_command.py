"""Hints for the command that this user has: `git idx` where pre-commit brought gitindex."""

from __future__ import annotations

import os
import shutil

from gitindex.base.errors import GitIndexError
from gitindex.git.command import try_git


def for_this_user(hint: str) -> str:
    """Return a hint whose commands can be typed here; `git idx …` if only that alias runs gitindex."""
    if "`gitindex " not in hint or shutil.which("gitindex") is not None:
        return hint
    try:
        alias = try_git(os.getcwd(), "config", "--get", "alias.idx").output
    except (GitIndexError, OSError):
        return hint
    return hint.replace("`gitindex ", "`git idx ") if alias else hint
