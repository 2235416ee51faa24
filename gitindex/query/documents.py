"""Documents by topic, day and text: filter first, then look only into what is left. Writes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.worktree import Worktree, path_fields, safe_text
from gitindex.extract.frontmatter import FrontMatter, body_of, parse_day
from gitindex.extract.policy import skip_content
from gitindex.extract.terms import decode_text
from gitindex.extract.trigrams import trigrams_of
from gitindex.languages.table import language_of
from gitindex.store.entities import LANGUAGES, Filter, conditions, front_matter_of, matches
from gitindex.store.trigrams import candidates
from gitindex.view.fallback import served_or_scanned
from gitindex.view.live_scan import FALLBACK, fallback_envelope, live_files, live_paths
from gitindex.view.tree import NOW, TreeChoice, TreeView, open_tree

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
MAX_TEXT = 500
MAX_WORDS = 16
MAX_TAGS = 32
MAX_LIMIT = 1_000
READ_AT_ONCE = 500
SNIPPET_LINES = 3
MAX_LINE = 240

Read = Callable[[Iterable[bytes]], dict[bytes, bytes]]


class Document(NamedTuple):
    """A document and what it says about itself."""

    path: bytes
    front: FrontMatter
    source: str
    blob_id: int | None = None  # of its stored facts


class DocumentQuery(NamedTuple):
    """What is asked for: words of the text, and what the front matter must have."""

    text: str = ""
    filter: Filter = Filter()
    limit: int = 20

    @property
    def words(self) -> list[str]:
        return list(dict.fromkeys(self.text[:MAX_TEXT].casefold().split()))[:MAX_WORDS]


class _Place(NamedTuple):
    line: int  # 0-based
    lines: list[str]


class _DocumentRow(NamedTuple):
    document: Document
    place: _Place
    score: float


_NOTHING = FrontMatter((), "", "")


open_index = open_tree
"""The contract's name: the documents of a tree are asked for through its view."""


def find_documents(
    worktree: Worktree, path: str, wanted: DocumentQuery, ask: TreeChoice = NOW
) -> dict[str, Any]:
    """The documents that are wanted, as an envelope. Without a usable store: by a live scan."""
    _check(wanted)

    def serve() -> dict[str, Any]:
        with open_index(worktree, path, ask) as view:
            documents = _narrowed(view, query_index(view, *wanted.filter), wanted.words)
            return view.envelope(**_fields(wanted, documents, view.read))

    def scan(why: str) -> dict[str, Any]:
        documents = _scan(worktree, wanted.filter)
        fields = _fields(wanted, documents, lambda paths: dict(live_files(worktree, paths)))
        return fallback_envelope(worktree, why, **fields)

    return served_or_scanned(ask, serve, scan)


def query_index(
    view: TreeView, tags: tuple[str, ...] = (), date_from: str = "", date_to: str = ""
) -> list[Document]:
    """The documents with all of the topics and a day within the bounds; newest first."""
    wanted = Filter(tags, date_from, date_to)
    changed = view.changed()
    stored = _stored(view, wanted) if wanted != Filter() else _all_stored(view)
    found = [d for d in stored if d.path not in changed and is_document(d.path)]
    return _ordered([*found, *_laid(view, wanted)])


def _narrowed(view: TreeView, documents: list[Document], words: list[str]) -> list[Document]:
    """Those of the documents that may contain all words, as far as their trigrams tell."""
    clauses = [frozenset({found}) for word in words if (found := trigrams_of(word))]
    if not clauses or any("\ufffd" in word for word in words):  # it stands for bytes of any kind
        return documents
    maybe = candidates(view.served.database, clauses)
    if maybe is None:
        return documents
    return [d for d in documents if d.blob_id is None or d.blob_id in maybe]


def is_document(path: bytes) -> bool:
    """Does the name of a file say that it is a document?"""
    return path.lower().endswith(SUFFIXES)


def _check(wanted: DocumentQuery) -> None:
    tags, *bounds = wanted.filter
    if not wanted.words and wanted.filter == Filter():
        raise GitIndexError(
            "nothing is asked for", "give a text, --tag, --from or --to", Exit.USAGE
        )
    if len(tags) > MAX_TAGS or not all(tag.strip() for tag in tags):
        raise GitIndexError(f"1 to {MAX_TAGS} tags, none of them empty", code=Exit.USAGE)
    for bound in bounds:
        if bound and parse_day(bound) is None:
            raise GitIndexError(
                f"not a date: {safe_text(bound)}", "write it as YYYY-MM-DD", Exit.USAGE
            )


def _stored(view: TreeView, wanted: Filter) -> Iterator[Document]:
    sql, values = conditions(view.served.database, wanted)
    rows = view.rows(
        "SELECT l.path, d.topics, d.summary, d.created_at, l.source, l.blob_id FROM {documents} d"
        f" JOIN {{live}} l ON l.blob_id=d.blob_id WHERE {sql}",
        *values,
    )
    return map(_document, rows)


