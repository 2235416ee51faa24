"""`/file/<path>`: code with line anchors and outline; edited, partial or skipped parts; folders."""

from __future__ import annotations

from typing import Any

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import counted, safe_text
from gitindex.query.read import MAX_LINES
from gitindex.questions.blame import QUESTION as BLAME
from gitindex.questions.browse import MAX_ENTRIES
from gitindex.questions.browse import QUESTION as BROWSE
from gitindex.questions.commits import QUESTION as COMMITS
from gitindex.questions.outline import QUESTION as OUTLINE
from gitindex.questions.read import QUESTION as READ
from gitindex.view.tree import TreeChoice
from gitindex.web import html
from gitindex.web.frame import copy_button
from gitindex.web.html import Html, element, hint, hits, join, kind, link, links, shorten
from gitindex.web.session import Answer, WebPage, WebQuestion, WebSession

_NO_CONTENT = frozenset({"secret", "symlink", "submodule", "binary", "large"})


def _answer(session: WebSession, request: WebQuestion) -> Answer:
    first = request.number("from", 1, 10_000_000)
    with session.page(request.choice) as here:
        path = here.inside(request.path)
        answer = here.ask(BROWSE, file=path, first=first, edited=True)
        if "entries" in answer or answer["file"]["skip"] in _NO_CONTENT:
            return answer
        try:
            lines = {"first": first, "last": first + MAX_LINES - 1}
            answer = here.ask(READ, place="", file=path, **lines) | {"file": answer["file"]}
        except GitIndexError as error:
            if error.code is not Exit.NO:
                raise
            answer["file"]["skip"] = answer["file"]["skip"] or "it is no text of usable size"
            return answer
        try:
            answer["symbols"] = here.ask(OUTLINE, file=path)["symbols"]
        except GitIndexError:
            answer["symbols"] = []  # no grammar for it
        if request.text("blame"):
            bounds = {"first": first, "last": answer["endLine"]}
            answer["blame"] = here.ask(BLAME, file=path, **bounds)["lines"]
    answer["highlighted"] = session.highlighter.lines(path, answer["content"])
    return answer


def _render(request: WebQuestion, answer: Answer) -> Html:
    path, at = answer["path"], request.text("at")
    if "entries" in answer:
        return join(_crumbs(path, at, True), folder_list(request, answer))
    if "content" not in answer:
        return join(_crumbs(path, at), _without_content(answer))
    return join(
        _crumbs(path, at),
        _notes(answer, at),
        element("div", _side(request, answer), _code(request, answer), class_="cols wide"),
    )


def _crumbs(path: str, at: str, folder: bool = False) -> Html:
    parts: list[Html] = [join(element("a", "files", href=link("file/", at=at)), "/")]
    names = path.split("/") if path else []
    for number, name in enumerate(names, 1):
        last = number == len(names)
        if last and not folder:
            parts.append(element("strong", shorten(name, 80)))
        else:
            target = link("file", "/".join(names[:number]), at=at)
            parts.append(join(element("a", shorten(name, 40), href=target), "/"))
    return html.crumbs(parts)


def _notes(answer: Answer, at: str) -> Html:
    """Return caveats about the file: edited, partial, skipped and the like."""
    facts, state = answer["file"], answer["freshness"]["state"]
    skipped = facts["skip"] or (facts["reason"] if facts["facts"] == "skipped" else "")
    partial = facts["reason"] or "the parser could not read all of it"
    size = counted(answer["totalLines"], "lines")
    caveats = (
        (" edited", answer["source"] == "worktree", "edited: shown as it is on disk"),
        (" stale", state != "fresh", f"the index is {state}"),
        (" stale", facts["facts"] == "partial", f"partial: {partial}"),
        (" stale", skipped, f"not in the index: {skipped}"),
        ("", True, f"{facts['language'] or 'text'} · {size}"),
    )
    found = [element("span", text, class_=f"note{mark}") for mark, holds, text in caveats if holds]
    return element("p", found, _actions(answer, at), class_="notes")


