"""Starts a runner in the background, as a hook does."""

from __future__ import annotations

import subprocess
import sys

from gitindex.base.worktree import Worktree
from gitindex.git.command import clean_env


def start_runner(worktree: Worktree) -> None:
    """What the hook does last: a detached runner that holds nothing of ours."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-I",
            "-m",
            "gitindex.refresh.background",
            worktree.common_dir,
            worktree.root,
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=clean_env(),
        cwd="/",
        start_new_session=True,
        close_fds=True,
    )
    process.returncode = 0  # nobody waits for it
