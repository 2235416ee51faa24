"""The lexical index: one Tantivy document per blob. The only importer of tantivy.

Tantivy merges segments by itself, in threads of its writer: below 10,000 documents every eighth commit
begins a merge of all of them. That runs after the marker is written, and nobody waits for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

import tantivy

from gitindex.base.atomic_file import read_small
from gitindex.base.errors import CorruptStore, StoreError
from gitindex.base.light_types import NamedTuple
from gitindex.base.pattern import compile_later
from gitindex.base.system import descriptor_path
from gitindex.languages.facts import FactsKey
from gitindex.store.checksums import (
    MAX_LIST_BYTES,
    META,
    CheckLevel,
    LexicalChecksums,
    lexical_damage,
    name_lexical,
)

MANAGED = ".managed.json"
"""Tantivy's list of the files that it made."""
HEAP_BYTES = 64_000_000
"""Of a writer: a full heap becomes a segment, so a smaller one makes a first index merge more."""
MAX_CLAUSES = 64  # of one query: a pasted text must not become thousands of them
NAME_BOOST = 3.0  # first guess; ranked search gives its own, fitted one
USUAL_LENGTH = 1_000.0  # terms of a blob, where Tantivy does not explain a score
_Place = tuple[int, int]
"""Segment and number of a document."""
_ARENA_MAX, _MMAP_THRESHOLD = -8, -3
"""Numbers of options of glibc's `mallopt`."""
_AVERAGE = compile_later(r'"value": ([0-9.]+),\s*"description": "avgdl')


