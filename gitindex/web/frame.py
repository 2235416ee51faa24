"""The frame of every page: the head, the search box, the freshness bar, the receipt."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from gitindex.web.html import Child, Html, element, hint, join, link, shorten
from gitindex.web.session import Answer, WebPage, WebQuestion

PAGES = (("", "Search"), ("map", "Map"), ("time", "Time"), ("health", "Health"))
TABS = ("search", "grep", "symbols", "docs")
KEYS = (
    ("/", "go to the search box"),
    ("j k", "next and previous result, definition or entry of the map"),
    ("Enter", "open it; in the box, open the first result"),
    ("Esc", "leave the box, close a hint"),
    ("1 2 3 4", "Search, Grep, Symbols, Docs"),
    ("s m t h", "pages: Search, Map, Time, Health"),
    ("f", "narrow the results"),
    ("Alt-click", "on a name in code: its uses instead of its definition"),
    ("c", "copy the command that gives this answer"),
    ("r", "copy the receipt"),
    ("n", "back to now, from a page of the past"),
    ("+ - 0", "on the map: closer, farther, all of it; arrows move it"),
    ("?", "these keys"),
)
_STATES = {
    "fresh": "the index is HEAD's tree",
    "stale": "HEAD is not in the index yet",
    "rebuilding": "a job runs; answers come from the last proven generation",
    "not_indexed": "run `gitindex index` in the repository",
    "unknown": "the proof of the index could not be read",
    "error": "the last refresh failed: `gitindex status` says why",
}


_REFUSED = frozenset({"invalid_request", "not_found", "ambiguous", "unsupported"})
"""These say nothing of the index; the next event does."""
UNTOLD = "…"


def page_frame(page: WebPage, request: WebQuestion, root: str, main: Html, answer: Answer) -> Html:
    """Return a whole page."""
    sheets = ["app.css", *(["vendor/uPlot.min.css"] if page.name == "health" else [])]
    name = os.path.basename(root) or root
    body = element(
        "body",
        element("a", "Skip to results", href="#main", class_="skip"),
        _header(page, request, name),
        freshness_bar(answer, request.text("at")),
        element("main", main, id="main", tabindex="-1"),
        receipt_line(answer),
        element("div", id="tip", role="tooltip", hidden=True),
        _keys(),
        data_page=page.name or "search",
    )
    parts = [
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="/static/icon.svg", type="image/svg+xml"),
        [element("link", rel="stylesheet", href=f"/static/{sheet}") for sheet in sheets],
        [
            element("script", src=f"/static/{script}", defer=True)
            for script in ("app.js", *page.scripts)
        ],
    ]
    title = request.path or request.values.get("q", [""])[-1] or page.title
    return document(f"{title} · {name}", parts, body)


def document(title: str, head: Child, body: Html) -> Html:
    """Return an HTML document around its body."""
    parts = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        head,
    ]
    return join(Html("<!doctype html>"), element("html", element("head", parts), body, lang="en"))


def fragment(request: WebQuestion, main: Html, answer: Answer) -> Html:
    """Return the fragment that a keystroke replaces: results, bar and receipt."""
    if "freshness" not in answer:
        return main
    return join(main, freshness_bar(answer, request.text("at")), receipt_line(answer))


def freshness_bar(answer: Mapping[str, Any], at: str = "") -> Html:
    """Return the freshness of the answer in one line."""
    freshness = answer.get("freshness") or {}
    state = _state(answer, freshness)
    receipt = answer.get("receipt") or {}
    parts = _parts(freshness, receipt)
    return element(
        "div",
        element("span", class_="dot", aria_hidden="true"),
        element("strong", state.replace("_", " "), title=_proof(state, receipt)),
        element("span", _STATES[state]) if state in _STATES and state != "fresh" else None,
        [element("span", part) for part in parts],
        element("span", element("a", "back to now", href="/"), class_="at") if at else None,
        id="bar",
        class_=f"bar {state if state in _STATES else 'unknown' if state == UNTOLD else 'stale'}",
        role="status",
        aria_label="Freshness of the index",
        data_at=at or None,
    )


def _state(answer: Mapping[str, Any], freshness: Mapping[str, Any]) -> str:
    if freshness.get("mode") == "skipped_indexing":
        return "rebuilding"
    named = (answer.get("state"), freshness.get("state"), answer.get("status"))
    state = str(next(filter(None, named), "unknown"))
    return UNTOLD if state in _REFUSED else state


def _parts(freshness: Mapping[str, Any], receipt: Mapping[str, Any]) -> list[Html | str]:
    found: list[Html | str] = []
    if freshness.get("mode") == "at":
        found.append(f"as of {str(freshness.get('servedCommit') or receipt.get('treeId'))[:12]}")
    elif freshness.get("branch"):
        found.append(shorten(str(freshness["branch"]), 40))
    elif receipt.get("treeId"):
        found.append("detached HEAD")
    edits = freshness.get("edits")
    if edits and freshness.get("mode") != "at":
        found.append(f"{edits} edited path{'s' if edits > 1 else ''} overlaid")
    if freshness.get("leftOut"):
        found.append(f"{freshness['leftOut']} left out")
    return found


def _proof(state: str, receipt: Mapping[str, Any]) -> str:
    """Return what a tooltip says: the state in words, then tree and generation."""
    parts = [_STATES.get(state, state)]
    parts += [f"tree {str(receipt['treeId'])[:12]}"] if receipt.get("treeId") else []
    parts += [f"generation {receipt['generation']}"] if receipt.get("generation") else []
    return "; ".join(parts)


def receipt_line(answer: Mapping[str, Any]) -> Html:
    """Return the receipt of the answer, to be copied and verified."""
    receipt = answer.get("receipt")
    children: list[Html] = []
    if receipt:
        text = json.dumps(receipt, sort_keys=True)
        overlay = str(receipt.get("overlayDigest") or "none")[:12]
        shown = (
            f"tree {str(receipt['treeId'])[:12]} · overlay {overlay}"
            f" · generation {receipt['generation']} · {receipt['fingerprint']}"
        )
        children = [copy_button("copy receipt", text, shown)]
    return element("footer", children, id="receipt")


def copy_button(label: str, text: str, title: str | None = None) -> Html:
    """Return a button that copies a text."""
    return element("button", label, type="button", class_="copy", data_copy=text, title=title)


def refusal_block(answer: Answer, tag: str = "section") -> Html:
    """Render an answer that is not ok: its message and what to do; a `section` has a heading."""
    hints = answer.get("hints") or {}
    status, remedy = str(answer.get("status", "error")), hints.get("remedy")
    if status == "not_ready":
        remedy = "`gitindex wait` shows the progress"
    elif {"create", "reindex"} & hints.keys():
        remedy = NOT_INDEXED
    near = [[element("code", name), " "] for name in answer.get("near", [])[:5]]
    return element(
        tag,
        element("h1", status.replace("_", " ")) if tag == "section" else None,
        element("p", str(answer.get("message", ""))),
        hint(str(remedy)) if remedy else None,
        element("p", "Near: ", near) if near else None,
        class_="empty",
    )


NOT_INDEXED = (
    "Run `gitindex index` in the repository. Until then Search and Grep read the files themselves;"
    " symbols, the map, the past and the health of the index are there afterwards."
)


def _keys() -> Html:
    rows = [
        [element("dt", [[element("kbd", key), " "] for key in keys.split()]), element("dd", what)]
        for keys, what in KEYS
    ]
    close = element("button", "close", type="submit")
    return element(
        "dialog",
        element("form", element("h2", "Keys", id="keys-title"), close, method="dialog"),
        element("dl", rows),
        id="keys",
        aria_labelledby="keys-title",
    )


def _header(page: WebPage, request: WebQuestion, name: str) -> Html:
    at = request.text("at")
    here = {page.name: "page"}
    pages = [
        element("a", title, href=link(one, at=at), aria_current=here.get(one))
        for one, title in PAGES
    ]
    return element(
        "header",
        element("a", shorten(name, 28), href=link("", at=at), class_="brand", title="Search"),
        _search_form(page.name == "", request, at),
        element("nav", pages, aria_label="Pages"),
        element("button", "?", type="button", id="show-keys", aria_label="Keys", title="Keys (?)"),
        class_="top",
    )


def _search_form(is_search: bool, request: WebQuestion, at: str) -> Html:
    tab = request.text("tab", TABS[0]) if is_search else TABS[0]
    return element(
        "form",
        _search_box(request.text("q") if is_search else "", is_search),
        element("kbd", "/", aria_hidden="true"),
        _switches(request) if is_search else None,
        element("input", type="hidden", name="tab", value=tab, id="tab"),
        element("input", type="hidden", name="at", value=at) if at else None,
        id="ask",
        action="/",
        method="get",
        role="search",
    )


_SWITCHES = {"grep": ("F", "literal"), "symbols": None}
_SYNTAX = (
    ("box open", "files and definitions with these words, the best first"),
    ('"def open"', "a phrase, as it stands"),
    ("path:lib -path:tests", "only there; not there"),
    ("lang:python kind:class", "a language; a kind of definition"),
    ("must:cache exclude:old", "with and without a word"),
    ("in:code in:tests in:docs", "a part of the tree"),
    (r"def \w+_open\(", "with .* on, or in Grep: a regular expression, in each line"),
)


def _switches(request: WebQuestion) -> Html:
    """Return the switch of regular expressions, or of literal text in Grep; and what may be typed."""
    name, label = _SWITCHES.get(request.text("tab"), ("re", ".*")) or ("", "")
    box = element(
        "label",
        element(
            "input",
            type="checkbox",
            name=name,
            value="1",
            checked=bool(request.text(name)),
            aria_label="Literal text" if name == "F" else "Regular expression",
        ),
        element("code", label),
        title="The text as it stands" if name == "F" else "A regular expression, in each line",
    )
    rows = [[element("dt", element("code", form)), element("dd", what)] for form, what in _SYNTAX]
    syntax = element("details", element("summary", "syntax"), element("dl", rows))
    return element("div", box if name else None, syntax, class_="switches")


def _search_box(text: str, is_search: bool) -> Html:
    """Return the input; on the search page it searches while the user types."""
    return element(
        "input",
        id="q",
        name="q",
        type="search",
        value=text,
        placeholder="Search code, names, documents",
        aria_label="Search",
        autocomplete="off",
        autocapitalize="off",
        spellcheck="false",
        maxlength=2000,
        autofocus=is_search,
        data_live="1" if is_search else None,
    )
