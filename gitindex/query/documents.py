"""Documents by topic, day, field and text: from the index, from edits, or by a live scan. Read-only."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import path_fields, safe_text
from gitindex.base.worktree import Worktree, normalize_rel_path
from gitindex.extract.fragments import Clause, fragments_of
from gitindex.extract.frontmatter import (
    FrontMatter,
    body_of,
    has_field,
    parse_day,
    read_fields,
    same_topic,
)
from gitindex.extract.policy import is_secret, skip_content
from gitindex.extract.terms import decode_text
from gitindex.git.settings import read_settings
from gitindex.languages.table import language_of
from gitindex.query.grep.engines import search_disk, search_texts
from gitindex.query.grep.pattern import GrepPattern, LineLimits, ParsedPattern, understand
from gitindex.store.connection import marks
from gitindex.store.entities import (
    HEAD_BYTES,
    LANGUAGES,
    Filter,
    conditions,
    front_matter_of,
    matches,
)
from gitindex.store.text_index import candidates
from gitindex.view.live_scan import (
    FALLBACK,
    fallback_envelope,
    live_files,
    live_paths,
    served_or_scanned,
)
from gitindex.view.overlay import WORKTREE
from gitindex.view.tree import NOW, TreeChoice, TreeView, open_tree

if TYPE_CHECKING:
    from gitindex.base.answers import DocumentsAnswer

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
MAX_TEXT = 500
MAX_WORDS = 16
MAX_TAGS = 32
MAX_LIMIT = 1_000
MAX_TOPICS = 1_000
SNIPPET_LINES = 3
MAX_LINE = 240
_ALL = Filter()


class DocumentQuery(NamedTuple):
    """A document query: words or a pattern of the text, and conditions on the front matter."""

    text: str = ""
    filter: Filter = Filter()
    limit: int = 20
    fields: FieldFilters = ()  # other fields of the front matter, with their values
    regex: bool = False  # the text is a regular expression

    @property
    def words(self) -> list[str]:
        return list(dict.fromkeys(self.text.casefold().split()))[:MAX_WORDS]

    @property
    def pattern(self) -> ParsedPattern:
        return understand(GrepPattern(self.text, ignore_case=True))


class _TextPlace(NamedTuple):
    line: int  # 0-based
    lines: list[str]


class _DocumentRow(NamedTuple):
    document: Document
    place: _TextPlace
    score: float


class _Sources(NamedTuple):
    """How documents are read; `root` is set if they are on disk."""

    read: Read
    root: str = ""


def find_documents(
    worktree: Worktree, path: str, query: DocumentQuery, ask: TreeChoice = NOW
) -> DocumentsAnswer:
    """Return matching documents, as an envelope; by a live scan without a usable store."""
    check_request(query)

    def serve() -> DocumentsAnswer:
        with open_tree(worktree, path, ask) as view:
            return search_documents(view, query)

    def scan(why: str) -> DocumentsAnswer:
        read = _disk_reader(worktree)
        documents = with_fields(scanned_documents(worktree, query.filter), query.fields, read)
        fields = _fields(query, documents, _Sources(read, worktree.root))
        return cast("DocumentsAnswer", fallback_envelope(worktree, why, **fields))

    return served_or_scanned(ask, serve, scan)


def search_documents(view: TreeView, query: DocumentQuery) -> DocumentsAnswer:
    """Return matching documents of a tree, as an envelope."""
    check_request(query)
    read = reader_of(view)
    documents = with_fields(_narrowed(view, query), query.fields, read)
    on_disk = view.overlay.source == WORKTREE
    sources = _Sources(read, view.worktree.root if on_disk else "")
    return cast("DocumentsAnswer", view.envelope(**_fields(query, documents, sources)))


def count_topics(
    worktree: Worktree, path: str, filters: Filter = _ALL, ask: TreeChoice = NOW
) -> dict[str, Any]:
    """Return every topic and how many documents have it, the most frequent first."""
    check_request(DocumentQuery(filter=filters, text="*"))

    def serve() -> dict[str, Any]:
        with open_tree(worktree, path, ask) as view:
            return view.envelope(**_topic_fields(documents_of(view, filters)))

    def scan(why: str) -> dict[str, Any]:
        fields = _topic_fields(scanned_documents(worktree, filters))
        return fallback_envelope(worktree, why, **fields)

    return served_or_scanned(ask, serve, scan)


def document_paths(view: TreeView, filters: Filter) -> frozenset[bytes]:
    """Return the paths of the documents that a filter selects, for `grep --tag`."""
    check_request(DocumentQuery(filter=filters))
    return frozenset(document.path for document in documents_of(view, filters))


def check_request(query: DocumentQuery) -> None:
    """Raise if a query is empty or invalid."""
    tags, *bounds = query.filter
    if not query.text.strip() and query.filter == Filter() and not query.fields:
        raise GitIndexError(
            "no query or filter given", "give a text, a tag, a date or a field", Exit.USAGE
        )
    limits = {
        f"a query has at most {MAX_TEXT} characters": len(query.text) <= MAX_TEXT,
        f"1 to {MAX_TAGS} tags, none of them empty": _is_listed(tags),
        "a field is written NAME=VALUE": _is_listed([name for name, _ in query.fields]),
    }
    for limit, is_met in limits.items():
        if not is_met:
            raise GitIndexError(limit, code=Exit.USAGE)
    for bound in bounds:
        if bound and parse_day(bound) is None:
            raise GitIndexError(
                f"not a date: {safe_text(bound)}", "write it as YYYY-MM-DD", Exit.USAGE
            )
    if query.regex:
        _ = query.pattern


def _is_listed(names: Collection[str]) -> bool:
    """Return whether some names are few enough, and none of them empty."""
    return len(names) <= MAX_TAGS and all(name.strip() for name in names)


def _disk_reader(worktree: Worktree) -> Read:
    return lambda paths: dict(live_files(worktree, paths))


def _narrowed(view: TreeView, query: DocumentQuery) -> list[Document]:
    """Return the documents that may match, by topics, days and the text index."""
    documents = documents_of(view, query.filter)
    clauses = _clauses(query)
    maybe = candidates(view.served.database, clauses) if clauses else None
    if maybe is None:
        return documents
    named = [] if query.regex else query.words
    return [
        document
        for document in documents
        if document.blob_id is None or document.blob_id in maybe or _is_named(document, named)
    ]


def _clauses(query: DocumentQuery) -> list[Clause]:
    """Return the fragments that a text needs to match; none if any text may."""
    values = [value for _, value in query.fields]
    words = values if query.regex else [*values, *query.words]
    if any("\ufffd" in word for word in words):  # it may replace any bytes
        return []
    clauses = [frozenset({parts}) for word in words if (parts := fragments_of(word.casefold()))]
    return [*clauses, *(query.pattern.clauses if query.regex else ())]


def _is_named(document: Document, words: list[str]) -> bool:
    """Return whether the path contains one of the words."""
    path = safe_text(document.path).casefold()
    return any(word in path for word in words)


def _topic_fields(documents: list[Document]) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    for document in documents:
        for topic in document.front.topics:
            spelled.setdefault(same_topic(topic), topic)
            counts[same_topic(topic)] += 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {
        "topics": [{"topic": spelled[t], "count": n} for t, n in ordered[:MAX_TOPICS]],
        "totalCount": len(counts),
        "truncated": len(counts) > MAX_TOPICS,
    }


def _fields(query: DocumentQuery, documents: list[Document], sources: _Sources) -> dict[str, Any]:
    limit = max(1, min(query.limit, MAX_LIMIT))
    if query.text.strip():
        search = _search_pattern if query.regex else _search_words
        rows = search(documents, query, sources)
        chosen = sorted(rows, key=lambda f: -f.score)[:limit]
        count = len(rows)
    else:
        chosen = list(_heads(documents[:limit], sources.read))
        count = len(documents)
    matched = [query.text] if query.regex else query.words
    return {
        "query": query.text,
        "tags": list(query.filter.tags),
        "dateFrom": query.filter.date_from or None,
        "dateTo": query.filter.date_to or None,
        "fields": dict(query.fields),
        "results": [_result(row, matched) for row in chosen],
        "totalCount": count,
        "truncated": count > len(chosen),
    }


def _result(row: _DocumentRow, matched: list[str]) -> dict[str, Any]:
    document, place, _ = row
    return {
        **path_fields(document.path),
        "topics": list(document.front.topics),
        "summary": document.front.summary,
        "createdAt": document.front.created_at or None,
        "startLine": place.line + 1,
        "endLine": place.line + max(1, len(place.lines)),
        "snippet": "\n".join(line.rstrip("\r")[:MAX_LINE] for line in place.lines),
        "matched": matched,
        "source": document.source,
    }


def _heads(documents: list[Document], read: Read) -> Iterator[_DocumentRow]:
    """Yield documents in their order, with their first paragraph."""
    contents = read([document.path for document in documents])
    for document in documents:
        text = decode_text(contents.get(document.path, b""))
        yield _DocumentRow(document, _first_paragraph(text), 0.0)


def _first_paragraph(text: str) -> _TextPlace:
    lines = body_of(text).split("\n")
    before = text.count("\n") + 1 - len(lines)
    starts = (n for n, line in enumerate(lines) if line.strip() and line[:1] not in "#=:")
    start = next(starts, 0)
    end = start
    while end < len(lines) and lines[end].strip() and end - start < SNIPPET_LINES:
        end += 1
    return _TextPlace(before + start, lines[start:end])


def _search_pattern(
    documents: list[Document], query: DocumentQuery, sources: _Sources
) -> list[_DocumentRow]:
    """Return the documents with a matching line; ripgrep searches the candidates only."""
    by_path = {document.path: document for document in documents}
    want = LineLimits(SNIPPET_LINES, lines=True, enough=0)
    if sources.root:
        hits = search_disk(sources.root, sorted(by_path), query.pattern, want)
    else:
        texts = sources.read(sorted(by_path)).items()
        hits = search_texts(texts, query.pattern, want)
    rows = []
    for file in hits:
        first, *_ = file.hits
        lines = [hit.text.decode("utf-8", "replace") for hit in file.hits]
        place = _TextPlace(first.line - 1, lines)
        rows.append(_DocumentRow(by_path[file.path], place, float(file.lines)))
    return rows


def _search_words(
    documents: list[Document], query: DocumentQuery, sources: _Sources
) -> list[_DocumentRow]:
    """Return the documents with every word in their text or path, ignoring case."""
    words = query.words
    rows = []
    for at in range(0, len(documents), READ_AT_ONCE):
        part = documents[at : at + READ_AT_ONCE]
        contents = sources.read([document.path for document in part])
        for document in part:
            text = decode_text(contents.get(document.path, b""))
            folded = text.casefold()
            path = safe_text(document.path).casefold()
            if all(word in folded or word in path for word in words):
                rows.append(_best_lines(document, text, folded, words))
    return rows


def _best_lines(document: Document, text: str, folded: str, words: list[str]) -> _DocumentRow:
    """Return the first line with most of the words; words in path or topics raise the score."""
    scores = [sum(word in line for word in words) for line in folded.split("\n")]
    best = max(scores)
    line = scores.index(best)
    said = f"{safe_text(document.path)} {' '.join(document.front[0])} {document.front.summary}"
    named = sum(word in said.casefold() for word in words)
    many = min(sum(folded.count(word) for word in words), 20) / 20
    lines = text.split("\n")[line : line + SNIPPET_LINES]
    return _DocumentRow(document, _TextPlace(line, lines), 3.0 * named + best + many)


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


def documents_of(view: TreeView, filters: Filter = Filter()) -> list[Document]:  # noqa: B008
    """Return the documents of a tree with all topics and a day within the bounds, newest first."""
    changed = view.changed()
    stored = _stored(view, filters) if filters != Filter() else _all_stored(view)
    documents = [d for d in stored if d.path not in changed and is_document(d.path)]
    documents += _overlaid(view, filters)
    if view.overlay.source == WORKTREE:
        known = {document.path for document in documents}
        documents += _untracked(view.worktree, filters, known)
    return _ordered(documents)


def scanned_documents(worktree: Worktree, filters: Filter) -> list[Document]:
    """Return the same without an index, by reading every document on disk."""
    paths = live_paths(worktree, is_document)
    groups = (_matching(p, data, FALLBACK, filters) for p, data in live_files(worktree, paths))
    listed = [document for some in groups for document in some]
    return _ordered([*listed, *_untracked(worktree, filters, set(paths))])


def reader_of(view: TreeView) -> Read:
    """Return a reader for documents of a tree and of configured folders."""

    def read(paths: Iterable[bytes]) -> dict[bytes, bytes]:
        names = list(paths)
        contents = view.read(names)
        if view.overlay.source == WORKTREE:
            absent = [path for path in names if path not in contents and path not in view.changed()]
            contents |= dict(live_files(view.worktree, absent))
        return contents

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
            values = read_fields(decode_text(head), language_of(document.path, b""))
            if all(has_field(values, name, value) for name, value in fields):
                kept.append(document)
    return kept


def _stored(view: TreeView, filters: Filter) -> Iterator[Document]:
    sql, values = conditions(filters)
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


def _overlaid(view: TreeView, filters: Filter) -> Iterator[Document]:
    """Yield documents of the overlay, read now: an edit shows in the next answer."""
    overlaid = view.changed()
    paths = [p for p, now in overlaid.items() if now and now.skip is None and is_document(p)]
    for path, data in view.read(paths).items():
        if skip_content(data) is None:
            yield from _matching(path, data, view.overlay.source, filters)


def _untracked(worktree: Worktree, filters: Filter, known: set[bytes]) -> Iterator[Document]:
    """Yield documents below the folders of `gitindex.documents` that git does not track."""
    values = read_settings(worktree)
    folders = [setting.value for setting in values if setting.name == "documents"]
    paths = {p for folder in folders for p in _below(worktree, folder)} - known
    for path, data in live_files(worktree, sorted(paths)[:MAX_UNTRACKED]):
        yield from _matching(path, data, WORKTREE, filters)


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


def _matching(path: bytes, data: bytes, source: str, filters: Filter) -> Iterator[Document]:
    front = front_matter_of(language_of(path, b""), data)
    if matches(front, filters):
        yield Document(path, front or _NOTHING, source)


def _ordered(documents: list[Document]) -> list[Document]:
    by_path = sorted(documents, key=lambda d: d.path)
    return sorted(by_path, key=lambda d: d.front.created_at, reverse=True)
