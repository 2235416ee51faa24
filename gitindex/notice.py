"""What a person or a program hears where the gate is closed. Imports little: every query may need it."""

from __future__ import annotations

import sys
from typing import Any

from gitindex.answer import Gated
from gitindex.errors import Exit
from gitindex.terminal import say
from gitindex.words import GateStatus


def say_gated(closed: Gated, as_json: bool) -> int:
    """Print a closed gate's answer: data on stdout, or a line and a hint on stderr."""
    if as_json:
        import json

        say(json.dumps(closed.envelope, ensure_ascii=True))
    else:
        sys.stderr.write(f"gitindex: {closed.envelope['message']}\n{_remedy(closed.envelope)}")
    return int(Exit.GATED)


def _remedy(envelope: dict[str, Any]) -> str:
    if envelope["status"] == GateStatus.NOT_READY:
        return "  hint: run `gitindex wait`\n"
    mends = {"create", "reindex"} & envelope["hints"].keys()
    return "  hint: run `gitindex index`\n" if mends else ""