_STEMMER = (
    tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw())
    .filter(tantivy.Filter.stemmer("english"))
    .build()
)


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the Snowball stem of a lower-case English word; any other word unchanged."""
    return str(_STEMMER.analyze(word)[0]) if word.isascii() and word.isalpha() else word


class LexicalQuery(NamedTuple):
    """Terms with their weights, required terms, and excluded terms."""

    terms: Sequence[tuple[str, float]]
    must: Sequence[str] = ()
    exclude: Sequence[str] = ()
    name_boost: float = NAME_BOOST  # for a term in the name of a definition


TermClauses = list[list[list[list[str]]]]
"""Every clause holds in one of its forms; a form has one of the terms of each of its lists."""


class BlobHit(NamedTuple):
    """One matching blob, which may or may not be part of the published tree."""

    key: FactsKey
    score: float


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("key", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("body", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("names", tokenizer_name="whitespace", index_option="freq")
    builder.add_unsigned_field("blob", fast=True)  # id in the database, for the text index
    return builder.build()


@lru_cache(maxsize=1)
def share_arenas() -> None:
    """Let the threads of all writers of this process share two of malloc's arenas.

    Every writer starts threads of its own. glibc gives them up to eight arenas per core, and each
    keeps what was freed in it: a process that refreshed a hundred times kept 190 MB of nothing.
    """
    _set_malloc(_ARENA_MAX, 2)


def return_memory() -> None:
    """Let a server give large buffers back as soon as they are freed.

    By default glibc keeps buffers of the size of the largest one that was ever freed. Answers cut
    them to pieces: 5 kB more with each call, without an end.
    """
    share_arenas()
    _set_malloc(_MMAP_THRESHOLD, 1 << 16)


def trim_memory() -> None:
    """Give what is free in the heap back to the system, as far as the C library can."""
    with suppress(ImportError, AttributeError, OSError):
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)


def _set_malloc(option: int, value: int) -> None:
    with suppress(ImportError, AttributeError, OSError):  # another C library has no such thing
        import ctypes

        ctypes.CDLL(None).mallopt(option, value)


class LexicalWriter:
    """Adds documents and commits. Unusable after any error: open a new one."""

    def __init__(self, path: str, heap: int = HEAP_BYTES, in_store: bool = True) -> None:
        """`in_store`: this is the index of a store, whose checksums are kept up to date."""
        self._path = path
        share_arenas()
        with _translated():
            if not os.path.isdir(path):
                os.mkdir(path, 0o700)
            with _utf8_name(path) as name:
                self._index = tantivy.Index(_schema(), path=name)
            self._writer = self._index.writer(heap, 1)
        self._checksums = LexicalChecksums(path) if in_store else None
        if in_store:
            name_lexical(path)

    @property
    def documents(self) -> int:
        """Number of documents of the last commit."""
        with _translated():
            self._index.reload()
            return int(self._index.searcher().num_docs)

    def add(self, key: FactsKey, blob_id: int, body: str, names: str) -> None:
        """Add or replace the document of one blob; visible after `commit`."""
        with _translated():
            self._writer.delete_documents_by_term("key", _term(key))
        self.append(key, blob_id, body, names)

    def append(self, key: FactsKey, blob_id: int, body: str, names: str) -> None:
        """Add the document of a blob that the index does not hold."""
        document = tantivy.Document()
        document.add_text("key", _term(key))
        document.add_unsigned("blob", blob_id)
        document.add_text("body", body)
        document.add_text("names", names)
        with _translated():
            self._writer.add_document(document)

    def remove(self, keys: Iterable[FactsKey]) -> None:
        """Remove the documents of some blobs; effective after `commit`."""
        with _translated():
            for key in keys:
                self._writer.delete_documents_by_term("key", _term(key))

    def commit(self) -> None:
        """Make everything added so far durable and visible."""
        with _translated():
            self._writer.commit()

    def close(self) -> None:
        """Wait for background merges: after the marker, never before it."""
        with _translated():
            self._writer.wait_merging_threads()
            if self._checksums is not None:
                self._checksums.finish()


class LexicalReader:
    """A reader of the last commit."""

    def __init__(self, path: str) -> None:
        if not os.path.exists(os.path.join(path, META)):
            raise StoreError("the lexical index is missing", "run `gitindex index --force`")
        with _translated():
            with _utf8_name(path) as name:
                index = tantivy.Index.open(name)
            self._schema = index.schema
            self._searcher = index.searcher()
        self._keys: dict[_Place, FactsKey] = {}  # cache
        self._only: dict[FactsKey, tuple[tantivy.Occur, tantivy.Query]] = {}  # cache

    @property
    def documents(self) -> int:
        return int(self._searcher.num_docs)

    def holds(self, key: FactsKey) -> bool:
        """Is the document of this blob there?"""
        with _translated():
            query = tantivy.Query.term_query(self._schema, "key", _term(key))
            return bool(self._searcher.search(query, 1).hits)

    def search(
        self, query: LexicalQuery, limit: int, among: Iterable[FactsKey] | None = None
    ) -> list[BlobHit]:
        """Return the best blobs for some terms, among all or a few. Terms are not parsed."""
        clauses = [
            (tantivy.Occur.Should, clause)
            for term, boost in query.terms[:MAX_CLAUSES]
            for clause in self._clauses(term, boost, query.name_boost)
        ]
        clauses += [(tantivy.Occur.Must, self._has(term)) for term in query.must[:MAX_CLAUSES]]
        clauses += [
            (tantivy.Occur.MustNot, self._has(term)) for term in query.exclude[:MAX_CLAUSES]
        ]
        if not query.terms and not query.must:
            return []
        if among is not None:
            clauses.append((tantivy.Occur.Must, self._among(among)))
        return self._hits(clauses, limit)

    def blobs_with(self, clauses: TermClauses) -> set[int]:
        """Return the ids of the blobs that fulfil every clause."""
        must, should = tantivy.Occur.Must, tantivy.Occur.Should

        def every(queries: Iterable[tantivy.Query]) -> tantivy.Query:
            return tantivy.Query.boolean_query([(must, query) for query in queries])

        def some(queries: Iterable[tantivy.Query]) -> tantivy.Query:
            return tantivy.Query.boolean_query([(should, query) for query in queries])

        def has(words: list[str]) -> tantivy.Query:
            return tantivy.Query.term_set_query(self._schema, "body", words)

        with _translated():
            query = every(some(every(map(has, form)) for form in forms) for forms in clauses)
            hits = self._searcher.search(query, max(1, self.documents), count=False).hits
            return set(self._ids([address for _, address in hits]))

    def blob_ids(self) -> dict[FactsKey, int]:
        """Return the id of the blob of every document."""
        with _translated():
            hits = self._searcher.search(tantivy.Query.all_query(), max(1, self.documents)).hits
            places = [address for _, address in hits]
            return dict(zip(map(self._key, places), self._ids(places), strict=True))

    def _ids(self, places: list[tantivy.DocAddress]) -> list[int]:
        ids: list[Any] = list(self._searcher.fast_field_values("blob", places))
        return ids

    def holds_all(self, key: FactsKey, field: str, terms: Iterable[str]) -> bool:
        """Does the document of a blob have all of the terms in a field?"""
        clauses = [(tantivy.Occur.Must, self._among([key]))]
        clauses += [
            (tantivy.Occur.Must, tantivy.Query.term_query(self._schema, field, term))
            for term in terms
        ]
        return len(self._hits(clauses, 2)) == 1

    def terms_among(self, keys: Iterable[FactsKey], field: str) -> dict[str, int]:
        """Return every term in a field of some blobs, with the number of blobs that have it."""
        with _translated():
            counts = self._searcher.terms_with_prefix(field, "", filter_query=self._among(keys))
            return {term: count for term, count in counts if count}

    def terms(self) -> list[str]:
        """Return every term of a text."""
        with _translated():
            return [term for term, _ in self._searcher.terms_with_prefix("body", "")]

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return the number of blobs that have each term."""
        with _translated():
            return {term: int(self._searcher.doc_freq("body", term)) for term in terms}

    def average_length(self, term: str) -> float:
        """Return the average number of terms of a blob, from BM25's explanation of a term."""
        query = self._has(term)
        with _translated():
            hits = self._searcher.search(query, 1, count=False).hits
            text = query.explain(self._searcher, hits[0][1]).to_json() if hits else ""
        match = _AVERAGE.search(text)
        return float(match[1]) if match else USUAL_LENGTH

    def _clauses(self, term: str, boost: float, named: float) -> Iterator[tantivy.Query]:
        yield tantivy.Query.boost_query(self._has(term), boost)
        name = tantivy.Query.term_query(self._schema, "names", term, "freq")
        yield tantivy.Query.boost_query(name, named * boost)

    def _has(self, term: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, "body", term, "freq")

    def _among(self, keys: Iterable[FactsKey]) -> tantivy.Query:
        """Match only these blobs. By single terms: a set of terms costs seven times as much."""
        listed = [self._only.get(key) or self._only_key(key) for key in keys]
        return tantivy.Query.const_score_query(tantivy.Query.boolean_query(listed), 0.0)

    def _only_key(self, key: FactsKey) -> tuple[tantivy.Occur, tantivy.Query]:
        query = tantivy.Query.term_query(self._schema, "key", _term(key), "basic")
        self._only[key] = (tantivy.Occur.Should, query)
        return self._only[key]

    def _hits(
        self, clauses: list[tuple[tantivy.Occur, tantivy.Query]], limit: int
    ) -> list[BlobHit]:
        with _translated():
            query = tantivy.Query.boolean_query(clauses)
            result = self._searcher.search(query, max(1, limit), count=False)
            made = tuple.__new__  # hundreds for a query: a light tuple's constructor is slower
            return [made(BlobHit, (self._key(address), score)) for score, address in result.hits]

    def _key(self, address: tantivy.DocAddress) -> FactsKey:
        place = (address.segment_ord, address.doc)
        if place not in self._keys:
            oid, _, extractor = self._searcher.doc(address)["key"][0].partition(":")
            self._keys[place] = FactsKey(oid, extractor)
        return self._keys[place]


