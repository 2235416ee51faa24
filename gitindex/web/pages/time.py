"""`/time`: a slider over commits and tags; any page at any of them; the difference between two."""

from __future__ import annotations

from typing import Any

from gitindex.questions.commits import QUESTION as COMMITS
from gitindex.questions.compare import QUESTION as COMPARE
from gitindex.view.tree import NOW
from gitindex.web.html import (
    Html,
    day_of,
    element,
    empty,
    hint,
    hit,
    join,
    kind,
    link,
    place,
    shorten,
)
from gitindex.web.session import Answer, WebPage, WebQuestion, WebSession

MAX_COMMITS = 500


def _answer(session: WebSession, request: WebQuestion) -> Answer:
    base, to = request.text("base"), request.text("at")
    with session.page(NOW) as here:
        answer = here.ask(COMMITS, limit=MAX_COMMITS, files=True)
        if base:
            answer["difference"] = here.ask(COMPARE, base=base, to=to, imports=True)
        return answer


def _render(request: WebQuestion, answer: Answer) -> Html:
    commits = answer["commits"]
    if not commits:
        return empty("There is no commit yet.")
    at, base = request.text("at"), request.text("base")
    chosen = _index(commits, at)
    return join(
        element("h1", "Time", class_="crumbs"),
        _slider(commits, chosen, "at", "Commit"),
        element("div", _card(commits, chosen, bool(at)), id="moment"),
        _base_form(commits, chosen, base),
        _shown_difference(answer["difference"]) if "difference" in answer else None,
        _list(commits, chosen, answer["truncated"]),
    )


def _index(commits: list[dict[str, Any]], name: str) -> int:
    for number, commit in enumerate(commits):
        if name and (commit["id"].startswith(name) or name in commit["tags"]):
            return number
    return 0


def _slider(commits: list[dict[str, Any]], chosen: int, name: str, label: str) -> Html:
    """Render the slider, with the oldest commit on the left."""
    last = len(commits) - 1
    marks = [
        element("option", value=last - number, label=commit["tags"][0])
        for number, commit in enumerate(commits)
        if commit["tags"]
    ]
    return element(
        "div",
        element("label", label, for_=f"slide-{name}"),
        element(
            "input",
            type="range",
            id=f"slide-{name}",
            min=0,
            max=last,
            value=last - chosen,
            list="tags",
            aria_valuetext=_name(commits[chosen]),
            data_ids=" ".join(commit["id"][:12] for commit in reversed(commits)),
        ),
        element("output", _name(commits[chosen]), for_=f"slide-{name}"),
        element("datalist", marks[:40], id="tags"),
        class_="slider",
    )


def _name(commit: dict[str, Any]) -> str:
    return str(commit["tags"][0] if commit["tags"] else commit["id"][:12])


def _card(commits: list[dict[str, Any]], chosen: int, past: bool) -> Html:
    """Render one commit: who, when, where to look at its tree, and what it did to the one before."""
    commit = commits[chosen]
    at = commit["id"][:12]
    links = [
        ("search", link("", at=at)),
        ("files", link("file/", at=at)),
        ("map", link("map", at=at)),
    ]
    return element(
        "div",
        element("strong", shorten(commit["subject"], 120)),
        element(
            "p",
            element("code", at),
            " ",
            day_of(commit["time"]),
            f" UTC, {commit['author']}",
            [[" ", _tag(tag)] for tag in commit["tags"][:6]],
        ),
        element(
            "p", "At this commit: ", [[element("a", name, href=to), " "] for name, to in links]
        ),
        _done(commit, commits[chosen + 1]["id"][:12]) if chosen + 1 < len(commits) else None,
        class_="card" + (" past" if past else ""),
    )


