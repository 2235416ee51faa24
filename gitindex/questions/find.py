"""`gitindex find`: a symbol or a file by a part of its name; a picker on a terminal."""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import Question, argument, limit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitindex.questions.here import Here
    from gitindex.questions.ink import Ink
    from gitindex.questions.table import Params


def ask(here: Here, asked: Params) -> dict[str, Any]:
    """Return the definitions and files nearest to a text."""
    from gitindex.base.errors import Exit, GitIndexError
    from gitindex.query.find import find_places

    if not asked["words"]:
        raise GitIndexError("give a part of a name", "gitindex find NAME", Exit.USAGE)
    with here.tree() as view:
        return find_places(view, asked["words"], asked["limit"])


def text(answer: dict[str, Any], ink: Ink) -> Iterator[str]:
    """Yield a line for each."""
    for row in answer["results"]:
        told = ""
        if row["type"] == "symbol":
            told = f"  {ink.paint('kind', row['kind'])} {safe_text(row['qualifiedName'])}"
        place = ink.place(row) if "line" in row else ink.path(row["path"])
        yield ink.paint("path", place) + told


QUESTION = Question(
    "find",
    "Pick a symbol or a file by a part of its name, and open it.",
    (
        argument(
            "words",
            "A part of a name or a path; asked for if left out.",
            "",
            kind="words",
            complete="names",
        ),
        limit("Results", 50, 1_000),
    ),
    ask,
    text,
    group="Everyday",
    found="results",
    trees="",
)
