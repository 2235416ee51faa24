"""`gitindex outline`, `file_outline`: all definitions of one file."""

from __future__ import annotations

from gitindex.base.lean import TYPE_CHECKING
from gitindex.questions.ink import signature
from gitindex.questions.table import AT, Question, Wire, argument, wired

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitindex.base.answers import SymbolsAnswer
    from gitindex.questions.here import Here
    from gitindex.questions.ink import Ink
    from gitindex.questions.table import Params


def ask(here: Here, asked: Params) -> SymbolsAnswer:
    """Return all definitions of one file, in its order."""
    from gitindex.query.symbols import outline

    file = here.inside(asked["file"])
    with here.tree() as view:
        return outline(view, file)


def text(answer: SymbolsAnswer, ink: Ink) -> Iterator[str]:
    """Yield the file's name once, then its definitions as a tree."""
    rows = answer["symbols"]
    yield ink.paint(
        "path", ink.path(rows[0]["path"]) if rows else ink.path(ink.asked.get("file", ""))
    )
    depths = {"": 0}
    wide = len(str(max((row["line"] for row in rows), default=1)))
    for row in rows:
        depth = depths.get(row.get("parent", ""), 0)
        depths[row["qualifiedName"]] = depth + 1
        shown = signature(row["signature"] or f"{row['kind']} {row['name']}")
        lines = f"{row['line']:>{wide + 2}}" if ink.width else f"{row['line']}-{row['endLine']}"
        yield f"{ink.paint('line', lines)}  {'  ' * depth}{shown}"
    if not rows:
        yield "  no definitions"


FILE = argument("file", "A file of the tree.", kind="path", complete="paths", wire=Wire(help=""))
QUESTION = Question(
    "outline",
    "All definitions of one file, in its order.",
    (
        FILE,
        wired("limit", "", "integer", default=100, least=1, most=200),
        AT,
    ),
    ask,
    text,
    group="Everyday",
    found="symbols",
    tool="file_outline",
    tells="Definitions of one file with lines and signatures.",
    listed=True,
    pages="symbols",
    reach=1_000,
    example={"file": "lib/util.py"},
)
