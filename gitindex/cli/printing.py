"""Prints answers, as JSON or as lines, and returns exit codes. Imports little: every query needs it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import print_json
from gitindex.base.vocabulary import GateStatus
from gitindex.cli.terminal import say
from gitindex.view.snapshot import GateClosed


class CommandReply(NamedTuple):
    """What a command says: the structured answer, the same as lines, and its exit code."""

    answer: dict[str, Any]
    lines: Iterable[str] = ()
    code: int = Exit.OK


def print_reply(run: Callable[[], CommandReply], as_json: bool) -> int:
    """Run a command and print what it says; a closed gate or an absent server is an answer too."""
    try:
        reply = run()
    except GateClosed as gate:
        return print_closed(gate, as_json)
    except GitIndexError as error:
        if not as_json or error.status != "unavailable":
            raise
        why = getattr(error, "why", "")
        print_json({"status": error.status, "reason": why, "message": error.message})
        return int(error.code)
    if as_json:
        print_json(reply.answer)
    else:
        lines = [*reply.lines]
        for line in lines:
            say(line)
        if not lines and sys.stderr.isatty():
            sys.stderr.write("gitindex: nothing to list\n")
    return int(reply.code)


def print_closed(gate: GateClosed, as_json: bool = False) -> int:
    """Print a closed gate: its envelope, or its message and what to do, on stderr."""
    if as_json:
        print_json(gate.envelope)
    else:
        sys.stderr.write(f"gitindex: {gate.envelope['message']}\n{_remedy(gate.envelope)}")
    return int(Exit.GATED)


def _remedy(envelope: dict[str, Any]) -> str:
    if envelope["status"] == GateStatus.NOT_READY:
        return "  hint: run `gitindex wait`\n"
    repairs = {"create", "reindex"} & envelope["hints"].keys()
    return "  hint: run `gitindex index`\n" if repairs else ""
