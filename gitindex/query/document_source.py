"""List documents: from the index, from edits, from a configured folder, or by a live scan."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from gitindex.base.errors import GitIndexError
from gitindex.base.worktree import Worktree, normalize_rel_path
from gitindex.extract.frontmatter import FrontMatter, has_field, read_fields
from gitindex.extract.policy import skip_content
from gitindex.extract.policy_secrets import is_secret
from gitindex.extract.terms import decode_text
from gitindex.git.settings import read_settings
from gitindex.languages.table import language_of
from gitindex.store.connection import marks
from gitindex.store.entities import (
    HEAD_BYTES,
    LANGUAGES,
    Filter,
    conditions,
    front_matter_of,
    matches,
)
from gitindex.view.live_scan import FALLBACK, live_files, live_paths
from gitindex.view.overlay import WORKTREE
from gitindex.view.tree import TreeView

SUFFIXES = (
    b".md",
    b".markdown",
    b".mdown",
    b".mkd",
    b".mdx",
    b".rst",
    b".rest",
    b".adoc",
    b".asciidoc",
)
MAX_UNTRACKED = 5_000
"""Documents of configured folders that one answer reads."""
READ_AT_ONCE = 500

Read = Callable[[Iterable[bytes]], dict[bytes, bytes]]
FieldFilters = tuple[tuple[str, str], ...]


class Document(NamedTuple):
    """A document and its front matter."""

    path: bytes
    front: FrontMatter
    source: str
    blob_id: int | None = None  # the blob of its stored facts


_NOTHING = FrontMatter((), "", "")


def is_document(path: bytes) -> bool:
    """Return whether a file is a document, by its name."""
    return path.lower().endswith(SUFFIXES)


def documents_of(view: TreeView, wanted: Filter = Filter()) -> list[Document]:  # noqa: B008
    """Return the documents of a tree with all topics and a day within the bounds, newest first."""
    changed = view.changed()
    stored = _stored(view, wanted) if wanted != Filter() else _all_stored(view)
    found = [d for d in stored if d.path not in changed and is_document(d.path)]
    found += _laid(view, wanted)
    if view.overlay.source == WORKTREE:
        known = {document.path for document in found}
        found += _untracked(view.worktree, wanted, known)
    return _ordered(found)


def scanned_documents(worktree: Worktree, wanted: Filter) -> list[Document]:
    """Return the same without an index, by reading every document on disk."""
    paths = live_paths(worktree, is_document)
    found = (_matching(p, data, FALLBACK, wanted) for p, data in live_files(worktree, paths))
    listed = [document for some in found for document in some]
    return _ordered([*listed, *_untracked(worktree, wanted, set(paths))])


def reader_of(view: TreeView) -> Read:
    """Return a reader for documents of a tree and of configured folders."""

    def read(paths: Iterable[bytes]) -> dict[bytes, bytes]:
        asked = list(paths)
        found = view.read(asked)
        if view.overlay.source == WORKTREE:
            absent = [path for path in asked if path not in found and path not in view.changed()]
            found |= dict(live_files(view.worktree, absent))
        return found

    return read


def with_fields(documents: list[Document], fields: FieldFilters, read: Read) -> list[Document]:
    """Keep the documents whose front matter has all of these fields with these values."""
    if not fields:
        return documents
    kept = []
    for at in range(0, len(documents), READ_AT_ONCE):
        part = documents[at : at + READ_AT_ONCE]
        contents = read([document.path for document in part])
        for document in part:
            head = contents.get(document.path, b"")[:HEAD_BYTES]
            held = read_fields(decode_text(head), language_of(document.path, b""))
            if all(has_field(held, name, value) for name, value in fields):
                kept.append(document)
    return kept


def _stored(view: TreeView, wanted: Filter) -> Iterator[Document]:
    sql, values = conditions(view.served.database, wanted)
    rows = view.rows(
        "SELECT l.path, d.topics, d.summary, d.created_at, l.source, l.blob_id FROM {documents} d"
        f" JOIN {{live}} l ON l.blob_id=d.blob_id WHERE {sql}",
        *values,
    )
    return map(_document, rows)


def _all_stored(view: TreeView) -> Iterator[Document]:
    rows = view.rows(
        "SELECT l.path, d.topics, d.summary, d.created_at, l.source, l.blob_id FROM {live} l"
        " JOIN {blobs} b ON b.id=l.blob_id LEFT JOIN {documents} d ON d.blob_id=l.blob_id"
        f" WHERE b.status<>'skipped' AND b.language IN ({marks(LANGUAGES)})",
        *LANGUAGES,
    )
    return map(_document, rows)


def _document(row: tuple[Any, ...]) -> Document:
    path, topics, summary, created_at, source, blob_id = row
    front = FrontMatter(tuple(json.loads(topics)), summary, created_at) if topics else _NOTHING
    return Document(path, front, source, blob_id)


def _laid(view: TreeView, wanted: Filter) -> Iterator[Document]:
    """Yield documents of the overlay, read now: an edit shows in the next answer."""
    laid = view.changed()
    paths = [p for p, now in laid.items() if now and now.skip is None and is_document(p)]
    for path, data in view.read(paths).items():
        if skip_content(data) is None:
            yield from _matching(path, data, view.overlay.source, wanted)


def _untracked(worktree: Worktree, wanted: Filter, known: set[bytes]) -> Iterator[Document]:
    """Yield documents below the folders of `gitindex.documents` that git does not track."""
    values = read_settings(worktree)
    folders = [setting.value for setting in values if setting.name == "documents"]
    paths = {p for folder in folders for p in _below(worktree, folder)} - known
    for path, data in live_files(worktree, sorted(paths)[:MAX_UNTRACKED]):
        yield from _matching(path, data, WORKTREE, wanted)


def _below(worktree: Worktree, folder: str) -> Iterator[bytes]:
    """Yield paths of documents below a folder; links are not followed, secrets are skipped."""
    try:
        clean = normalize_rel_path(folder)
    except GitIndexError:
        return
    root = os.fsencode(worktree.root)
    for here, folders, names in os.walk(os.path.join(root, os.fsencode(clean))):
        folders[:] = sorted(name for name in folders if name != b".git")
        for name in names:
            path = os.path.relpath(os.path.join(here, name), root)
            if is_document(path) and not is_secret(path):
                yield path


def _matching(path: bytes, data: bytes, source: str, wanted: Filter) -> Iterator[Document]:
    front = front_matter_of(language_of(path, b""), data)
    if matches(front, wanted):
        yield Document(path, front or _NOTHING, source)


def _ordered(documents: list[Document]) -> list[Document]:
    by_path = sorted(documents, key=lambda d: d.path)
    return sorted(by_path, key=lambda d: d.front.created_at, reverse=True)
