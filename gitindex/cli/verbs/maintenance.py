"""Verbs that verify and clean up: verify, audit, gc. They return an exit code."""

from __future__ import annotations

import os
import sys
from typing import Any

from gitindex.base.escape import counted, safe_text
from gitindex.base.ownership import check_owner
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import any_of, print_answer
from gitindex.cli.progress import progress_bar
from gitindex.cli.terminal import say
from gitindex.install.hooks import start_runner
from gitindex.maintenance.audit import audit as compare_with_clean
from gitindex.maintenance.gc import collect, survey
from gitindex.maintenance.verify import verify as check_all
from gitindex.refresh.spool import waiting

MAX_RECEIPT = 16 << 20


def verify(path: str = ".", receipt: str = "", full: bool = False, as_json: bool = False) -> int:
    """Derive everything again from git, and compare."""
    told = sys.stdin.read(MAX_RECEIPT) if receipt == "-" else receipt

    def check() -> dict[str, Any]:
        with progress_bar("verifying") as report:
            return check_all(find_worktree(path), path, told, full, report=report)

    return print_answer(check, as_json, _say_checks, any_of("verified"))


def audit(path: str = ".", as_json: bool = False) -> int:
    """Build the published tree anew in a separate store, and compare."""
    os.umask(0o077)

    def compare() -> dict[str, Any]:
        with progress_bar("auditing") as report:
            return compare_with_clean(find_worktree(path), path, report)

    return print_answer(compare, as_json, _say_differences, any_of("equal"))


def _say_differences(answer: dict[str, Any]) -> None:
    for difference in answer["differences"]:
        say(f"BAD {difference['path']}: {', '.join(difference['differs'])}")
    tree = f"tree {answer['receipt']['treeId']}, {counted(answer['paths'], 'paths')}"
    same = "equals a clean build" if answer["equal"] else "DIFFERS from a clean build"
    say(f"the index {same}: {tree}")


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


def _say_checks(answer: dict[str, Any]) -> None:
    for check in answer["checks"]:
        mark = "ok " if check["ok"] else "BAD"
        say(safe_text(f"{mark} {check['name']}: {check['detail']}"))
    tree = answer["receipt"]["treeId"]
    say(f"-- {'verified' if answer['verified'] else 'NOT verified'}: tree {tree}")
