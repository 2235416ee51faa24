"""Query the first-parent history: look-ups in the history layer, by name, and what commits broke.

Definitions and calls are matched by name, like the tier `name` of the call graph: imports are not
resolved. Commits that may have broken a use are compared with their parents as a staged change would be.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import path_fields, safe_text
from gitindex.base.vocabulary import EditScope
from gitindex.base.worktree import Worktree
from gitindex.git.command import run_git, try_git
from gitindex.git.worktree_probe import read_head_state
from gitindex.store.history_database import NOW, HistoryDatabase, history_file
from gitindex.view.tree import TreeChoice

MAX_COMMITS = 25
"""Commits that are compared with their parents, the newest ones: each costs two trees."""

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
        spans = [
            (path, first, last, qualified, digest)
            for path, first, last, qualified, _, digest in history.definitions(symbol)
            if _fits(qualified, symbol)
        ]
        return _answer(worktree, history, _events(spans)) | {"symbol": symbol}


def edge_log(worktree: Worktree, caller: str, callee: str) -> Answer:
    """Return the commits that added or removed calls from a caller to a name, newest first."""
    with _opened(worktree) as history:
        spans = [(*span, 0) for span in history.callers(callee, caller) if _fits(span[3], caller)]
        return _answer(worktree, history, _events(spans)) | {"caller": caller, "callee": callee}


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


def _fits(qualified: str, name: str) -> bool:
    return qualified == name or qualified.endswith(f".{name}")


def _events(spans: list[tuple[bytes, int, int, str, int]]) -> list[_Event]:
    """Return what happened to definitions or calls: each goes on while its spans are adjacent."""
    by_place: dict[tuple[bytes, str], dict[int, tuple[int, int]]] = {}
    for path, first, last, name, digest in spans:
        merged = by_place.setdefault((path, name), {})
        # definitions with the same name in one blob count as one
        merged[first] = last, merged.get(first, (0, 0))[1] ^ digest
    events = []
    for (path, name), merged in by_place.items():
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
    commit = try_git(
        worktree.root, "rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}"
    )
    if commit.returncode:
        raise GitIndexError(f"no such commit: {name}", "see `git log`", Exit.USAGE)
    oid = commit.output.decode().strip()
    number = history.number_of(oid)
    if number is None:
        on_path = run_git(worktree.root, "rev-list", "--first-parent", "HEAD").decode().split()
        why = (
            "run `gitindex history index`" if oid in on_path else "only HEAD's own line is indexed"
        )
        raise GitIndexError(f"the history layer does not hold {name}", why, Exit.GATED)
    return number


def broken_uses(worktree: Worktree, path: str, name: str) -> Answer:
    """Return the commits after which a name dangled or a call did not fit, newest first."""
    log = symbol_log(worktree, name)
    short = re.split(r"::|[.#]", name)[-1]
    candidates = _candidates(worktree, log["events"], short)
    rows = []
    for commit, event in list(candidates.items())[:MAX_COMMITS]:
        if breaks := list(_broken(worktree, path, commit, short)):
            again = _is_added_later(log["events"], commit)
            shown = {key: event[key] for key in ("commit", "date", "subject")}
            rows.append({**shown, "breaks": breaks, "definedAgain": again})
    return {
        "status": "ok",
        "symbol": name,
        "commits": rows,
        "known": bool(log["events"]),
        "examined": min(len(candidates), MAX_COMMITS),
        "truncated": len(candidates) > MAX_COMMITS,
        **{key: log[key] for key in ("historyCommit", "headCommit", "exact")},
    }


def _candidates(worktree: Worktree, events: list[Answer], name: str) -> dict[str, Answer]:
    """Return the commits that may have broken a use, newest first, with the first thing they did."""
    candidates: dict[str, Answer] = {}
    for event in events:
        if event["what"] == "removed" or (
            event["what"] == "changed" and _changes_parameters(worktree, event, name)
        ):
            candidates.setdefault(event["commit"], event)
    return candidates


def _changes_parameters(worktree: Worktree, event: Answer, name: str) -> bool:
    """Return whether a commit changed the parameters of a function: only Python's are compared."""
    if not event["path"].endswith(".py") or "pathBytes" in event:
        return False
    texts = [
        try_git(worktree.root, "cat-file", "blob", f"{commit}:{event['path']}").output.decode(
            "utf-8", "replace"
        )
        for commit in (f"{event['commit']}^", event["commit"])
    ]
    return _parameters(texts[0], name) != _parameters(texts[1], name)


def _parameters(text: str, name: str) -> list[str]:
    """Return the parameter lists of the functions of a name, blanks apart."""
    from gitindex.query.impact.signatures import bracket  # look-ups alone need no engine

    heads = re.finditer(rf"\bdef\s+{re.escape(name)}\s*(?=\()", text)
    return ["".join(bracket(text, match.end()).split()) for match in heads]


def _broken(worktree: Worktree, path: str, commit: str, name: str) -> Iterator[Answer]:
    """Yield the places that a commit broke: references that dangle, calls that do not fit."""
    from gitindex.query.impact.change import TreePair, comparing  # look-ups alone need no engine
    from gitindex.query.impact.dangling import find_dangling, find_misfits

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


def _row(path: str, line: int, why: str, tier: str) -> Answer:
    fields: Answer = {**path_fields(os.fsencode(path)), "line": line + 1, "why": why}
    return fields | ({"tier": tier} if tier else {})


def _is_added_later(events: list[Answer], commit: str) -> bool:
    """Return whether a definition that a commit removed came back in a later one."""
    for event in events:  # newest first
        if event["commit"] == commit:
            return False
        if event["what"] == "added":
            return True
    return False
