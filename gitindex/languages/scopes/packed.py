"""Packs what a reader of scopes needs little of: each entry is JSON of its own, read when asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

_COMPACT = json.JSONEncoder(separators=(",", ":"))


def packed(declared: Iterable[list[Any]], marks: dict[str, list[Any]]) -> dict[str, Any]:
    """Return declarations by name, parameters by scope, and the chains of receivers and calls."""
    names: dict[str, list[Any]] = {}
    parameters: dict[int, list[Any]] = {}
    for name, offset, scope, kind, *rest in sorted(declared, key=lambda row: (row[1], row[2])):
        names.setdefault(name, []).append([offset, scope, kind, *rest])
        if kind in ("param", "rest"):
            parameters.setdefault(scope, []).append([name, offset, kind])
    numbers: dict[Any, int] = {}  # few chains have many places
    chained = {
        "receivers": {at: _number(numbers, chain) for at, chain in marks["receivers"]},
        "given": {at: _number(numbers, chain) for at, chain in marks["given"] if chain},
    }
    return {
        "names": {name: to_json(rows) for name, rows in names.items()},
        "parameters": {scope: to_json(rows) for scope, rows in parameters.items()},
        "chains": [to_json(chain) for chain in numbers],
        **chained,
    }


def _number(numbers: dict[Any, int], chain: list[list[object]] | None) -> int:
    """Return the number of a chain, which is a new one for a new chain."""
    return numbers.setdefault(tuple(map(tuple, chain)) if chain else None, len(numbers))


def to_json(value: Any) -> str:
    """Return compact JSON."""
    return _COMPACT.encode(value)
