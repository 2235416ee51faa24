"""What the name at a place means: its definitions, with signature and comment."""

from __future__ import annotations

import os

from gitindex.base.errors import GitIndexError
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import Answer, Here, Params, Row, question

if TYPE_CHECKING:
    from gitindex.view.tree import TreeView


def ask(here: Here, params: Params) -> Answer:
    """Return the definitions that a name is bound to; a local name has its own declaration."""
    from gitindex.query.names.finder import Finder
    from gitindex.query.names.targets import find_target
    from gitindex.query.references import declared_fields, definition_fields

    with here.tree() as view:
        path, line, column = here.inside(params["file"]), params["line"], params["column"]
        if params["utf16"]:
            column = _byte_column(view, path, line, column)
        finder = Finder(view, here.memories.binding)
        target = find_target(finder.binder, f"{path}:{line}:{column}")
        definitions = target.definitions
        if params["implementations"]:
            definitions = finder.implementations(definitions)
        shown = definitions[: params["limit"] or None]
        finder.project.read({one.path for one in shown} | {path})
        rows = [definition_fields(finder.project, one) for one in shown]
        if params["docs"]:
            for row in rows:
                row["doc"] = doc_of(view, row)
        local = () if rows or params["implementations"] else target.declared
        declared = [declared_fields(finder.project, one) for one in local]
        return view.envelope(name=target.name, definitions=rows, declared=declared)


def _byte_column(view: TreeView, path: str, line: int, column: int) -> int:
    """Return the column in bytes of UTF-8 of one in UTF-16 units, as browsers count."""
    from gitindex.extract.terms import decode_text

    raw = os.fsencode(path)
    lines = decode_text(view.read([raw]).get(raw, b"")).split("\n")
    text = lines[line - 1] if line <= len(lines) else ""
    before = text.encode("utf-16-le", "surrogatepass")[: 2 * (column - 1)]
    return len(before.decode("utf-16-le", "ignore").encode("utf-8", "surrogatepass")) + 1


def doc_of(view: TreeView, row: Row) -> str:
    """Return the comment of a definition; empty if it has none."""
    from gitindex.query.symbols import SymbolQuery, list_symbols

    try:
        query = SymbolQuery(row["qualifiedName"], row["path"], limit=5)
        symbols = list_symbols(view, query)["symbols"]
    except GitIndexError:
        return ""
    return next((one.get("doc", "") for one in symbols if one["line"] == row["line"]), "")


TABLE = """
definition
  What the name at a place means.
    file
    * | line integer 1.. | Its line.
    * | column integer 1.. | Its column, in bytes.
    --utf16 | utf16 flag | The column is in UTF-16 units.
    --docs | docs flag | With their comments.
    --implementations | implementations flag | What overrides or implements them instead.
    --limit | limit integer | Definitions at most; 0: all.
    at
"""
QUESTION = question(TABLE, ask)
