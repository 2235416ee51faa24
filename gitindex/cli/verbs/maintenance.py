"""`gitindex gc`."""

from __future__ import annotations

import os

from gitindex.base.escape import counted
from gitindex.base.worktree import check_owner, find_worktree
from gitindex.cli.printing import CommandReply
from gitindex.cli.progress import progress_bar
from gitindex.install.hooks import start_runner
from gitindex.maintenance.gc import collect, survey
from gitindex.refresh.spool import waiting


def gc(path: str = ".", dry_run: bool = False) -> CommandReply:
    """Remove what no worktree and no branch needs."""
    worktree = find_worktree(path)
    if dry_run:
        answer = survey(worktree)
    else:
        check_owner(worktree)
        os.umask(0o077)
        try:
            with progress_bar("collecting garbage") as report:
                answer = collect(worktree, report)
        finally:
            if waiting(worktree):  # a hook found the lock taken and left its event to us
                start_runner(worktree)
    would, forgot = ("would remove", "would forget") if dry_run else ("removed", "forgot")
    lines = [
        f"{would} {counted(answer['removedBlobs'], 'blobs')}; {answer['keptBlobs']} are needed",
        *(f"{forgot} worktree {name}" for name in answer["forgottenWorktrees"]),
        f"{answer['reusableBytes']} bytes of the store are free for new facts",
    ]
    return CommandReply(answer, lines)