class LexicalMemory:
    """Keeps a reader open until the next commit: opening one costs more than most searches."""

    def __init__(self, checked: bool = True) -> None:
        """`checked`: not for the writer, whose files change under its hands."""
        self._checked = checked
        self._opened: tuple[tuple[str, bytes], LexicalReader] | None = None

    def reader(self, path: str) -> LexicalReader:
        """Return a reader of the last commit; CorruptStore if one of its files was changed."""
        listed = read_small(os.path.join(path, META), MAX_LIST_BYTES)
        if listed is None:
            return LexicalReader(path)
        if self._checked and (wrong := lexical_damage(os.path.dirname(path), CheckLevel.CACHED)):
            raise CorruptStore(f"the store is damaged: {wrong}", "run `gitindex index`")
        if self._opened is None or self._opened[0] != (path, listed):
            self._opened = ((path, listed), LexicalReader(path))
        return self._opened[1]


_SHARED = LexicalMemory()


def lexical_beside(database: str) -> LexicalReader:
    """Return a reader of the index beside a database, kept open between questions."""
    return _SHARED.reader(os.path.join(os.path.dirname(database), "lexical"))


def copy_commit(path: str, target: str) -> bool:
    """Copy the last commit of an index; False where a file is gone, or holds removed documents."""
    import json  # lazily: a search needs neither
    import shutil

    try:
        segments = json.loads(read_small(os.path.join(path, META), MAX_LIST_BYTES) or b"{}")
        segments = segments.get("segments", ())
        names = {segment["segment_id"].replace("-", "") for segment in segments}
        files = [META, *(name for name in os.listdir(path) if name.partition(".")[0] in names)]
        if any(segment["deletes"] for segment in segments):
            return False
        os.mkdir(target, 0o700)
        for name in files:
            shutil.copyfile(os.path.join(path, name), os.path.join(target, name))
    except OSError:  # merged away meanwhile
        shutil.rmtree(target, ignore_errors=True)
        return False
    with open(os.path.join(target, MANAGED), "w", encoding="utf-8") as file:
        json.dump(files, file)
    return True


def _term(key: FactsKey) -> str:
    return f"{key.oid}:{key.extractor}"


@contextmanager
def _utf8_name(path: str) -> Iterator[str]:
    """Return a UTF-8 name for any folder: tantivy's binding takes UTF-8 only, and resolves it."""
    if path.isascii():
        yield path
        return
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor_path(fd) or path
    finally:
        os.close(fd)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit, StoreError):
        raise
    except BaseException as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise StoreError(f"the lexical index failed: {said}", "run `gitindex doctor`") from error
