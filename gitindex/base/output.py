"""Standard output of every command: JSON answers are written here and nowhere else."""

from __future__ import annotations

import os
import sys

from gitindex.base.light_types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


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
