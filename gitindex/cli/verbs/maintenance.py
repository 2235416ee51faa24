"""Verbs that verify and clean up: verify, audit, gc. They return an exit code."""

from __future__ import annotations

import os
from typing import Any

from gitindex.base.escape import counted
from gitindex.base.ownership import check_owner
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import print_answer
from gitindex.cli.progress import progress_bar
from gitindex.cli.terminal import say
from gitindex.install.hooks import start_runner
from gitindex.maintenance.gc import collect, survey
from gitindex.refresh.spool import waiting

MAX_RECEIPT = 16 << 20


def gc(path: str = ".", dry_run: bool = False, as_json: bool = False) -> int:
    """Remove what no worktree and no branch needs."""
    worktree = find_worktree(path)

    def tidy() -> dict[str, Any]:
        if dry_run:
            return survey(worktree)
        check_owner(worktree)
        os.umask(0o077)
        try:
            with progress_bar("tidying") as report:
                return collect(worktree, report)
        finally:
            if waiting(worktree):  # a hook found the lock taken and left its event to us
                start_runner(worktree)

    return print_answer(tidy, as_json, lambda answer: _say_removed(answer, dry_run))


def _say_removed(answer: dict[str, Any], dry_run: bool) -> None:
    would = "would remove" if dry_run else "removed"
    say(f"{would} {counted(answer['removedBlobs'], 'blobs')}; {answer['keptBlobs']} are needed")
    for name in answer["forgottenWorktrees"]:
        say(f"{'would forget' if dry_run else 'forgot'} worktree {name}")
    say(f"{answer['reusableBytes']} bytes of the store are free for new facts")
