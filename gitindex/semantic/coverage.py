"""Which files of a tree the semantic layer covers, and the fields of an answer that report it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from gitindex.base.escape import safe_text
from gitindex.store import semantic
from gitindex.view.tree import TreeView

MAX_STALE = 20
"""Most stale paths that one answer lists."""

_NOTHING = semantic.SemanticCoverage(frozenset(), frozenset())


def read_coverage(view: TreeView) -> semantic.SemanticCoverage:
    """Return which files of the tree have semantic facts."""
    return semantic.coverage(view.rows) if semantic.has_facts(view.rows) else _NOTHING


def layer_fields(coverage: semantic.SemanticCoverage, paths: Iterable[bytes]) -> dict[str, Any]:
    """Return counts of files with facts about their live bytes, and of files with older facts only.

    `stalePaths` lists only paths of the answer itself.
    """
    if not any(coverage):
        return {}
    stale = [safe_text(os.fsdecode(path)) for path in sorted(coverage.stale.intersection(paths))]
    fields: dict[str, Any] = {"current": len(coverage.current), "stale": len(coverage.stale)}
    return {"semanticLayer": fields | ({"stalePaths": stale[:MAX_STALE]} if stale else {})}