def _done(commit: dict[str, Any], before: str) -> Html:
    """Return what a commit did: the definitions that differ, what it reached, the files it changed."""
    at = commit["id"][:12]
    links = (
        ("definitions that differ", link("time", at=at, base=before)),
        ("what it reached", link("map", impact=f"{before}..{at}")),
        *((path, link("file", path, at=at)) for path in commit["files"]),
    )
    shown = [[element("a", shorten(name, 60), href=to), " "] for name, to in links]
    return element("p", "Of this commit: ", shown)


def _tag(name: str) -> Html:
    return element("span", shorten(name, 24), class_="topic")


def _base_form(commits: list[dict[str, Any]], chosen: int, base: str) -> Html:
    """Render the choice of a base to compare with; works without JavaScript."""
    tags = [c for c in commits if c["tags"]]
    near = [c for n, c in enumerate(commits) if 0 < n - chosen <= 20]
    picked = {c["id"]: c for c in [*near, *tags] if c["id"] != commits[chosen]["id"]}
    options = [
        element(
            "option",
            f"{_name(commit)}  {commit['subject'][:60]}",
            value=commit["id"][:12],
            selected=commit["id"].startswith(base) and bool(base),
        )
        for commit in picked.values()
    ]
    if not options:
        return hint("There is nothing to compare this commit with.")
    return element(
        "form",
        element("input", type="hidden", name="at", value=commits[chosen]["id"][:12]),
        element("label", "Compare with", for_="base"),
        element("select", options, id="base", name="base"),
        element("button", "show what differs", type="submit"),
        action="/time",
        method="get",
        class_="compare",
    )


def _shown_difference(found: dict[str, Any]) -> Html:
    summary = (
        f"{found['changedFiles']} files, {found['changedSymbolCount']} symbols changed;"
        f" {found['addedEdgeCount']} imports added, {found['removedEdgeCount']} removed"
    )
    rows = [
        *(_edge_row(edge, "added", "+") for edge in found["addedEdges"]),
        *(_edge_row(edge, "removed", "−") for edge in found["removedEdges"]),
    ]
    symbols = [
        hit(
            element("span", row["change"], class_=f"change {row['change']}"),
            kind(row["kind"]),
            element(
                "a",
                shorten(f"{row['path']}#{row['name']}", 80),
                href=link(
                    "symbol",
                    f"{row['path']}#{row['name']}",
                    at=found["base"] if row["change"] == "removed" else found["at"],
                ),
            ),
        )
        for row in found["changedSymbols"]
    ]
    return element(
        "section",
        element("h2", f"From {found['base']} to {found['at']}"),
        element("p", summary, class_="summary"),
        None
        if found["exact"]
        else element("p", "Some files were over the budget.", class_="warning"),
        element(
            "div",
            element("section", element("h3", "Imports"), _or_none(rows)),
            element("section", element("h3", "Symbols"), _or_none(symbols)),
            class_="split",
        ),
        id="difference",
    )


def _or_none(rows: list[Html]) -> Html:
    if not rows:
        return hint("No difference.")
    return element("ol", rows, class_="hits uses")


def _edge_row(edge: dict[str, str], change: str, sign: str) -> Html:
    return hit(
        element("span", sign, class_=f"change {change}", title=change),
        element("code", shorten(edge["from"], 48), " → ", shorten(edge["to"], 48)),
    )


def _list(commits: list[dict[str, Any]], chosen: int, cut: bool) -> Html:
    rows = [
        hit(
            place(
                element("code", commit["id"][:12]),
                href=link("time", at=commit["id"][:12]),
                aria_current="true" if number == chosen else None,
            ),
            day_of(commit["time"]),
            element("span", shorten(commit["subject"], 100)),
            element("span", shorten(commit["author"], 24), class_="hint"),
            [_tag(tag) for tag in commit["tags"][:4]],
        )
        for number, commit in enumerate(commits)
    ]
    return element(
        "section",
        element("h2", "Commits"),
        element("ol", rows, class_="hits uses commits"),
        hint(f"The newest {MAX_COMMITS} are listed.") if cut else None,
    )


TIME = WebPage("time", "Time", _answer, _render)
