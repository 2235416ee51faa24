"""The health of an index: its jobs, the time until commits were fresh, its size, skipped paths."""

from __future__ import annotations

from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import Question

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitindex.questions.here import Here
    from gitindex.questions.ink import Ink
    from gitindex.questions.table import Params


def ask(here: Here, _params: Params) -> dict[str, Any]:
    """Return jobs, timings, sizes and what is left out."""
    from gitindex.query.health import health

    with here.tree() as view:
        return health(view)


def text(answer: dict[str, Any], _ink: Ink) -> Iterator[str]:
    """Yield the counts."""
    yield f"{answer['indexedFiles']} files, {answer['symbols']} symbols, {len(answer['jobs'])} jobs"


QUESTION = Question(
    "health", "Jobs, timings, sizes, and what is left out.", (), ask, text, group=""
)
