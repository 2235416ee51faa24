"""A folder of the tree: its folders and files, to browse without a query."""

from __future__ import annotations

from gitindex.questions.browse import MAX_ENTRIES
from gitindex.web.html import Html, element, link, shorten
from gitindex.web.session import Answer, WebQuestion


def folder_list(asked: WebQuestion, answer: Answer) -> Html:
    """Render the entries of a folder as links."""
    at = asked.text("at")
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
        place = element(
            "a",
            shorten(name + ("/" if count else ""), 48),
            href=link("file", entry["path"], at=at),
            class_="place",
        )
        tail = element("span", note, class_="count")
        rows[bool(count)].append(element("li", place, mark, tail, class_="hit entry"))
    lists = [
        element("ol", rows[kind], class_=f"entries {name.lower()}", aria_label=name)
        for kind, name in ((True, "Folders"), (False, "Files"))
        if rows[kind]
    ]
    nothing = element("p", "There is no file here yet.", class_="empty")
    return element("div", lists or nothing, _more(asked, answer))


def _more(asked: WebQuestion, answer: Answer) -> Html | None:
    """Return links to the other parts of a very large folder."""
    first, total = answer["firstEntry"], answer["entryCount"]
    if total <= MAX_ENTRIES:
        return None
    last = min(total, first + MAX_ENTRIES - 1)
    page = "file" if asked.path else "file/"
    links = [
        element("a", name, href=link(page, asked.path, at=asked.text("at"), **{"from": str(to)}))
        for name, to, is_there in (
            ("earlier", max(1, first - MAX_ENTRIES), first > 1),
            ("later", last + 1, last < total),
        )
        if is_there
    ]
    told = f"entries {first} to {last} of {total}"
    return element("p", told, [[" · ", one] for one in links], class_="hint")
