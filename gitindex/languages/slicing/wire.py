"""A question as bytes: what a worker is sent. Imports no parser, so any process may ask."""

from __future__ import annotations

import json
from typing import NamedTuple


class SliceQuestion(NamedTuple):
    """A place, counted from 1 as people do, and the direction to look in."""

    line: int
    column: int | None = None  # in bytes
    forward: bool = False


def encode(question: SliceQuestion) -> bytes:
    """What a worker is sent."""
    return json.dumps(question).encode()


def decode(data: bytes) -> SliceQuestion:
    """What a worker is asked."""
    line, column, forward = json.loads(data)
    return SliceQuestion(line, column, forward)
