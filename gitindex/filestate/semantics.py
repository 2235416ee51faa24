"""What the semantic layer adds to file states: references, its tool, fewer open questions."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator

from gitindex.filestate.core import CONFIG, REFERENCE, TOOL, UNKNOWN, FileDependency
from gitindex.store.semantic import EdgeRow, FactsRow, edge_rows, facts_rows, has_facts
from gitindex.view.tree import TreeView

SETTLED = frozenset({"unresolved_receiver", "star_import", "reexport_chain", "overload_set"})
"""Flags that a grammar leaves open and that an indexer with type information settles."""


class Semantics:
    """Semantic facts of the live files; empty if no indexer has run."""

    def __init__(self, view: TreeView) -> None:
        self._facts: dict[str, FactsRow] = {}
        self._edges: dict[str, list[EdgeRow]] = defaultdict(list)
        if has_facts(view.rows):
            self._facts = {os.fsdecode(row.path): row for row in facts_rows(view.rows)}
            for row in edge_rows(view.rows):
                self._edges[os.fsdecode(row.path)].append(row)

    def covers(self, path: str) -> bool:
        """Does the layer have facts for the current bytes of this file?"""
        return path in self._facts

    def flags(self, path: str, syntactic: tuple[str, ...]) -> tuple[str, ...]:
        """Return the open flags of a file, combined from both layers."""
        if path not in self._facts:
            return syntactic
        own = json.loads(self._facts[path].flags)
        return tuple(sorted({*own, *(flag for flag in syntactic if flag not in SETTLED)}))

    def edges(
        self, path: str, oids: dict[str, str], context: tuple[str, str] | None
    ) -> Iterator[FileDependency]:
        """Yield what a file's facts were computed from; `context` is its owner's name and hash."""
        row = self._facts.get(path)
        if row is None:
            return
        name, config = context or ("", None)
        yield FileDependency(
            row.context, row.config_hash, config if name == row.context else None, CONFIG
        )
        yield FileDependency(row.context, row.tool_version, row.seen_tool_version, TOOL)
        for edge in self._edges[path]:
            target = os.fsdecode(edge.target)
            yield FileDependency(target, edge.target_hash, self._now(target, edge, oids), REFERENCE)

    def _now(self, target: str, edge: EdgeRow, oids: dict[str, str]) -> str | None:
        """Return the target's interface now; unknown if the layer has no facts for its bytes."""
        if target not in oids:
            return None
        if edge.target_oid and edge.target_oid.hex() == oids[target]:
            return edge.target_hash
        row = self._facts.get(target)
        return row.interface_hash if row and edge.target_oid else UNKNOWN
