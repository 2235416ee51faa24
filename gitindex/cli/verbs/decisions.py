"""Decisions: plain functions that return an exit code."""

from __future__ import annotations

import os
import sys

from gitindex.base.errors import Exit, GitIndexError, NotIndexed
from gitindex.base.escape import safe_text
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import CommandReply
from gitindex.filestate import FileStateService
from gitindex.filestate.decisions import MAX_PROOF_BYTES, check, commit, parse_proof
from gitindex.store import decisions as table
from gitindex.store.connection import open_writer
from gitindex.view.tree import open_tree


def decide_commit(proof: str, path: str = ".") -> CommandReply:
    """Store a decision if its proof is valid."""
    parsed = parse_proof(_read_proof(proof))
    worktree = find_worktree(path)
    with open_tree(worktree, path) as view:
        hashes = check(FileStateService(view), parsed)
        head = view.served.seen.head.commit or ""
    database = open_writer(worktree.database)
    try:
        made = commit(database, parsed, hashes, head)
    finally:
        database.close()
    answer = {"status": "ok", "id": made, "signature": parsed.signature}
    return CommandReply(answer, [f"decision {made} accepted"])


def _read_proof(name: str) -> str:
    try:
        if name == "-":
            return sys.stdin.read(MAX_PROOF_BYTES + 1)
        with open(name, encoding="utf-8") as file:
            return file.read(MAX_PROOF_BYTES + 1)
    except (OSError, ValueError) as error:
        raise GitIndexError(f"cannot read {safe_text(name)}", code=Exit.USAGE) from error


def decide_forget(decision_id: int, path: str = ".") -> int:
    """Re-open the question that a decision answered."""
    file = find_worktree(path).database
    if not os.path.exists(file):
        raise NotIndexed
    database = open_writer(file)
    try:
        gone = table.forget(database, decision_id)
    finally:
        database.close()
    if not gone:
        raise GitIndexError(f"no decision {decision_id}", "see `gitindex decide list`", Exit.NO)
    return int(Exit.OK)
