"""The tree a reader asks for: the published mapping under an overlay. Writes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gitindex.base.confined_read import ConfinedRoot
from gitindex.base.escape import safe_text
from gitindex.base.light_types import NamedTuple
from gitindex.base.tree_edit import undo_unfinished
from gitindex.base.vocabulary import MAX_TEXT_BYTES, EditScope, FreshnessState, SkipReason
from gitindex.base.worktree import Worktree
from gitindex.freshness.envelope import OverlayCoverage, freshness_object
from gitindex.git.command import read_blobs
from gitindex.git.interface import blob_id
from gitindex.git.settings import user_setting
from gitindex.languages.facts import BlobFacts, FactsKey, decode_facts
from gitindex.store.blobs import BlobTable, ImportedFacts, imported_facts
from gitindex.view.footprint import Footprint
from gitindex.view.overlay import (
    STAGED,
    WORKTREE,
    FactsMemory,
    OverlaidFile,
    Overlay,
    OverlayTables,
    is_clean,
)
from gitindex.view.snapshot import Snapshot, fingerprint_digest, open_snapshot, verdict

if TYPE_CHECKING:
    from gitindex.base.answers import FreshnessFields, ReceiptFields, TrustFields
    from gitindex.git.merge_tree import MergedTree
    from gitindex.git.status_cache import Probe

_UNSEEN = frozenset({SkipReason.OVERSIZE, SkipReason.MISSING_BLOB})
BLOBS_NAMED = (
    "{names} n CROSS JOIN {name_blobs} b ON b.name_id=n.id"
    " CROSS JOIN json_each(blob_list(b.first, b.others)) u"
)
"""For `TreeView.rows`: names `n` with the blobs `u.value` that use them."""


class TreeChoice(NamedTuple):
    """Which tree a reader asks for, and how strictly."""

    strict: bool = False
    at: str = ""  # a commit, tag or branch
    staged: bool = False
    merged: MergedTree | None = None  # the result of a merge


NOW = TreeChoice()
"""The files as they are on disk now."""


class TreeView:
    """One tree to query, in one snapshot of the store."""

    def __init__(self, served: Snapshot, overlay: Overlay, memory: FactsMemory) -> None:
        self.worktree = served.worktree
        self.served = served
        self.overlay = overlay
        self._memory = memory
        self._tables = OverlayTables(served, overlay, memory)
        self.footprint = Footprint()

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """Return rows of every part: `{live}` is the tree, `{symbols}` and so on are its facts.

        ORDER BY and LIMIT apply within a part only. Two parts may share a table of facts: a query
        that is the same for both parts runs once.
        """
        return self._tables.rows(sql, *values)

    def published_rows(self, sql: str, *values: Any) -> list[Any]:
        """Like `rows`, for the whole published tree: the overlay hides nothing."""
        return self._tables.published_rows(sql, *values)

    def overlay_rows(self, sql: str, *values: Any) -> list[Any]:
        """Like `rows`, for the overlay only."""
        return self._tables.overlay_rows(sql, *values)

    def read(self, paths: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the bytes of live paths; paths without content are left out."""
        names = list(paths)
        texts, oids = self._overlaid(names)
        oids |= self._base_oids([path for path in names if path not in self.overlay.files])
        if self.overlay.source == WORKTREE:
            texts |= self._unchanged(oids)
        absent = {path: oid for path, oid in oids.items() if path not in texts}
        contents = read_blobs(self.worktree.root, list(absent.values()))
        return texts | {path: contents[oid] for path, oid in absent.items() if oid in contents}

    def _overlaid(self, paths: list[bytes]) -> tuple[dict[bytes, bytes], dict[bytes, str]]:
        """Return the bytes of overlaid paths where they are known, else their blob ids."""
        texts: dict[bytes, bytes] = {}
        oids: dict[bytes, str] = {}
        for path in paths:
            file = self.overlay.files.get(path)
            if file is not None and file.data is not None:
                texts[path] = file.data
            elif file is not None and file.oid:
                oids[path] = file.oid
        return texts, oids

    def _unchanged(self, oids: dict[bytes, str]) -> dict[bytes, bytes]:
        """Read files on disk that match their blob id: a tenth of the cost of a git process."""
        texts: dict[bytes, bytes] = {}
        with ConfinedRoot(self.worktree.root) as disk:
            for path, oid in oids.items():
                text = self._memory.text(oid)
                if text is not None:
                    texts[path] = text
                    continue
                with suppress(OSError):
                    file = disk.read(path, MAX_TEXT_BYTES)
                    if file is not None and blob_id(file.data, len(oid)) == oid:
                        texts[path] = file.data
                        self._memory.keep_text(oid, file.data)
        return texts

    def ensure_facts(
        self, *, words: Iterable[str] | None = None, paths: Iterable[bytes] | None = None
    ) -> None:
        """Extract facts of overlaid files: all of them, or those selected.

        `words`: files that contain one of them. `paths`: these files.
        """
        self._tables.ensure_facts(words, paths)

    def lacks_facts(self) -> bool:
        """Return whether edited files were requested and have no facts: the budget is used up."""
        return bool(self._tables.without_facts)

    def facts(self, key: FactsKey) -> BlobFacts | None:
        """Return all facts of one blob of this tree; None if it has none or they are not loaded."""
        return self._memory.get(key) or decode_facts(
            BlobTable(self.served.database).get(key) or b""
        )

    def parse(self, data: bytes, language: str) -> BlobFacts | None:
        """Return the facts of a text that is in no file; None if it is not read."""
        return self._tables.parse(data, language)

    def changed(self) -> dict[bytes, OverlaidFile | None]:
        """Return overlaid paths in their current state; None for a deleted path."""
        return self.overlay.files

    def envelope(self, **fields: Any) -> dict[str, Any]:
        """Return a whole answer: these fields, the freshness and the receipt."""
        answer = {
            "status": "ok",
            "codebaseRoot": safe_text(self.worktree.root),
            **fields,
            "freshness": self._freshness(),
            "receipt": self._receipt(),
        }
        if self._imported is not None:
            answer["trust"] = trust_fields(self._imported)
        if answer.get("complete") and not self.may_certify():
            answer["complete"] = False
        return answer

    def may_certify(self) -> bool:
        """Return whether certificates may be given: no limit left anything out.

        Facts of an imported pack do not allow it, unless the pack is signed and the user configured
        `gitindex.pack.certify` as `signed`.
        """
        if self.left_out():
            return False
        if self._imported is None:
            return True
        certify = user_setting(self.worktree, "gitindex.pack.certify")
        return certify == "signed" and bool(self._imported.signer)

    def left_out(self) -> int:
        """Count paths that this answer cannot show: over a budget or a limit, or without a blob."""
        edits = len(self.overlay.left_out) + len(self._tables.without_facts)
        if self.overlay.source == WORKTREE:
            edits += self.served.seen.head.unchecked + self.overlay.as_blobs
        return edits + self._left_out_of_tree

    @cached_property
    def _left_out_of_tree(self) -> int:
        marker = self.served.seen.proof.marker
        files = self.overlay.files.values()
        if marker and not marker.left_out and not any(f and f.skip in _UNSEEN for f in files):
            return 0
        row = self.rows(
            "SELECT count(*) FROM {live} l LEFT JOIN {blobs} b ON b.id=l.blob_id WHERE l.skip IN"
            " ('oversize', 'missing_blob') OR b.status='skipped' AND b.reason='oversize'"
        )
        return sum(count for (count,) in row)

    @cached_property
    def _imported(self) -> ImportedFacts | None:
        return imported_facts(self.served.database)

    def source(self) -> str:
        """The `source` label of rows that come from the published tree."""
        return f"index@{self.overlay.tree}"

    def _freshness(self) -> FreshnessFields:
        """Return the index's own freshness; a tree requested by name has a state of its own."""
        overlay = self.overlay
        differs = len(overlay.files) + len(overlay.left_out)
        hidden = len(overlay.left_out) + len(self._tables.without_facts)
        other = overlay.source == self.source()  # a commit requested by name
        state = verdict(self.served).freshness
        if other:
            state = FreshnessState.STALE if hidden else FreshnessState.FRESH
        mode, head = self._mode(other), self.served.seen.head
        coverage = OverlayCoverage(left_out=self.left_out())
        if not other:
            age = 0 if overlay.source == STAGED else head.age_ms
            coverage = OverlayCoverage(differs, differs - hidden, self.left_out(), age)
        return freshness_object(state, head, overlay.commit, mode, coverage)

    def _mode(self, other: bool) -> str:
        if other:
            return "at"
        if self.served.seen.progress:
            return "skipped_indexing"
        return "overlay" if self.overlay.files else "served"

    def _receipt(self) -> ReceiptFields:
        return {
            "treeId": self.overlay.tree,
            "overlayDigest": self.overlay.digest,
            "generation": self.served.published.generation,
            "fingerprint": fingerprint_digest(self.served.published.fingerprint or ""),
        }

    def receipt(self) -> ReceiptFields:
        """Return the receipt of an answer that depends on nothing but its footprint."""
        fields, footprint = self._receipt(), self._footprint()
        return {**fields, "footprint": footprint} if footprint else fields

    def _footprint(self) -> dict[str, Any] | None:
        """Return what the answer was made from; of a tree requested by its name nothing can change."""
        if self.overlay.source == self.source():
            return {"named": True}
        if self.overlay.source != WORKTREE or self.overlay.left_out:
            return None
        files = self.overlay.files.items()
        return self.footprint.fields(
            {
                os.fsdecode(path): (file.oid, file.data) if file else ("", b"")
                for path, file in files
            }
        )

    def published_oid(self, path: bytes) -> str:
        """Return the blob id of a path of the published tree; empty if it has none."""
        return self._base_oids([path]).get(path, "")

    def _base_oids(self, paths: list[bytes]) -> dict[bytes, str]:
        """Return the blob ids of some paths of the published tree."""
        rows = self.served.database.rows_among(
            "SELECT p.path, f.oid FROM paths p CROSS JOIN files f ON f.path_id=p.id"
            " WHERE f.worktree_id=? AND p.path IN ({marks})",
            paths,
            self.served.published.worktree_id,
        )
        return {path: oid.hex() for path, oid in rows}


