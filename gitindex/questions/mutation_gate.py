"""`check_mutation_gate`, `gitindex state --gate`: may a place be edited without review?"""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import Question, Wire, wired

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitindex.questions.here import Here
    from gitindex.questions.ink import Ink
    from gitindex.questions.table import Params
    from gitindex.view.tree import TreeView


def ask(here: Here, asked: Params) -> Any:
    """Return the verdict on a file, or on a definition in it."""
    from gitindex.filestate.ambiguity import EditTarget
    from gitindex.filestate.mutation_gate import check_mutation_gate

    file = here.inside(asked["file"])
    with here.tree() as view:
        check_live(view, file)
        return check_mutation_gate(view, [EditTarget(file, asked["symbol"], asked["line"])])


def check_live(view: TreeView, file: str) -> None:
    """Refuse a file that is not in the tree, or whose content the policy excludes."""
    import os

    from gitindex.base.errors import Exit, GitIndexError

    rows = view.rows("SELECT f.skip FROM {live} f WHERE f.path=?", os.fsencode(file))
    if not rows or rows[0][0] is not None:
        raise GitIndexError(
            "not in the tree, or its content is left out",
            "see `gitindex status --skipped`",
            Exit.NO,
        )


def text(answer: Any, ink: Ink) -> Iterator[str]:
    """Yield the verdict of each place."""
    from gitindex.filestate.gate_text import gate_lines

    for row in answer["targets"]:
        yield from map(safe_text, gate_lines(row, ink.path, "file" in ink.asked))


QUESTION = Question(
    "mutation gate",
    "May a place be edited without review?",
    (
        wired("file", kind="path", wire=Wire(default=...)),
        wired("symbol", most=512),
        wired("line", "", "integer", most=10_000_000),
    ),
    ask,
    text,
    group="",
    trees="",
    tool="check_mutation_gate",
    tells="Before an edit: is what is known of it current and certain? `ok` with the scope allowed, "
    "`needs_decision` or `blocked`.",
    example={"file": "lib/util.py", "symbol": "helper"},
)
