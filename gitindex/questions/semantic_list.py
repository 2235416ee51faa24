"""`gitindex semantic list`: which indexers could run here, and whether they may."""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import Question

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitindex.questions.here import Here
    from gitindex.questions.ink import Ink
    from gitindex.questions.table import Params


def ask(here: Here, _asked: Params) -> dict[str, Any]:
    """Return the indexers."""
    from gitindex.semantic.jobs import list_indexers

    with here.tree() as view:
        return list_indexers(view)


def text(answer: dict[str, Any], _ink: Ink) -> Iterator[str]:
    """Yield the indexers and whether the layer is on."""
    for row in answer["indexers"]:
        state = "installed" if row["installed"] else f"missing: {row['install']}"
        state += ", experimental" if row["experimental"] else ""
        state += "" if row["enabled"] else ", switched off"
        yield f"{row['context']:<40} {row['files']:>6} files  {row['tool']}, {state}"
    yield safe_text(f"{'on' if answer['enabled'] else 'off'}: {answer['why']}")


QUESTION = Question(
    "semantic list",
    "Which indexers could run here, and whether they may.",
    (),
    ask,
    text,
    group="Hooks and set-up",
    found="indexers",
    trees="",
)