def trust_fields(imported: ImportedFacts) -> TrustFields:
    """Return the `trust` object of an answer that uses facts of a pack."""
    signer = safe_text(imported.signer) if imported.signer else None
    return {"imported": imported.imported, "verified": imported.verified, "signer": signer}


@contextmanager
def open_tree(
    worktree: Worktree,
    path: str,
    ask: TreeChoice = NOW,
    memory: FactsMemory | None = None,
    started_probe: Probe | None = None,
    buffers: Mapping[bytes, bytes] | None = None,
) -> Iterator[TreeView]:
    """Open the requested tree. Raises GateClosed if the gate is closed.

    `started_probe` is a running probe of the work tree, new files included. `buffers` maps paths to unsaved
    texts of an editor, which replace the files on disk.
    """
    undo_unfinished(worktree)
    committed = ask.at or ask.staged or ask.merged
    scope = EditScope.NONE if committed else EditScope.ALL
    if started_probe is None and memory is not None and not committed:
        started_probe = memory.status_cache.start(worktree)
    with open_snapshot(worktree, path, ask.strict, scope, started_probe) as served:
        if not (committed or buffers) and is_clean(served):
            row = served.published
            overlay = Overlay(row.tree or "", row.head_commit, WORKTREE, {}, (), None)
        else:
            overlay = _overlay(served, ask, buffers)
        yield TreeView(served, overlay, memory or FactsMemory())


def _overlay(served: Snapshot, ask: TreeChoice, buffers: Mapping[bytes, bytes] | None) -> Overlay:
    from gitindex.view import difference  # lazily: mostly nothing differs

    if ask.at:
        return difference.overlay_at(served, ask.at)
    if ask.staged:
        return difference.overlay_staged(served)
    if ask.merged:
        return difference.overlay_merged(served, ask.merged)
    overlay = difference.overlay_worktree(served)
    return difference.with_buffers(overlay, served, buffers) if buffers else overlay
