"""A folder's entries, or what the index knows of a file: how it was parsed, and which lines are edited."""

from __future__ import annotations

import os

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import path_fields, safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import Answer, Here, Params, Row, question

if TYPE_CHECKING:
    from gitindex.view.tree import TreeView

MAX_ENTRIES = 500
MAX_COMPARED = 4_000
"""Files with more lines than this have no edited lines of their own: all of them are."""
_FACTS = (
    "SELECT f.skip, b.status, b.reason, b.language FROM {live} f"
    " LEFT JOIN {blobs} b ON b.id=f.blob_id WHERE f.path=?"
)


def ask(here: Here, params: Params) -> Answer:
    """Return the entries of a folder, or the facts of a file."""
    with here.tree() as view:
        path = resolve_path(view, here.inside(params["file"]).rstrip("/"))
        shown = path_fields(os.fsencode(path))
        if path == "" or _is_folder(view, path):
            fields = _entries(view, path, params["first"])
            fields |= {"edited": _edited_paths(view)} if params["edited"] else {}
            return view.envelope(**shown, **fields)
        file = _facts(view, path)
        if params["edited"]:
            file["edited"] = _edited(here, view, path)
            commit = view.envelope()["freshness"]["servedCommit"]
            file["forge"] = _forge(here.worktree.root, commit, path) if commit else None
        return view.envelope(**shown, file=file)


def resolve_path(view: TreeView, path: str) -> str:
    """Find a path of the tree by its bytes, else by the form that answers show."""
    if not path or _is_file(view, path) or "\\" not in path:
        return path
    for (raw,) in view.rows("SELECT path FROM {live}"):
        if safe_text(raw) == path:
            return os.fsdecode(raw)
    return path


def _is_file(view: TreeView, path: str) -> bool:
    return bool(view.rows("SELECT 1 FROM {live} WHERE path=?", os.fsencode(path)))


def _is_folder(view: TreeView, path: str) -> bool:
    prefix = os.fsencode(path + "/")
    sql = "SELECT 1 FROM {live} WHERE substr(path, 1, ?)=? LIMIT 1"
    return not _is_file(view, path) and bool(view.rows(sql, len(prefix), prefix))


def _entries(view: TreeView, folder: str, first: int) -> Row:
    """List the entries of a folder from a number on, and how many files each subfolder has."""
    from collections import Counter

    prefix = os.fsencode(folder.rstrip("/") + "/" if folder else "")
    sql = "SELECT path, skip, source FROM {live} WHERE substr(path, 1, ?)=?"
    below: Counter[bytes] = Counter()
    files: list[Row] = []
    for path, skip, source in view.rows(sql, len(prefix), prefix):
        name, slash, _ = path[len(prefix) :].partition(b"/")
        if slash:
            below[prefix + name] += 1
        else:
            files.append({**path_fields(path), "skip": skip, "source": source})
    folders = [{**path_fields(path), "files": count} for path, count in sorted(below.items())]
    entries = [*folders, *sorted(files, key=lambda row: row["path"])]
    shown = entries[first - 1 : first - 1 + MAX_ENTRIES]
    return {"entries": shown, "entryCount": len(entries), "firstEntry": first}


def _edited_paths(view: TreeView) -> list[str]:
    """Return some of the paths that the files on disk overlay."""
    sql = "SELECT path FROM {live} WHERE source='worktree' ORDER BY path LIMIT 20"
    return [safe_text(path) for (path,) in view.rows(sql)]


def _facts(view: TreeView, path: str) -> Row:

    view.ensure_facts(paths=[os.fsencode(path)])
    rows = view.rows(_FACTS, os.fsencode(path))
    if not rows:
        raise GitIndexError(
            f"not in the tree: {safe_text(path)}", "is it tracked? see `git ls-files`", Exit.NO
        )
    skip, status, reason, language = rows[0]
    skip = skip or (reason if status == "skipped" else None)
    return {"skip": skip, "facts": status, "reason": reason or None, "language": language}


def _edited(here: Here, view: TreeView, path: str) -> list[list[int]]:
    """Return line ranges that differ from HEAD: first and last, 1-based; all of a new file."""
    import difflib

    from gitindex.extract.terms import lines_of
    from gitindex.view.tree import NOW, TreeChoice, open_tree

    raw = os.fsencode(path)
    if here.choice != NOW or not _is_overlaid(view, raw):
        return []
    with open_tree(here.worktree, here.path, TreeChoice(at="HEAD")) as head:
        before = lines_of(head.read([raw]).get(raw, b""))
    after = lines_of(view.read([raw]).get(raw, b""))
    if not before or max(len(before), len(after)) > MAX_COMPARED:
        return [[1, len(after)]]
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return [
        [start + 1, max(end, start + 1)]
        for kind, _, _, start, end in matcher.get_opcodes()
        if kind != "equal"
    ]


_HOSTS = {"github.com": "blob", "gitlab.com": "-/blob", "codeberg.org": "src/commit"}
"""Forges whose addresses of files are known."""
_REMOTE = (
    r"(?:https://(?:[^@/]+@)?|ssh://git@|git@)([a-z.]+)[:/]([\w.\-]+(?:/[\w.\-]+)+?)(?:\.git)?/?"
)


def _forge(root: str, commit: str, path: str) -> str | None:
    """Return the address of a file on its forge; None where `remote.origin.url` names no known one."""
    import re
    from urllib.parse import quote

    from gitindex.git.command import try_git

    url = try_git(root, "config", "--get", "remote.origin.url").output.decode("utf-8", "replace")
    match = re.fullmatch(_REMOTE, url.strip())
    if match is None or match[1] not in _HOSTS:
        return None
    return f"https://{match[1]}/{match[2]}/{_HOSTS[match[1]]}/{commit}/{quote(os.fsencode(path))}"


def _is_overlaid(view: TreeView, path: bytes) -> bool:
    return view.rows("SELECT source FROM {live} WHERE path=?", path) == [("worktree",)]


TABLE = """
browse
  A folder's entries, or what the index knows of a file.
    * | file path = | A file or folder of the tree; all of it if left out.
    --from | first integer =1 1.. | The first entry.
    --edited | edited flag | What differs from HEAD, too: lines, or paths.
    at
"""
QUESTION = question(TABLE, ask)
