"""The tree a reader asks for: the published mapping with what differs laid over it. Writes nothing."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from gitindex.base.confined_read import ConfinedRoot
from gitindex.base.escape import safe_text
from gitindex.base.vocabulary import EditScope, FreshnessState
from gitindex.base.worktree import Worktree
from gitindex.extract.policy import MAX_TEXT_BYTES
from gitindex.freshness.envelope import Coverage, freshness_object
from gitindex.git.command import read_blobs
from gitindex.git.interface import blob_id
from gitindex.git.worktree_probe import WorktreeProbe
from gitindex.languages.facts import BlobFacts, FactsKey, decode_facts
from gitindex.languages.table import extractor_id
from gitindex.store.blobs import BlobTable
from gitindex.view.overlay import (
    WORKTREE,
    OverlaidFile,
    Overlay,
    overlay_at,
    overlay_staged,
    overlay_worktree,
    with_buffers,
)
from gitindex.view.snapshot import Snapshot, fingerprint_digest, open_snapshot, verdict

MAX_EXTRACTED = 400
"""Files without stored facts that one answer extracts in memory."""
TABLES = ("blobs", "names", "symbols", "occurrences", "imports", "exports", "documents")
PREFIX = "laid_"

FIRST_ID = 1 << 40
"""Ids of laid blobs and names lie above all stored ones, so that no two parts share one."""

_FIRST_BLOB = f"INSERT INTO temp.laid_blobs VALUES ({','.join('?' * 11)})"
_REFERENCE = re.compile(r"\s+REFERENCES \w+\s*\(\w+\)( ON DELETE CASCADE)?")
_FILES = (
    "CREATE TEMP TABLE laid_files (path BLOB PRIMARY KEY, oid BLOB, mode INTEGER,"
    " blob_id INTEGER, skip TEXT, stored INTEGER, source TEXT) WITHOUT ROWID"
)
_BASE = (
    "(SELECT p.path AS path, f.oid AS oid, f.mode AS mode, f.blob_id AS blob_id, f.skip AS skip,"
    " '{source}' AS source FROM files f JOIN paths p ON p.id=f.path_id"
    " WHERE f.worktree_id={worktree}{hidden})"
)
_LAID = "(SELECT path, oid, mode, blob_id, skip, source FROM temp.laid_files WHERE stored={stored})"


class TreeChoice(NamedTuple):
    """How a reader wants to be served."""

    strict: bool = False
    at: str = ""  # a commit, tag or branch
    staged: bool = False


NOW = TreeChoice()
"""The files as they are on disk this second."""


class FactsMemory:
    """Facts of bytes that are in no store, kept by a process that answers many questions."""

    def __init__(self, limit: int = 2_000) -> None:
        self._limit = limit
        self._held: OrderedDict[FactsKey, BlobFacts] = OrderedDict()

    def get(self, key: FactsKey) -> BlobFacts | None:
        """The facts of `key`, if they are remembered."""
        return self._held.get(key)

    def put(self, key: FactsKey, facts: BlobFacts) -> None:
        """Remember facts; the oldest are forgotten."""
        self._held[key] = facts
        if len(self._held) > self._limit:
            self._held.popitem(last=False)


class TreeView:
    """One tree to answer for, in one snapshot of the store."""

    def __init__(self, served: Snapshot, overlay: Overlay, memory: FactsMemory) -> None:
        self.worktree = served.worktree
        self.served = served
        self.overlay = overlay
        self._db = served.database
        self._memory = memory
        self._waiting: dict[bytes, OverlaidFile] = {}  # laid paths whose facts are not in yet
        self._read: dict[bytes, bytes] | None = None  # their bytes, once they were looked at
        self._unread: set[bytes] = set()  # of those, what has no facts: no bytes, or no room left
        self._parts = [self._part("", self._base())]
        if overlay.laid or overlay.left_out:
            with self._db.scratch():
                self._lay()

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """Rows of every part: `{live}` is the tree, `{symbols}` and so on are its facts.

        Order and limit hold within a part only. Facts of two parts may be in one table: a question
        that names no part of the tree is asked of it once.
        """
        asked = dict.fromkeys(_fill(sql, part) for part in self._parts)
        return [row for text in asked for row in self._db.rows(text, *values)]

    def read(self, paths: Iterable[bytes]) -> dict[bytes, bytes]:
        """The bytes of live paths; those without content here are left out."""
        found: dict[bytes, bytes] = {}
        oids: dict[bytes, str] = {}
        for path in paths:
            if path in self.overlay.laid:
                laid = self.overlay.laid[path]
                if laid is not None and laid.data is not None:
                    found[path] = laid.data
                elif laid is not None and laid.oid:
                    oids[path] = laid.oid
            elif (oid := self._base_oid(path)) is not None:
                oids[path] = oid
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

    def mentioning(self, words: Iterable[str]) -> None:
        """See to it that laid files which contain one of these words have their facts in."""
        if not self._waiting:
            return
        needles = [word.lower().encode("utf-8", "surrogatepass") for word in words]
        self._load({p for p, data in self._texts().items() if _contains(data, needles)})

    def everything(self) -> None:
        """See to it that all laid files have their facts in."""
        if self._waiting:
            self._load(set(self._waiting))

    def facts(self, key: FactsKey) -> BlobFacts | None:
        """All facts of one blob of this tree; None where it has none, or they wait."""
        return self._memory.get(key) or decode_facts(BlobTable(self._db).get(key) or b"")

    def load(self, paths: Iterable[bytes]) -> None:
        """See to it that these laid files have their facts in."""
        wanted = self._waiting.keys() & set(paths)
        if wanted:
            self._load(wanted)

    def changed(self) -> dict[bytes, OverlaidFile | None]:
        """Laid paths as they are now; None where one is gone."""
        return self.overlay.laid

    def envelope(self, **fields: Any) -> dict[str, Any]:
        """A whole answer: what was found, how fresh it is, and what proves it."""
        return {
            "status": "ok",
            "codebaseRoot": safe_text(self.worktree.root),
            **fields,
            "freshness": self._freshness(),
            "receipt": self._receipt(),
        }

    def source(self) -> str:
        """Where what is not laid over comes from."""
        return f"index@{self.overlay.tree}"

    def _freshness(self) -> dict[str, Any]:
        """The state is the index's own; only another tree, asked for by name, has one of its own."""
        overlay = self.overlay
        differs = len(overlay.laid) + len(overlay.left_out)
        left_out = len(overlay.left_out) + len(self._unread)
        other = overlay.source == self.source()  # a commit asked for by name
        state = verdict(self.served).freshness
        if other:
            state = FreshnessState.STALE if left_out else FreshnessState.FRESH
        coverage = Coverage(left_out=left_out)
        if not other:
            coverage = Coverage(differs, differs - left_out, left_out)
        mode, head = self._mode(other), self.served.seen.head
        return freshness_object(state, head, overlay.commit, mode, coverage)

    def _mode(self, other: bool) -> str:
        if other:
            return "at"
        if self.served.seen.progress:
            return "skipped_indexing"
        return "overlay" if self.overlay.laid else "served"

    def _receipt(self) -> dict[str, Any]:
        return {
            "treeId": self.overlay.tree,
            "overlayDigest": self.overlay.digest,
            "generation": self.served.published.generation,
            "fingerprint": fingerprint_digest(self.served.published.fingerprint or ""),
        }

    def _base(self, hidden: str = "") -> str:
        worktree = self.served.published.worktree_id
        return _BASE.format(source=self.source(), worktree=worktree, hidden=hidden)

    @staticmethod
    def _part(prefix: str, live: str) -> dict[str, str]:
        return {"live": live} | {name: prefix + name for name in TABLES}

    def _base_oid(self, path: bytes) -> str | None:
        row = self._db.row(
            "SELECT f.oid FROM files f JOIN paths p ON p.id=f.path_id"
            " WHERE f.worktree_id=? AND p.path=?",
            self.served.published.worktree_id,
            path,
        )
        return row[0].hex() if row else None

    def _lay(self) -> None:
        """Temporary tables: what is hidden of the base, and what is laid in its place."""
        overlay = self.overlay
        self._db.run("CREATE TEMP TABLE laid_hidden (path_id INTEGER PRIMARY KEY)")
        self._db.run_many(
            "INSERT OR IGNORE INTO temp.laid_hidden SELECT id FROM paths WHERE path=?",
            ((path,) for path in (*overlay.laid, *overlay.left_out)),
        )
        self._db.run(_FILES)
        files = [laid for laid in overlay.laid.values() if laid is not None]
        stored = BlobTable(self._db).ids(_key(laid) for laid in files if laid.skip is None)
        self._db.run_many(
            "INSERT INTO temp.laid_files VALUES (?,?,?,?,?,?,?)",
            (
                (*_row(laid, stored.get(_key(laid))), laid.source or overlay.source)
                for laid in files
            ),
        )
        self._waiting = {f.path: f for f in files if f.skip is None and _key(f) not in stored}
        hidden = " AND f.path_id NOT IN (SELECT path_id FROM temp.laid_hidden)"
        self._parts = [
            self._part("", self._base(hidden)),
            self._part("", _LAID.format(stored=1)),
        ]
        if any(file.skip is not None for file in files) or self._waiting:
            for name in TABLES:
                self._copy_shape(name)
            self._db.run(_FIRST_BLOB, FIRST_ID, b"", *("",) * 4, *(0,) * 2, *("",) * 2, 0)
            self._db.run("INSERT INTO temp.laid_names VALUES (?,?)", FIRST_ID, "")
            self._parts.append(self._part(f"temp.{PREFIX}", _LAID.format(stored=0)))

    def _copy_shape(self, name: str) -> None:
        """An empty temporary table with the columns and keys of a stored one."""
        sql = self._db.row("SELECT sql FROM main.sqlite_master WHERE name=?", name)[0]
        own = sql.replace(f"CREATE TABLE {name} ", f"CREATE TEMP TABLE {PREFIX}{name} ", 1)
        self._db.run(_REFERENCE.sub("", own))

    def _texts(self) -> dict[bytes, bytes]:
        """The bytes of laid files that wait for their facts; read once."""
        if self._read is None:
            from_git = [laid.oid for laid in self._waiting.values() if laid.data is None]
            contents = read_blobs(self.worktree.root, from_git[:MAX_EXTRACTED])
            self._read = {
                path: data
                for path, laid in self._waiting.items()
                if (data := contents.get(laid.oid) if laid.data is None else laid.data) is not None
            }
            self._unread = self._waiting.keys() - self._read.keys()
        return self._read

    def _load(self, paths: set[bytes]) -> None:
        texts = self._texts()
        todo = sorted(paths & texts.keys() & self._waiting.keys())[:MAX_EXTRACTED]
        with self._db.scratch():
            table = BlobTable(self._db, f"temp.{PREFIX}")
            for path, facts in self._facts({path: texts[path] for path in todo}):
                key = _key(self._waiting.pop(path))
                added = table.add(key, facts, lexical=False)
                self._db.run(
                    "UPDATE temp.laid_files SET blob_id=? WHERE path=?", added.blob_id, path
                )
        self._unread |= paths & self._waiting.keys()

    def _facts(self, texts: dict[bytes, bytes]) -> Iterator[tuple[bytes, BlobFacts]]:
        # lazily: most answers extract nothing
        from gitindex.extract.extraction import extract_blobs
        from gitindex.extract.pool import Extractor

        paths: dict[FactsKey, list[bytes]] = {}
        bytes_of: dict[str, bytes | None] = {}
        for path, data in texts.items():
            laid = self._waiting[path]
            held = self._memory.get(_key(laid))
            if held is not None:
                yield path, held
            else:
                paths.setdefault(_key(laid), []).append(path)
                bytes_of[laid.oid] = data if len(data) <= MAX_TEXT_BYTES else None
        blobs = [(key, self._waiting[paths[key][0]].language) for key in paths]
        extractor = Extractor(workers=None if len(blobs) > 8 else 1)
        try:
            for blob in extract_blobs(blobs, bytes_of.__getitem__, extractor):
                self._memory.put(blob.key, blob.facts)
                for path in paths[blob.key]:
                    yield path, blob.facts
        finally:
            extractor.close()


