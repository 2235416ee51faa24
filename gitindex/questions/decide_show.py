"""`gitindex decide show`: one decision with its proof."""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.decide_list import reading
from gitindex.questions.table import Question, argument

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitindex.questions.here import Here
    from gitindex.questions.ink import Ink
    from gitindex.questions.table import Params


def ask(here: Here, asked: Params) -> dict[str, Any]:
    """Return one decision in full."""
    from gitindex.base.errors import Exit, GitIndexError
    from gitindex.filestate.decisions import decision_fields
    from gitindex.store.decisions import by_id

    with reading(here) as database:
        found = by_id(database, asked["decision_id"])
    if found is None:
        missing = f"no decision {asked['decision_id']}"
        raise GitIndexError(missing, "see `gitindex decide list`", Exit.NO)
    return {"status": "ok", "decision": decision_fields(found)}


def text(answer: dict[str, Any], _ink: Ink) -> Iterator[str]:
    """Yield its fields."""
    import json

    for name, value in answer["decision"].items():
        told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield safe_text(f"{name}: {told}")


QUESTION = Question(
    "decide show",
    "One decision with its proof.",
    (argument("decision_id", "The decision's number.", kind="integer", least=1),),
    ask,
    text,
    group="Change",
    trees="",
)
