"""The contexts of the tree that a reader queries, with their files and whether they parse."""

from __future__ import annotations

import os
from typing import Any

from gitindex.base.escape import safe_text
from gitindex.semantic.contexts.discovery import Context
from gitindex.semantic.contexts.probe import probe, probed
from gitindex.semantic.contexts.router import ContextRouter, discover_live
from gitindex.store.semantic import switched_off
from gitindex.view.tree import TreeView


class LiveContexts:
    """Discovery and routing over a view's live paths."""

    def __init__(self, view: TreeView) -> None:
        self._view = view
        self.tree, self.discovery = discover_live(view)
        self.router = ContextRouter(self.discovery)

    def answer(self) -> dict[str, Any]:
        """Return the structured answer of `gitindex contexts`."""
        members = self.router.members(self.tree)
        statuses = self._statuses({path for paths in members.values() for path in probed(paths)})
        off = switched_off(self._view.rows)
        listed = [
            {
                **_fields(context),
                "enabled": context.name not in off,
                "state": probe(paths, statuses.get),
                "files": len(paths),
            }
            for context, paths in members.items()
        ]
        routes = [self.router.route(path) for path in self.tree]
        left_out = [
            {
                "family": hole.family,
                "root": safe_text(hole.root),
                "workspace": safe_text(hole.workspace),
                "files": sum(route.left_out == hole for route in routes),
            }
            for hole in self.discovery.left_out
        ]
        unowned = sum(route == (None, None) for route in routes)
        return self._view.envelope(contexts=listed, leftOut=left_out, unownedFiles=unowned)

    def _statuses(self, paths: set[str]) -> dict[str, str]:
        """Return the parse status of some files in the syntactic layer."""
        if any(os.fsdecode(path) in paths for path in self._view.changed()):
            self._view.ensure_facts()
        rows = self._view.rows(
            "SELECT l.path, b.status FROM {live} l JOIN {blobs} b ON b.id=l.blob_id"
        )
        return {os.fsdecode(p): status for p, status in rows if os.fsdecode(p) in paths}


def _fields(context: Context) -> dict[str, Any]:
    return {
        "name": context.name,
        "family": context.family,
        "root": safe_text(context.root),
        "kind": context.kind,
        "workspace": None if context.workspace is None else safe_text(context.workspace),
        "markers": [safe_text(path) for path in context.markers],
        "configHash": context.config_hash,
    }
