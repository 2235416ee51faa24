"""`gitindex callers`: who calls a symbol; with `--between`, which callers differ."""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions import graph
from gitindex.questions.ink import last_name
from gitindex.questions.table import Here, Ink, Lines, Params, question

if TYPE_CHECKING:
    from typing import Any


def ask(here: Here, params: Params) -> Any:
    """Return the callers, or those that were added and removed between two commits."""
    if not params["between"]:
        return graph.ask(here, params)
    from gitindex.query.history import callers_between
    from gitindex.questions.history import index_first

    index_first(here)
    return callers_between(here.worktree, last_name(params["symbol"]), params["between"])


def code(answer: Any, params: Params) -> int:
    """Return 1 without callers or changes."""
    if "changes" in answer:
        return 0 if answer["changes"] else 1
    return graph.code(answer, params)


def text(answer: Any, ink: Ink) -> Lines:
    """Yield the callers, or the changes."""
    if "changes" not in answer:
        yield from graph.text(answer, ink)
        return
    for row in answer["changes"]:
        sign = "+" if row["what"] == "added" else "-"
        yield f"{sign} {ink.path(row['path'])}: {safe_text(row['name'])}"
    yield f"{len(answer['changes'])} changed, {answer['kept']} kept; by name"


TABLE = """
Explore: callers
  Who calls a symbol.
    symbol
    - | direction =callers both/callers/callees
    depth
    nodes
    note_limit
    notes
    --between | between <A..B> | Callers that differ.
    at
"""
QUESTION = question(TABLE, ask, text, code=code, team=graph.QUESTION.team)
