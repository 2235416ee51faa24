"""The start page: README, folders, edits, recent commits; `/central`: files that matter, examples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gitindex.base.errors import GitIndexError
from gitindex.questions.browse import QUESTION as BROWSE
from gitindex.questions.commits import QUESTION as COMMITS
from gitindex.questions.map import QUESTION as MAP
from gitindex.questions.read import QUESTION as READ
from gitindex.web.html import Html, element, hint, hit, join, kind, link, place, shorten
from gitindex.web.markdown import render_markdown
from gitindex.web.pages.file import folder_list
from gitindex.web.session import Answer, PageHere, WebPage, WebQuestion, WebSession

COMMIT_COUNT = 8
CENTRAL = 8
READMES = ("readme.md", "readme.markdown", "readme", "readme.txt", "readme.rst")
KEYS = (("/", "search"), ("j k", "move"), ("Enter", "open"), ("?", "all keys"))


def home_answer(here: PageHere) -> Answer:
    """Return what the start page shows, of one tree."""
    answer = here.ask(BROWSE, edited=True)
    commits = [] if here.choice.at else here.ask(COMMITS, limit=COMMIT_COUNT, files=True)["commits"]
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
        _edited(answer.get("edited", ()), at),
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
    path, plain = readme["path"], not readme["path"].lower().endswith((".md", ".markdown"))
    body = (
        element("pre", readme["content"]) if plain else render_markdown(readme["content"], "", at)
    )
    name = element("a", path, href=link("file", path, at=at))
    return element("article", element("h2", name), element("div", body, class_="prose"))


def _edited(paths: Iterable[str], at: str) -> Html | None:
    return None if at else _listed("Edited now", [_file_row(path, at) for path in paths])


def _listed(title: str, rows: list[Html], more: str = "") -> Html | None:
    """Return rows below a title; nothing where there are none."""
    listed = element("ol", rows, class_=f"listed uses{more}")
    return join(element("h2", title), listed) if rows else None


def _file_row(path: str, at: str, more: Html | None = None) -> Html:
    return hit(place(shorten(path, 48), href=link("file", path, at=at)), more)


def _commits(commits: list[dict[str, Any]]) -> Html:
    rows = [
        hit(
            element("a", shorten(row["subject"], 56), href=link("time", at=row["id"][:12])),
            element("span", shorten(row["author"], 20), class_="hint"),
        )
        for row in commits
    ]
    changed = list(dict.fromkeys(path for row in commits for path in row["files"]))[:CENTRAL]
    files = [_file_row(path, "") for path in changed]
    return join(_listed("Recent commits", rows, " recent"), _listed("Recently changed", files))


def _central_answer(session: WebSession, request: WebQuestion) -> Answer:
    """Return the files of highest rank with their definitions, and where a program starts."""
    return session.ask(MAP, request.choice, tokens=1_200, include=["entrypoints"])


def _render_central(request: WebQuestion, answer: Answer) -> Html:
    at = request.text("at")
    files = answer["files"][:CENTRAL]
    rows = [_file_row(row["path"], at, _first_name(row, at)) for row in files]
    entries = answer.get("entrypoints", ())[:4]
    starts = [_file_row(row["path"], at) for row in entries if "path" in row]
    central, begins = _listed("Central files", rows), _listed("Entry points", starts)
    return join(_examples(files, at), central, begins)


def _first_name(row: dict[str, Any], at: str) -> Html | None:
    if not row["symbols"]:
        return None
    name = row["symbols"][0]["name"]
    target = link("symbol", f"{row['path']}#{name}", at=at)
    return element("a", shorten(name, 24), href=target, class_="symbol")


def _examples(files: list[dict[str, Any]], at: str) -> Html | None:
    """Return three queries that find something here."""
    names = [symbol["name"] for row in files for symbol in row["symbols"][:1]][:3]
    if not names:
        return None
    words = " ".join(files[0]["path"].rpartition("/")[2].partition(".")[0].split("_"))
    tries = (
        ("search", f"{words} {names[-1]}", ""),
        ("symbols", names[0], ""),
        ("grep", f"{names[min(1, len(names) - 1)]}(", "1"),
    )
    rows = [
        hit(
            kind(tab),
            element("a", shorten(query, 40), href=link("", tab=tab, q=query, at=at, F=fixed)),
        )
        for tab, query, fixed in tries
    ]
    return _listed("Try", rows)


CENTRAL_PAGE = WebPage("central", "Central files", _central_answer, _render_central)