@contextmanager
def open_tree(
    worktree: Worktree,
    path: str,
    ask: TreeChoice = NOW,
    memory: FactsMemory | None = None,
    begun: WorktreeProbe | None = None,
    buffers: Mapping[bytes, bytes] | None = None,
) -> Iterator[TreeView]:
    """The tree that is asked for, behind the gate. Raises Gated where the gate is closed.

    `begun` is a look at the work tree that is under way, new files included. `buffers` are the
    unsaved texts of an editor by path: they take the place of the files on disk.
    """
    scope = EditScope.NONE if ask.at or ask.staged else EditScope.ALL
    with open_snapshot(worktree, path, ask.strict, scope, begun) as served:
        if ask.at:
            overlay = overlay_at(served, ask.at)
        elif ask.staged:
            overlay = overlay_staged(served)
        else:
            overlay = overlay_worktree(served)
            if buffers:
                overlay = with_buffers(overlay, served, buffers)
        yield TreeView(served, overlay, memory or FactsMemory())


def _key(laid: OverlaidFile) -> FactsKey:
    return FactsKey(laid.oid, extractor_id(laid.language))


def _row(laid: OverlaidFile, blob_id: int | None) -> tuple[Any, ...]:
    skip = str(laid.skip) if laid.skip else None
    stored = int(blob_id is not None)
    return laid.path, bytes.fromhex(laid.oid), laid.mode, blob_id, skip, stored


def _fill(sql: str, part: dict[str, str]) -> str:
    for name, table in part.items():
        sql = sql.replace(f"{{{name}}}", table)
    return sql


def _contains(data: bytes, needles: list[bytes]) -> bool:
    lowered = data.lower()
    return any(needle in lowered for needle in needles)
