"""`gitindex outline`, `file_outline`: all definitions of one file."""

from __future__ import annotations

from gitindex.base.escape import counted
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.ink import signature
from gitindex.questions.table import Here, Ink, Lines, Params, question

if TYPE_CHECKING:
    from gitindex.base.answers import SymbolsAnswer
    from gitindex.query.names.memory import Memory
    from gitindex.view.tree import TreeView


SECONDS = 2.0
"""Time limit for counting the callers of a file; the rest is counted on request."""


def ask(here: Here, params: Params) -> SymbolsAnswer:
    """Return all definitions of one file, in its order; with `callers`, how many call each."""
    from gitindex.query.symbols import outline

    file = here.inside(params["file"])
    with here.tree() as view:
        answer = outline(view, file)
        if params["callers"]:
            answer["callers"] = _callers(view, file, here.memories.binding)
        return answer


def _callers(view: TreeView, path: str, memory: Memory | None) -> dict[str, int | None]:
    """Return the number of callers by qualified name; None if time ran out."""
    import time

    from gitindex.languages.facts import Use
    from gitindex.languages.syntax.kinds import FUNCTIONS, TYPES
    from gitindex.query.names.finder import Finder

    finder = Finder(view, memory)
    source = finder.project.source(path)
    counts: dict[str, int | None] = {}
    end = time.monotonic() + SECONDS
    for definition in source.symbols if source else ():
        if definition.kind not in FUNCTIONS | TYPES or definition.qualified in counts:
            continue
        if time.monotonic() > end:
            counts[definition.qualified] = None
            continue
        sites = finder.sites([definition])
        uses = [site for site in sites if site.use not in (Use.DEFINITION, Use.IMPORT)]
        around = {(s.path, s.enclosing.ordinal if s.enclosing else -1) for s in uses}
        counts[definition.qualified] = len(around)
    return counts


def text(answer: SymbolsAnswer, ink: Ink) -> Lines:
    """Yield the file's name once, then its definitions as a tree."""
    rows = answer["symbols"]
    counts = answer.get("callers", {})
    yield ink.paint(
        "path", ink.path(rows[0]["path"]) if rows else ink.path(ink.params.get("file", ""))
    )
    depths = {"": 0}
    wide = len(str(max((row["line"] for row in rows), default=1)))
    for row in rows:
        depth = depths.get(row.get("parent", ""), 0)
        depths[row["qualifiedName"]] = depth + 1
        shown = signature(row["signature"] or f"{row['kind']} {row['name']}")
        lines = f"{row['line']:>{wide + 2}}" if ink.width else f"{row['line']}-{row['endLine']}"
        many = counts.get(row["qualifiedName"])
        tail = "" if many is None else ink.paint("dim", f"  {counted(many, 'callers')}")
        yield f"{ink.paint('line', lines)}  {'  ' * depth}{shown}{tail}"
    if not rows:
        yield "  no definitions"


TABLE = """
Everyday: outline | found=symbols tool=file_outline listed pages=symbols reach=1000
  All definitions of one file, in its order.
  > Definitions of one file with lines and signatures.
    * | file path @paths | A file of the tree. | :
    mcp | limit integer =100 1..200
    --callers | callers flag | How many call each of them, too.
    at
"""
QUESTION = question(TABLE, ask, text, example={"file": "lib/util.py"})
