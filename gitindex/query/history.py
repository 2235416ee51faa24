"""Query the first-parent history: look-ups in the history layer, by name.

Definitions and calls are matched by name, like the tier `name` of the call graph: imports are not
resolved.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import path_fields
from gitindex.base.vocabulary import EditScope
from gitindex.base.worktree import Worktree
from gitindex.git.command import run_git, try_git
from gitindex.git.worktree_probe import read_head_state
from gitindex.store.history_database import NOW, HistoryDatabase, history_file

Answer = dict[str, Any]


class _Event(NamedTuple):
    """A definition or call that was added, changed or removed by a commit."""

    number: int
    what: str  # added | changed | removed
    path: bytes
    name: str


def symbol_log(worktree: Worktree, symbol: str) -> Answer:
    """Return the commits that added, changed or removed definitions of a name, newest first."""
    with _opened(worktree) as history:
        kept = [
            (path, first, last, qualified, digest)
            for path, first, last, qualified, _, digest in history.definitions(symbol)
            if _fits(qualified, symbol)
        ]
        events = _definition_events(kept)
        return _answer(worktree, history, events) | {"symbol": symbol}


def edge_log(worktree: Worktree, caller: str, callee: str) -> Answer:
    """Return the commits that added or removed calls from a caller to a name, newest first."""
    with _opened(worktree) as history:
        spans = [span for span in history.callers(callee, caller) if _fits(span[3], caller)]
        events = _edge_events(spans)
        return _answer(worktree, history, events) | {"caller": caller, "callee": callee}


def callers_between(worktree: Worktree, callee: str, between: str) -> Answer:
    """Return the callers of a name that were added and removed between two commits."""
    old, dots, new = between.partition("..")
    if not dots:
        raise GitIndexError("two commits are needed", "write `--between A..B`", Exit.USAGE)
    with _opened(worktree) as history:
        first, last = (_number(worktree, history, name or "HEAD") for name in (old, new))
        spans = history.callers(callee)
        before = {(path, name) for path, a, b, name in spans if a <= first <= b}
        after = {(path, name) for path, a, b, name in spans if a <= last <= b}
        rows = [("removed", *row) for row in sorted(before - after)]
        rows += [("added", *row) for row in sorted(after - before)]
        return {
            "status": "ok",
            "callee": callee,
            "between": [history.commit(first).oid, history.commit(last).oid],
            "changes": [{"what": w, **path_fields(p), "name": name} for w, p, name in rows],
            "kept": len(before & after),
            "tier": "name",
        }


def history_state(worktree: Worktree) -> Answer:
    """Return the extent and contents of the layer; `not_indexed` if there is none."""
    history = HistoryDatabase.read(worktree)
    if history is None:
        return {"status": "not_indexed", "hint": "run `gitindex history index`"}
    try:
        counts = history.counts()
        behind = _behind(worktree, history)
    finally:
        history.close()
    return {
        "status": "ok",
        **counts,
        "bytes": os.stat(history_file(worktree)).st_size,
        **behind,
    }


@contextmanager
def _opened(worktree: Worktree) -> Iterator[HistoryDatabase]:
    history = HistoryDatabase.read(worktree)
    if history is None:
        raise GitIndexError(
            "the history is not indexed", "run `gitindex history index`", Exit.GATED
        )
    try:
        yield history
    finally:
        history.close()


def _fits(qualified: str, asked: str) -> bool:
    return qualified == asked or qualified.endswith(f".{asked}")


def _definition_events(spans: list[tuple[bytes, int, int, str, int]]) -> list[_Event]:
    """Return events of definitions; a definition continues while its spans are adjacent."""
    by_place: dict[tuple[bytes, str], list[tuple[int, int, int]]] = {}
    for path, first, last, name, digest in spans:
        by_place.setdefault((path, name), []).append((first, last, digest))
    events = []
    for (path, name), found in by_place.items():
        merged: dict[int, tuple[int, int]] = {}
        for first, last, digest in found:  # definitions with the same name in one blob count as one
            merged[first] = last, merged.get(first, (0, 0))[1] ^ digest
        end, text = -1, 0
        for first, (last, digest) in sorted(merged.items()):
            if first != end + 1:
                events += [_Event(end + 1, "removed", path, name)] if end >= 0 else []
                events.append(_Event(first, "added", path, name))
            elif digest != text:
                events.append(_Event(first, "changed", path, name))
            end, text = last, digest
        if end < NOW:
            events.append(_Event(end + 1, "removed", path, name))
    return sorted(events, reverse=True)


def _edge_events(spans: list[tuple[bytes, int, int, str]]) -> list[_Event]:
    by_place: dict[tuple[bytes, str], list[tuple[int, int]]] = {}
    for path, first, last, name in spans:
        by_place.setdefault((path, name), []).append((first, last))
    events = []
    for (path, name), found in by_place.items():
        end = -1
        for first, last in sorted(found):
            if first != end + 1:
                events += [_Event(end + 1, "removed", path, name)] if end >= 0 else []
                events.append(_Event(first, "added", path, name))
            end = last
        if end < NOW:
            events.append(_Event(end + 1, "removed", path, name))
    return sorted(events, reverse=True)


def _answer(worktree: Worktree, history: HistoryDatabase, events: list[_Event]) -> Answer:
    rows = []
    for event in events:
        commit = history.commit(event.number)
        rows.append(
            {
                "commit": commit.oid,
                "date": datetime.fromtimestamp(commit.at, UTC).strftime("%Y-%m-%d"),
                "subject": commit.subject,
                "what": event.what,
                **path_fields(event.path),
                "name": event.name,
            }
        )
    return {"status": "ok", "events": rows, "tier": "name", **_behind(worktree, history)}


def _behind(worktree: Worktree, history: HistoryDatabase) -> Answer:
    """Return the last commit that the answer covers, and whether it is HEAD."""
    newest = history.newest()
    head = read_head_state(worktree, EditScope.NONE).commit
    upto = newest.oid if newest else None
    return {"historyCommit": upto, "headCommit": head, "exact": upto == head}


def _number(worktree: Worktree, history: HistoryDatabase, name: str) -> int:
    told = try_git(worktree.root, "rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
    if told.returncode:
        raise GitIndexError(f"no such commit: {name}", "see `git log`", Exit.USAGE)
    oid = told.output.decode().strip()
    number = history.number_of(oid)
    if number is None:
        on_path = run_git(worktree.root, "rev-list", "--first-parent", "HEAD").decode().split()
        why = (
            "run `gitindex history index`" if oid in on_path else "only HEAD's own line is indexed"
        )
        raise GitIndexError(f"the history layer does not hold {name}", why, Exit.GATED)
    return number