def _all_stored(view: TreeView) -> Iterator[Document]:
    marks = ",".join("?" * len(LANGUAGES))
    rows = view.rows(
        "SELECT l.path, d.topics, d.summary, d.created_at, l.source, l.blob_id FROM {live} l"
        " JOIN {blobs} b ON b.id=l.blob_id LEFT JOIN {documents} d ON d.blob_id=l.blob_id"
        f" WHERE b.status<>'skipped' AND b.language IN ({marks})",
        *LANGUAGES,
    )
    return map(_document, rows)


def _document(row: tuple[Any, ...]) -> Document:
    path, topics, summary, created_at, source, blob_id = row
    front = FrontMatter(tuple(json.loads(topics)), summary, created_at) if topics else _NOTHING
    return Document(path, front, source, blob_id)


def _laid(view: TreeView, wanted: Filter) -> Iterator[Document]:
    """What differs from the published tree is read at once: an edit shows in the next answer."""
    laid = view.changed()
    paths = [p for p, now in laid.items() if now and now.skip is None and is_document(p)]
    for path, data in view.read(paths).items():
        if skip_content(data) is None:
            yield from _matching(path, data, view.overlay.source, wanted)


def _scan(worktree: Worktree, wanted: Filter) -> list[Document]:
    paths = live_paths(worktree, is_document)
    found = (_matching(p, data, FALLBACK, wanted) for p, data in live_files(worktree, paths))
    return _ordered([document for some in found for document in some])


def _matching(path: bytes, data: bytes, source: str, wanted: Filter) -> Iterator[Document]:
    front = front_matter_of(language_of(path, b""), data)
    if matches(front, wanted):
        yield Document(path, front or _NOTHING, source)


def _ordered(documents: list[Document]) -> list[Document]:
    by_path = sorted(documents, key=lambda d: d.path)
    return sorted(by_path, key=lambda d: d.front.created_at, reverse=True)


def _fields(wanted: DocumentQuery, documents: list[Document], read: Read) -> dict[str, Any]:
    limit = max(1, min(wanted.limit, MAX_LIMIT))
    if wanted.words:
        found = _search(documents, wanted.words, read)
        chosen = sorted(found, key=lambda f: -f.score)[:limit]
        count = len(found)
    else:
        chosen = list(_heads(documents[:limit], read))
        count = len(documents)
    return {
        "query": wanted.text,
        "tags": list(wanted.filter.tags),
        "dateFrom": wanted.filter.date_from or None,
        "dateTo": wanted.filter.date_to or None,
        "results": [_result(found, wanted.words) for found in chosen],
        "totalCount": count,
        "truncated": count > len(chosen),
    }


def _result(found: _DocumentRow, words: list[str]) -> dict[str, Any]:
    document, place, _ = found
    return {
        **path_fields(document.path),
        "topics": list(document.front.topics),
        "summary": document.front.summary,
        "createdAt": document.front.created_at or None,
        "startLine": place.line + 1,
        "endLine": place.line + max(1, len(place.lines)),
        "snippet": "\n".join(line.rstrip("\r")[:MAX_LINE] for line in place.lines),
        "matched": words,
        "source": document.source,
    }


def _heads(documents: list[Document], read: Read) -> Iterator[_DocumentRow]:
    """Documents as the index has them, with their first paragraph."""
    contents = read([document.path for document in documents])
    for document in documents:
        text = decode_text(contents.get(document.path, b""))
        yield _DocumentRow(document, _first_paragraph(text), 0.0)


def _first_paragraph(text: str) -> _Place:
    lines = body_of(text).split("\n")
    before = text.count("\n") + 1 - len(lines)
    starts = (n for n, line in enumerate(lines) if line.strip() and line[:1] not in "#=:")
    start = next(starts, 0)
    end = start
    while end < len(lines) and lines[end].strip() and end - start < SNIPPET_LINES:
        end += 1
    return _Place(before + start, lines[start:end])


def _search(documents: list[Document], words: list[str], read: Read) -> list[_DocumentRow]:
    """The documents that contain every word, in any case, as a text: nothing is a pattern."""
    found = []
    for at in range(0, len(documents), READ_AT_ONCE):
        part = documents[at : at + READ_AT_ONCE]
        contents = read([document.path for document in part])
        for document in part:
            text = decode_text(contents.get(document.path, b""))
            folded = text.casefold()
            if all(word in folded for word in words):
                found.append(_look(document, text, folded, words))
    return found


def _look(document: Document, text: str, folded: str, words: list[str]) -> _DocumentRow:
    """The first line with the most of the words; a document named or tagged so stands above."""
    scores = [sum(word in line for word in words) for line in folded.split("\n")]
    best = max(scores)
    line = scores.index(best)
    said = f"{safe_text(document.path)} {' '.join(document.front[0])} {document.front.summary}"
    named = sum(word in said.casefold() for word in words)
    many = min(sum(folded.count(word) for word in words), 20) / 20
    lines = text.split("\n")[line : line + SNIPPET_LINES]
    return _DocumentRow(document, _Place(line, lines), 3.0 * named + best + many)
