"""`gitindex decide list`: the newest decisions."""

from __future__ import annotations

from contextlib import contextmanager

from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import Question, limit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitindex.questions.here import Here
    from gitindex.questions.ink import Ink
    from gitindex.questions.table import Params
    from gitindex.store.connection import Database


@contextmanager
def reading(here: Here) -> Iterator[Database]:
    """Open the store to read."""
    from gitindex.base.errors import NotIndexed
    from gitindex.store.connection import open_reader

    database = open_reader(here.worktree.database)
    if database is None:
        raise NotIndexed
    try:
        yield database
    finally:
        database.close()


def ask(here: Here, asked: Params) -> dict[str, Any]:
    """Return the decisions, newest first."""
    from gitindex.filestate.decisions import decision_fields
    from gitindex.store.decisions import newest

    with reading(here) as database:
        found = newest(database, asked["limit"])
    return {"status": "ok", "decisions": [decision_fields(decision) for decision in found]}


def text(answer: dict[str, Any], _ink: Ink) -> Iterator[str]:
    """Yield a line for each."""
    for one in answer["decisions"]:
        yield safe_text(f"{one['id']:>5}  {one['signature']}  {', '.join(one['fileHashes'])}")


QUESTION = Question(
    "decide list",
    "The newest decisions.",
    (limit("Decisions", 50, 1 << 31),),
    ask,
    text,
    group="Change",
    found="decisions",
    trees="",
)
