"""After which commits did a name dangle, or calls of it stop fitting? By facts alone, no build.

The history layer gives the commits that removed a definition of the name or changed its parameters;
each of them is compared with its parent as a change that is staged would be.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from gitindex.base.errors import GitIndexError
from gitindex.base.escape import path_fields, safe_text
from gitindex.base.worktree import Worktree
from gitindex.git.command import try_git
from gitindex.query.history import symbol_log
from gitindex.query.impact.change import TreePair, comparing
from gitindex.query.impact.dangling import find_dangling
from gitindex.query.impact.misfits import find_misfits
from gitindex.view.tree import TreeChoice

MAX_COMMITS = 25
"""Commits that are compared with their parents, the newest ones."""

Row = dict[str, Any]


def find_breaks(worktree: Worktree, path: str, name: str) -> Row:
    """Return the commits after which a name dangled or a call did not fit, newest first."""
    log = symbol_log(worktree, name)
    short = re.split(r"::|[.#]", name)[-1]
    candidates = _candidates(worktree, log["events"], short)
    rows = []
    for commit, events in candidates[:MAX_COMMITS]:
        found = list(_broken(worktree, path, commit, short))
        if found:
            repaired = _is_added_later(log["events"], events)
            told = {key: events[0][key] for key in ("commit", "date", "subject")}
            rows.append({**told, "breaks": found, "definedAgain": repaired})
    kept = {key: log[key] for key in ("historyCommit", "headCommit", "exact")}
    examined = min(len(candidates), MAX_COMMITS)
    cut = len(candidates) > MAX_COMMITS
    return {
        "status": "ok",
        "symbol": name,
        "commits": rows,
        "known": bool(log["events"]),
        "examined": examined,
        "truncated": cut,
        **kept,
    }


def _candidates(worktree: Worktree, events: list[Row], name: str) -> list[tuple[str, list[Row]]]:
    """Return the commits that may have broken a use, newest first, with what they did."""
    found: dict[str, list[Row]] = {}
    for event in events:
        if event["what"] == "removed" or (
            event["what"] == "changed" and _changes_parameters(worktree, event, name)
        ):
            found.setdefault(event["commit"], []).append(event)
    return list(found.items())


def _changes_parameters(worktree: Worktree, event: Row, name: str) -> bool:
    """Return whether a commit changed the parameters of a function: only Python's are compared."""
    if not event["path"].endswith(".py") or "pathBytes" in event:
        return False
    texts = [
        try_git(worktree.root, "cat-file", "blob", f"{commit}:{event['path']}").output
        for commit in (f"{event['commit']}^", event["commit"])
    ]
    return _parameters(texts[0], name) != _parameters(texts[1], name)


def _parameters(text: bytes, name: str) -> list[bytes]:
    """Return the parameter lists of the functions of a name, blanks apart."""
    found = []
    for match in re.finditer(rb"\bdef\s+" + re.escape(name.encode()) + rb"\s*\(", text):
        depth, at = 1, match.end()
        while at < len(text) and depth:
            depth += (text[at] in b"([{") - (text[at] in b")]}")
            at += 1
        found.append(b"".join(text[match.end() : at].split()))
    return found


def _broken(worktree: Worktree, path: str, commit: str, name: str) -> Iterator[Row]:
    """Yield the places that a commit broke: references that dangle, calls that do not fit."""
    pair = TreePair(TreeChoice(at=f"{commit}^"), TreeChoice(at=commit))
    try:
        with comparing(worktree, path, pair) as change:
            for dangling in find_dangling(change).sure:
                if dangling.name == name:
                    why = f"gone from {safe_text(dangling.missing_from)}"
                    yield _row(dangling.path, dangling.line, why, str(dangling.tier))
            for misfit in find_misfits(change):
                if misfit.name == name:
                    yield _row(misfit.path, misfit.line, misfit.why, "")
    except GitIndexError as error:
        if "no such revision" not in error.message:
            raise  # the first commit has no parent, so it broke nothing


def _row(path: str, line: int, why: str, tier: str) -> Row:
    fields: Row = {**path_fields(os.fsencode(path)), "line": line + 1, "why": why}
    return fields | ({"tier": tier} if tier else {})


def _is_added_later(events: list[Row], lost: list[Row]) -> bool:
    """Return whether a definition that a commit removed came back in a later one."""
    commit = lost[0]["commit"]
    for event in events:  # newest first
        if event["commit"] == commit:
            return False
        if event["what"] == "added":
            return True
    return False
