"""`/claims`: statements about the code and their verdicts; `/radar`: does the work in all worktrees fit?"""

from __future__ import annotations

from typing import Any

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import counted
from gitindex.questions.claim import FORMS
from gitindex.questions.claim import QUESTION as CLAIM
from gitindex.questions.ink import Ink
from gitindex.questions.radar import QUESTION as RADAR_QUESTION
from gitindex.view.tree import NOW
from gitindex.web import html
from gitindex.web.frame import refusal_block
from gitindex.web.html import Html, element, hint, hit, join, kind, shorten
from gitindex.web.session import Answer, WebPage, WebQuestion, WebSession


def _claims_answer(session: WebSession, request: WebQuestion) -> Answer:
    claims = [line for line in request.text("claims").splitlines() if line.strip()]
    if not claims:
        return {"status": "ok"}
    with session.page(request.choice, names=True) as here:
        return here.ask(CLAIM, claims=claims)


def _render_claims(request: WebQuestion, answer: Answer) -> Html:
    at = request.text("at")
    box: dict[str, Any] = {"id": "claims", "name": "claims", "rows": 4, "maxlength": 4_000}
    form = (
        element("label", "Claims, one in a line", for_="claims"),
        element("textarea", request.text("claims"), **box),
        element("input", type="hidden", name="at", value=at) if at else None,
        element("button", "check", type="submit"),
    )
    counts = answer.get("counts", {})
    found = ", ".join(f"{many} {name}" for name, many in counts.items() if many)
    return join(
        html.crumbs("Claims"),
        element("form", form, action="/claims", method="get", class_="claims"),
        hint(FORMS),
        refusal_block(answer, "div") if answer["status"] != "ok" else None,
        element("p", found, role="status", class_="summary") if found else None,
        [_verdict(row, at) for row in answer.get("verdicts", ())],
    )


def _verdict(row: dict[str, Any], at: str) -> Html:
    """Render one claim: the verdict, why, and the places that show it."""
    evidence = [
        hit(html.spot(one, at, 64), element("code", one.get("text", "")[:200]))
        for one in row["evidence"]
    ]
    return element(
        "section",
        element("h2", kind(row["verdict"]), " ", element("code", row["claim"])),
        element("p", row["why"]),
        html.hits(evidence) if evidence else None,
        class_=f"verdict {row['verdict']}",
    )


def _radar_answer(session: WebSession, request: WebQuestion) -> Answer:
    with session.page(NOW) as here:
        try:
            return here.ask(RADAR_QUESTION, branches=request.many("branch"))
        except GitIndexError as error:  # one line of work: there is a place to name another
            if request.many("branch") or error.code is not Exit.USAGE:
                raise
            with here.tree() as view:
                return view.envelope(sides=[], pairs=[], message=error.message)


def _render_radar(request: WebQuestion, answer: Answer) -> Html:
    names = [side["name"] for side in answer["sides"]]
    pairs = {(row["ours"], row["theirs"]): row["verdict"] for row in answer["pairs"]}
    pairs |= {(theirs, ours): verdict for (ours, theirs), verdict in pairs.items()}
    head = [element("th", shorten(name, 24), scope="col") for name in names]
    rows = [
        [
            element("th", shorten(one, 40), scope="row"),
            [_cell(pairs.get((one, to))) for to in names],
        ]
        for one in names
    ]
    branch = request.text("branch")
    form = (
        element("label", "Compare a branch, too", for_="branch"),
        element("input", id="branch", name="branch", value=branch, maxlength=256, class_="text"),
        element("button", "compare", type="submit"),
    )
    edits = sum(side["edits"] for side in answer["sides"])
    table = (
        html.scrolled("Verdicts", [element("td"), head], rows, "scroll radar"),
        hint(f"{len(names)} lines of work, {counted(edits, 'edited files')}"),
    )
    shown = element("pre", "\n".join(RADAR_QUESTION.text(answer, Ink()))) if names else None
    return join(
        html.crumbs("Radar"),
        element("form", form, action="/radar", method="get", class_="compare"),
        table
        if names
        else html.empty(f"{answer['message'].capitalize()}: name a branch, or add a worktree."),
        shown,
    )


def _cell(verdict: str | None) -> Html:
    bad = verdict in ("breaks", "conflict")
    return element("td", verdict or "–", class_="bad" if bad else None)


CLAIMS = WebPage("claims", "Claims", _claims_answer, _render_claims, refuses=True)
RADAR = WebPage("radar", "Radar", _radar_answer, _render_radar)
