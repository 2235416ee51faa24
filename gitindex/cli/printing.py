"""Prints answers, as JSON or as text, and returns exit codes. Imports little: every query needs it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.output import print_json
from gitindex.base.vocabulary import GateStatus
from gitindex.base.worktree import find_worktree
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import TreeChoice, TreeView, open_tree

A = TypeVar("A", bound=Mapping[str, Any])


def print_answer(
    ask: Callable[[], A],
    as_json: bool,
    text: Callable[[A], object],
    code: Callable[[A], int] = lambda _: Exit.OK,
    closed: Callable[[GateClosed], int] | None = None,
) -> int:
    """Ask, print the answer as JSON or by `text`, and return the exit code.

    A closed gate is an answer too: its envelope, or a line and a hint by `closed`.
    """
    try:
        answer = ask()
    except GateClosed as gate:
        if as_json:
            print_json(gate.envelope)
            return int(Exit.GATED)
        return (closed or print_closed)(gate)
    if as_json:
        print_json(answer)
    else:
        text(answer)
    return int(code(answer))


def in_tree(path: str, ask: TreeChoice, question: Callable[[TreeView], A]) -> Callable[[], A]:
    """Return a question about the chosen tree, in the work tree around `path`."""

    def served() -> A:
        with open_tree(find_worktree(path), path, ask) as view:
            return question(view)

    return served


def tree_choice(at: str, staged: bool) -> TreeChoice:
    """Return the tree that the options ask for."""
    if at and staged:
        raise GitIndexError("--at and --staged exclude each other", code=Exit.USAGE)
    return TreeChoice(at=at, staged=staged)


def any_of(*fields: str) -> Callable[[Mapping[str, Any]], int]:
    """Return the exit code of an answer: 0 if one of its lists has items, else 1."""
    return lambda answer: int(Exit.OK if any(answer[field] for field in fields) else Exit.NO)


def print_closed(gate: GateClosed) -> int:
    """Print a closed gate's message and what to do, on stderr."""
    sys.stderr.write(f"gitindex: {gate.envelope['message']}\n{_remedy(gate.envelope)}")
    return int(Exit.GATED)


def _remedy(envelope: dict[str, Any]) -> str:
    if envelope["status"] == GateStatus.NOT_READY:
        return "  hint: run `gitindex wait`\n"
    mends = {"create", "reindex"} & envelope["hints"].keys()
    return "  hint: run `gitindex index`\n" if mends else ""
