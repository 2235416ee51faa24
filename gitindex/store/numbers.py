"""Numbers as bytes: each is a character in UTF-8, so small ones take one byte and most of them two."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import sub

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
    found = numbers.tolist()
    return list(_joined(found)) if MARK in found else found


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


def _joined(found: list[int]) -> Iterator[int]:
    source = iter(found)
    for number in source:
        if number < MARK:
            yield number
        else:
            high, low = next(source, None), next(source, None)
            if high is None or low is None:
                raise ValueError("a number is cut off")
            yield (high << _LOW_BITS) + low
