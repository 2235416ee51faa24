"""`gitindex link`: other local repositories that questions are asked of, too."""

from __future__ import annotations

import os
from typing import Any

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.worktree import check_owner, find_worktree
from gitindex.cli.printing import CommandReply
from gitindex.sharing import links
from gitindex.view.tree import NOW, open_tree


def add(path: str, folder: str) -> CommandReply:
    """Link a repository."""
    root = links.add_link(find_worktree(path), folder)
    return CommandReply({"status": "ok", "root": safe_text(root)}, [f"linked {safe_text(root)}"])


def remove(path: str, folder: str, everything: bool) -> CommandReply:
    """Remove one link, or all."""
    if everything == bool(folder):
        hint = "see `gitindex link list`"
        raise GitIndexError("give a folder, or --all", hint, Exit.USAGE)
    root = links.remove_link(find_worktree(path), folder)
    line = f"no longer linked: {safe_text(root)}" if root else "no repository is linked any more"
    return CommandReply({"status": "ok", "root": safe_text(root)}, [line])


def show(path: str) -> CommandReply:
    """List the links."""
    rows = [_row(root) for root in links.read_links(find_worktree(path))]
    lines = [
        f"{row['root']}  {row['state']}  {', '.join(row['packages'])}".rstrip() for row in rows
    ]
    return CommandReply({"status": "ok", "links": rows}, lines or ["no repository is linked"])


def _row(root: str) -> dict[str, Any]:
    row: dict[str, Any] = {"root": safe_text(root), "packages": []}
    try:
        worktree = find_worktree(root)
        check_owner(worktree)
        with open_tree(worktree, root, NOW) as view:
            names = {package.name for package in links.LinkedTree(view).packages}
            state = view.envelope()["freshness"]["state"]
            return row | {"state": state, "packages": sorted(map(safe_text, names))}
    except links.UNANSWERED as error:
        gone = not os.path.isdir(root)
        return row | {"state": "gone" if gone else links.why_unanswered(error)}
