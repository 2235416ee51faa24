"""`gitindex audit`: index the published tree anew, elsewhere, and compare."""

from __future__ import annotations

import os

from gitindex.base.escape import counted
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, question


def ask(here: Here, _params: Params) -> Answer:
    """Build the published tree anew in a separate store, and compare."""
    from gitindex.maintenance.audit import audit

    os.umask(0o077)
    with here.progress("auditing") as report:
        return audit(here.worktree, here.path, report)


def text(answer: Answer, _ink: Ink) -> Lines:
    """Yield the differences, then the verdict."""
    for difference in answer["differences"]:
        yield f"BAD {difference['path']}: {', '.join(difference['differs'])}"
    tree = f"tree {answer['receipt']['treeId']}, {counted(answer['paths'], 'paths')}"
    same = "equals a clean build" if answer["equal"] else "DIFFERS from a clean build"
    yield f"the index {same}: {tree}"


TABLE = """
Prove: audit | found=equal
  Index the published tree anew, elsewhere, and compare. Exit 0 if equal, 1 if not.
"""
QUESTION = question(TABLE, ask, text)
