"""The text index: a list of words and the documents that have them; a superset of what matches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from gitindex.base.errors import CorruptStore, StoreError
from gitindex.extract.fragments import fragments_of
from gitindex.extract.terms import MAX_TERM, document_text
from gitindex.languages.facts import FactsKey
from gitindex.query.grep.pattern import GrepPattern, understand
from gitindex.store.connection import Database, open_writer
from gitindex.store.lexical import LexicalWriter
from gitindex.store.text_index import (
    MAX_PACKED_BYTES,
    MAX_ROWS,
    WordListWriter,
    candidates,
    listed_words,
    merge_word_lists,
)


class Store:
    """Both halves, as a refresh writes them."""

    def __init__(self, folder: Path) -> None:
        self.database: Database = open_writer(str(folder / "facts.db"))
        self.lexical = LexicalWriter(str(folder / "lexical"))
        self.words = WordListWriter(self.database)

    def add(self, *texts: tuple[int, bytes]) -> None:
        with self.database.write():
            for number, text in texts:
                body, names = document_text(text, ())
                self.lexical.add(FactsKey(f"{number:040x}", "x"), number, body, names)
                self.words.add(body)
            self.words.flush()
            self.lexical.commit()
            docs = self.lexical.documents
            self.database.run("UPDATE repo_state SET lexical_docs=?", docs)

    def find(self, text: str) -> set[int] | None:
        return candidates(self.database, [frozenset({fragments_of(text)})])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path)
    yield made
    made.lexical.close()
    made.database.close()


def test_parts_of_words_in_any_case_and_script(store: Store) -> None:
    store.add(
        (1, b"def parseHTTPRequest(): pass\n"),
        (2, "Größe STRASSE naïve—dash".encode()),
        (3, "日本語のテキスト Kelvin ſharp İx".encode()),
        (4, "Größe".encode("utf-16")),
        (5, b"caf\xe9s and others"),
    )
    for text, blobs in (
        ("rsehttpreq", {1}),
        ("RÖSS", {2, 4}),
        ("röss", {2, 4}),
        ("größe", {2, 4}),
        ("ïve—das", {2}),
        ("本語", {3}),
        ("kelvin", {3}),
        ("SHARP", {3}),
        ("ix", {3}),
        ("caf\udce9s and", {5}),
        ("nowhere", set()),
    ):
        found = store.find(text)
        assert found is None or found >= blobs, text
    assert store.find("rsehttpreq") == {1}
    assert store.find("größe") == {2, 4}
    assert store.find("本語") == {3}
    assert candidates(store.database, ()) is None
    quoted = understand(GrepPattern('"xyz" OR "yzx')).clauses
    assert candidates(store.database, quoted) == set()


def test_a_replaced_document_has_its_new_words_and_a_removed_one_none(store: Store) -> None:
    store.add((1, b"hay\n"), (2, b"a Needle\n"), (3, b""))
    assert store.find("needle") == {2}
    store.add((1, b"a needle, too\n"))
    assert store.find("needle") == {1, 2}
    store.lexical.remove([FactsKey(f"{2:040x}", "x")])
    store.lexical.commit()
    assert store.find("needle") is None, "fewer documents than this snapshot has: any may match"
    with store.database.write():
        store.database.run("UPDATE repo_state SET lexical_docs=2")
    assert store.find("needle") == {1}


def test_a_blob_of_too_many_or_too_long_words_is_always_a_candidate(store: Store) -> None:
    """An illustration of two megabytes as text: its words are all its own."""
    picture = b"".join(b"%x9q%x\n" % (n * 7919, n) for n in range(160_000))
    assert len(picture) > 1 << 20
    store.add(
        (1, b"def needle(): pass\n"),
        (2, picture),
        (3, b"something else\n"),
        (4, b"key " + b"k" * (MAX_TERM + 9) + b"needle"),
    )
    assert store.find("needle") == {1, 2, 4}
    assert store.find("nowhere") == {2, 4}
    assert store.database.row("SELECT sum(length(words)) FROM text_words")[0] < 100
    store.add((2, b"small now\n"))  # the same blob again, without so many words
    assert store.find("needle") == {1, 4}


def test_merged_lists_have_the_same_words(store: Store) -> None:
    for number in range(1, 20):
        store.words = WordListWriter(store.database)
        store.add((number, b"common word%d group%d\n" % (number, number % 3)))
        if number == MAX_ROWS:
            before = listed_words(store.database)
            merge_word_lists(store.database)
            assert store.database.row("SELECT count(*) FROM text_words") == (1,)
            assert listed_words(store.database) == before
            merge_word_lists(store.database)
            assert store.database.row("SELECT count(*) FROM text_words") == (1,)
    assert store.find("word5") == {5}
    assert store.find("group1") == set(range(1, 20, 3))


def test_words_that_were_rolled_back_are_written_with_the_next_batch(store: Store) -> None:
    """The batch that failed ends its writer; a new one knows nothing."""
    with suppress(ZeroDivisionError), store.database.write():
        store.words.add("other")
        store.words.flush()
        raise ZeroDivisionError
    store.words = WordListWriter(store.database)
    store.add((1, b"other text"))
    assert store.find("other") == {1}


def test_rows_of_any_size_are_read_and_damaged_ones_reported(store: Store) -> None:
    """Small rows are compressed, large ones are not."""
    words = [b"w%06x" % number for number in range(MAX_PACKED_BYTES // 7)]
    store.add((1, b"small needle"))
    store.add(*((n + 2, b" ".join(words[n::9])) for n in range(9)))
    rows = store.database.rows("SELECT substr(words, 1, 1), id FROM text_words ORDER BY size")
    assert [head for head, _ in rows] == [b"x", b" "]
    assert store.find("w000123") == {0x123 % 9 + 2}
    assert store.find("needle") == {1}
    with store.database.write():
        store.database.run("UPDATE text_words SET id=7, words=zeroblob(9) WHERE id=?", rows[0][1])
    with pytest.raises(CorruptStore):
        store.find("needle")


def test_a_lexical_index_that_cannot_be_opened_hides_nothing(store: Store, tmp_path: Path) -> None:
    store.add((1, b"needle"))
    (tmp_path / "lexical" / "meta.json").rename(tmp_path / "elsewhere")
    try:
        assert store.find("needle") is None
    finally:
        (tmp_path / "elsewhere").rename(tmp_path / "lexical" / "meta.json")
    with pytest.raises(StoreError):
        LexicalWriter(str(tmp_path / "no" / "folder"))
