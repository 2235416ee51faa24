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
from gitindex.web.frame import copy_button
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
    return element("h1", parts, class_="crumbs")


def _notes(answer: Answer, at: str) -> Html:
    """Return caveats about the file: edited, partial, skipped and the like."""
    facts, found = answer["file"], list[Html]()
    if answer["source"] == "worktree":
        found.append(element("span", "edited: shown as it is on disk", class_="note edited"))
    if answer["freshness"]["state"] != "fresh":
        state = answer["freshness"]["state"]
        found.append(element("span", f"the index is {state}", class_="note stale"))
    if facts["facts"] == "partial":
        why = facts["reason"] or "the parser could not read all of it"
        found.append(element("span", f"partial: {why}", class_="note stale"))
    if facts["skip"] or facts["facts"] == "skipped":
        why = facts["skip"] or facts["reason"]
        found.append(element("span", f"not in the index: {why}", class_="note stale"))
    size = counted(answer["totalLines"], "lines")
    found.append(element("span", f"{facts['language'] or 'text'} · {size}", class_="note"))
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
    with session.page(request.choice) as here:
        path = here.inside(request.path)
        answer = here.ask(COMMITS, file=path, limit=200)
        return answer | {"path": safe_text(path)}


def _render_history(request: WebQuestion, answer: Answer) -> Html:
    rows = [
        hit(
            place(
                element("code", commit["id"][:12]),
                href=link("file", answer["path"], at=commit["id"][:12]),
            ),
            day_of(commit["time"]),
            element("span", shorten(commit["subject"], 90)),
            element("span", shorten(commit["author"], 24), class_="hint"),
        )
        for commit in answer["commits"]
    ]
    listed = element("ol", rows, class_="hits uses commits")
    nothing = empty("No commit of HEAD's history changed it.")
    return join(_crumbs(answer["path"], request.text("at")), listed if rows else nothing)


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


HISTORY = WebPage("history", "History", _history_answer, _render_history)


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
    at, path = request.text("at"), answer["path"]
    if not answer["symbols"]:
        listed: Html = hint("No definitions.")
    else:
        listed = element("ol", outline_rows(request, answer, {}), class_="outline")
    return element(
        "aside",
        element("h2", "Outline"),
        element(
            "div",
            listed,
            id="outline",
            data_part=link("callers", path, at=at) if answer["symbols"] else None,
            data_when="linked",  # after the names, which people click first
        ),
        aria_label="Outline",
    )


def outline_rows(
    request: WebQuestion, answer: Answer, callers: dict[str, int | None]
) -> list[Html]:
    """Return the definitions of a file as a tree, with caller counts where known."""
    depths = {"": 0}
    rows = []
    for symbol in answer["symbols"]:
        depth = depths.get(symbol.get("parent", ""), 0)
        depths[symbol["qualifiedName"]] = depth + 1
        identity = f"{answer['path']}#{symbol['qualifiedName']}"
        count = callers.get(symbol["qualifiedName"])
        doc = symbol.get("doc", "").strip()
        title = "\n\n".join(filter(None, (symbol["signature"], doc)))[:1_000]
        rows.append(
            element(
                "li",
                element(
                    "a",
                    kind(symbol["kind"]),
                    shorten(symbol["name"], 32),
                    href=f"#L{symbol['line']}",
                    title=title,
                ),
                None
                if count is None
                else element(
                    "a",
                    count,
                    href=link("symbol", identity, at=request.text("at")),
                    class_="count",
                    title=counted(count, "callers"),
                    aria_label=f"{counted(count, 'callers')} of {symbol['name']}",
                ),
                class_=f"depth{min(depth, 4)}",
            )
        )
    return rows


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
    more = _more(request, answer)
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


def _more(request: WebQuestion, answer: Answer) -> Html | None:
    first, last, total = answer["startLine"], answer["endLine"], answer["totalLines"]
    links = []
    keep = {"at": request.text("at")}
    if first > 1:
        target = link("file", answer["path"], **{"from": str(max(1, first - MAX_LINES))}, **keep)
        links.append(element("a", "earlier lines", href=target))
    if last < total:
        target = link("file", answer["path"], **{"from": str(last + 1)}, **keep)
        links.append(element("a", f"lines {last + 1} to {total}", href=target))
    return hint([[one, " "] for one in links]) if links else None


FILE = WebPage("file", "File", _answer, _render, ("highlighted",))


def folder_list(request: WebQuestion, answer: Answer) -> Html:
    """Render the entries of a folder as links."""
    at = request.text("at")
    rows: dict[bool, list[Html]] = {True: [], False: []}
    for entry in answer["entries"]:
        name = entry["path"].rpartition("/")[2]
        count = entry.get("files")
        note = f"{count}" if count else entry.get("skip") or ""
        mark = (
            element("span", "worktree", class_="source edited")
            if (entry.get("source") == "worktree")
            else None
        )
        entry_link = place(
            shorten(name + ("/" if count else ""), 48), href=link("file", entry["path"], at=at)
        )
        tail = element("span", note, class_="count")
        rows[bool(count)].append(element("li", entry_link, mark, tail, class_="hit entry"))
    lists = [
        element("ol", rows[folders], class_=f"entries {name.lower()}", aria_label=name)
        for folders, name in ((True, "Folders"), (False, "Files"))
        if rows[folders]
    ]
    nothing = empty("There is no file here yet.")
    return element("div", lists or nothing, _more_entries(request, answer))


def _more_entries(request: WebQuestion, answer: Answer) -> Html | None:
    """Return links to the other parts of a very large folder."""
    first, total = answer["firstEntry"], answer["entryCount"]
    if total <= MAX_ENTRIES:
        return None
    last = min(total, first + MAX_ENTRIES - 1)
    page = "file" if request.path else "file/"
    links = [
        element(
            "a", name, href=link(page, request.path, at=request.text("at"), **{"from": str(to)})
        )
        for name, to, is_there in (
            ("earlier", max(1, first - MAX_ENTRIES), first > 1),
            ("later", last + 1, last < total),
        )
        if is_there
    ]
    summary = f"entries {first} to {last} of {total}"
    return hint(summary, [[" · ", one] for one in links])
