"""`gitindex decide list` and `decide show`: what people have decided about files."""

from __future__ import annotations

from contextlib import contextmanager

from gitindex.base.errors import Exit, GitIndexError, NotIndexed
from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, questions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitindex.store.connection import Database


@contextmanager
def _reading(here: Here) -> Iterator[Database]:
    """Open the store to read."""
    from gitindex.store.connection import open_reader

    database = open_reader(here.worktree.database)
    if database is None:
        raise NotIndexed
    try:
        yield database
    finally:
        database.close()


def ask_list(here: Here, params: Params) -> Answer:
    """Return the decisions, newest first."""
    from gitindex.filestate.ambiguity import decision_fields
    from gitindex.store.decisions import newest

    with _reading(here) as database:
        decisions = newest(database, params["limit"])
    return {"status": "ok", "decisions": [decision_fields(one) for one in decisions]}


def list_text(answer: Answer, _ink: Ink) -> Lines:
    """Yield a line for each."""
    for one in answer["decisions"]:
        yield safe_text(f"{one['id']:>5}  {one['signature']}  {', '.join(one['fileHashes'])}")


def ask_show(here: Here, params: Params) -> Answer:
    """Return one decision in full."""
    from gitindex.filestate.ambiguity import decision_fields
    from gitindex.store.decisions import by_id

    with _reading(here) as database:
        decision = by_id(database, params["decision_id"])
    if decision is None:
        missing = f"no decision {params['decision_id']}"
        raise GitIndexError(missing, "see `gitindex decide list`", Exit.NO)
    return {"status": "ok", "decision": decision_fields(decision)}


def show_text(answer: Answer, _ink: Ink) -> Lines:
    """Yield its fields."""
    import json

    for name, value in answer["decision"].items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield safe_text(f"{name}: {shown}")


TABLE = """
Change: decide list | found=decisions
  The newest decisions.
    --limit -m -n | limit integer =50 1..2147483648 | Decisions at most.
Change: decide show
  One decision with its proof.
    * | decision_id integer 1.. | The decision's number.
"""
QUESTIONS = questions(TABLE, (ask_list, list_text), (ask_show, show_text))
