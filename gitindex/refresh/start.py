"""Starts processes that outlive this one: a runner, as a hook does, and what follows a refresh."""

from __future__ import annotations

import subprocess
import sys

from gitindex.base.worktree import Worktree
from gitindex.git.command import clean_env, try_git


def start_detached(
    module: str, *arguments: str, pass_fds: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    """Start `python -m module` in a session of its own, without our terminal, folder or environment."""
    return subprocess.Popen(
        [sys.executable, "-I", "-m", module, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=clean_env(),
        cwd="/",
        start_new_session=True,
        close_fds=True,
        pass_fds=pass_fds,
    )


def forget(process: subprocess.Popen[bytes]) -> None:
    """Let a process run on: nobody waits for it."""
    process.returncode = 0


def start_runner(worktree: Worktree) -> None:
    """What the hook does last: a detached runner that holds nothing of ours."""
    forget(start_detached("gitindex.refresh.background", worktree.common_dir, worktree.root))


def follow_up(worktree: Worktree) -> None:
    """After the last refresh: let the semantic layer follow, where some configuration asks for it.

    The process that is started decides whose configuration counts.
    """
    setting = try_git(worktree.root, "config", "--get", "gitindex.semantic.oncommit")
    if setting.output.strip().lower() in (b"true", b"yes", b"on", b"1"):
        forget(start_detached("gitindex.semantic.follow_up", worktree.root))