def _actions(answer: Answer, at: str) -> list[Html]:
    """Return what can be done with a file: map, history, blame, raw, permalink, the forge, its path."""
    path, commit = answer["path"], str(answer["freshness"].get("servedCommit") or "")[:12]
    links = [
        ("on the map", link("map", focus=path, at=at)),
        ("history", link("history", path, at=at)),
        ("raw", link("raw", path, at=at)),
    ]
    if commit:
        links.append(("permalink", link("file", path, at=commit)))
        blamed = "blame" in answer
        links.append(("no blame" if blamed else "blame", _blame_link(path, commit, blamed)))
    if answer["file"].get("forge"):
        links.append(("forge", answer["file"]["forge"]))
    made = [element("a", name, href=to, rel="noreferrer noopener") for name, to in links]
    return [*made, copy_button("copy path", path)]


def _blame_link(path: str, commit: str, blamed: bool) -> str:
    return link("file", path, at=commit, blame="" if blamed else "1")


def _history_answer(session: WebSession, request: WebQuestion) -> Answer:
    """Return the commits that changed a file, or one definition of it, up to a commit."""
    at, symbol = request.text("at"), request.text("symbol")
    with session.page(TreeChoice(at=at or "HEAD") if symbol else request.choice) as here:
        path = here.inside(request.path)
        rows = here.ask(OUTLINE, file=path)["symbols"] if symbol else ()
        spans = [
            f"{row['line']},{row['endLine']}" for row in rows if row["qualifiedName"] == symbol
        ]
        if symbol and not spans:
            raise GitIndexError(f"{symbol} is not in {path} at {at or 'HEAD'}", code=Exit.NO)
        answer = here.ask(COMMITS, file=path, limit=200, at=at, lines="".join(spans[:1]))
        return answer | {"path": safe_text(path)}


def _render_history(request: WebQuestion, answer: Answer) -> Html:
    path = answer["path"]
    rows = [
        html.commit_row(commit, link("file", path, at=commit["id"][:12]))
        for commit in answer["commits"]
    ]
    listed = hits(rows, "No commit of HEAD's history changed it.", "hits uses commits")
    name = element("code", shorten(request.text("symbol"), 80))
    of = element("p", "Commits that changed ", name) if request.text("symbol") else None
    return join(_crumbs(path, request.text("at")), of, listed)


def raw_answer(session: WebSession, request: WebQuestion) -> Answer:
    """Return the whole text of a file, which the gate and the policy allow."""
    parts, first = [], 1
    with session.page(request.choice) as here:
        path = here.inside(request.path)
        while True:
            lines = here.ask(READ, place="", file=path, first=first, last=first + MAX_LINES - 1)
            parts.append(lines["content"])
            first = lines["endLine"] + 1
            if first > lines["totalLines"] or not lines["content"]:
                return lines | {"content": "\n".join(parts) + "\n"}


HISTORY = WebPage("history", "History", _history_answer, _render_history, tail=True)


def _without_content(answer: Answer) -> Html:
    why = answer["file"]["skip"]
    return element(
        "div",
        element("p", f"The content of this file is not shown: {why}."),
        hint(element("code", "gitindex status --skipped"), " lists all such files."),
        class_="empty",
    )


def _side(request: WebQuestion, answer: Answer) -> Html:
    """Return the outline; caller counts arrive after the page."""
    listed, late = hint("No definitions."), {}
    if answer["symbols"]:
        listed = element("ol", outline_rows(request, answer, {}), class_="outline")
        late = {"data_part": link("callers", answer["path"], at=request.text("at"))}
    # linked: after the names, which people click first
    outline = element("div", listed, id="outline", **late, data_when="linked")
    return element("aside", element("h2", "Outline"), outline, aria_label="Outline")


def outline_rows(
    request: WebQuestion, answer: Answer, callers: dict[str, int | None]
) -> list[Html]:
    """Return the definitions of a file as a tree, with caller counts where known."""
    depths = {"": 0}
    rows = []
    for symbol in answer["symbols"]:
        depth = depths.get(symbol.get("parent", ""), 0)
        depths[symbol["qualifiedName"]] = depth + 1
        doc = symbol.get("doc", "").strip()
        title = "\n\n".join(filter(None, (symbol["signature"], doc)))[:1_000]
        name = (kind(symbol["kind"]), shorten(symbol["name"], 32))
        row = (
            element("a", name, href=f"#L{symbol['line']}", title=title),
            _caller_count(request, answer["path"], symbol, callers.get(symbol["qualifiedName"])),
        )
        rows.append(element("li", row, class_=f"depth{min(depth, 4)}"))
    return rows


