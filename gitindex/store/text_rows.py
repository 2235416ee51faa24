"""The rows of a text index as bytes: a segment's head, and the blobs that have a word. Pure."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import NamedTuple


class SegmentHead(NamedTuple):
    """A segment's first row: blob ids by ordinal (0: removed), and the size of each class."""

    blobs: list[int]
    wide: set[int]  # ordinals of blobs with too many words: always candidates
    classes: list[tuple[int, int]]  # shortest word and number of words


def pack_head(head: SegmentHead) -> bytes:
    """Three lists of numbers; blobs as runs of ascending ids, which is what a batch has."""
    runs: list[list[int]] = []
    for blob in head.blobs:
        if runs and blob == runs[-1][0] + runs[-1][1]:
            runs[-1][1] += 1
        else:
            runs.append([blob, 1])
    lists = (chain.from_iterable(runs), sorted(head.wide), chain.from_iterable(head.classes))
    return b"\n".join(b" ".join(b"%d" % number for number in numbers) for numbers in lists)


def read_head(packed: bytes | None) -> SegmentHead | None:
    """What `pack_head` packed; None for none."""
    if packed is None:
        return None
    runs, wide, classes = (list(map(int, line.split())) for line in packed.split(b"\n"))
    blobs = [range(first, first + count) for first, count in _in_pairs(runs)]
    return SegmentHead(list(chain.from_iterable(blobs)), set(wide), _in_pairs(classes))


def _in_pairs(numbers: list[int]) -> list[tuple[int, int]]:
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def pack_ordinals(ordinals: list[int]) -> bytes:
    """Distances, six bits to a byte: 0x80 and above, so that no byte is a blank."""
    if len(ordinals) == 1:
        return _number(ordinals[0] + 1)
    return b"".join([_number(b - a) for a, b in pairwise([-1, *ordinals])])


def _number(value: int) -> bytes:
    if value < 64:
        return _BYTES[value]
    if value < 4096:
        return _BYTES[64 | value & 63] + _BYTES[value >> 6]
    return _BYTES[64 | value & 63] + _number(value >> 6)


_BYTES = [bytes([0x80 | value]) for value in range(128)]


def unpack_ordinals(posting: bytes) -> list[int]:
    """What `pack_ordinals` packed."""
    found: list[int] = []
    last = -1
    value = shift = 0
    for byte in posting:
        value |= (byte & 63) << shift
        if byte & 64:
            shift += 6
        else:
            last += value
            found.append(last)
            value = shift = 0
    return found
