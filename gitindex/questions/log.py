"""`gitindex log`: the last lines of the store's log."""

from __future__ import annotations

import os

from gitindex.base.errors import NotIndexed
from gitindex.base.escape import safe_text
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, question


def ask(here: Here, params: Params) -> Answer:
    """Return the lines."""
    from gitindex.refresh.log import read_log

    if not os.path.isdir(here.worktree.store):
        raise NotIndexed
    lines = read_log(here.worktree.store, params["limit"])
    return {"status": "ok", "lines": [*map(safe_text, lines)]}


def text(answer: Answer, _ink: Ink) -> Lines:
    """Yield them."""
    yield from answer["lines"]


TABLE = """
Prove: log
  The last lines of the store's log.
    --limit -m -n | limit integer =40 1.. | Lines at most.
"""
QUESTION = question(TABLE, ask, text)
