"""`gitindex audit`: index the published tree anew, elsewhere, and compare."""

from __future__ import annotations

from gitindex.base.escape import counted
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import Question

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitindex.questions.here import Here
    from gitindex.questions.ink import Ink
    from gitindex.questions.table import Params


def ask(here: Here, _asked: Params) -> dict[str, Any]:
    """Build the published tree anew in a separate store, and compare."""
    import os

    from gitindex.maintenance.audit import audit

    os.umask(0o077)
    with here.progress("auditing") as report:
        return audit(here.worktree, here.path, report)


def text(answer: dict[str, Any], _ink: Ink) -> Iterator[str]:
    """Yield the differences, then the verdict."""
    for difference in answer["differences"]:
        yield f"BAD {difference['path']}: {', '.join(difference['differs'])}"
    tree = f"tree {answer['receipt']['treeId']}, {counted(answer['paths'], 'paths')}"
    same = "equals a clean build" if answer["equal"] else "DIFFERS from a clean build"
    yield f"the index {same}: {tree}"


QUESTION = Question(
    "audit",
    "Index the published tree anew, elsewhere, and compare. Exit 0 if equal, 1 if not.",
    (),
    ask,
    text,
    group="Prove",
    found="equal",
    trees="",
)
