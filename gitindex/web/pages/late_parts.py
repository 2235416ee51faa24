"""Parts of a page that come later: caller counts, what a name means, where names lead, its tests."""

from __future__ import annotations

import os
from typing import Any

from gitindex.base.escape import counted, path_fields
from gitindex.query.read import MAX_LINES
from gitindex.questions.definition import QUESTION as DEFINITION
from gitindex.questions.history import QUESTIONS as HISTORIES
from gitindex.questions.impact import tests_of
from gitindex.questions.ink import signature
from gitindex.questions.names import QUESTION as NAMES_QUESTION
from gitindex.questions.outline import QUESTION as OUTLINE
from gitindex.view.tree import NOW
from gitindex.web import html
from gitindex.web.html import Html, element, hint, hit, kind, link
from gitindex.web.pages.file import outline_rows
from gitindex.web.session import Answer, WebPage, WebQuestion, WebSession

MAX_HOVERED = 3


def _answer(session: WebSession, request: WebQuestion) -> Answer:
    with session.page(request.choice, names=True) as here:
        path = here.inside(request.path)
        answer = here.ask(OUTLINE, file=path, callers=True)
        return answer | path_fields(os.fsencode(path))


def _render(request: WebQuestion, answer: Answer) -> Html:
    return element("ol", outline_rows(request, answer, answer["callers"]), class_="outline")


def _hover_answer(session: WebSession, request: WebQuestion) -> Answer:
    """Return the definitions of the name at a place; `col` counts UTF-16 units, as browsers do."""
    place = {
        "file": request.path,
        "line": request.number("line", 1, 10_000_000),
        "column": request.number("col", 1, 100_000),
    }
    with session.page(request.choice, names=True) as here:
        return here.ask(DEFINITION, **place, utf16=True, docs=True, limit=MAX_HOVERED)


def _render_hover(request: WebQuestion, answer: Answer) -> Html:
    at, parts = request.text("at"), []
    for row in answer["definitions"]:
        uses = link("symbol", f"{row['path']}#{row['qualifiedName']}", at=at)
        more = html.links((("uses", uses), ("history", html.history_of(row, at))))
        parts += [
            element("pre", signature(row["signature"] or row["qualifiedName"])),
            element("p", row["doc"].strip()[:600]) if row["doc"] else None,
            hint(html.spot(row, at, 70), " ", more),
        ]
    return element("div", parts) if parts else hint("a local name")


def _names_answer(session: WebSession, request: WebQuestion) -> Answer:
    """Return the names of the shown lines that lead somewhere; the page's script links them."""
    first = request.number("from", 1, 10_000_000)
    with session.page(request.choice, names=True) as here:
        return here.ask(NAMES_QUESTION, file=request.path, first=first, last=first + MAX_LINES - 1)


def _render_names(_request: WebQuestion, answer: Answer) -> Html:
    return hint(f"{counted(len(answer['names']), 'names')} lead somewhere")


def _since_answer(session: WebSession, request: WebQuestion) -> Answer:
    """Return the commits with which a function began or ceased to call a name."""
    when = next(question for question in HISTORIES if question.name == "history when")
    with session.page(NOW) as here:
        return here.ask(when, caller=request.path, callee=request.text("callee"))


def _render_since(request: WebQuestion, answer: Answer) -> Html:
    rows = [
        hit(
            html.place(
                element("code", row["commit"][:12]), href=link("time", at=row["commit"][:12])
            ),
            element("time", row["date"]),
            element("span", row["what"], class_=f"change {row['what']}"),
            element("span", html.shorten(row["subject"], 100)),
        )
        for row in answer["events"]
    ]
    caller, callee = (
        element("code", name) for name in (request.path.rpartition("#")[2], request.text("callee"))
    )
    behind = "The history is indexed up to an older commit: run `gitindex history index`."
    return html.join(
        html.crumbs("Calls from ", caller, " to ", callee, " by commit"),
        html.hits(rows, "No such call in the indexed history.", "hits uses commits"),
        None if answer["exact"] else hint(behind),
    )


def _reach_answer(session: WebSession, request: WebQuestion) -> Answer:
    with session.page(request.choice, names=True) as here:
        return tests_of(here, request.path)


def _render_reach(request: WebQuestion, answer: Answer) -> Html:
    rows = [
        hit(html.file_place(row["path"], request.text("at")), kind(_away(row)))
        for row in answer["tests"]
    ]
    cut = hint("Too many files import it: not all were followed.") if answer["truncated"] else None
    return html.join(html.hits(rows, "No test reaches it."), cut)


def _away(row: dict[str, Any]) -> str:
    """Return how a test reaches the symbol, and in how many steps."""
    if row["distance"] <= 1:
        return "imports its file" if row["route"] == "imports" else "direct"
    steps = counted(row["distance"] - 1, "imports" if row["route"] == "imports" else "calls")
    return f"through {steps}"


CALLERS = WebPage("callers", "Callers", _answer, _render, tail=True)
HOVER = WebPage("hover", "Definition", _hover_answer, _render_hover, tail=True)
NAMES = WebPage("names", "Names", _names_answer, _render_names, tail=True)
REACH = WebPage("reach", "Tests", _reach_answer, _render_reach, tail=True)
SINCE = WebPage("since", "Since", _since_answer, _render_since, tail=True)
