"""The tree a reader asks for: the published mapping with what differs laid over it. Writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from gitindex.base.confined_read import ConfinedRoot
from gitindex.base.escape import safe_text
from gitindex.base.vocabulary import EditScope, FreshnessState
from gitindex.base.worktree import Worktree
from gitindex.extract.policy import MAX_TEXT_BYTES
from gitindex.freshness.envelope import OverlayCoverage, freshness_object
from gitindex.git.command import read_blobs
from gitindex.git.interface import blob_id
from gitindex.git.merge_tree import MergedTree
from gitindex.git.settings import user_setting
from gitindex.git.worktree_probe import WorktreeProbe
from gitindex.languages.facts import BlobFacts, FactsKey, decode_facts
from gitindex.store.blobs import BlobTable
from gitindex.store.connection import marks
from gitindex.store.imported import ImportedFacts, imported_facts
from gitindex.view.overlay import (
    WORKTREE,
    OverlaidFile,
    Overlay,
    overlay_at,
    overlay_merged,
    overlay_staged,
    overlay_worktree,
    with_buffers,
)
from gitindex.view.overlay_tables import FactsMemory, OverlayTables
from gitindex.view.snapshot import Snapshot, fingerprint_digest, open_snapshot, verdict

if TYPE_CHECKING:
    from gitindex.base.answers import FreshnessFields, ReceiptFields, TrustFields

CHUNK = 400
"""Values of one SQL statement."""


class TreeChoice(NamedTuple):
    """Which tree a reader asks for, and how strictly."""

    strict: bool = False
    at: str = ""  # a commit, tag or branch
    staged: bool = False
    merged: MergedTree | None = None  # what a merge would give


NOW = TreeChoice()
"""The files as they are on disk this second."""


class TreeView:
    """One tree to answer for, in one snapshot of the store."""

    def __init__(self, served: Snapshot, overlay: Overlay, memory: FactsMemory) -> None:
        self.worktree = served.worktree
        self.served = served
        self.overlay = overlay
        self._memory = memory
        self._tables = OverlayTables(served, overlay, memory)

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """Rows of every part: `{live}` is the tree, `{symbols}` and so on are its facts.

        Order and limit hold within a part only. Facts of two parts may be in one table: a question
        that names no part of the tree is asked of it once.
        """
        return self._tables.rows(sql, *values)

    def published_rows(self, sql: str, *values: Any) -> list[Any]:
        """As `rows`, of the whole published tree: what is laid over it hides nothing."""
        return self._tables.published_rows(sql, *values)

    def laid_rows(self, sql: str, *values: Any) -> list[Any]:
        """As `rows`, of what is laid over the published tree."""
        return self._tables.laid_rows(sql, *values)

    def read(self, paths: Iterable[bytes]) -> dict[bytes, bytes]:
        """The bytes of live paths; those without content here are left out."""
        found: dict[bytes, bytes] = {}
        oids: dict[bytes, str] = {}
        wanted = list(paths)
        stored = self._base_oids([path for path in wanted if path not in self.overlay.laid])
        for path in wanted:
            if path in self.overlay.laid:
                laid = self.overlay.laid[path]
                if laid is not None and laid.data is not None:
                    found[path] = laid.data
                elif laid is not None and laid.oid:
                    oids[path] = laid.oid
            elif path in stored:
                oids[path] = stored[path]
        if self.overlay.source == WORKTREE:
            found |= self._unchanged(oids)
        absent = {path: oid for path, oid in oids.items() if path not in found}
        contents = read_blobs(self.worktree.root, list(absent.values()))
        return found | {path: contents[oid] for path, oid in absent.items() if oid in contents}

    def _unchanged(self, oids: dict[bytes, str]) -> dict[bytes, bytes]:
        """Files on disk whose bytes are the blob's, by its id: a tenth of what a git process costs."""
        found: dict[bytes, bytes] = {}
        with ConfinedRoot(self.worktree.root) as disk:
            for path, oid in oids.items():
                with suppress(OSError):
                    file = disk.read(path, MAX_TEXT_BYTES)
                    if file is not None and blob_id(file.data, len(oid)) == oid:
                        found[path] = file.data
        return found

    def ensure_facts(
        self, *, words: Iterable[str] | None = None, paths: Iterable[bytes] | None = None
    ) -> None:
        """Make sure that overlaid files have their facts in: all of them, or those that are asked for.

        `words`: files that contain one of them. `paths`: these files.
        """
        self._tables.ensure_facts(words, paths)

    def facts(self, key: FactsKey) -> BlobFacts | None:
        """All facts of one blob of this tree; None where it has none, or they wait."""
        return self._memory.get(key) or decode_facts(
            BlobTable(self.served.database).get(key) or b""
        )

    def changed(self) -> dict[bytes, OverlaidFile | None]:
        """Laid paths as they are now; None where one is gone."""
        return self.overlay.laid

    def envelope(self, **fields: Any) -> dict[str, Any]:
        """A whole answer: what was found, how fresh it is, and what proves it."""
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
        """May a certificate be given? Not while facts of a pack are unverified, unless the user says so."""
        if self._imported is None:
            return True
        certify = user_setting(self.worktree, "gitindex.pack.certify")
        return certify == "signed" and bool(self._imported.signer)

    @cached_property
    def _imported(self) -> ImportedFacts | None:
        return imported_facts(self.served.database)

    def source(self) -> str:
        """The `source` label of rows that come from the published tree."""
        return f"index@{self.overlay.tree}"

    def _freshness(self) -> FreshnessFields:
        """The state is the index's own; only another tree, asked for by name, has one of its own."""
        overlay = self.overlay
        differs = len(overlay.laid) + len(overlay.left_out)
        left_out = len(overlay.left_out) + len(self._tables.without_facts)
        other = overlay.source == self.source()  # a commit asked for by name
        state = verdict(self.served).freshness
        if other:
            state = FreshnessState.STALE if left_out else FreshnessState.FRESH
        coverage = OverlayCoverage(left_out=left_out)
        if not other:
            coverage = OverlayCoverage(differs, differs - left_out, left_out)
        mode, head = self._mode(other), self.served.seen.head
        return freshness_object(state, head, overlay.commit, mode, coverage)

    def _mode(self, other: bool) -> str:
        if other:
            return "at"
        if self.served.seen.progress:
            return "skipped_indexing"
        return "overlay" if self.overlay.laid else "served"

    def _receipt(self) -> ReceiptFields:
        return {
            "treeId": self.overlay.tree,
            "overlayDigest": self.overlay.digest,
            "generation": self.served.published.generation,
            "fingerprint": fingerprint_digest(self.served.published.fingerprint or ""),
        }

    def _base_oids(self, paths: list[bytes]) -> dict[bytes, str]:
        """The blobs of some paths of the published tree."""
        found: dict[bytes, str] = {}
        for at in range(0, len(paths), CHUNK):
            part = paths[at : at + CHUNK]
            rows = self.served.database.rows(
                "SELECT p.path, f.oid FROM paths p CROSS JOIN files f ON f.path_id=p.id"
                f" WHERE f.worktree_id=? AND p.path IN ({marks(part)})",
                self.served.published.worktree_id,
                *part,
            )
            found |= {path: oid.hex() for path, oid in rows}
        return found


