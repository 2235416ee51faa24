"""`gitindex history`: queries and prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitindex.base.errors import Exit
from gitindex.base.escape import safe_text
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import any_of, print_answer
from gitindex.cli.progress import progress_bar
from gitindex.cli.terminal import say
from gitindex.query.history import callers_between, edge_log, history_state, symbol_log


def index_now(path: str = ".") -> int:
    """Bring the history layer up to HEAD."""
    from gitindex.refresh.history_index import index_history

    with progress_bar("history") as report:
        done = index_history(find_worktree(path), report)
    cut = f", {done.forgotten} forgotten" if done.forgotten else ""
    say(f"history: {done.commits} commits added{cut}, {done.blobs} blobs extracted")
    return int(Exit.OK)


def show_log(symbol: str, path: str = ".", as_json: bool = False) -> int:
    """Print the commits that changed a definition."""
    return print_answer(
        lambda: symbol_log(find_worktree(path), symbol), as_json, _print_events, any_of("events")
    )


def show_when(caller: str, callee: str, path: str = ".", as_json: bool = False) -> int:
    """Print the commits with which a call began or ended."""
    return print_answer(
        lambda: edge_log(find_worktree(path), caller, callee),
        as_json,
        _print_events,
        any_of("events"),
    )


def show_callers(symbol: str, between: str, path: str = ".", as_json: bool = False) -> int:
    """Print the callers that differ between two commits."""

    def text(answer: Mapping[str, Any]) -> None:
        for row in answer["changes"]:
            sign = "+" if row["what"] == "added" else "-"
            say(f"{sign} {row['path']}: {safe_text(row['name'])}")
        say(f"{len(answer['changes'])} changed, {answer['kept']} kept; by name")

    return print_answer(
        lambda: callers_between(find_worktree(path), symbol, between),
        as_json,
        text,
        any_of("changes"),
    )


def show_state(path: str = ".", as_json: bool = False) -> int:
    """Print how far the layer reaches."""

    def text(answer: Mapping[str, Any]) -> None:
        if answer["status"] != "ok":
            say("history: not indexed")
            say(f"  hint: {answer['hint']}")
            return
        say(
            f"history: {answer['commits']} commits, {answer['blobs']} blobs,"
            f" {answer['symbols']} definitions, {answer['bytes'] / 1e6:.1f} MB"
        )
        _print_behind(answer)

    def code(answer: Mapping[str, Any]) -> int:
        if answer["status"] != "ok":
            return int(Exit.GATED)
        return int(Exit.OK if answer["exact"] else Exit.NO)

    return print_answer(lambda: history_state(find_worktree(path)), as_json, text, code)


def _print_events(answer: Mapping[str, Any]) -> None:
    for row in answer["events"]:
        where = f"{row['path']}: {safe_text(row['name'])}"
        say(f"{row['commit'][:10]} {row['date']} {row['what']:<8} {where}")
        say(f"    {safe_text(row['subject'])}")
    if not answer["events"]:
        say("no such definition or call in the history")
    _print_behind(answer)


def _print_behind(answer: Mapping[str, Any]) -> None:
    if not answer["exact"]:
        at = (answer["historyCommit"] or "no commit")[:10]
        say(f"  the history is indexed up to {at}, HEAD is elsewhere: `gitindex history index`")
