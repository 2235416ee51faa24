"""The rows of a text index as bytes: a segment's head, its words, the blobs of a word. Pure."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from gitindex.base.compiled import LIBRARY
from gitindex.extract.fragments import AS_WORDS, MAX_WORD_BYTES, words_of_folded

CHUNK = 64
"""Number of words whose blobs are stored in one row."""
BLOCK = 1024
"""Number of words stored in one row."""
BUCKETS = 8192
"""Number of hash buckets for trigrams; the filter has a bit per bucket and block."""
MIN_FILTERED = 4
"""Segments of fewer blocks have no filter: all blocks are scanned."""
GONE = (1 << 32) - 1
"""The new ordinal of a blob that was removed."""

Words = dict[bytes, list[int]]
"""The ordinals of the blobs that have each word, ascending."""

_SYMBOLS = b" abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_NUMBERS = {byte: number for number, byte in enumerate(_SYMBOLS)}


class SegmentHead(NamedTuple):
    """A segment's first row: blob ids by ordinal (0: removed), and its number of words."""

    blobs: list[int]
    wide: set[int]  # ordinals of blobs with too many words: always candidates
    words: int


class TextRows(NamedTuple):
    """The words of a segment: sorted, in blocks; and per chunk of words their blobs."""

    words: int
    blocks: list[bytes]
    postings: list[bytes]
    filter: bytes


def pack_head(head: SegmentHead) -> bytes:
    """Pack three lists of numbers; blobs as runs of ascending ids, which is what a batch has."""
    runs: list[list[int]] = []
    for blob in head.blobs:
        if runs and blob == runs[-1][0] + runs[-1][1]:
            runs[-1][1] += 1
        else:
            runs.append([blob, 1])
    lists = (chain.from_iterable(runs), sorted(head.wide), [head.words])
    return b"\n".join(b" ".join(b"%d" % number for number in numbers) for numbers in lists)


def read_head(packed: bytes) -> SegmentHead | None:
    """Unpack `pack_head`; None for anything else."""
    try:
        runs, wide, words = (list(map(int, line.split())) for line in packed.split(b"\n"))
        blobs = [
            range(first, first + count) for first, count in zip(runs[::2], runs[1::2], strict=True)
        ]
        return SegmentHead(list(chain.from_iterable(blobs)), set(wide), words[0])
    except (ValueError, IndexError, TypeError, AttributeError):
        return None


def pack_texts(texts: Sequence[bytes]) -> tuple[set[int], TextRows]:
    """Return the rows of folded texts by ordinal, and the ordinals with too many words."""
    if LIBRARY is None:
        return python_texts(texts)
    layout = AS_WORDS, MAX_WORD_BYTES, CHUNK, BLOCK, BUCKETS
    wide, blocks, postings, marks = LIBRARY.pack_texts(tuple(texts), *layout)
    last = blocks[-1].count(b" ") - blocks[-1].count(b"\n") - 1 if blocks else 0
    return set(wide), _filtered(BLOCK * (len(blocks) - 1) + last, blocks, postings, marks)


def python_texts(texts: Sequence[bytes]) -> tuple[set[int], TextRows]:
    """Python version of native/words.c."""
    wide: set[int] = set()
    held: Words = {}
    for ordinal, text in enumerate(texts):
        words = words_of_folded(text)
        if words is None:
            wide.add(ordinal)
            continue
        for word in words:
            if word in held:
                held[word].append(ordinal)
            else:
                held[word] = [ordinal]
    return wide, pack_words(held)


def pack_words(words: Words) -> TextRows:
    """Return the rows of words."""
    chosen = sorted(words)
    chunks = [chosen[at : at + CHUNK] for at in range(0, len(chosen), CHUNK)]
    lines = [b" ".join([b"", *chunk, b""]) for chunk in chunks]
    each = BLOCK // CHUNK
    blocks = [b"\n".join(lines[at : at + each]) for at in range(0, len(lines), each)]
    postings = [b" ".join([pack_ordinals(words[word]) for word in chunk]) for chunk in chunks]
    return _filtered(len(chosen), blocks, postings, None)


class SegmentPart(NamedTuple):
    """The rows of a segment that is merged, and the new ordinals of its blobs (GONE: it has none)."""

    blocks: tuple[bytes, ...]
    postings: tuple[bytes, ...]
    ordinals: array[int]


def merge_rows(parts: Sequence[SegmentPart]) -> TextRows:
    """Return the rows of several segments as one; new ordinals ascend from part to part."""
    words: Words = {}
    for blocks, postings, new in parts:
        names = chain.from_iterable(map(bytes.split, blocks))
        lists = chain.from_iterable(row.split(b" ") for row in postings)
        kept = {old: ordinal for old, ordinal in enumerate(new) if ordinal != GONE}
        for word, posting in zip(names, lists, strict=True):
            ordinals = [kept[old] for old in unpack_ordinals(posting) if old in kept]
            words.setdefault(word, []).extend(ordinals)
    return pack_words({word: ordinals for word, ordinals in words.items() if ordinals})


def _filtered(
    count: int, blocks: list[bytes], postings: list[bytes], marks: bytes | None
) -> TextRows:
    if len(blocks) < MIN_FILTERED:
        return TextRows(max(count, 0), blocks, postings, b"")
    return TextRows(count, blocks, postings, filter_of(blocks) if marks is None else marks)


def filter_of(blocks: list[bytes]) -> bytes:
    """Return a bit per bucket and block: set if the block has a trigram of the bucket."""
    width = (len(blocks) + 7) // 8
    bits = bytearray(BUCKETS * width)
    for number, block in enumerate(blocks):
        at, bit = number >> 3, 1 << (number & 7)
        for bucket in buckets_of(block):
            bits[bucket * width + at] |= bit
    return bytes(bits)


def buckets_of(text: bytes) -> set[int]:
    """Return the buckets of all trigrams in some words, except with a blank in the middle."""
    text = text.replace(b"\n", b" ")
    found = {text[at : at + 3] for at in range(len(text) - 2)}
    numbers = _NUMBERS
    return {
        (((numbers[a] << 12 | numbers[b] << 6 | numbers[c]) * 2654435761 & 0xFFFFFFFF) >> 8)
        % BUCKETS
        for a, b, c in found
        if b != 32
    }


def blocks_with(marks: bytes, blocks: int, fragment: bytes) -> list[int]:
    """Return the blocks that may have a fragment, by the filter; all of them without a filter."""
    if not marks:
        return list(range(blocks))
    width = (blocks + 7) // 8
    left = (1 << blocks) - 1
    for bucket in buckets_of(fragment):
        left &= int.from_bytes(marks[bucket * width : (bucket + 1) * width], "little")
    return [number for number in range(blocks) if left >> number & 1]


def pack_ordinals(ordinals: list[int]) -> bytes:
    """Pack differences, six bits per byte: all bytes are 0x80 or above, so none is a blank."""
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
    """Unpack `pack_ordinals`."""
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