def trust_fields(imported: ImportedFacts) -> TrustFields:
    """The `trust` object of an answer that rests on facts of a pack."""
    signer = safe_text(imported.signer) if imported.signer else None
    return {"imported": imported.imported, "verified": imported.verified, "signer": signer}


@contextmanager
def open_tree(
    worktree: Worktree,
    path: str,
    ask: TreeChoice = NOW,
    memory: FactsMemory | None = None,
    begun: WorktreeProbe | None = None,
    buffers: Mapping[bytes, bytes] | None = None,
) -> Iterator[TreeView]:
    """The tree that is asked for, behind the gate. Raises GateClosed where the gate is closed.

    `begun` is a look at the work tree that is under way, new files included. `buffers` are the
    unsaved texts of an editor by path: they take the place of the files on disk.
    """
    committed = ask.at or ask.staged or ask.merged
    scope = EditScope.NONE if committed else EditScope.ALL
    with open_snapshot(worktree, path, ask.strict, scope, begun) as served:
        if ask.at:
            overlay = overlay_at(served, ask.at)
        elif ask.staged:
            overlay = overlay_staged(served)
        elif ask.merged:
            overlay = overlay_merged(served, ask.merged)
        else:
            overlay = overlay_worktree(served)
            if buffers:
                overlay = with_buffers(overlay, served, buffers)
        yield TreeView(served, overlay, memory or FactsMemory())
