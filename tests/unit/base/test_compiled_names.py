"""Rows of names made in C and in Python are the same, byte for byte."""

from __future__ import annotations

import random

import pytest

from gitindex.base import compiled
from gitindex.base.errors import CorruptStore
from gitindex.languages.postings import Postings, pack_postings
from gitindex.store import blob_names, name_index
from gitindex.store.numbers import pack_numbers

built = pytest.mark.skipif(compiled.LIBRARY is None, reason="installed without a C compiler")
LARGE = [1, 127, 128, 2047, 2048, 0xD800, 0xDFFF, 0x10000, 0x10FFFE, 0x10FFFF, 1 << 21, 1 << 33]


def _postings(pick: random.Random) -> tuple[Postings, dict[str, int]]:
    names = [f"n{number}é" for number in range(pick.randrange(1, 60))]
    lines = pick.choice([20, 2_000, 500_000])
    places = {
        name: [
            number
            for line in sorted(pick.randrange(lines) for _ in range(pick.randrange(1, 9)))
            for number in (line * 8 + pick.randrange(8), pick.choice([3, 200, 55_300]), line % 70)
        ]
        for name in names
    }
    ids = pick.sample(range(1, pick.choice([200, 3_000, 1 << 22])), len(names))
    return pack_postings(places), dict(zip(names, ids, strict=True))


@built
def test_rows_of_blobs_are_the_same() -> None:
    pick = random.Random(11)
    for _ in range(600):
        postings, ids = _postings(pick)
        expected = blob_names.python_pack(postings, postings.encode(), ids)
        assert blob_names.pack_names(postings, ids) == expected
        split = dict(blob_names.split_places(*expected))
        assert {name: split[ids[name]] for name in ids} == dict(postings)


@built
def test_names_without_an_id_and_places_without_bytes() -> None:
    assert compiled.LIBRARY is not None
    with pytest.raises(KeyError):
        compiled.LIBRARY.pack_names({"a": 3}, b"abc", {})
    for packed in (b"", b"ab"):
        with pytest.raises(ValueError, match="bad postings"):
            compiled.LIBRARY.pack_names({"a": 3}, packed, {"a": 1})
    with pytest.raises(ValueError, match="bad postings"):
        compiled.LIBRARY.pack_names({"a": 0}, b"abc", {"a": 1})
    assert compiled.LIBRARY.pack_names({}, b"", {}) is None


@built
def test_rows_of_the_index_by_name_are_the_same() -> None:
    pick = random.Random(12)
    for _ in range(300):
        largest = pick.choice([50, 3_000, 1 << 22])
        blobs = []
        for blob_id in pick.sample(range(1, pick.choice([100, 1 << 22])), pick.randrange(30)):
            ids = sorted(pick.sample(range(1, largest), pick.randrange(1, 40)))
            blobs.append((blob_id, blob_names.join_places(dict.fromkeys(ids, b"abc"))[0]))
        expected = list(name_index.python_rows(blobs))
        assert list(name_index.rows_by_name(blobs)) == expected


@built
@pytest.mark.parametrize("number", LARGE)
def test_large_numbers_are_the_same(number: int) -> None:
    rows = [(1, pack_numbers([1, 5, 3])), (1 + number, pack_numbers([2, 5, number, 3, 3]))]
    expected = [(5, 1, pack_numbers([number])), (5 + number, 1 + number, b"")]
    assert list(name_index.rows_by_name(rows)) == list(name_index.python_rows(rows)) == expected
    postings = pack_postings({"a": [8, 1, 1], "b": [16, 1, 1]})
    ids = {"a": 7 + number, "b": 7}
    expected_row = blob_names.python_pack(postings, postings.encode(), ids)
    assert blob_names.pack_names(postings, ids) == expected_row


@built
def test_a_damaged_row_is_reported_as_python_does() -> None:
    pick = random.Random(13)
    sound = pack_numbers([3, 5, 300, 70_000, 3, 6, 9])
    for _ in range(2_000):
        damaged = bytearray(sound)
        damaged[pick.randrange(len(sound))] = pick.randrange(256)
        del damaged[pick.randrange(len(sound) + 1) :]
        try:
            expected = list(name_index.python_rows([(4, bytes(damaged))]))
        except CorruptStore:
            with pytest.raises(CorruptStore):
                list(name_index.rows_by_name([(4, bytes(damaged))]))
        else:
            assert list(name_index.rows_by_name([(4, bytes(damaged))])) == expected
