"""`/time`: a slider over commits and tags; any page at any of them; the difference between two."""

from __future__ import annotations

from typing import Any

from gitindex.base.escape import counted
from gitindex.languages.syntax.kinds import DATA_KINDS
from gitindex.questions.commits import QUESTION as COMMITS
from gitindex.questions.compare import QUESTION as COMPARE
from gitindex.view.tree import NOW
from gitindex.web import html
from gitindex.web.html import (
    Html,
    element,
    hint,
    hit,
    hits,
    join,
    kind,
    link,
    links,
    shorten,
    titled,
)
from gitindex.web.session import Answer, WebPage, WebQuestion, WebSession

MAX_COMMITS = 500
SHORT_LINES, MAX_LINES, MAX_LINE = 200, 4_000, 400
"""Lines of a textual difference: an open one, any; and characters of one."""
_CHANGES = {"body": "changed", "interface": "signature"}
_SIGNS = {"+": "added", "-": "removed", "@": "hint"}


def _answer(session: WebSession, request: WebQuestion) -> Answer:
    base, to = request.text("base"), request.text("at")
    with session.page(NOW) as here:
        answer = here.ask(COMMITS, limit=MAX_COMMITS, files=True)
        if base:
            answer["difference"] = here.ask(COMPARE, base=base, to=to, imports=True, patch=True)
        return answer


