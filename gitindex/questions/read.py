"""`gitindex read`, `read_file`: lines of one file, from disk or any commit."""

from __future__ import annotations

from os import fsencode

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import counted, safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.ink import warnings
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, question

if TYPE_CHECKING:
    from gitindex.base.answers import ReadAnswer
    from gitindex.query.read import LineRange
    from gitindex.view.tree import TreeView

MAX_CONTENT = 200_000
"""Most bytes of a file's text as JSON over MCP, where a character may take up to twelve."""


def ask(here: Here, params: Params) -> ReadAnswer:
    """Return lines; after an upgrade, until the index is rebuilt, of the file on disk."""
    from gitindex.query.read import read_lines

    span = _span(params)
    file, mark, name = span.file.rpartition("#")
    span = span._replace(file=here.inside(span.file))

    def serve() -> ReadAnswer:
        with here.tree() as view:
            named = mark and not view.rows("SELECT 1 FROM {live} WHERE path=?", fsencode(span.file))
            shown = _definition(view, here.inside(file), name) if named else span
            return read_lines(view, shown, params["outlined"])

    def scan(why: str) -> ReadAnswer:
        from gitindex.query.read import scan_lines

        return scan_lines(here.worktree, span, why)

    return here.unless_outdated(serve, scan)


def _definition(view: TreeView, file: str, name: str) -> LineRange:
    """Return the lines of FILE#NAME."""
    from gitindex.query.read import LineRange
    from gitindex.query.symbols import SymbolQuery, list_symbols

    symbols = list_symbols(view, SymbolQuery(name, file, limit=1, exact=True))["symbols"]
    if not symbols:
        raise GitIndexError(f"no {safe_text(name)} in {safe_text(file)}", "", Exit.NO)
    return LineRange(file, symbols[0]["line"], symbols[0]["endLine"])


def _span(params: Params) -> LineRange:
    from gitindex.query.read import LineRange, parse_span

    if params["place"]:
        return parse_span(params["place"])
    first = params["first"]
    last = params["last"] or first + params["limit"] - 1
    if last < first:
        raise GitIndexError("`endLine` is before `startLine`", code=Exit.USAGE)
    return LineRange(params["file"], first, last)


def fit(answer: Answer, params: Params) -> Answer:
    """Cut the text at a line end to what a call may hold, and say where to go on."""
    import json

    answer.pop("continueAt", None)
    end = params["last"] or answer["totalLines"]
    answer["truncated"] = answer["endLine"] < min(end, answer["totalLines"])
    lines, room = answer["content"].split("\n"), MAX_CONTENT
    for at, line in enumerate(lines):
        room -= len(json.dumps(line))
        if room < 0 and at:
            last = answer["startLine"] + at - 1
            answer |= {"content": "\n".join(lines[:at]), "endLine": last, "truncated": True}
            break
    if answer["truncated"]:
        answer["continuation"] = {"startLine": answer["endLine"] + 1}
    return answer


def text(answer: ReadAnswer, ink: Ink) -> Lines:
    """Yield the lines with their numbers."""
    starts = {symbol["line"]: symbol for symbol in answer.get("symbols", ())}
    for number, line in enumerate(answer["content"].split("\n"), answer["startLine"]):
        if number in starts:
            title = safe_text(f"{starts[number]['kind']} {starts[number]['qualifiedName']}")
            yield ink.paint("dim", f"        ── {title}")
        if ink.width:
            shown = safe_text(line.replace("\t", "    "))
            yield f"{ink.paint('line', f'{number:>6}')}  {shown}"
        else:
            yield f"{number}\t{safe_text(line, keep=chr(9))}"
    if not ink.width:
        yield f"-- {ink.path(answer['path'])}: {counted(answer['totalLines'], 'lines')}"
    yield from warnings(answer)


TABLE = """
Everyday: read | tool=read_file listed
  Lines of one file of the tree, as it is now or at any commit.
  > Lines of one file. Secrets and links are refused.
    * | place <FILE[:A[-B]|#NAME]> @paths | A file, and its lines.
    mcp | file path !
    mcp | first integer =1 1..10000000 |  | startLine
    mcp | last integer ..10000000 |  | endLine
    mcp | limit integer =400 1..2000
    --outline | outlined flag | Say which definition starts where.
    at
"""
QUESTION = question(TABLE, ask, text, fit=fit, example={"file": "lib/util.py"})
