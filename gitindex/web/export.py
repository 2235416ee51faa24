"""A static, read-only snapshot of health, map and symbols: HTML without scripts, and the same as JSON."""

from __future__ import annotations

import json
import os
import re

from gitindex.base.atomic_file import write_atomic
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.worktree import Worktree
from gitindex.questions.ink import signature
from gitindex.questions.map import QUESTION as MAP_QUESTION
from gitindex.questions.symbols import QUESTION as SYMBOLS
from gitindex.view.tree import NOW
from gitindex.web.frame import document, freshness_bar
from gitindex.web.html import Html, element, empty, hit, join, kind, shorten
from gitindex.web.pages.health import HEALTH
from gitindex.web.pages.map import MAP
from gitindex.web.session import Answer, WebQuestion, WebSession
from gitindex.web.static_files import static_file

PART = 2_000
"""Number of symbols on one page of the snapshot."""
_PAGES = (("index", "Health"), ("map", "Map"), ("symbols", "Symbols"))
_LIVE = re.compile(
    r' (?:data-[a-z]+|href)="(?!#|(?:index|map|symbols(?:-[0-9]+)?)\.html)[^"]*"'
    r'| role="button"| aria-expanded="[a-z]+"'
)
"""Attributes that need a server: links into it, requests for more, what opens and closes."""
_EMPTY = re.compile(
    r'<div [^>]*id="picked"[^>]*></div>|<svg id="graph".*?</svg>|<span class="also">.*?</span>'
    r'|<section><h2>Jobs over time</h2>.*?</section>|<div id="hook">.*?</div>',
    re.DOTALL,
)
"""Elements that only a script fills or opens, and the map of links: the snapshot has a picture of its own."""


def export_snapshot(worktree: Worktree, folder: str) -> list[str]:
    """Write the snapshot into a new or empty folder and return the names of its files."""
    _prepare(folder)
    session = WebSession(worktree)
    nothing = WebQuestion()
    health, drawn = HEALTH.answer(session, nothing), MAP.answer(session, nothing)
    with session.page(NOW) as here:
        symbols = here.ask(SYMBOLS, everything=True)
        picture = here.ask(MAP_QUESTION, svg=True)["map"]
    shown = {
        "index": (health, Html(HEALTH.render(nothing, health))),
        "map": (drawn, join(_picture(), Html(MAP.render(nothing, drawn)))),
    }
    parts = max(1, -(-len(symbols["symbols"]) // PART))
    for number in range(parts):
        shown[_part_name(number)] = (symbols, _symbols(symbols, number, parts))
    sheet = static_file("app.css")
    assert sheet is not None
    files = {"style.css": sheet.data, "map.svg": picture.encode()}
    for name, (answer, main) in shown.items():
        page = _page(name, os.path.basename(worktree.root), answer, main)
        files[f"{name}.html"] = page.encode("utf-8", "replace")
    answers = {"health": health, "map": drawn, "symbols": symbols}
    files |= {f"{name}.json": json.dumps(answer).encode() for name, answer in answers.items()}
    for name, data in sorted(files.items()):
        write_atomic(os.path.abspath(os.path.join(folder, name)), data)
    return [os.path.join(folder, name) for name in sorted(files)]


def _prepare(folder: str) -> None:
    """Make the folder; refuse one that is not empty."""
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
    now = name.partition("-")[0]
    links = [_to(page, title, page == now) for page, title in _PAGES]
    nav = element("nav", links, aria_label="Pages")
    body = join(
        element("header", element("span", shorten(root, 40), class_="brand"), nav, class_="top"),
        freshness_bar(answer),
        element("main", main),
        element("footer", element("code", json.dumps(answer["receipt"])), id="receipt"),
    )
    sheet = element("link", rel="stylesheet", href="style.css")
    plain = Html(_EMPTY.sub("", _LIVE.sub("", body)))
    return document(f"{name} · {root}", sheet, element("body", plain))


def _to(page: str, title: str, is_here: bool) -> Html:
    return element("a", title, href=f"{page}.html", aria_current="page" if is_here else None)


def _picture() -> Html:
    return Html('<p><img src="map.svg" alt="The files that matter most and their imports"></p>')


def _part_name(number: int) -> str:
    return f"symbols-{number + 1}" if number else "symbols"


def _symbols(answer: Answer, number: int, parts: int) -> Html:
    rows = [
        hit(
            kind(row["kind"]),
            element("code", shorten(signature(row["signature"] or row["qualifiedName"]), 110)),
            element("span", shorten(f"{row['path']}:{row['line']}", 80), class_="place"),
        )
        for row in answer["symbols"][number * PART : (number + 1) * PART]
    ]
    links = [_to(_part_name(n), f"page {n + 1}", n == number) for n in range(parts)]
    return join(
        element("h1", f"Symbols: {len(answer['symbols'])}", class_="crumbs"),
        element("nav", links, class_="parts", aria_label="Parts of the list")
        if parts > 1
        else None,
        element("ol", rows, class_="hits uses") if rows else empty("There are no symbols."),
    )
