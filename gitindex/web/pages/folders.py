"""A folder of the tree: its folders and files, to browse without a query."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

from gitindex.base.escape import path_fields
from gitindex.view.tree import TreeView
from gitindex.web.html import Html, element, link, shorten
from gitindex.web.session import Answer, WebQuestion

MAX_ENTRIES = 500


def list_folder(view: TreeView, folder: str) -> dict[str, Any]:
    """List the entries of a folder, with the number of files below each subfolder."""
    prefix = os.fsencode(folder.rstrip("/") + "/" if folder else "")
    rows = view.rows(
        "SELECT path, skip, source FROM {live} WHERE substr(path, 1, ?)=?", len(prefix), prefix
    )
    below: Counter[bytes] = Counter()
    files: list[dict[str, Any]] = []
    for path, skip, source in rows:
        name, slash, _ = path[len(prefix) :].partition(b"/")
        if slash:
            below[prefix + name] += 1
        else:
            files.append({**path_fields(path), "skip": skip, "source": source})
    folders = [{**path_fields(path), "files": count} for path, count in sorted(below.items())]
    entries = [*folders, *sorted(files, key=lambda row: row["path"])]
    return {"entries": entries[:MAX_ENTRIES], "entryCount": len(entries)}


def folder_list(asked: WebQuestion, answer: Answer) -> Html:
    """Render the entries of a folder as links."""
    at = asked.text("at")
    rows = []
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
        rows.append(element("li", place, mark, tail, class_="hit entry"))
    more = answer["entryCount"] - len(answer["entries"])
    return element(
        "div",
        element("ol", rows, class_="entries", aria_label="Folder"),
        element("p", f"{more} more entries", class_="hint") if more > 0 else None,
        None if rows else element("p", "Nothing is here.", class_="empty"),
    )
