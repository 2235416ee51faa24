"""The overlay: paths that replace parts of the published mapping, and the temporary tables that hold it."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from gitindex.base.light_types import TYPE_CHECKING, NamedTuple
from gitindex.base.pattern import compile_later
from gitindex.base.recent import Recent
from gitindex.base.vocabulary import SkipReason
from gitindex.freshness.envelope import (
    MAX_EXTRACTED,
)
from gitindex.git.command import (
    read_blobs,
)
from gitindex.git.interface import blob_id
from gitindex.languages.facts import BlobFacts, FactsKey
from gitindex.languages.table import extractor_id
from gitindex.store import mapping
from gitindex.store.blobs import BlobTable
from gitindex.view.snapshot import Snapshot

if TYPE_CHECKING:
    from gitindex.extract.pool import Extractor
    from gitindex.git.status_cache import StatusCache

MAX_DIFFERENCE = 32 << 20
"""Bytes of `git diff-tree` output; beyond it the new tree is listed, which has its own caps."""
WORKTREE = "worktree"
STAGED = "staged"
BUFFER = "buffer"
"""The `source` of text that an editor holds and has not saved."""


class OverlaidFile(NamedTuple):
    """The current state of a path that differs. `data` is None if only git has the bytes."""

    path: bytes
    oid: str
    mode: int
    data: bytes | None
    language: str
    skip: SkipReason | None
    source: str = ""  # set if it differs from the overlay's source


class Overlay(NamedTuple):
    """The paths that replace parts of the published mapping, and their digest."""

    tree: str  # the base tree, or the requested tree
    commit: str | None
    source: str  # `source` label of overlaid paths
    files: dict[bytes, OverlaidFile | None]  # None: deleted
    left_out: tuple[bytes, ...]  # also differ, but exceed the budget: hidden, not shown
    digest: str | None
    as_blobs: int = 0  # files that git converted, over the budget: shown as their blobs


def is_clean(served: Snapshot) -> bool:
    """Is the published tree, whole, what is on disk? Then nothing is compared, nor imported for that."""
    seen, row = served.seen, served.published
    return row.tree == seen.head_tree and not (
        seen.head.differs or mapping.without_blob(served.database, row.worktree_id)
    )


MAX_TEXTS = 8 << 20
"""Bytes of blobs that a process remembers between queries."""
FEW = 8
"""Files that one child extracts; starting another costs more than it saves."""
TABLES = (
    *("blobs", "names", "symbols", "occurrences", "name_blobs", "imports", "exports", "documents"),
    "scopes",
)
PREFIX = "overlaid_"

FIRST_ID = 1 << 40
"""Ids of overlaid blobs and names start above all stored ones: no two parts share an id."""

_FIRST_BLOB = f"INSERT INTO temp.overlaid_blobs VALUES ({','.join('?' * 11)})"
_REFERENCE = compile_later(r"\s+REFERENCES \w+\s*\(\w+\)( ON DELETE CASCADE)?")
_FILES = (
    "CREATE TEMP TABLE overlaid_files (path BLOB PRIMARY KEY, oid BLOB, mode INTEGER,"
    " blob_id INTEGER, skip TEXT, stored INTEGER, source TEXT) WITHOUT ROWID"
)
_BASE = (
    "(SELECT p.path AS path, f.oid AS oid, f.mode AS mode, f.blob_id AS blob_id, f.skip AS skip,"
    " 'index@{tree}' AS source FROM files f JOIN paths p ON p.id=f.path_id"
    " WHERE f.worktree_id={worktree}{hidden})"
)
_ROWS = (
    "(SELECT path, oid, mode, blob_id, skip, source FROM temp.overlaid_files WHERE stored={stored})"
)


class FactsMemory:
    """Facts of bytes that are in no store, kept by a process that answers many queries."""

    def __init__(self, limit: int = 2_000) -> None:
        self._limit = limit
        self._kept: OrderedDict[FactsKey, BlobFacts] = OrderedDict()
        self._extractor: Extractor | None = None
        self._texts = Recent(MAX_TEXTS)

    def text(self, oid: str) -> bytes | None:
        """Return the bytes of a blob if they are remembered."""
        data: bytes | None = self._texts.get(oid)
        return data

    def keep_text(self, oid: str, data: bytes) -> None:
        """Remember the bytes of a blob; the oldest are dropped beyond `MAX_TEXTS` bytes."""
        self._texts.keep(oid, data, len(data))

    @cached_property
    def status_cache(self) -> StatusCache:
        """The remembered states of work trees; made for a process that asks often."""
        from gitindex.git.status_cache import StatusCache

        return StatusCache()

    def get(self, key: FactsKey) -> BlobFacts | None:
        """Return the facts of `key` if they are remembered."""
        return self._kept.get(key)

    def put(self, key: FactsKey, facts: BlobFacts) -> None:
        """Remember facts; the oldest are dropped beyond the limit."""
        self._kept[key] = facts
        if len(self._kept) > self._limit:
            self._kept.popitem(last=False)

    @contextmanager
    def workers(self, blobs: int) -> Iterator[Extractor]:
        """Yield an extractor for this many blobs; a few go to the children kept for later."""
        from gitindex.extract.pool import Extractor  # lazily: most answers extract nothing

        if blobs > FEW:
            many = Extractor()
            try:
                yield many
            finally:
                many.close()
            return
        yield self.kept_workers()

    def kept_workers(self) -> Extractor:
        """Return the extractor that lives as long as this memory; its children start on demand."""
        from gitindex.extract.pool import Extractor

        if self._extractor is None:
            self._extractor = Extractor(workers=2)
            weakref.finalize(self, self._extractor.close)
        return self._extractor


class OverlayTables:
    """The parts of one tree in SQL: published rows that are not hidden, and overlaid rows.

    Overlaid files have no facts at first: `ensure_facts` extracts those that a query needs.
    """

    def __init__(self, served: Snapshot, overlay: Overlay, memory: FactsMemory) -> None:
        self._served = served
        self._overlay = overlay
        self._db = served.database
        self._memory = memory
        self._waiting: dict[bytes, OverlaidFile] = {}  # overlaid paths without facts so far
        self._read: dict[bytes, bytes] | None = None  # their bytes, once they are read
        self.without_facts: set[bytes] = set()  # requested, but without bytes or over the budget
        self._parts = [self._part("", self._base())]
        if overlay.files or overlay.left_out:
            with self._db.scratch():
                self._lay()

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """Return rows of every part; see `TreeView.rows`."""
        return self._rows(self._parts, sql, values)

    def published_rows(self, sql: str, *values: Any) -> list[Any]:
        """Return rows of the published tree, with nothing hidden."""
        return self._rows([self._part("", self._base())], sql, values)

    def overlay_rows(self, sql: str, *values: Any) -> list[Any]:
        """Return rows of the overlay."""
        return self._rows(self._parts[1:], sql, values)

    def _rows(self, parts: list[dict[str, str]], sql: str, values: tuple[Any, ...]) -> list[Any]:
        queries = dict.fromkeys(_fill(sql, part) for part in parts)
        return [row for text in queries for row in self._db.rows(text, *values)]

    def ensure_facts(self, words: Iterable[str] | None, paths: Iterable[bytes] | None) -> None:
        """Extract overlaid files: all, these paths, or those that contain one of the words."""
        if not self._waiting:
            return
        needed = self._waiting.keys() & set(self._waiting if paths is None else paths)
        if words is not None and needed:
            needles = [word.lower().encode("utf-8", "surrogatepass") for word in words]
            texts = self._texts()
            needed = {p for p in needed & texts.keys() if _contains(texts[p], needles)}
        if needed:
            self._load(needed)

    def _base(self, hidden: str = "") -> str:
        worktree, tree = self._served.published.worktree_id, self._overlay.tree
        return _BASE.format(tree=tree, worktree=worktree, hidden=hidden)

    @staticmethod
    def _part(prefix: str, live: str) -> dict[str, str]:
        return {"live": live} | {name: prefix + name for name in TABLES}

    def _lay(self) -> None:
        """Create the temporary tables: what is hidden of the base, and what replaces it."""
        overlay = self._overlay
        self._db.run("CREATE TEMP TABLE overlaid_hidden (path_id INTEGER PRIMARY KEY)")
        self._db.run_many(
            "INSERT OR IGNORE INTO temp.overlaid_hidden SELECT id FROM paths WHERE path=?",
            ((path,) for path in (*overlay.files, *overlay.left_out)),
        )
        self._db.run(_FILES)
        files = [file for file in overlay.files.values() if file is not None]
        self._add_files(files)
        hidden = " AND f.path_id NOT IN (SELECT path_id FROM temp.overlaid_hidden)"
        self._parts = [
            self._part("", self._base(hidden)),
            self._part("", _ROWS.format(stored=1)),
        ]
        if any(file.skip is not None for file in files) or self._waiting:
            for name in TABLES:
                self._copy_shape(name)
            self._db.run(
                "CREATE UNIQUE INDEX temp.overlaid_order ON overlaid_symbols (blob_id, ordinal)"
            )
            self._db.run(_FIRST_BLOB, FIRST_ID, b"", *("",) * 4, *(0,) * 2, *("",) * 2, 0)
            self._db.run("INSERT INTO temp.overlaid_names VALUES (?,?)", FIRST_ID, "")
            self._parts.append(self._part(f"temp.{PREFIX}", _ROWS.format(stored=0)))

    def _add_files(self, files: list[OverlaidFile]) -> None:
        """Insert the overlaid paths; those whose blob has no facts yet wait for them."""
        stored = BlobTable(self._db).ids(_key(file) for file in files if file.skip is None)
        default = self._overlay.source
        self._db.run_many(
            "INSERT INTO temp.overlaid_files VALUES (?,?,?,?,?,?,?)",
            ((*_row(file, stored.get(_key(file))), file.source or default) for file in files),
        )
        self._waiting = {f.path: f for f in files if f.skip is None and _key(f) not in stored}

    def _copy_shape(self, name: str) -> None:
        """Create an empty temporary table with the columns and keys of a stored one, or of a view."""
        sql = self._db.row("SELECT sql FROM main.sqlite_master WHERE name=?", name)[0]
        if sql.startswith("CREATE VIEW"):
            sql = f"CREATE TABLE {name} AS SELECT * FROM {name} WHERE 0"
        own = sql.replace(f"CREATE TABLE {name} ", f"CREATE TEMP TABLE {PREFIX}{name} ", 1)
        self._db.run(_REFERENCE.sub("", own))

    def _texts(self) -> dict[bytes, bytes]:
        """Return the bytes of overlaid files without facts so far; read once."""
        if self._read is None:
            from_git = [file.oid for file in self._waiting.values() if file.data is None]
            contents = read_blobs(self._served.worktree.root, from_git[:MAX_EXTRACTED])
            self._read = {
                path: data
                for path, file in self._waiting.items()
                if (data := contents.get(file.oid) if file.data is None else file.data) is not None
            }
            self.without_facts = self._waiting.keys() - self._read.keys()
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
                    "UPDATE temp.overlaid_files SET blob_id=? WHERE path=?", added.blob_id, path
                )
        self.without_facts |= paths & self._waiting.keys()

    def parse(self, data: bytes, language: str) -> BlobFacts | None:
        """Return the facts of a text that is in no file; None if it is not read."""
        from gitindex.extract.pool import extract_blobs

        key = FactsKey(blob_id(data, 40), extractor_id(language))
        if (known := self._memory.get(key)) is not None:
            return known
        with self._memory.workers(1) as extractor:
            for blob in extract_blobs([(key, language)], lambda _: data, extractor):
                self._memory.put(key, blob.facts)
                return blob.facts
        return None

    def _facts(self, texts: dict[bytes, bytes]) -> Iterator[tuple[bytes, BlobFacts]]:
        # lazily: most answers extract nothing
        from gitindex.extract.pool import extract_blobs

        paths: dict[FactsKey, list[bytes]] = {}
        bytes_of: dict[str, bytes | None] = {}
        for path, data in texts.items():
            file = self._waiting[path]
            known = self._memory.get(_key(file))
            if known is not None:
                yield path, known
            else:
                paths.setdefault(_key(file), []).append(path)
                bytes_of[file.oid] = data
        blobs = [(key, self._waiting[paths[key][0]].language) for key in paths]
        if not blobs:
            return
        with self._memory.workers(len(blobs)) as extractor:
            for blob in extract_blobs(blobs, bytes_of.__getitem__, extractor):
                self._memory.put(blob.key, blob.facts)
                for path in paths[blob.key]:
                    yield path, blob.facts


def _key(file: OverlaidFile) -> FactsKey:
    return FactsKey(file.oid, extractor_id(file.language))


def _row(file: OverlaidFile, blob_id: int | None) -> tuple[Any, ...]:
    skip = str(file.skip) if file.skip else None
    stored = int(blob_id is not None)
    return file.path, bytes.fromhex(file.oid), file.mode, blob_id, skip, stored


def _fill(sql: str, part: dict[str, str]) -> str:
    for name, table in part.items():
        sql = sql.replace(f"{{{name}}}", table)
    return sql


def _contains(data: bytes, needles: list[bytes]) -> bool:
    """May a text have one of the words? Names may be spelled with other letters, or with escapes."""
    lowered = data.lower()
    return not data.isascii() or b"\\u" in data or any(needle in lowered for needle in needles)
