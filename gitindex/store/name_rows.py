"""Rows of names and places: numbers as bytes, the names of a blob with their places. Pure."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from operator import sub

from gitindex.base.errors import CorruptStore
from gitindex.languages.facts import Postings

MARK = 0x10FFFF
"""The last character: the two numbers that follow are the upper and the lower part of one number."""
_LOW_BITS = 20
_NATIVE = f"utf-32-{sys.byteorder[0]}e"


def pack_numbers(numbers: Sequence[int]) -> bytes:
    """Return numbers from 0 to 2**40 as bytes."""
    try:
        text = array("I", numbers).tobytes().decode(_NATIVE, "surrogatepass")
    except (UnicodeDecodeError, OverflowError):  # beyond characters, or beyond 32 bits
        text = chr(MARK)
    if chr(MARK) in text:
        text = "".join(map(chr, _in_parts(numbers)))
    return text.encode("utf-8", "surrogatepass")


def unpack_numbers(packed: bytes) -> list[int]:
    """Return the numbers; ValueError if there are none such."""
    numbers = array("I")
    numbers.frombytes(packed.decode("utf-8", "surrogatepass").encode(_NATIVE, "surrogatepass"))
    values = numbers.tolist()
    return list(_joined(values)) if MARK in values else values


def steps_of(increasing: Sequence[int]) -> list[int]:
    """Return the distance of each number from the one before, and of the first from 0."""
    return [*increasing[:1], *map(sub, increasing[1:], increasing)]


def blobs_of(first: int, others: bytes) -> list[int]:
    """Return the blobs of a row of the index by name."""
    return list(accumulate(unpack_numbers(others), initial=first)) if others else [first]


def list_blobs(first: int, others: bytes) -> str:
    """Return the blobs of a row of the index by name as JSON: `blob_list` in SQL."""
    return str(blobs_of(first, others))


def _in_parts(numbers: Sequence[int]) -> Iterator[int]:
    for number in numbers:
        if number < MARK:
            yield number
        else:
            yield from (MARK, number >> _LOW_BITS, number & ((1 << _LOW_BITS) - 1))


def _joined(values: list[int]) -> Iterator[int]:
    source = iter(values)
    for number in source:
        if number < MARK:
            yield number
        else:
            high, low = next(source, None), next(source, None)
            if high is None or low is None:
                raise ValueError("a number is cut off")
            yield (high << _LOW_BITS) + low


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
