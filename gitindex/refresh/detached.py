"""Processes that outlive the one that starts them: a runner, as a hook does, and what follows a refresh.

Readers get a copy of git's index and a note of converted files; a team gets what was published here.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterable

from gitindex.base.atomic_file import read_small
from gitindex.base.errors import GitIndexError
from gitindex.base.runner_lock import end_with_repository
from gitindex.base.system import lower_priority
from gitindex.base.vocabulary import EditScope
from gitindex.base.worktree import Worktree, worktree_at
from gitindex.freshness.observation import prove
from gitindex.freshness.status_file import parse_object
from gitindex.git.command import clean_env, try_git
from gitindex.git.hidden_edits import is_noted, note_compared
from gitindex.git.shadow_index import is_due, is_large, refresh_shadow_index
from gitindex.git.worktree_probe import read_head_state

TEAM_FILE = "team.json"
"""In the store of a clone that joined a team: where to, and the tree that was published there."""


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
        forget(start_detached("gitindex.semantic.jobs", worktree.root))


def help_readers(worktrees: Iterable[Worktree]) -> None:
    """Prepare what pays off. Called without the runner's lock, so no job waits for it."""
    for worktree in worktrees:
        with contextlib.suppress(OSError, GitIndexError):
            if is_due(worktree):
                refresh_shadow_index(worktree)
            note_compared(worktree, len(read_head_state(worktree, EditScope.NONE).tree))


def start_helper(worktree: Worktree) -> None:
    """The same for a foreground command: in a process of its own if the index is large."""
    if not is_large(worktree):
        help_readers([worktree])
        return
    if is_noted(worktree) and not is_due(worktree):
        return
    with contextlib.suppress(OSError):
        forget(start_detached("gitindex.refresh.detached", worktree.root))


def drain_outbox(worktrees: Iterable[Worktree]) -> None:
    """Start a process that publishes; without a server it ends, and the next run tries again."""
    for worktree in worktrees:
        if worktree.id == "main" and _is_waiting(worktree):
            forget(start_detached("gitindex", "team", "push", "--outbox", "-C", worktree.root))


def _is_waiting(worktree: Worktree) -> bool:
    try:
        fields = parse_object(read_small(os.path.join(worktree.store, TEAM_FILE)))
    except OSError:
        return False
    marker = prove(worktree).marker
    if not fields or marker is None:
        return False
    return bool(fields.get("pushed") != marker.tree_id)


def main() -> int:
    """`python -I -m gitindex.refresh.detached <root>`."""
    os.umask(0o077)
    lower_priority()
    with contextlib.suppress(GitIndexError):
        worktree = worktree_at(sys.argv[1])
        end_with_repository(worktree)
        help_readers([worktree])
    return 0


if __name__ == "__main__":
    sys.exit(main())
