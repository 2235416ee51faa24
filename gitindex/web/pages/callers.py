"""Parts of a file's page that come later: caller counts, what a name means, where names lead."""

from __future__ import annotations

import os

from gitindex.base.escape import path_fields
from gitindex.query.read import MAX_LINES
from gitindex.questions.definition import QUESTION as DEFINITION
from gitindex.questions.names import QUESTION as NAMES_QUESTION
from gitindex.questions.outline import QUESTION as OUTLINE
from gitindex.web.html import Html, element, link, shorten
from gitindex.web.pages.file import outline_rows
from gitindex.web.session import Answer, WebPage, WebQuestion, WebSession

MAX_HOVERED = 3


def _answer(session: WebSession, asked: WebQuestion) -> Answer:
    with session.page(asked.choice, names=True) as here:
        path = here.inside(asked.path)
        answer = here.ask(OUTLINE, file=path, callers=True)
        return answer | path_fields(os.fsencode(path))


def _render(asked: WebQuestion, answer: Answer) -> Html:
    return element("ol", outline_rows(asked, answer, answer["callers"]), class_="outline")


def _hover_answer(session: WebSession, asked: WebQuestion) -> Answer:
    """Return the definitions of the name at a place; `col` counts UTF-16 units, as browsers do."""
    place = {
        "file": asked.path,
        "line": asked.number("line", 1, 10_000_000),
        "column": asked.number("col", 1, 100_000),
    }
    with session.page(asked.choice, names=True) as here:
        return here.ask(DEFINITION, **place, utf16=True, docs=True, limit=MAX_HOVERED)


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


def _names_answer(session: WebSession, asked: WebQuestion) -> Answer:
    """Return the names of the shown lines that lead somewhere; the page's script links them."""
    first = asked.number("from", 1, 10_000_000)
    with session.page(asked.choice, names=True) as here:
        return here.ask(NAMES_QUESTION, file=asked.path, first=first, last=first + MAX_LINES - 1)


def _render_names(_asked: WebQuestion, answer: Answer) -> Html:
    return element("p", f"{len(answer['names'])} names lead somewhere", class_="hint")


NAMES = WebPage("names", "Names", _names_answer, _render_names)
CALLERS = WebPage("callers", "Callers", _answer, _render)
HOVER = WebPage("hover", "Definition", _hover_answer, _render_hover)
