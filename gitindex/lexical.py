"""The lexical index: one Tantivy document per blob. The only importer of tantivy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import tantivy

from gitindex.errors import StoreError
from gitindex.facts import FactsKey

HEAP_BYTES = 64_000_000
MAX_CLAUSES = 64
NAME_BOOST = 3.0


class Hit(NamedTuple):
    """One blob that matches, before SQLite says whether it is part of the published tree."""

    key: FactsKey
    score: float


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("key", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("body", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("names", tokenizer_name="whitespace", index_option="freq")
    return builder.build()


class LexicalWriter:
    """Adds documents and commits. After any error it is dead: open a new one."""

    def __init__(self, path: str) -> None:
        self._path = path
        with _translated():
            if not os.path.isdir(path):
                os.mkdir(path, 0o700)
            with _utf8_name(path) as name:
                self._index = tantivy.Index(_schema(), path=name)
            self._writer = self._index.writer(HEAP_BYTES, 1)

    def add(self, key: FactsKey, body: str, names: str) -> None:
        """Add or replace the document of one blob; visible after `commit`."""
        document = tantivy.Document()
        document.add_text("key", _term(key))
        document.add_text("body", body)
        document.add_text("names", names)
        with _translated():
            self._writer.delete_documents_by_term("key", _term(key))
            self._writer.add_document(document)

    def commit(self) -> None:
        """Make everything added so far durable and visible."""
        with _translated():
            self._writer.commit()

    def close(self) -> None:
        """Let background merges end: after the marker, never before it."""
        with _translated():
            self._writer.wait_merging_threads()


class LexicalReader:
    """A fresh look at what is committed."""

    def __init__(self, path: str) -> None:
        if not os.path.exists(os.path.join(path, "meta.json")):
            raise StoreError("the lexical index is missing", "run `gitindex index --force`")
        with _translated():
            with _utf8_name(path) as name:
                index = tantivy.Index.open(name)
            self._schema = index.schema
            self._searcher = index.searcher()

    @property
    def documents(self) -> int:
        return int(self._searcher.num_docs)

    def holds(self, key: FactsKey) -> bool:
        """Is the document of this blob there?"""
        with _translated():
            query = tantivy.Query.term_query(self._schema, "key", _term(key))
            return bool(self._searcher.search(query, 1).hits)

    def all_keys(self) -> set[FactsKey]:
        """Every document's key."""
        with _translated():
            hits = self._searcher.search(tantivy.Query.all_query(), max(1, self.documents)).hits
            return {self._key(address) for _, address in hits}

    def search(self, terms: list[str], limit: int) -> list[Hit]:
        """The best blobs for a list of terms. Terms, not a query language: nothing is parsed."""
        clauses = []
        for term in terms[:MAX_CLAUSES]:
            body = tantivy.Query.term_query(self._schema, "body", term)
            name = tantivy.Query.term_query(self._schema, "names", term)
            clauses.append((tantivy.Occur.Should, body))
            clauses.append((tantivy.Occur.Should, tantivy.Query.boost_query(name, NAME_BOOST)))
        if not clauses:
            return []
        with _translated():
            found = self._searcher.search(tantivy.Query.boolean_query(clauses), limit, count=False)
            return [Hit(self._key(address), float(score)) for score, address in found.hits]

    def _key(self, address: tantivy.DocAddress) -> FactsKey:
        oid, _, extractor = self._searcher.doc(address)["key"][0].partition(":")
        return FactsKey(oid, extractor)


def _term(key: FactsKey) -> str:
    return f"{key.oid}:{key.extractor}"


@contextmanager
def _utf8_name(path: str) -> Iterator[str]:
    """A name that tantivy's binding accepts for any folder: it takes UTF-8 only, and resolves it."""
    if path.isascii():
        yield path
        return
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{fd}" if os.path.isdir("/proc/self/fd") else path
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
