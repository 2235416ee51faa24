"""The bytes of a question to a worker. Imports no parser, so any process can use it."""

from __future__ import annotations

import json
from typing import NamedTuple


class SliceQuestion(NamedTuple):
    """A place, counted from 1, and the direction of the slice."""

    line: int
    column: int | None = None  # in bytes
    forward: bool = False


def encode(question: SliceQuestion) -> bytes:
    """Return a question as bytes for a worker."""
    return json.dumps(question).encode()


def decode(data: bytes) -> SliceQuestion:
    """Return the question that a worker received."""
    line, column, forward = json.loads(data)
    return SliceQuestion(line, column, forward)