def _render(request: WebQuestion, answer: Answer) -> Html:
    commits = answer["commits"]
    if not commits:
        return html.empty("There is no commit yet.")
    at, base = request.text("at"), request.text("base")
    chosen = _index(commits, at)
    return join(
        html.crumbs("Time"),
        _slider(commits, chosen),
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


def _slider(commits: list[dict[str, Any]], chosen: int) -> Html:
    """Render the slider, with the oldest commit on the left."""
    last = len(commits) - 1
    marks = [
        element("option", value=last - number, label=commit["tags"][0])
        for number, commit in enumerate(commits)
        if commit["tags"]
    ]
    slider = element(
        "input",
        type="range",
        id="slide-at",
        min=0,
        max=last,
        value=last - chosen,
        list="tags",
        aria_valuetext=_name(commits[chosen]),
        data_ids=" ".join(commit["id"][:12] for commit in reversed(commits)),
    )
    label = element("label", "Commit", for_="slide-at")
    shown = element("output", _name(commits[chosen]), for_="slide-at")
    return element(
        "div", label, slider, shown, element("datalist", marks[:40], id="tags"), class_="slider"
    )


def _name(commit: dict[str, Any]) -> str:
    return str(commit["tags"][0] if commit["tags"] else commit["id"][:12])


def _card(commits: list[dict[str, Any]], chosen: int, past: bool) -> Html:
    """Render one commit: who, when, where to look at its tree, and what it did to the one before."""
    commit = commits[chosen]
    at = commit["id"][:12]
    pages = [
        ("search", link("", at=at)),
        ("files", link("file/", at=at)),
        ("map", link("map", at=at)),
    ]
    tags = [[" ", _tag(tag)] for tag in commit["tags"][:6]]
    when = f" UTC, {commit['author']}"
    return element(
        "div",
        element("strong", shorten(commit["subject"], 120)),
        element("p", element("code", at), " ", html.day_of(commit["time"]), when, tags),
        element("p", "At this commit: ", links(pages)),
        _done(commit, commits[chosen + 1]["id"][:12]) if chosen + 1 < len(commits) else None,
        class_="card" + (" past" if past else ""),
    )


def _done(commit: dict[str, Any], before: str) -> Html:
    """Return what a commit did: the definitions that differ, what it reached, the files it changed."""
    at = commit["id"][:12]
    shown = (
        ("definitions that differ", link("time", at=at, base=before)),
        ("what it reached", link("map", impact=f"{before}..{at}")),
        *((path, link("file", path, at=at)) for path in commit["files"]),
    )
    return element("p", "Of this commit: ", links(shown))


def _tag(name: str) -> Html:
    return element("span", shorten(name, 24), class_="topic")


def _base_form(commits: list[dict[str, Any]], chosen: int, base: str) -> Html:
    """Render the choice of a base to compare with; works without JavaScript."""
    tags = [c for c in commits if c["tags"]]
    near = [c for n, c in enumerate(commits) if 0 < n - chosen <= 20]
    options = [
        element(
            "option",
            f"{_name(commit)}  {commit['subject'][:60]}",
            value=name[:12],
            selected=name.startswith(base) and bool(base),
        )
        for name, commit in {c["id"]: c for c in [*near, *tags]}.items()
        if name != commits[chosen]["id"]
    ]
    if not options:
        return hint("There is nothing to compare this commit with.")
    parts = (
        element("input", type="hidden", name="at", value=commits[chosen]["id"][:12]),
        element("label", "Compare with", for_="base"),
        element("select", options, id="base", name="base"),
        element("button", "show what differs", type="submit"),
    )
    return element("form", parts, action="/time", method="get", class_="compare")


def _shown_difference(found: dict[str, Any]) -> Html:
    rows = [row for row in found["changedSymbols"] if row["kind"] not in DATA_KINDS]
    rest = found["changedSymbolCount"] - len(rows)
    what = "keys and headings" if len(rows) < len(found["changedSymbols"]) else "more definitions"
    summary = (
        f"{counted(found['changedFiles'], 'files')}, {counted(len(rows), 'definitions')}"
        f"{f' (and {rest:,} {what}, not listed)' if rest else ''} changed;"
        f" {counted(found['addedEdgeCount'], 'imports')} added, {found['removedEdgeCount']} removed"
    )
    edges = (("addedEdges", "added", "+"), ("removedEdges", "removed", "−"))
    imports = [_edge_row(edge, name, sign) for key, name, sign in edges for edge in found[key]]
    symbols = [_symbol_row(row, found) for row in rows]
    cut = element("p", "Some files were over the budget.", class_="warning")
    parts = [
        element("section", element("h3", title), hits(rows, "No difference."))
        for title, rows in (("Definitions", symbols), ("Imports", imports))
    ]
    return element(
        "section",
        element("h2", f"From {found['base']} to {found['at'] or 'the files on disk'}"),
        element("p", summary, class_="summary"),
        None if found["exact"] else cut,
        element("div", parts, class_="split"),
        _patch(found.get("patch", ""), found.get("patchCut", False)),
        id="difference",
    )


def _patch(text: str, cut: bool) -> Html | None:
    """Return the textual difference below that of definitions; a long one is closed."""
    lines = text.split("\n")
    shown = [
        element("span", line[:MAX_LINE] + "\n", class_=_SIGNS.get(line[:1]))
        for line in lines[:MAX_LINES]
    ]
    title = element("summary", f"Text, {counted(len(lines), 'lines')}{' of more' if cut else ''}")
    more = hint(f"{len(lines) - MAX_LINES} more") if len(lines) > MAX_LINES else None
    body = join(element("pre", shown, tabindex=0), more)
    short = len(lines) <= SHORT_LINES
    return element("details", title, body, class_="patch", open=short) if text else None


def _symbol_row(row: dict[str, Any], found: dict[str, Any]) -> Html:
    name = f"{row['path']}#{row['name']}"
    at = found["base"] if row["change"] == "removed" else found["at"]
    done = row["change"]
    change = element("span", _CHANGES.get(done, done), class_=f"change {done}")
    was = (
        element("span", "was ", shorten(row["before"]), class_="hint") if "before" in row else None
    )
    to = html.place(html.named(name, "#"), href=link("symbol", name, at=at))
    return hit(change, kind(row["kind"]), to, was)


def _edge_row(edge: dict[str, str], change: str, sign: str) -> Html:
    ends = element("code", shorten(edge["from"], 48), " → ", shorten(edge["to"], 48))
    return hit(element("span", sign, class_=f"change {change}", title=change), ends)


def _list(commits: list[dict[str, Any]], chosen: int, cut: bool) -> Html:
    rows = [
        html.commit_row(
            commit,
            link("time", at=commit["id"][:12]),
            [_tag(tag) for tag in commit["tags"][:4]],
            aria_current="true" if number == chosen else None,
        )
        for number, commit in enumerate(commits)
    ]
    more = hint(f"The newest {MAX_COMMITS} are listed.") if cut else None
    return element("section", titled("Commits", rows, of="hits uses commits"), more)


TIME = WebPage("time", "Time", _answer, _render, scripts=("time.js",))
