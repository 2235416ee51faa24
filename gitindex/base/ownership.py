"""May this user write here? One answer for the command line, MCP, programs and the runner."""

from __future__ import annotations

import os
import stat

from gitindex.base.errors import GitIndexError
from gitindex.base.worktree import LLMC, Worktree

STORE = "the store .git/gitindex"


def check_owner(worktree: Worktree) -> None:
    """Refuse a repository of another user, as git does, and folders of ours that are not ours."""
    for path in (worktree.root, worktree.git_dir, worktree.common_dir):
        if os.stat(path).st_uid != os.geteuid():
            raise GitIndexError(
                "this repository belongs to another user", "run gitindex as that user"
            )
    check_folder(worktree.store, STORE)
    check_folder(worktree.llmc, LLMC)


def check_folder(path: str, name: str) -> bool:
    """Refuse anything but a real folder of this user. False if there is nothing at all."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return False
    if not stat.S_ISDIR(status.st_mode):
        raise GitIndexError(f"{name} is not a folder", "move it away: gitindex writes there")
    if status.st_uid != os.geteuid():
        raise GitIndexError(f"{name} belongs to another user", "run gitindex as that user")
    return True
