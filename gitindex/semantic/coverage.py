"""Which files of a tree the semantic layer covers, and the fields of an answer that report it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from gitindex.base.escape import safe_text
from gitindex.store import semantic
from gitindex.view.tree import TreeView

MAX_STALE = 20
"""Stale paths that one answer names."""

_NOTHING = semantic.SemanticCoverage(frozenset(), frozenset())


def read_coverage(view: TreeView) -> semantic.SemanticCoverage:
    """Which files of the tree the layer knows."""
    return semantic.coverage(view.rows) if semantic.has_facts(view.rows) else _NOTHING


def layer_fields(coverage: semantic.SemanticCoverage, paths: Iterable[bytes]) -> dict[str, Any]:
    """Count the paths whose live bytes it covers, and those it knows with other bytes only.

    `stalePaths` are those of the answer itself.
    """
    if not any(coverage):
        return {}
    told = [safe_text(os.fsdecode(path)) for path in sorted(coverage.stale.intersection(paths))]
    fields: dict[str, Any] = {"current": len(coverage.current), "stale": len(coverage.stale)}
    return {"semanticLayer": fields | ({"stalePaths": told[:MAX_STALE]} if told else {})}
