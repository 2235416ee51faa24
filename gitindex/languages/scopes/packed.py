"""Packs what a reader of scopes needs little of: each entry is JSON of its own, read when asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any


def packed(declared: Iterable[list[Any]], marks: dict[str, list[Any]]) -> dict[str, Any]:
    """Return declarations by name, parameters by scope, and the chains of receivers and calls."""
    names: dict[str, list[Any]] = {}
    parameters: dict[int, list[Any]] = {}
    for name, offset, scope, kind, *rest in sorted(declared, key=lambda row: (row[1], row[2])):
        names.setdefault(name, []).append([offset, scope, kind, *rest])
        if kind in ("param", "rest"):
            parameters.setdefault(scope, []).append([name, offset, kind])
    chained = {
        "receivers": {at: to_json(chain) for at, chain in marks["receivers"]},
        "given": {at: to_json(chain) for at, chain in marks["given"] if chain},
    }
    chains = list(dict.fromkeys(chain for places in chained.values() for chain in places.values()))
    number = {chain: at for at, chain in enumerate(chains)}
    return {
        "names": {name: to_json(rows) for name, rows in names.items()},
        "parameters": {scope: to_json(rows) for scope, rows in parameters.items()},
        "chains": chains,
        **{k: {at: number[chain] for at, chain in v.items()} for k, v in chained.items()},
    }


def to_json(value: Any) -> str:
    """Return compact JSON."""
    return json.dumps(value, separators=(",", ":"))
