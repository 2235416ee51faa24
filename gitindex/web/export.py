"""A static, read-only snapshot of health, map and symbols: HTML without scripts, and the same as JSON."""

from __future__ import annotations

import json
import os
import re

from gitindex.base.atomic_file import write_atomic
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.worktree import Worktree
from gitindex.query.map.answer import map_picture
from gitindex.query.symbols import MAX_LIMIT, SymbolQuery, list_symbols
from gitindex.view.tree import NOW
from gitindex.web.frame import freshness_bar
from gitindex.web.html import Html, element, join, shorten
from gitindex.web.pages.health import HEALTH
from gitindex.web.pages.map import MAP
from gitindex.web.session import Answer, WebQuestion, WebSession
from gitindex.web.static_files import StaticFolder

_PAGES = (("index", "Health"), ("map", "Map"), ("symbols", "Symbols"))
_LIVE = re.compile(
    r' (?:hx-[a-z-]+|data-[a-z]+|href)="(?!#|index\.html|map\.html|symbols\.html)[^"]*"'
)
"""What only a server answers: links into it, and what asks it for more."""


_EMPTY = re.compile(r'<div [^>]*id="(?:graph|chart|picked)"[^>]*></div>')
"""What only a script fills."""


def export_snapshot(worktree: Worktree, folder: str) -> list[str]:
    """Write the snapshot into a new or empty folder and return the names of its files."""
    _prepare(folder)
    session = WebSession(worktree)
    nothing = WebQuestion()
    health, drawn = HEALTH.answer(session, nothing), MAP.answer(session, nothing)
    with session.open(NOW) as view:
        symbols: Answer = dict(list_symbols(view, SymbolQuery(limit=MAX_LIMIT)))
        picture = map_picture(view)
    shown = {
        "index": (health, Html(HEALTH.render(nothing, health))),
        "map": (drawn, join(_picture(), Html(MAP.render(nothing, drawn)))),
        "symbols": (symbols, _symbols(symbols)),
    }
    sheet = StaticFolder().get("app.css")
    assert sheet is not None
    files = {"style.css": sheet.data, "map.svg": picture.encode()}
    for name, (answer, main) in shown.items():
        page = _page(name, os.path.basename(worktree.root), answer, main)
        files[f"{name}.html"] = page.encode("utf-8", "replace")
        files[f"{'health' if name == 'index' else name}.json"] = json.dumps(answer).encode()
    for name, data in sorted(files.items()):
        write_atomic(os.path.abspath(os.path.join(folder, name)), data)
    return [os.path.join(folder, name) for name in sorted(files)]


def _prepare(folder: str) -> None:
    """Make the folder; one that holds something is somebody's, and is left alone."""
    try:
        os.makedirs(folder, exist_ok=True)
        holds = os.listdir(folder)
    except OSError as error:
        raise GitIndexError(
            f"cannot write {safe_text(folder)}: {error.strerror}", code=Exit.USAGE
        ) from error
    if holds:
        raise GitIndexError(
            f"the folder is not empty: {safe_text(folder)}", "name a new one", Exit.USAGE
        )


def _page(name: str, root: str, answer: Answer, main: Html) -> str:
    links = [
        element("a", title, href=f"{page}.html", aria_current="page" if page == name else None)
        for page, title in _PAGES
    ]
    body = join(
        element(
            "header",
            element("span", shorten(root, 40), class_="brand"),
            element("nav", links, aria_label="Pages"),
            class_="top",
        ),
        freshness_bar(answer),
        element("main", main),
        element("footer", element("code", json.dumps(answer["receipt"])), id="receipt"),
    )
    head = join(
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{name} · {root}"),
    )
    plain = _EMPTY.sub("", _LIVE.sub("", body))
    sheet = Html('<link rel="stylesheet" href="style.css">')
    return join(
        Html("<!doctype html>"),
        element("html", element("head", head, sheet), element("body", Html(plain)), lang="en"),
    )


def _picture() -> Html:
    return Html('<p><img src="map.svg" alt="The files that matter most and their imports"></p>')


def _symbols(answer: Answer) -> Html:
    rows = [
        element(
            "li",
            element("span", row["kind"], class_="kind"),
            element("code", shorten(row["signature"] or row["qualifiedName"], 110)),
            element("span", shorten(f"{row['path']}:{row['line']}", 80), class_="place"),
            class_="hit one",
        )
        for row in answer["symbols"]
    ]
    more = element("p", f"The first {len(rows)} are listed.", class_="hint")
    return join(
        element("h1", "Symbols", class_="crumbs"),
        element("ol", rows, class_="hits uses"),
        more if answer.get("truncated") else None,
    )
