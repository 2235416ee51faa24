"""Standard output of every command, and the answers that are neither ok nor a closed gate."""

from __future__ import annotations

import os
import sys

from gitindex.base.light_types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

from gitindex.base.errors import GitIndexError, NotIndexed
from gitindex.base.escape import safe_text


def print_line(text: str) -> None:
    """One line, now. A reader that has seen enough and left is no failure."""
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def print_json(answer: Mapping[str, Any]) -> None:
    """One answer on one line, in ASCII: no terminal and no locale can break it."""
    import json  # lazily: a prompt prints no JSON

    print_line(json.dumps(answer, ensure_ascii=True))


def refusal(status: str, message: str, hint: str = "") -> dict[str, Any]:
    """An answer that is neither ok nor a closed gate."""
    envelope: dict[str, Any] = {"status": status, "message": safe_text(message)}
    return envelope | ({"hints": {"remedy": safe_text(hint)}} if hint else {})


def refused(error: GitIndexError) -> dict[str, Any]:
    """A failure as a structured answer."""
    envelope = refusal(error.status, error.message, error.hint)
    return envelope | ({"reason": error.status} if isinstance(error, NotIndexed) else {})
