"""A view: one tree's paths with the facts behind them. HEAD and the staged tree are just two mappings."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import NamedTuple

from gitindex.errors import GitIndexError
from gitindex.extract.frames import Request
from gitindex.extract.pool import Extractor, Task
from gitindex.facts import BlobFacts, FactsKey, Import, decode_facts
from gitindex.git.command import read_blobs, run_git
from gitindex.git.interface import Entry
from gitindex.languages import extractor_id, language_of
from gitindex.paths import Worktree
from gitindex.policy import read_policy, skip_content
from gitindex.store.blobs import BlobTable
from gitindex.store.connection import Database

MAX_EXTRACTED = 2_000
"""Blobs without stored facts that one question may extract in memory."""


class ViewFile(NamedTuple):
    """A path of a view that has facts."""

    oid: str
    language: str


class View:
    """Paths of one tree, under the policy of that tree."""

    def __init__(self, root: str, entries: list[Entry]) -> None:
        names = [e.oid for e in entries if e.path.rpartition(b"/")[2] in _POLICY_NAMES]
        contents = read_blobs(root, names)
        policy = read_policy(entries, lambda oid: contents.get(oid, b""))
        self.files = {
            os.fsdecode(e.path): ViewFile(e.oid, language_of(e.path, b""))
            for e in entries
            if policy.skip_path(e) is None
        }


_POLICY_NAMES = (b".gitattributes", b".gitindexignore")


def head_view(worktree: Worktree) -> View:
    """HEAD's tree; empty before the first commit."""
    if not run_git(worktree.root, "rev-list", "--all", "-n", "1"):
        return View(worktree.root, [])
    records = run_git(worktree.root, "ls-tree", "-r", "-z", "HEAD").split(b"\0")
    return View(worktree.root, [_entry(r, object_field=2) for r in records if r])


def staged_view(worktree: Worktree) -> View:
    """The tree the next commit will have: git's index, which a partial commit puts elsewhere."""
    told = os.environ.get("GIT_INDEX_FILE")  # relative to the work tree's root
    index = os.path.join(worktree.root, told) if told else None
    records = run_git(worktree.root, "ls-files", "-s", "-z", index=index).split(b"\0")
    if any(r.split(b"\t", 1)[0].split(b" ")[2] != b"0" for r in records if r):
        raise GitIndexError("the index has unmerged paths", "resolve them first")
    return View(worktree.root, [_entry(r, object_field=1) for r in records if r])


class FactsSource:
    """Facts of a view's files: from the store where it has them, else extracted in memory."""

    def __init__(self, root: str, database: Database) -> None:
        self._root = root
        self._db = database
        self._table = BlobTable(database)
        self._extracted: dict[ViewFile, BlobFacts | None] = {}

    def of(self, file: ViewFile) -> BlobFacts | None:
        """All facts of one file, None where its content is left out."""
        if file not in self._extracted:
            stored = decode_facts(self._table.get(_key(file)) or b"")
            if stored is not None:
                return stored
            self._extract([file])
        return self._extracted[file]

    def imports(self, files: Iterable[ViewFile]) -> dict[ViewFile, tuple[Import, ...]]:
        """The imports of many files at once."""
        ids = self._stored_ids(files)
        found: dict[ViewFile, list[Import]] = {file: [] for file in ids.values()}
        for blob_id, module, names, level, line in self._db.rows(
            "SELECT blob_id, module, names, level, line FROM imports ORDER BY blob_id, ordinal"
        ):
            if blob_id in ids:
                pairs = tuple((a, b) for a, b in json.loads(names))
                found[ids[blob_id]].append(Import(module, pairs, level, line))
        extracted = {f: facts.imports for f, facts in self._extracted.items() if facts}
        return {file: tuple(rows) for file, rows in found.items()} | extracted

    def defined(self, names: set[str], files: Iterable[ViewFile]) -> set[str]:
        """Those of `names` that any of `files` defines."""
        ids = self._stored_ids(files)
        found = {
            name
            for name in names
            for (blob_id,) in self._db.rows(
                "SELECT s.blob_id FROM symbols s JOIN names n ON n.id=s.name_id WHERE n.text=?",
                name,
            )
            if blob_id in ids
        }
        extracted = (facts.symbols for facts in self._extracted.values() if facts)
        return found | (names & {symbol.name for symbols in extracted for symbol in symbols})

    def _stored_ids(self, files: Iterable[ViewFile]) -> dict[int, ViewFile]:
        """Row ids of the files that the store knows; the others are extracted."""
        by_key = {_key(file): file for file in files}
        ids = self._table.ids(by_key)
        self._extract([file for key, file in by_key.items() if key not in ids])
        return {blob_id: by_key[key] for key, blob_id in ids.items()}

    def _extract(self, files: list[ViewFile]) -> None:
        todo = [file for file in files if file not in self._extracted]
        if len(todo) > MAX_EXTRACTED:
            raise GitIndexError(f"{len(todo)} blobs are not indexed yet", "run `gitindex wait`")
        self._extracted |= dict.fromkeys(todo)
        contents = read_blobs(self._root, [file.oid for file in todo])
        by_key = {_key(file): file for file in todo}
        tasks = [
            Task(key, Request(file.language, contents[file.oid]))
            for key, file in by_key.items()
            if file.oid in contents and skip_content(contents[file.oid]) is None
        ]
        extractor = Extractor()
        try:
            for task, reply in extractor.extract(tasks):
                self._extracted[by_key[task.key]] = decode_facts(reply.payload)
        finally:
            extractor.close()


def _key(file: ViewFile) -> FactsKey:
    return FactsKey(file.oid, extractor_id(file.language))


def _entry(record: bytes, object_field: int) -> Entry:
    meta, path = record.split(b"\t", 1)
    fields = meta.split(b" ")
    return Entry(path, int(fields[0], 8), fields[object_field].decode())
