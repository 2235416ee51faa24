"""`gitindex find`: a symbol or a file by a part of its name; a picker on a terminal."""

from __future__ import annotations

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import Question, argument, limit

if TYPE_CHECKING:
    from gitindex.questions.table import Answer, Here, Ink, Lines, Params


def ask(here: Here, params: Params) -> Answer:
    """Return the definitions and files nearest to a text."""
    from gitindex.query.find import find_places

    if not params["words"]:
        raise GitIndexError("give a part of a name", "gitindex find NAME", Exit.USAGE)
    file, mark, name = params["words"].rpartition("#")
    with here.tree() as view:
        answer = find_places(view, name, params["limit"])
    if mark:
        inside = here.inside(file)
        answer["results"] = [row for row in answer["results"] if row["path"] == inside]
    return answer


def text(answer: Answer, ink: Ink) -> Lines:
    """Yield a line for each."""
    for row in answer["results"]:
        what = ""
        if row["type"] == "symbol":
            what = f"  {ink.paint('kind', row['kind'])} {safe_text(row['qualifiedName'])}"
        place = ink.place(row) if "line" in row else ink.path(row["path"])
        yield ink.paint("path", place) + what


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
