"""Rows on their way into the store: many in a statement, and caches that forget."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest

from gitindex.base.errors import CorruptStore
from gitindex.base.vocabulary import FactsStatus
from gitindex.languages.facts import BlobFacts, FactsKey, Symbol, decode_facts, pack_postings
from gitindex.store import blobs
from gitindex.store.blobs import BlobTable
from gitindex.store.connection import AT_ONCE, open_writer
from gitindex.store.name_index import NameIndex, name_index_faults
from gitindex.store.name_rows import (
    find_places,
    join_places,
    pack_numbers,
    read_names,
    split_places,
    unpack_numbers,
)


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
    monkeypatch.setattr(blobs, "MAX_SHAPES", 20)
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


NUMBERS = [0, 1, 127, 128, 0xD800, 0xDFFF, 0x10FFFE, 0x10FFFF, 1 << 21, (1 << 32) - 1, 1 << 40]


def test_numbers_are_read_as_they_were_packed() -> None:
    rng = random.Random(19)
    for size in (0, 1, 2, 3, 50):
        numbers = [rng.choice((rng.choice(NUMBERS), rng.randrange(3_000))) for _ in range(size)]
        assert unpack_numbers(pack_numbers(numbers)) == numbers
    for cut in (b"\xf4\x8f\xbf\xbf", b"\xf4\x8f\xbf\xbf\x01", b"\xff", b"\xf4\x8f"):
        with pytest.raises(ValueError, match=r"cut off|decode"):
            unpack_numbers(cut)


def test_places_of_a_blob_are_found_by_name_and_damage_is_told() -> None:
    """Whatever byte is changed or cut off: an answer of the same form, or CorruptStore."""
    rng = random.Random(7)
    for count in (1, 2, 40):
        first = rng.choice((1, 1 << 40))
        ids = sorted(rng.sample(range(first, first + 5_000), count))
        places = {
            i: bytes(rng.randrange(128) for _ in range(3 * rng.randrange(1, 60))) for i in ids
        }
        names, packed = join_places(places)
        assert dict(split_places(names, packed)) == places
        assert all(find_places(names, packed, i) == places[i] for i in ids)
        assert find_places(names, packed, first + 5_001) == b""
        for at in range(len(names)):
            for spoilt in (names[:at], names[:at] + bytes([names[at] ^ 1]) + names[at + 1 :]):
                told: dict[int, bytes] | None = None
                with suppress(CorruptStore):
                    told = dict(split_places(spoilt, packed))
                    assert b"".join(told.values()) == packed
                for i in ids[:2]:
                    found = None
                    with suppress(CorruptStore):
                        found = find_places(spoilt, packed, i)
                    assert found == (None if told is None else told.get(i, b""))
        for other in (packed[:-1], packed + b"x"):
            with pytest.raises(CorruptStore):
                find_places(names, other, ids[0])


def test_the_index_by_name_follows_blobs(tmp_path: Path) -> None:
    """Blobs that come, change and go, one by one and in a batch, against what the rows say."""
    rng = random.Random(3)
    database = open_writer(str(tmp_path / "facts.db"))
    try:
        table, index = BlobTable(database), NameIndex(database)
        for turn in range(40):
            names = {f"n{n}": [8 * n, 0, 0] for n in rng.sample(range(12), rng.randrange(12))}
            facts = BlobFacts("python", FactsStatus.PARSED, 9, postings=pack_postings(names))
            keys = [FactsKey(f"{n:040x}", "1:python") for n in rng.sample(range(15), 1 + turn % 3)]
            with database.write():
                table.add_all(dict.fromkeys(keys, (facts, False)))
                gone = [i for (i,) in database.rows("SELECT id FROM blobs") if rng.random() < 0.1]
                index.remove(gone)
                database.run_many("DELETE FROM blobs WHERE id=?", ((i,) for i in gone))
            assert name_index_faults(database) == []
        told = database.rows(
            "SELECT value FROM names n JOIN name_blobs ON name_id=n.id,"
            " json_each(blob_list(first, others)) WHERE text='n3' ORDER BY value"
        )
        (number,) = database.row("SELECT id FROM names WHERE text='n3'")
        rows = database.rows("SELECT blob_id, names FROM occurrences ORDER BY blob_id")
        assert told == [(blob,) for blob, packed in rows if number in read_names(packed)[0]] != []
        with database.write():
            database.run("UPDATE name_blobs SET others=x'ff' WHERE name_id=?", number)
        with pytest.raises(CorruptStore):
            database.rows("SELECT blob_list(first, others) FROM name_blobs")
    finally:
        database.close()


@pytest.mark.parametrize(
    ("parents", "qualified", "written"),
    [
        ((-1, 0, 1, 2), ("a", "a.a", "a.a.a", "a.a.a.a"), (None, None, "a.a.a", None)),
        ((-1, 0), ("m::a", "m::a::a"), ("m::a", "m::a::a")),
        ((-1, 0, 1), ("m::a", "m::a.a", "m::a.a.a"), ("m::a", None, "m::a.a.a")),
        ((1, -1), ("a.a", "a"), ("a.a", None)),
    ],
)
def test_a_qualified_name_is_written_only_if_it_does_not_follow(
    tmp_path: Path,
    parents: tuple[int, ...],
    qualified: tuple[str, ...],
    written: tuple[str | None, ...],
) -> None:
    symbols = tuple(
        Symbol("a", text, "class", 1, 0, 1, 1, "class a", "", parent, True)
        for parent, text in zip(parents, qualified, strict=True)
    )
    database = open_writer(str(tmp_path / "facts.db"))
    try:
        facts = BlobFacts("python", FactsStatus.PARSED, 9, symbols=symbols)
        with database.write():
            BlobTable(database).add(FactsKey("0" * 40, "1:python"), facts, lexical=False)
        order = "ORDER BY ordinal"
        rows = database.rows(f"SELECT qualified_name FROM definitions {order}")
        assert tuple(name for (name,) in rows) == written
        rows = database.rows(f"SELECT qualified_name FROM symbols {order}")
        assert tuple(name for (name,) in rows) == qualified
    finally:
        database.close()
