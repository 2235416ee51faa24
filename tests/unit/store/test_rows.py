"""Rows on their way into the store: many in a statement, and caches that forget."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitindex.base.vocabulary import FactsStatus
from gitindex.languages.facts import BlobFacts, FactsKey, Symbol, decode_facts, pack_postings
from gitindex.store import definitions
from gitindex.store.blobs import BlobTable
from gitindex.store.connection import AT_ONCE, open_writer


@pytest.mark.parametrize(
    "count", [0, 1, AT_ONCE // 2 - 1, AT_ONCE // 2, AT_ONCE // 2 + 1, 3 * AT_ONCE]
)
def test_all_rows_are_inserted_in_order(tmp_path: Path, count: int) -> None:
    database = open_writer(str(tmp_path / "facts.db"))
    try:
        with database.write():
            database.insert_many("names", "(?,?)", ((n, f"name {n}") for n in range(1, count + 1)))
        rows = database.rows("SELECT id, text FROM names ORDER BY id")
        assert rows == [(n, f"name {n}") for n in range(1, count + 1)]
    finally:
        database.close()


def test_places_of_any_number_are_kept(tmp_path: Path) -> None:
    """Zero, numbers that are no characters, and the largest: as they were packed."""
    numbers = [0, 1, 127, 128, 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0xFFFF, 0x10000, 0x10FFFE]
    plain = {"a": [0, 0, 0], "zero": [8, 0, 0, 16, 300, 7]}
    odd = {f"n{n}": [8, n, 0] for n in numbers}
    database = open_writer(str(tmp_path / "facts.db"))
    try:
        table = BlobTable(database)
        for at, places in enumerate((plain, odd)):
            facts = BlobFacts("python", FactsStatus.PARSED, 9, postings=pack_postings(places))
            key = FactsKey(f"{at:040x}", "1:python")
            with database.write():
                table.add(key, facts, lexical=False)
            payload = table.get(key)
            assert payload is not None
            read = decode_facts(payload)
            assert read is not None
            assert dict(read.postings) == dict(facts.postings)
        kinds = database.rows("SELECT DISTINCT typeof(places) FROM occurrences")
        assert kinds == [("blob",)]
    finally:
        database.close()


def test_shapes_that_were_used_lately_are_stored_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(definitions, "MAX_SHAPES", 20)
    database = open_writer(str(tmp_path / "facts.db"))
    try:
        table = BlobTable(database)
        for at in range(30):
            own = [
                Symbol(f"f{n}", f"f{n}", "function", n, 0, n, n, f"def f{n}({at})", "", -1, True)
                for n in range(3)
            ]
            often = [
                Symbol("x", "x", "variable", 9, 0, 9, 9, f"x = {n}", "", -1, False)
                for n in range(6)
            ]
            facts = BlobFacts("python", FactsStatus.PARSED, 9, symbols=(*own, *often))
            key = FactsKey(f"{at:040x}", "1:python")
            with database.write():
                table.add(key, facts, lexical=False)
            read = decode_facts(table.get(key) or b"")
            assert read is not None
            assert read.symbols == facts.symbols
        assert database.row("SELECT count(*) FROM shapes WHERE kind='variable'") == (6,)
        assert database.row("SELECT count(*) FROM shapes WHERE kind='function'") == (30,)
    finally:
        database.close()
