"""`gitindex history status`: how far the history layer reaches, and its size."""

from __future__ import annotations

from gitindex.base.escape import counted
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.history import behind
from gitindex.questions.table import Question

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitindex.questions.here import Here
    from gitindex.questions.ink import Ink
    from gitindex.questions.table import Params


def ask(here: Here, _asked: Params) -> dict[str, Any]:
    """Return the extent of the layer."""
    from gitindex.query.history import history_state

    return history_state(here.worktree)


def code(answer: dict[str, Any], _asked: Params) -> int:
    """Return 3 without a layer, 1 for one that HEAD has left behind."""
    if answer["status"] != "ok":
        return 3
    return 0 if answer["exact"] else 1


def text(answer: dict[str, Any], _ink: Ink) -> Iterator[str]:
    """Yield its size in one line."""
    if answer["status"] != "ok":
        yield "history: not indexed"
        yield f"  hint: {answer['hint']}"
        return
    yield (
        f"history: {counted(answer['commits'], 'commits')}, {counted(answer['blobs'], 'blobs')},"
        f" {answer['symbols']} definitions, {answer['bytes'] / 1e6:.1f} MB"
    )
    yield from behind(answer)


QUESTION = Question(
    "history status",
    "How far the history layer reaches, and its size.",
    (),
    ask,
    text,
    code=code,
    trees="",
)
