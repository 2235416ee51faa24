"""`gitindex find`: a symbol or a file by a part of its name; a picker on a terminal."""

from __future__ import annotations

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, question


def ask(here: Here, params: Params) -> Answer:
    """Return the definitions and files nearest to a text."""
    from gitindex.query.find import find_places
    from gitindex.query.symbols import SymbolQuery, list_symbols

    if not params["words"]:
        raise GitIndexError("give a part of a name", "gitindex find NAME", Exit.USAGE)
    file, mark, name = params["words"].rpartition("#")
    with here.tree() as view:
        if not mark:
            return find_places(view, name, params["limit"])
        named = list_symbols(view, SymbolQuery(name, here.inside(file), limit=params["limit"]))
        rows = [{"type": "symbol", **symbol} for symbol in named["symbols"]]
        return view.envelope(results=rows, truncated=named.get("truncated", False))


def text(answer: Answer, ink: Ink) -> Lines:
    """Yield a line for each."""
    for row in answer["results"]:
        what = ""
        if row["type"] == "symbol":
            what = f"  {ink.paint('kind', row['kind'])} {safe_text(row['qualifiedName'])}"
        place = ink.place(row) if "line" in row else ink.path(row["path"])
        yield ink.paint("path", place) + what


TABLE = """
Everyday: find | found=results
  Pick a symbol or a file by a part of its name, and open it.
    * | words words = @names | A part of a name or a path; asked for if left out.
    --limit -m -n | limit integer =50 1..1000 | Results at most.
"""
QUESTION = question(TABLE, ask, text)
