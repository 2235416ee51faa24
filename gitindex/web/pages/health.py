"""`/health`: jobs over time, commit-to-fresh delay, size of the store, skipped files and why."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from gitindex.maintenance.hook_trial import measure_cost
from gitindex.questions.health import QUESTION
from gitindex.view.tree import NOW
from gitindex.web import html
from gitindex.web.html import Html, element, hint, hit, join, kind, shorten
from gitindex.web.session import Answer, WebPage, WebQuestion, WebSession

SHOWN_JOBS = 50
SHOWN_SKIPPED = 200


def _answer(session: WebSession, _request: WebQuestion) -> Answer:
    return session.ask(QUESTION, NOW)


def _render(_request: WebQuestion, answer: Answer) -> Html:
    others = [
        element("a", "radar: does the work in all worktrees fit together?", href="/radar"),
        element("a", "claims: is a statement about the code true?", href="/claims"),
    ]
    label = "Duration of the jobs over time"
    chart = {"id": "chart", "role": "img", "aria_label": label, "data_source": "/health.json"}
    return join(
        html.crumbs("Health"),
        element("p", others, class_="notes"),
        element("div", _tiles(answer), class_="tiles"),
        element(
            "section",
            element("h2", "Jobs over time"),
            element("div", **chart),
            None if answer["jobs"] else html.empty("No job has run yet."),
        ),
        element("div", _jobs(answer), _skipped(answer), class_="split"),
    )


def _tiles(answer: Answer) -> list[Html]:
    timings, sizes = answer["timings"], answer["storeBytes"]
    fresh, queue = timings["commitToFreshSeconds"], timings["queueToFreshSeconds"]
    rows = [
        ("files", f"{answer['indexedFiles']:,}", f"symbols: {answer['symbols']:,}"),
        ("commit → fresh", *_median(fresh, ", whole seconds")),
        ("queue → fresh", *_median(queue)),
        ("store", size_of(sum(sizes.values())), f"facts {size_of(sizes['facts'])}"),
        ("skipped", f"{answer['skippedCount']:,}", "paths without content"),
        *_sharing(answer),
    ]
    hook = _tile("hook", "…", "measured now, in a scratch folder")
    return [
        *(element("div", _tile(*row)) for row in rows),
        element("div", hook, data_part="/hook", id="hook"),
    ]


def _tile(name: str, value: str, more: str) -> Html:
    return join(element("span", name), element("strong", value), element("small", more))


def _sharing(answer: Answer) -> Iterator[tuple[str, str, str]]:
    """Yield the tiles of packs and of the team's index, where they are used."""
    trust, team = answer.get("trust"), answer["team"]
    if trust:
        signer = f"signed by {trust['signer']}" if trust["signer"] else "not signed"
        yield "packs", f"{trust['imported']:,} blobs", f"{trust['verified']:,} verified; {signer}"
    elif answer["packs"]:
        yield "packs", "–", f"from {answer['packs']}: none is in use"
    if team:
        yield "team", str(team["repo"]), f"branch {team['ref']}"


def _median(times: dict[str, Any], note: str = "") -> tuple[str, str]:
    if times["p50"] is None:
        return "–", "no commit has been measured yet"
    return _seconds(times["p50"]), f"p95 {_seconds(times['p95'])}{note}"


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f} s"


def size_of(count: int) -> str:
    """Format a number of bytes for people."""
    for unit in ("B", "kB", "MB"):
        if count < 1_000:
            return f"{count:.0f} {unit}"
        count //= 1 if unit == "B" and count < 1_000 else 1_000
    return f"{count} GB"


def _jobs(answer: Answer) -> Html:
    rows = [_job_row(job) for job in answer["jobs"][:SHOWN_JOBS]]
    heads = [_head(name) for name in ("job", "state", "took", "blobs", "when, UTC", "trigger")]
    title = "Last job" if len(rows) == 1 else f"Last {len(rows)} jobs"
    return element("section", element("h2", title), html.scrolled("Jobs", heads, rows))


def _head(name: str) -> Html:
    is_number = name in ("job", "took", "blobs")
    return element("th", name, scope="col", class_="number" if is_number else None)


def _job_row(job: dict[str, Any]) -> list[Html]:
    began, ended = job["startedAt"], job["finishedAt"]
    took = f"{ended - began:.2f} s" if began and ended else "–"
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(job["createdAt"]))
    why = job["error"] or job["supersededReason"] or job["triggerReason"]
    return [
        element("td", job["id"], class_="number"),
        element("td", job["status"], class_="bad" if job["status"] == "failed" else None),
        element("td", took, class_="number"),
        element("td", job["extracted"], class_="number"),
        element("td", element("time", when, datetime=when.replace(" ", "T") + "Z")),
        element("td", shorten(str(why), 48)),
    ]


def _skipped(answer: Answer) -> Html:
    rows = answer["skipped"][:SHOWN_SKIPPED]
    reasons = [
        element("li", element("strong", count), f" {why.replace('_', ' ')}")
        for why, count in answer["skippedReasons"].items()
    ]
    listed = [
        hit(html.file_place(row["path"]), kind(row["reason"].replace("_", " "))) for row in rows
    ]
    more = answer["skippedCount"] - len(rows)
    nothing = hint("Nothing: every tracked file is in the index.")
    return element(
        "section",
        element("h2", "What is left out, and why"),
        element("ul", reasons, class_="reasons") if reasons else nothing,
        html.hits(listed),
        hint(f"{more} more") if more > 0 else None,
    )


def _hook_answer(session: WebSession, _request: WebQuestion) -> Answer:
    """Return the cost of our hook on this machine, measured once per server run."""
    if session.hook_cost is None:
        cost = measure_cost()
        session.hook_cost = {name: round(value, 2) for name, value in cost._asdict().items()}
    return {"status": "ok", "hookCostMs": session.hook_cost}


def _render_hook(_request: WebQuestion, answer: Answer) -> Html:
    cost = answer["hookCostMs"]
    more = f"p99 {cost['p99']:.1f} ms; an empty hook {cost['empty_p50']:.1f} ms"
    return _tile("hook", f"{cost['p50']:.1f} ms", more)


_SCRIPTS = ("vendor/uPlot.iife.min.js", "health.js")
HEALTH = WebPage("health", "Health", _answer, _render, scripts=_SCRIPTS)
HOOK = WebPage("hook", "Hook", _hook_answer, _render_hook)
