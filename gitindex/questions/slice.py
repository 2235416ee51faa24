"""`gitindex slice`: the lines that a line, or a variable on it, depends on or influences."""

from __future__ import annotations

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import Here, Ink, Lines, Params, question

if TYPE_CHECKING:
    from gitindex.base.answers import SliceAnswer


def ask(here: Here, params: Params) -> SliceAnswer:
    """Return the slice; it needs no index, with one it adds proof."""
    from gitindex.query.slice import SlicePoint, parse_place, slice_file

    if params["place"]:
        return slice_file(parse_place(params["place"]), here.path, params["forward"])
    file = here.inside(params["file"])
    with here.tree() as view:
        from gitindex.questions.state import check_live

        check_live(view, file)
        root = view.worktree.root
    place = SlicePoint(file, params["line"], params["column"] or None)
    return slice_file(place, root, params["forward"])


def code(answer: SliceAnswer, _params: Params) -> int:
    """Return the exit code of the answer's status."""
    from gitindex.query.slice import EXITS

    return EXITS[answer["status"]]


def text(answer: SliceAnswer, ink: Ink) -> Lines:
    """Yield the lines of the slice, the queried one marked."""
    if answer["status"] != "ok":
        raise GitIndexError(answer["message"], code=Exit(code(answer, {})))
    name = safe_text(f"{answer['function']['name']} ({answer['source']})")
    yield f"{ink.path(answer['path'])}: {name}"
    for row in answer["lines"]:
        mark = ">" if row["line"] == answer["line"] else " "
        number = f"{row['line']:>6}  " if ink.width else f"{row['line']}\t"
        yield f"{mark}{number}{safe_text(row['text'].replace(chr(9), '    '))}"


TABLE = """
Explore: slice | tool=slice
  The lines that a line, or a variable on it, depends on.
  > Only the lines of a function that a line or variable depends on, or influences.
    * | place <FILE:LINE[:COL]> @paths | A line, or a variable.
    mcp | file path !
    mcp | line integer ! 1..10000000
    mcp | column integer ..1000000 | of a variable
    --forward | forward flag | What it influences, not what it depends on. | : what it influences
"""
QUESTION = question(TABLE, ask, text, code=code, example={"file": "lib/util.py", "line": 2})
