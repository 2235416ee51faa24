"""The inputs of file states: the published files, their history, and the bytes on disk now."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import NamedTuple

from gitindex.base.confined_read import ConfinedRoot
from gitindex.base.vocabulary import (
    MAX_PARSE_BYTES,
    MAX_TEXT_BYTES,
    Certainty,
    FactsStatus,
    SkipReason,
)
from gitindex.filestate.core import CONFIG, REFERENCE, TOOL, UNKNOWN, FileDependency, FileRecord
from gitindex.git.interface import blob_id
from gitindex.languages.facts import BlobFacts, FactsKey
from gitindex.languages.table import extractor_id
from gitindex.store import history
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


NO_FACTS = (FactsStatus.SKIPPED, FactsStatus.QUARANTINED)
PARSED = (FactsStatus.PARSED, FactsStatus.PARTIAL)


class Row(NamedTuple):
    """One published path."""

    oid: bytes
    blob_id: int | None
    language: str
    status: str
    reason: str
    interface: str
    flags: str

    @property
    def has_facts(self) -> bool:
        return self.blob_id is not None and self.status not in NO_FACTS


class FileInputs:
    """One worktree, seen through one view."""

    def __init__(self, view: TreeView) -> None:
        self.view = view
        self.database = view.served.database
        self.worktree_id = view.served.published.worktree_id
        self.files: dict[str, Row] = {
            os.fsdecode(path): Row._make(fields)
            for path, *fields in self.database.rows(
                "SELECT p.path, f.oid, f.blob_id, coalesce(b.language, ''), coalesce(b.status, ''),"
                f" coalesce(f.skip, b.reason, ''), {history.INTERFACE}, coalesce(b.flags, '')"
                " FROM files f JOIN paths p ON p.id=f.path_id LEFT JOIN blobs b ON b.id=f.blob_id"
                " WHERE f.worktree_id=?",
                self.worktree_id,
            )
        }
        self.semantics = Semantics(view)
        self.history = history.load(self.database, self.worktree_id, self.files)
        self.changed = {os.fsdecode(path): file for path, file in view.changed().items()}
        self._overlaid: dict[str, BlobFacts | None] = {}
        self._left_out = set(map(os.fsdecode, view.overlay.left_out))
        gone = {path for path, file in self.changed.items() if file is None}
        added = self.changed.keys() - gone - self.files.keys()
        self.moved = bool(added) or any(path in self.files for path in gone)
        """Does the set of paths on disk differ from the published one?"""
        self.paths = (self.files.keys() | added) - gone

    def row(self, path: str) -> Row | None:
        """Return the row of a path's bytes on disk: from the overlay, else as published."""
        facts = self.overlaid(path)
        if facts is None:
            return self.files.get(path)
        oid = self._disk_oid(path) or ""
        surface = facts.interface_hash if facts.status in PARSED else oid.upper()
        flags = ",".join(facts.flags)
        raw = bytes.fromhex(oid)
        return Row(raw, None, facts.language, facts.status, facts.reason, surface, flags)

    def overlaid(self, path: str) -> BlobFacts | None:
        """Return the facts of a path that differs from the published tree; None if it has none."""
        if path not in self._overlaid:
            self._load([path])
        return self._overlaid[path]

    def facts(self, path: str) -> BlobFacts | None:
        """Return all facts about a path's bytes on disk."""
        row = self.files.get(path)
        if (facts := self.overlaid(path)) is not None or row is None:
            return facts
        return self.view.facts(FactsKey(row.oid.hex(), extractor_id(row.language)))

    def _load(self, paths: Collection[str]) -> None:
        """Extract the overlay's files among these paths in one batch."""
        files = {path: self.changed.get(path) for path in paths if path not in self._overlaid}
        self._overlaid |= dict.fromkeys(files)
        readable = {path: file for path, file in files.items() if file and file.skip is None}
        if readable:
            self.view.ensure_facts(paths=[file.path for file in readable.values()])
        for path, file in readable.items():
            facts = self.view.facts(FactsKey(file.oid, extractor_id(file.language)))
            if facts is not None and facts.status not in NO_FACTS:
                self._overlaid[path] = facts

    def was(self, path: str, generation: int) -> history.PathAtTime | None:
        """Return the published state of a path in an older generation."""
        row = self.files.get(path)
        now = history.PathAtTime(row.oid, row.interface) if row else None
        return self.history.at(path, generation, now)

    def interface(self, path: str) -> str:
        """Return the hash of a file's interface; a fixed word if it was never published."""
        row = self.row(path)
        return row.interface if row else "not published"

    def flags(self, path: str) -> tuple[str, ...]:
        """Return the open flags of a published file."""
        row = self.row(path)
        flags = tuple(flag for flag in (row.flags if row else "").split(",") if flag)
        return flags if self.overlaid(path) else self.semantics.flags(path, flags)

    def _certainty(self, path: str) -> Certainty:
        """Return the certainty of a file's facts, from its flags and its parse status."""
        if self.flags(path):
            return Certainty.AMBIGUOUS
        row = self.row(path)
        parsed = row is not None and row.status == FactsStatus.PARSED
        return Certainty.CERTAIN if parsed else Certainty.UNKNOWN

    def know(self, paths: Collection[str]) -> dict[str, FileRecord]:
        """Return a record for each file: the indexed bytes and the bytes on disk."""
        known = {}
        self._load(paths)
        hashed = self._hash([path for path in paths if self._has_facts(path)])
        for path in paths:
            row = self.files.get(path)
            if self.overlaid(path) is not None:
                disk = self._disk_oid(path)
                known[path] = FileRecord(disk, disk, self._certainty(path))
            elif row is None or not row.has_facts:
                unchanged = self._is_published(path)
                known[path] = FileRecord(None, self._disk_oid(path), unchanged=unchanged)
            elif path in hashed:
                indexed, disk = row.oid.hex(), hashed[path]
                # Missing, but git reports no deletion: a sparse checkout. Dependents can rely on
                # its facts, but there is nothing to edit.
                sure = Certainty.UNKNOWN if disk is None else self._certainty(path)
                known[path] = FileRecord(indexed, indexed if disk is None else disk, sure)
            else:
                known[path] = FileRecord(row.oid.hex(), self._disk_oid(path), self._certainty(path))
        return known

    def disk_id(self, path: str) -> str | None:
        """Return the id of a path's bytes on disk, indexed or not; None if it does not exist."""
        if not self._is_published(path):
            return self._disk_oid(path)
        if self.files[path].reason == SkipReason.SECRET:
            return None  # no bytes are read
        return self._hash([path])[path] or self.files[path].oid.hex()

    def read(self, path: str) -> bytes | None:
        """Return a path's bytes from disk, or from the index if a sparse checkout leaves it out."""
        name = os.fsencode(path)
        with ConfinedRoot(self.view.worktree.root) as disk:
            file = disk.read(name, MAX_PARSE_BYTES)
        return file.data if file else self.view.read([name]).get(name)

    def _has_facts(self, path: str) -> bool:
        return self._is_published(path) and self.files[path].has_facts

    def _is_published(self, path: str) -> bool:
        """Does git report the path on disk as unchanged since it was published?"""
        return path in self.files and path not in self.changed and path not in self._left_out

    def _disk_oid(self, path: str) -> str | None:
        if path in self._left_out:
            return ""
        file = self.changed.get(path)
        return file.oid if file is not None else None

    def _hash(self, paths: list[str]) -> dict[str, str | None]:
        """Return ids of the bytes on disk; a file with other line ends has the id that it has in git.

        What other attributes convert is overlaid, and not requested here.
        """
        oids: dict[str, str | None] = {}
        with ConfinedRoot(self.view.worktree.root) as disk:
            for path in paths:
                try:
                    file = disk.read(os.fsencode(path), MAX_TEXT_BYTES + 1)
                except OSError:
                    oids[path] = ""  # unreadable: not what was indexed
                    continue
                oids[path] = _id_in_git(file.data, self.files[path].oid.hex()) if file else None
        return oids


def _id_in_git(data: bytes, published: str) -> str:
    oid = blob_id(data, len(published))
    if oid != published and b"\r\n" in data:
        converted = blob_id(data.replace(b"\r\n", b"\n"), len(published))
        return published if converted == published else oid
    return oid
