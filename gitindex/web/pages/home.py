"""The start page: README, folders, edits, recent commits; `/central`: files that matter, examples."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from gitindex.base.errors import GitIndexError
from gitindex.questions.browse import QUESTION as BROWSE
from gitindex.questions.commits import QUESTION as COMMITS
from gitindex.questions.map import QUESTION as MAP
from gitindex.questions.read import QUESTION as READ
from gitindex.web.html import (
    Html,
    element,
    file_place,
    hint,
    hit,
    join,
    kind,
    link,
    shorten,
    titled,
)
from gitindex.web.markdown import markdown_of, render_markdown
from gitindex.web.pages.file import folder_list
from gitindex.web.session import Answer, PageHere, WebPage, WebQuestion, WebSession

COMMIT_COUNT = 8
CENTRAL = 8
READMES = ("readme.md", "readme.markdown", "readme", "readme.txt", "readme.rst")
KEYS = (("/", "search"), ("j k", "move"), ("Enter", "open"), ("?", "all keys"))
_WORD_ENDS = re.compile(r"_+|(?<=[a-z])(?=[A-Z])")


def home_answer(here: PageHere) -> Answer:
    """Return what the start page shows, of one tree."""
    answer = here.ask(BROWSE, edited=True)
    commits = (
        [] if here.choice.at else here.ask(COMMITS, limit=5 * COMMIT_COUNT, files=True)["commits"]
    )
    plain = [row for row in commits if not row["subject"].startswith("Merge ")]
    commits = (plain or commits)[:COMMIT_COUNT]
    return answer | {"commits": commits, "readme": _readme(here, answer["entries"])}


def _readme(here: PageHere, entries: list[dict[str, Any]]) -> dict[str, str] | None:
    names = {entry["path"].lower(): entry["path"] for entry in entries if "files" not in entry}
    path = next((names[name] for name in READMES if name in names), None)
    if path is None:
        return None
    try:
        found = here.ask(READ, place="", file=path, first=1, last=600)
    except GitIndexError:
        return None
    return {"path": path, "content": found["content"]}


def render_home(request: WebQuestion, answer: Answer) -> Html:
    """Render the start page: folders and README, and beside them what changed and what matters."""
    at = request.text("at")
    keys = [element("span", element("kbd", key), f" {what}") for key, what in KEYS]
    side = [
        _files("Edited now", () if at else answer.get("edited", ()), at),
        element("div", data_part=link("central", at=at), class_="central"),
        _commits(answer["commits"]),
    ]
    return element(
        "div",
        hint(keys),
        element(
            "div",
            element("div", folder_list(request, answer), _shown_readme(answer["readme"], at)),
            element("aside", side, aria_label="About this repository"),
            class_="home",
        ),
        class_="welcome",
    )


def _shown_readme(readme: dict[str, str] | None, at: str) -> Html | None:
    if readme is None:
        return None
    path, source = readme["path"], readme["content"]
    form = path.lower().rpartition(".")[2]
    source = markdown_of(source) if form == "rst" else source
    plain = form not in ("md", "markdown", "rst")
    body = element("pre", source) if plain else render_markdown(source, "", at)
    name = element("a", path, href=link("file", path, at=at))
    return element("article", element("h2", name), element("div", body, class_="prose"))


def _listed(title: str, rows: list[Html], more: str = "") -> Html:
    return titled(title, rows, of=f"listed uses{more}")


def _files(title: str, paths: Iterable[str], at: str) -> Html:
    return _listed(title, [hit(file_place(path, at, 48)) for path in paths])


def _commits(commits: list[dict[str, Any]]) -> Html:
    rows = [
        hit(
            element("a", shorten(row["subject"], 56), href=link("time", at=row["id"][:12])),
            element("span", shorten(row["author"], 20), class_="hint"),
        )
        for row in commits
    ]
    changed = list(dict.fromkeys(path for row in commits for path in row["files"]))[:CENTRAL]
    return join(_listed("Recent commits", rows, " recent"), _files("Recently changed", changed, ""))


def _central_answer(session: WebSession, request: WebQuestion) -> Answer:
    """Return the files of highest rank with their definitions, and where a program starts."""
    return session.ask(MAP, request.choice, tokens=1_200, include=["entrypoints"])


def _render_central(request: WebQuestion, answer: Answer) -> Html:
    at = request.text("at")
    files = answer["files"][:CENTRAL]
    rows = [hit(file_place(row["path"], at, 48), _first_name(row, at)) for row in files]
    starts = [row["path"] for row in answer.get("entrypoints", ())[:4] if "path" in row]
    central = _listed("Central files", rows)
    return join(_examples(files, at), central, _files("Entry points", starts, at))


def _first_name(row: dict[str, Any], at: str) -> Html | None:
    if not row["symbols"]:
        return None
    name = row["symbols"][0]["name"]
    target = link("symbol", f"{row['path']}#{name}", at=at)
    return element("a", shorten(name, 24), href=target, class_="symbol")


def _examples(files: list[dict[str, Any]], at: str) -> Html:
    """Return three queries that find something here."""
    names = [symbol["name"] for row in files for symbol in row["symbols"][:1]]
    words = [found for name in names if " " in (found := _WORD_ENDS.sub(" ", name).strip())]
    tries = [
        *(("search", found.lower(), "") for found in words[:1]),
        *(("symbols", name, "") for name in names[:1]),
        *(("grep", f"{name}(", "1") for name in names[1:2]),
    ]
    rows = [
        hit(
            kind(tab),
            element("a", shorten(query, 40), href=link("", tab=tab, q=query, at=at, F=fixed)),
        )
        for tab, query, fixed in tries
    ]
    return _listed("Try", rows)


CENTRAL_PAGE = WebPage("central", "Central files", _central_answer, _render_central)