def _caller_count(
    request: WebQuestion, path: str, symbol: dict[str, Any], count: int | None
) -> Html | None:
    if count is None:
        return None
    return element(
        "a",
        count,
        href=link("symbol", f"{path}#{symbol['qualifiedName']}", at=request.text("at")),
        class_="count",
        title=counted(count, "callers"),
        aria_label=f"{counted(count, 'callers')} of {symbol['name']}",
    )


def _code(request: WebQuestion, answer: Answer) -> Html:
    first = answer["startLine"]
    edited = {n for a, b in answer["file"].get("edited", ()) for n in range(a, b + 1)}
    starts = {symbol["line"]: symbol for symbol in answer["symbols"]}
    rows = []
    for number, line in enumerate(answer["highlighted"], first):
        symbol = starts.get(number)
        classes = [name for name, on in (("edited", number in edited), ("def", symbol)) if on]
        title = "edited since HEAD" if number in edited else None
        mark = element("a", number, id=f"L{number}", href=f"#L{number}", title=title)
        shown = element("code", line)
        who = _blamed(answer["blame"], number - first) if "blame" in answer else None
        rows.append(element("li", mark, who, shown, class_=" ".join(classes) or None))
    size = max(1, answer["endLine"] - first + 1)
    more = _parts(request, answer["path"], "lines", first, size, answer["totalLines"])
    listed = element("ol", rows, class_="code", data_path=answer["path"], aria_label="Code")
    return element("section", listed, more)


def _blamed(lines: list[dict[str, Any]], at: int) -> Html:
    """Return who changed a line; nothing where the line before it has the same commit."""
    row = lines[at] if at < len(lines) else None
    if row is None or (at and lines[at - 1]["id"] == row["id"]):
        return element("span", class_="who")
    title = f"{row['id'][:12]} {row['subject']}"
    return element(
        "a", row["author"][:18], href=link("time", at=row["id"][:12]), class_="who", title=title
    )


def _parts(
    request: WebQuestion, path: str, what: str, first: int, size: int, total: int
) -> Html | None:
    """Return links to the parts before and after the one that is shown of something large."""
    last = min(total, first + size - 1)
    around = ((max(1, first - size), first - 1), (last + 1, total))
    found = [
        (
            f"{what} {a} to {b}",
            link("file" if path else "file/", path, at=request.text("at"), **{"from": str(a)}),
        )
        for a, b in around
        if a <= b
    ]
    return hint(f"{what} {first} to {last} of {total}: ", links(found)) if found else None


FILE = WebPage("file", "File", _answer, _render, ("highlighted",), tail=True, scripts=("file.js",))


def folder_list(request: WebQuestion, answer: Answer) -> Html:
    """Render the entries of a folder as links."""
    at = request.text("at")
    rows: dict[bool, list[Html]] = {True: [], False: []}
    for entry in answer["entries"]:
        count = entry.get("files")
        name = entry["path"].rpartition("/")[2] + ("/" if count else "")
        edited = entry.get("source") == "worktree"
        row = (
            html.place(shorten(name, 48), href=link("file", entry["path"], at=at)),
            element("span", "edited", class_="source edited") if edited else None,
            element("span", f"{count or entry.get('skip') or ''}", class_="count"),
        )
        rows[bool(count)].append(element("li", row, class_="hit entry"))
    lists = [
        element("ol", rows[folders], class_=f"entries {name.lower()}", aria_label=name)
        for folders, name in ((True, "Folders"), (False, "Files"))
        if rows[folders]
    ]
    nothing = html.empty("There is no file here yet.")
    first, total = answer["firstEntry"], answer["entryCount"]
    more = _parts(request, request.path, "entries", first, MAX_ENTRIES, total)
    return element("div", lists or nothing, more)
