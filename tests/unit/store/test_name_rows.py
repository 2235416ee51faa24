"""Rows of names: what was packed is found again, and a damaged row is reported."""

from __future__ import annotations

import random

import pytest

from gitindex.base.errors import CorruptStore
from gitindex.languages.facts import Postings, pack_postings
from gitindex.store import name_index, name_rows
from gitindex.store.name_rows import blobs_of, pack_numbers

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


def test_a_row_holds_the_places_of_every_name() -> None:
    pick = random.Random(11)
    for _ in range(300):
        postings, ids = _postings(pick)
        row = name_rows.pack_names(postings, ids)
        split = dict(name_rows.split_places(*row))
        assert list(split) == sorted(ids.values())
        assert {name: split[ids[name]] for name in ids} == dict(postings)
        assert all(name_rows.find_places(*row, ids[name]) == postings[name] for name in ids)


def test_a_name_without_an_id_is_an_error() -> None:
    with pytest.raises(KeyError):
        name_rows.pack_names(pack_postings({"a": [8, 1, 1]}), {})


def test_the_index_by_name_lists_every_blob_of_a_name() -> None:
    pick = random.Random(12)
    for _ in range(200):
        largest = pick.choice([50, 3_000, 1 << 22])
        blobs, expected = [], dict[int, list[int]]()
        for blob_id in sorted(
            pick.sample(range(1, pick.choice([100, 1 << 22])), pick.randrange(30))
        ):
            ids = sorted(pick.sample(range(1, largest), pick.randrange(1, 40)))
            blobs.append((blob_id, name_rows.join_places(dict.fromkeys(ids, b"abc"))[0]))
            for name_id in ids:
                expected.setdefault(name_id, []).append(blob_id)
        pick.shuffle(blobs)
        rows = list(name_index.rows_by_name(blobs))
        assert [row[0] for row in rows] == sorted(expected)
        assert {name: list(blobs_of(first, others)) for name, first, others in rows} == expected


@pytest.mark.parametrize("number", LARGE)
def test_large_numbers(number: int) -> None:
    rows = [(1, pack_numbers([1, 5, 3])), (1 + number, pack_numbers([2, 5, number, 3, 3]))]
    expected = [(5, 1, pack_numbers([number])), (5 + number, 1 + number, b"")]
    assert list(name_index.rows_by_name(rows)) == expected
    postings = pack_postings({"a": [8, 1, 1], "b": [16, 1, 1]})
    ids = {"a": 7 + number, "b": 7}
    split = dict(name_rows.split_places(*name_rows.pack_names(postings, ids)))
    assert split == {7: postings["b"], 7 + number: postings["a"]}


def test_a_damaged_row_is_reported_or_read_as_what_it_says() -> None:
    pick = random.Random(13)
    sound = pack_numbers([3, 5, 300, 70_000, 3, 6, 9])
    reported = 0
    for _ in range(2_000):
        damaged = bytearray(sound)
        damaged[pick.randrange(len(sound))] = pick.randrange(256)
        del damaged[pick.randrange(len(sound) + 1) :]
        try:
            names = [row[0] for row in name_index.rows_by_name([(4, bytes(damaged))])]
        except CorruptStore:
            reported += 1
        else:
            assert names == name_rows.read_names(bytes(damaged))[0]
    assert reported > 1_000
