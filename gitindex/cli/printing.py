"""How an answer is told, and a gate that is closed. Imports little: every query needs it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from gitindex.base.errors import Exit
from gitindex.base.vocabulary import GateStatus
from gitindex.cli.terminal import say
from gitindex.view.snapshot import GateClosed


def print_answer(
    ask: Callable[[], dict[str, Any]], as_json: bool, text: Callable[[dict[str, Any]], object]
) -> dict[str, Any] | None:
    """The answer, printed as JSON or by `text`; None where the gate is closed, and that is said."""
    try:
        answer = ask()
    except GateClosed as closed:
        say_gated(closed, as_json)
        return None
    if as_json:
        say(json.dumps(answer, ensure_ascii=True))
    else:
        text(answer)
    return answer


def say_gated(closed: GateClosed, as_json: bool) -> int:
    """Print a closed gate's answer: data on stdout, or a line and a hint on stderr."""
    if as_json:
        say(json.dumps(closed.envelope, ensure_ascii=True))
    else:
        sys.stderr.write(f"gitindex: {closed.envelope['message']}\n{_remedy(closed.envelope)}")
    return int(Exit.GATED)


def _remedy(envelope: dict[str, Any]) -> str:
    if envelope["status"] == GateStatus.NOT_READY:
        return "  hint: run `gitindex wait`\n"
    mends = {"create", "reindex"} & envelope["hints"].keys()
    return "  hint: run `gitindex index`\n" if mends else ""
