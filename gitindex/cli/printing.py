"""Prints answers, as JSON or as text, and returns exit codes. Imports little: every query needs it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from gitindex.base.errors import Exit
from gitindex.base.escape import safe_text
from gitindex.base.output import print_json
from gitindex.base.vocabulary import GateStatus
from gitindex.base.worktree import find_worktree
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import TreeChoice, TreeView, open_tree

A = TypeVar("A", bound=Mapping[str, Any])
Asking = tuple[Callable[[], Any], Callable[[Any], object], Callable[[Any], int]]
"""A question, how its answer is printed, and its exit code."""


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


def any_of(field: str) -> Callable[[Mapping[str, Any]], int]:
    """Return the exit code of an answer: 0 if its list has items, else 1."""
    return lambda answer: int(Exit.OK if answer[field] else Exit.NO)


def print_closed(gate: GateClosed) -> int:
    """Print a closed gate's message and what to do, on stderr."""
    sys.stderr.write(f"gitindex: {gate.envelope['message']}\n{_remedy(gate.envelope)}")
    return int(Exit.GATED)


def print_warnings(answer: Mapping[str, Any]) -> None:
    """Print an answer's warnings, on stderr."""
    for warning in answer.get("warnings", ()):
        sys.stderr.write(f"gitindex: {safe_text(warning)}\n")


def _remedy(envelope: dict[str, Any]) -> str:
    if envelope["status"] == GateStatus.NOT_READY:
        return "  hint: run `gitindex wait`\n"
    mends = {"create", "reindex"} & envelope["hints"].keys()
    return "  hint: run `gitindex index`\n" if mends else ""


def print_missing(what: str, near: list[str]) -> None:
    """Report on stderr that there is no such symbol, with suggestions."""
    hint = f"; near: {', '.join(map(safe_text, near))}" if near else ""
    sys.stderr.write(f"gitindex: no symbol {safe_text(what)}{hint}\n")


def shown_signature(signature: str, kind: str = "") -> str:
    """Return a signature of several lines as one line is written: no space inside its brackets.

    `kind` is what is printed in front of it; the same keyword is not repeated.
    """
    signature = signature.removeprefix(f"{kind} ")
    for wide, narrow in (("( ", "("), ("[ ", "["), (", )", ")"), (" )", ")"), (" ]", "]")):
        signature = signature.replace(wide, narrow)
    return safe_text(signature)


def not_searched(left: Mapping[str, int]) -> str:
    """Summarize in one line the files that the policy keeps out of an answer."""
    reasons = ", ".join(f"{many} {why}" for why, many in sorted(left.items()))
    return f"not searched: {reasons} (`gitindex status --skipped` lists them)"
