"""Verbs that prove and tidy: verify, audit, gc. They return an exit code."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from gitindex.base.errors import Exit
from gitindex.base.escape import safe_text
from gitindex.base.ownership import check_owner
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import say_gated
from gitindex.cli.progress import progress_bar
from gitindex.cli.terminal import say
from gitindex.install.hooks import start_runner
from gitindex.maintenance.audit import audit as compare_with_clean
from gitindex.maintenance.gc import collect, survey
from gitindex.maintenance.verify import verify as check_all
from gitindex.refresh.spool import waiting
from gitindex.view.snapshot import GateClosed

MAX_RECEIPT = 16 << 20


def verify(path: str = ".", receipt: str = "", full: bool = False, as_json: bool = False) -> int:
    """Derive everything again from git, and compare."""
    told = sys.stdin.read(MAX_RECEIPT) if receipt == "-" else receipt
    try:
        with progress_bar("verifying") as report:
            answer = check_all(find_worktree(path), path, told, full, report=report)
    except GateClosed as closed:
        return say_gated(closed, as_json)
    return _say_checks(answer, as_json)


def audit(path: str = ".", as_json: bool = False) -> int:
    """Build the published tree anew, elsewhere, and compare."""
    os.umask(0o077)
    try:
        with progress_bar("auditing") as report:
            answer = compare_with_clean(find_worktree(path), path, report)
    except GateClosed as closed:
        return say_gated(closed, as_json)
    if as_json:
        say(json.dumps(answer, ensure_ascii=True))
    else:
        for difference in answer["differences"]:
            say(f"BAD {difference['path']}: {', '.join(difference['differs'])}")
        tree = f"tree {answer['receipt']['treeId']}, {answer['paths']} paths"
        same = "equals a clean build" if answer["equal"] else "DIFFERS from a clean build"
        say(f"the index {same}: {tree}")
    return int(Exit.OK if answer["equal"] else Exit.NO)


def gc(path: str = ".", dry_run: bool = False, as_json: bool = False) -> int:
    """Remove what no worktree and no branch needs."""
    worktree = find_worktree(path)
    if dry_run:
        answer = survey(worktree)
    else:
        check_owner(worktree)
        os.umask(0o077)
        try:
            with progress_bar("tidying") as report:
                answer = collect(worktree, report)
        finally:
            if waiting(worktree):  # a hook saw us at work and left its event to us
                start_runner(worktree)
    if as_json:
        say(json.dumps(answer, ensure_ascii=True))
    else:
        would = "would remove" if dry_run else "removed"
        say(f"{would} {answer['removedBlobs']} blobs; {answer['keptBlobs']} are needed")
        for name in answer["forgottenWorktrees"]:
            say(f"{'would forget' if dry_run else 'forgot'} worktree {name}")
        say(f"{answer['reusableBytes']} bytes of the store are free for new facts")
    return int(Exit.OK)


def _say_checks(answer: dict[str, Any], as_json: bool) -> int:
    if as_json:
        say(json.dumps(answer, ensure_ascii=True))
    else:
        for check in answer["checks"]:
            mark = "ok " if check["ok"] else "BAD"
            say(safe_text(f"{mark} {check['name']}: {check['detail']}"))
        tree = answer["receipt"]["treeId"]
        say(f"-- {'verified' if answer['verified'] else 'NOT verified'}: tree {tree}")
    return int(Exit.OK if answer["verified"] else Exit.NO)
