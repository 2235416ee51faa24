"""`gitindex symbols`, `find_symbols`: definitions by name, path and kind."""

from __future__ import annotations

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.ink import missing, signature, warnings
from gitindex.questions.table import AT, BARE, Param, Question, Wire, argument, limit, option, wired

if TYPE_CHECKING:
    from typing import Any

    from gitindex.base.answers import SymbolsAnswer
    from gitindex.questions.table import Here, Ink, Lines, Params


def ask(here: Here, params: Params) -> SymbolsAnswer:
    """Return definitions of a name, and of names that contain it; or of one file, indexed or not."""
    from gitindex.query.symbols import (
        SymbolQuery,
        all_symbols,
        file_symbols,
        list_symbols,
        suggestions,
    )

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
            below = query.path or "".join(here.below(view))
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


BELOW = option(
    "--path", "below", "Only in this file or folder of the tree.", kind="path", complete="paths"
)
QUESTION = Question(
    "symbols",
    "Definitions by name, path and kind.",
    (
        argument(
            "name",
            "A name, or a qualified name; all if left out.",
            "",
            complete="names",
            most=512,
            wire=Wire(help="", default=...),
        ),
        BELOW,
        option(
            "--kind",
            "kind",
            "Only this kind: function, class, method, …",
            complete="kinds",
            most=40,
            wire=BARE,
        ),
        wired("exact", "no near names", "flag"),
        Param("everything", "All of the tree, without a limit.", "flag", False, shell=False),
        option("--file", "file", "Look at this file on disk instead, indexed or not."),
        limit("Symbols", 50, 1_000, 20),
        AT,
    ),
    ask,
    text,
    group="Everyday",
    found="symbols",
    team=_team,
    tool="find_symbols",
    tells="Definitions by name; names near it follow.",
    listed=True,
    pages="symbols",
    reach=1_000,
    example={"name": "help"},
)
