"""`gitindex history NAME`: the commits that added, changed or removed definitions of a name."""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import Question, argument

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitindex.questions.here import Here
    from gitindex.questions.ink import Ink
    from gitindex.questions.table import Params


def ask(here: Here, asked: Params) -> dict[str, Any]:
    """Return the events of a name; the history is indexed first where it is not."""
    from gitindex.query.history import symbol_log

    index_first(here)
    return symbol_log(here.worktree, asked["symbol"])


def index_first(here: Here) -> None:
    """Index the history if nobody has: a question is asking enough."""
    from gitindex.query.history import history_state

    if history_state(here.worktree)["status"] == "ok":
        return
    from gitindex.refresh.history_index import index_history

    with here.progress("history") as report:
        index_history(here.worktree, report)


def text(answer: dict[str, Any], ink: Ink) -> Iterator[str]:
    """Yield each commit and what it did, newest first."""
    for row in answer["events"]:
        where = f"{ink.path(row['path'])}: {safe_text(row['name'])}"
        yield f"{row['commit'][:10]} {row['date']} {row['what']:<8} {where}"
        yield f"    {safe_text(row['subject'])}"
    if not answer["events"]:
        yield "no such definition or call in the history"
    yield from behind(answer)


def behind(answer: dict[str, Any]) -> Iterator[str]:
    """Say that HEAD has moved on since the history was indexed."""
    if not answer["exact"]:
        at = (answer["historyCommit"] or "no commit")[:10]
        yield f"  the history is indexed up to {at}, HEAD is elsewhere: `gitindex history index`"


QUESTION = Question(
    "history",
    "What became of a definition or a call, by commit. The first question indexes the history.",
    (argument("symbol", "A name, or the end of a qualified one.", complete="names"),),
    ask,
    text,
    found="events",
    trees="",
)
