"""The names of one blob and their places as one row: numbers and lengths apart from the places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate

from gitindex.base.errors import CorruptStore
from gitindex.languages.postings import Postings
from gitindex.store.numbers import pack_numbers, steps_of, unpack_numbers


def pack_names(postings: Postings, name_ids: Mapping[str, int]) -> tuple[bytes, bytes]:
    """Return the two columns of a blob's row: its names, and their places in the same order."""
    packed = postings.encode()
    counts = postings.counts
    ids = map(name_ids.__getitem__, counts)
    starts = accumulate(counts.values(), initial=0)
    rows = sorted(zip(ids, counts.values(), starts, strict=False))
    if packed.isascii():
        parts = [packed[at : at + count] for _, count, at in rows]
    else:
        text = postings.text
        parts = [text[at : at + count].encode("utf-8", "surrogatepass") for _, count, at in rows]
    return _join([name_id for name_id, _, _ in rows], parts)


def join_places(places: Mapping[int, bytes]) -> tuple[bytes, bytes]:
    """Return the two columns for packed places by name; the names are in their order."""
    return _join(list(places), list(places.values()))


def _join(ids: list[int], parts: list[bytes]) -> tuple[bytes, bytes]:
    return pack_numbers([len(ids), *steps_of(ids), *map(len, parts)]), b"".join(parts)


def read_names(names: bytes) -> tuple[list[int], list[int]]:
    """Return the ids of a blob's names, and how many bytes the places of each take."""
    try:
        numbers = unpack_numbers(names)
    except ValueError:
        numbers = []
    if 0 in numbers or not numbers or len(numbers) != 2 * numbers[0] + 1:
        raise _damaged()
    middle = numbers[0] + 1
    return list(accumulate(numbers[1:middle])), numbers[middle:]


def split_places(names: bytes, places: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the names of a blob with their packed places."""
    ids, lengths = read_names(names)
    if sum(lengths) != len(places):
        raise _damaged()
    for name_id, length, at in zip(ids, lengths, accumulate(lengths, initial=0), strict=False):
        yield name_id, places[at : at + length]


def find_places(names: bytes, places: bytes, name_id: int) -> bytes:
    """Return the packed places of one name in a blob; empty if it is not there."""
    ids, lengths = read_names(names)
    if sum(lengths) != len(places):
        raise _damaged()
    if name_id not in ids:
        return b""
    number = ids.index(name_id)
    start = sum(lengths[:number])
    return places[start : start + lengths[number]]


def _damaged() -> CorruptStore:
    return CorruptStore(
        "the store is damaged: the places of a blob cannot be read", "run `gitindex index --force`"
    )
