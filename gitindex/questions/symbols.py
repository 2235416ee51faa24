"""`gitindex symbols`, `find_symbols`: definitions by name, path and kind."""

from __future__ import annotations

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.ink import missing, signature, warnings
from gitindex.questions.table import Here, Ink, Lines, Params, question

if TYPE_CHECKING:
    from typing import Any

    from gitindex.base.answers import SymbolsAnswer


def ask(here: Here, params: Params) -> SymbolsAnswer:
    """Return definitions of a name, and of names that contain it; or of one file, indexed or not."""
    from gitindex.query.symbols import (
        SymbolQuery,
        all_symbols,
        file_symbols,
        list_symbols,
        suggestions,
    )
    from gitindex.questions.here import in_tree

    if params["file"]:
        return file_symbols(params["file"])
    _check_kind(params["kind"])
    file, _, name = params["name"].rpartition("#")
    query = SymbolQuery(
        name,
        here.folder(params["below"] or file),
        params["kind"],
        params["limit"],
        exact=params["exact"],
    )

    def serve() -> SymbolsAnswer:
        with here.tree() as view:
            if params["everything"]:
                return all_symbols(view)
            below = in_tree(view, query.path) or "".join(here.below(view))
            answer = list_symbols(view, query._replace(path=below), here.memories.names)
            if here.agent and not answer["symbols"]:
                answer["suggestions"] = suggestions(view, query.name)
            return answer

    def scan(why: str) -> SymbolsAnswer:
        from gitindex.query.symbols import scan_symbols

        return scan_symbols(here.worktree, query, why)

    return here.unless_outdated(serve, scan)


def _check_kind(kind: str) -> None:
    if not kind:
        return
    from gitindex.query.search.query_text import KINDS

    if kind not in KINDS:
        raise GitIndexError(
            f"no such kind: {kind}", f"one of {', '.join(sorted(KINDS))}", Exit.USAGE
        )


def text(answer: SymbolsAnswer, ink: Ink) -> Lines:
    """Yield a line for each definition: place, kind and signature."""
    places = [ink.place(row) for row in answer["symbols"]]
    wide = min(60, max(map(len, places), default=0)) if ink.width else 0
    for place, row in zip(places, answer["symbols"], strict=True):
        shown = signature(row["signature"] or row["qualifiedName"], row["kind"])
        kind = ink.paint("kind", f"{row['kind']:<{10 if ink.width else 0}}")
        yield f"{ink.paint('path', f'{place:<{wide}}')}  {kind} {shown}"
    name = ink.params.get("name") or ("" if ink.width else "of that name")
    if not answer["symbols"] and name:
        yield missing(name, answer.get("near") or answer.get("suggestions", []))
    yield from warnings(answer)


def _team(_answer: Any, params: Params) -> tuple[str, list[str]]:
    return "definitions", [params["name"]]


TABLE = """
Everyday: symbols | found=symbols tool=find_symbols listed pages=symbols reach=1000
  Definitions by name, path and kind.
  > Definitions by name; names near it follow.
    * | name = ..512 @names | A name, or a qualified name; all if left out. | !:
    below
    --kind | kind ..40 @kinds | Only this kind: function, class, method, … | :
    mcp | exact flag | no near names
    - | everything flag | All of the tree, without a limit.
    --file | file | Look at this file on disk instead, indexed or not.
    --limit -m -n | limit integer =50 1..1000 | Symbols at most. | =20 1..200:
    at
"""
QUESTION = question(TABLE, ask, text, team=_team, example={"name": "help"})
