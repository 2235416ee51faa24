"""How values flow in one text: results, calls without a name, items. Imports no parser."""

from __future__ import annotations

import json
from typing import NamedTuple

FLOW = b"flow"
"""The request to a worker for the flow of a text."""

FLOWING = frozenset({"python", "javascript", "typescript", "tsx"})
"""Languages that have a flow query."""

Span = tuple[int, int]


class ContainerItem(NamedTuple):
    """`container[key] = value`."""

    at: int
    container: str
    key: str
    value: Span


class FileFlow:
    """The value flow of one file."""

    def __init__(self, payload: bytes, data: bytes) -> None:
        told = json.loads(payload)
        self._data = data
        self.returns: list[Span] = [(start, end) for start, end in told["returns"]]
        self.calls: list[Span] = [(start, end) for start, end in told["calls"]]
        self.implicit: list[tuple[list[str], Span]] = [
            (methods, (start, end)) for methods, start, end in told["implicit"]
        ]
        self.decorators: dict[int, list[Span]] = {}
        for at, start, end in told["decorated"]:
            self.decorators.setdefault(at, []).append((start, end))
        self.items = [
            ContainerItem(at, name, key, (start, end))
            for at, name, key, start, end in told["items"]
        ]

    def text(self, span: Span) -> str:
        """Return the text of an expression."""
        return self._data[span[0] : span[1]].decode("utf-8", "replace")
