"""`/callers/<path>`: caller counts of a file's definitions; `/hover/<path>`: what a name means."""

from __future__ import annotations

import os
import time
from typing import Any

from gitindex.base.errors import GitIndexError
from gitindex.base.escape import path_fields
from gitindex.extract.terms import decode_text
from gitindex.languages.facts import Use
from gitindex.languages.syntax.kinds import FUNCTIONS, TYPES
from gitindex.query.names.finder import Finder
from gitindex.query.names.sites import Site
from gitindex.query.names.targets import find_target
from gitindex.query.references import definition_fields
from gitindex.query.symbols import SymbolQuery, list_symbols, outline
from gitindex.view.tree import TreeView
from gitindex.web.html import Html, element, link, shorten
from gitindex.web.pages.file import outline_rows, resolve_path
from gitindex.web.session import Answer, WebPage, WebQuestion, WebSession

SECONDS = 2.0
"""Time limit for all counts of a file; the rest is counted on its own page."""
_COUNTED = FUNCTIONS | TYPES
_NO_USE = frozenset({Use.DEFINITION, Use.IMPORT})
MAX_HOVERED = 3


def _answer(session: WebSession, asked: WebQuestion) -> Answer:
    with session.open_names(asked.choice) as view:
        path = resolve_path(view, asked.path)
        answer = dict(outline(view, path)) | path_fields(os.fsencode(path))
        answer["callers"] = _count(Finder(view, session.names), path)
    return answer


def _count(finder: Finder, path: str) -> dict[str, int | None]:
    """Return callers by qualified name; None if time ran out."""
    source = finder.project.source(path)
    found: dict[str, int | None] = {}
    end = time.monotonic() + SECONDS
    for definition in source.symbols if source else ():
        if definition.kind not in _COUNTED or definition.qualified in found:
            continue
        if time.monotonic() > end:
            found[definition.qualified] = None
            continue
        sites = [site for site in finder.sites([definition]) if _is_call(site)]
        callers = {(s.path, s.enclosing.ordinal if s.enclosing else -1) for s in sites}
        found[definition.qualified] = len(callers)
    return found


def _is_call(site: Site) -> bool:
    """Is this surely a use of the definition? A match by name alone does not count."""
    return site.use not in _NO_USE


def _render(asked: WebQuestion, answer: Answer) -> Html:
    return element("ol", outline_rows(asked, answer, answer["callers"]), class_="outline")


def _hover_answer(session: WebSession, asked: WebQuestion) -> Answer:
    """Return the definitions of the name at a place; `col` counts UTF-16 units, as browsers do."""
    line = asked.number("line", 1, 10_000_000)
    column = asked.number("col", 1, 100_000)
    with session.open_names(asked.choice) as view:
        path = resolve_path(view, asked.path)
        byte = _byte_column(view, path, line, column)
        finder = Finder(view, session.names)
        target = find_target(finder.binder, f"{path}:{line}:{byte}")
        shown = target.definitions[:MAX_HOVERED]
        finder.project.read({definition.path for definition in shown})
        found = [definition_fields(finder.project, definition) for definition in shown]
        for row in found:
            row["doc"] = _doc(view, row)
        return view.envelope(name=target.name, definitions=found)


def _byte_column(view: TreeView, path: str, line: int, column: int) -> int:
    raw = os.fsencode(path)
    lines = decode_text(view.read([raw]).get(raw, b"")).split("\n")
    text = lines[line - 1] if line <= len(lines) else ""
    before = text.encode("utf-16-le", "surrogatepass")[: 2 * (column - 1)]
    return len(before.decode("utf-16-le", "ignore").encode("utf-8", "surrogatepass")) + 1


def _doc(view: TreeView, row: dict[str, Any]) -> str:
    try:
        wanted = SymbolQuery(row["qualifiedName"], row["path"], limit=5)
        found = list_symbols(view, wanted)["symbols"]
    except GitIndexError:
        return ""
    same = [symbol for symbol in found if symbol["line"] == row["line"]]
    return same[0].get("doc", "") if same else ""


def _render_hover(asked: WebQuestion, answer: Answer) -> Html:
    parts = []
    for row in answer["definitions"]:
        target = link("symbol", f"{row['path']}#{row['qualifiedName']}", at=asked.text("at"))
        place = link("file", row["path"], f"L{row['line']}", at=asked.text("at"))
        parts += [
            element("pre", row["signature"] or row["qualifiedName"]),
            element("p", row["doc"].strip()[:600]) if row["doc"] else None,
            element(
                "p",
                element("a", shorten(f"{row['path']}:{row['line']}", 70), href=place),
                " · ",
                element("a", "uses", href=target),
                class_="hint",
            ),
        ]
    return element("div", parts) if parts else element("p", "a local name", class_="hint")


CALLERS = WebPage("callers", "Callers", _answer, _render)
HOVER = WebPage("hover", "Definition", _hover_answer, _render_hover)
