"""`/claims`: statements about the code and their verdicts; `/radar`: does the work in all worktrees fit?"""

from __future__ import annotations

from typing import Any

from gitindex.base.escape import counted
from gitindex.questions.claim import FORMS
from gitindex.questions.claim import QUESTION as CLAIM
from gitindex.questions.ink import Ink
from gitindex.questions.radar import QUESTION as RADAR_QUESTION
from gitindex.view.tree import NOW
from gitindex.web.html import Html, element, hint, hit, hits, join, kind, link, place, shorten
from gitindex.web.session import Answer, WebPage, WebQuestion, WebSession


def _claims_answer(session: WebSession, request: WebQuestion) -> Answer:
    claims = [line for line in request.text("claims").splitlines() if line.strip()]
    if not claims:
        return {"status": "ok", "verdicts": [], "counts": {}}
    with session.page(request.choice, names=True) as here:
        return here.ask(CLAIM, claims=claims)


def _render_claims(request: WebQuestion, answer: Answer) -> Html:
    at = request.text("at")
    typed = request.text("claims")
    form = element(
        "form",
        element("label", "Claims, one in a line", for_="claims"),
        element("textarea", typed, id="claims", name="claims", rows=4, maxlength=4_000),
        element("input", type="hidden", name="at", value=at) if at else None,
        element("button", "check", type="submit"),
        action="/claims",
        method="get",
        class_="claims",
    )
    counts = ", ".join(f"{many} {name}" for name, many in answer["counts"].items() if many)
    return join(
        element("h1", "Claims", class_="crumbs"),
        form,
        hint(FORMS),
        element("p", counts, role="status", class_="summary") if counts else None,
        [_verdict(row, at) for row in answer["verdicts"]],
    )


def _verdict(row: dict[str, Any], at: str) -> Html:
    """Render one claim: the verdict, why, and the places that show it."""
    evidence = [
        hit(
            place(
                shorten(f"{one['path']}:{one['line']}", 64),
                href=link("file", one["path"], f"L{one['line']}", at=at),
            ),
            element("code", one.get("text", "")[:200]),
        )
        for one in row["evidence"]
    ]
    return element(
        "section",
        element("h2", kind(row["verdict"]), " ", element("code", row["claim"])),
        element("p", row["why"]),
        hits(evidence) if evidence else None,
        class_=f"verdict {row['verdict']}",
    )


def _radar_answer(session: WebSession, request: WebQuestion) -> Answer:
    with session.page(NOW) as here:
        return here.ask(RADAR_QUESTION, branches=request.many("branch"))


def _render_radar(_request: WebQuestion, answer: Answer) -> Html:
    names = [side["name"] for side in answer["sides"]]
    pairs = {(row["ours"], row["theirs"]): row["verdict"] for row in answer["pairs"]}
    pairs |= {(theirs, ours): verdict for (ours, theirs), verdict in pairs.items()}
    head = [element("th", shorten(name, 24), scope="col") for name in names]
    rows = [
        element(
            "tr",
            element("th", shorten(one, 40), scope="row"),
            [_cell(pairs.get((one, other), "")) for other in names],
        )
        for one in names
    ]
    table = element(
        "table", element("thead", element("tr", element("td"), head)), element("tbody", rows)
    )
    edits = sum(side["edits"] for side in answer["sides"])
    label = f"{len(names)} lines of work, {counted(edits, 'edited files')}"
    return join(
        element("h1", "Radar", class_="crumbs"),
        element(
            "div", table, class_="scroll radar", tabindex=0, role="region", aria_label="Verdicts"
        ),
        hint(label),
        element("pre", "\n".join(RADAR_QUESTION.text(answer, Ink()))),
    )


def _cell(verdict: str) -> Html:
    return element(
        "td", verdict or "–", class_="bad" if verdict in ("breaks", "conflict") else None
    )


CLAIMS = WebPage("claims", "Claims", _claims_answer, _render_claims)
RADAR = WebPage("radar", "Radar", _radar_answer, _render_radar)
