"""Git's index, whole or damaged: its readers say the same of it, or refuse it."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from typing import Any

import pytest

from gitindex.git.index_file import (
    Unreadable,
    digest_of,
    entries_beyond,
    entry_spans,
    find_unchecked,
    paths_of,
)

HEAD = 12


def _index(pick: random.Random, count: int, id_bytes: int) -> bytes:
    """An index of version 3 with names of all lengths, flags and times of all kinds."""
    parts = [struct.pack(">4sII", b"DIRC", 3, count)]
    for number in range(count):
        name = b"d/%d" % number + b"x" * pick.choice((0, 1, 7, 60, 300, 4095, 5000))
        then = pick.choice((5, 6))
        flags = min(len(name), 0xFFF) | pick.choice((0, 0, 0, 0x8000, 0x4000, 0x1000))
        extra = struct.pack(">H", pick.choice((0, 0x4000))) if flags & 0x4000 else b""
        stat = struct.pack(">10I", 5, 1, then, 2, 3, 4, 0o100644, 0, 0, pick.randrange(3))
        entry = stat + bytes([number % 5]) * id_bytes + struct.pack(">H", flags) + extra + name
        parts.append(entry + b"\0" * (8 - len(entry) % 8))
    return b"".join(parts) + bytes(id_bytes)


def _spoilt(pick: random.Random, data: bytes, kind: int) -> bytes:
    """The index whole, cut, or with some bytes changed."""
    made = bytearray(data)
    if kind == 1:
        del made[pick.randrange(HEAD, len(made)) :]
    elif kind == 2:
        for _ in range(pick.randrange(1, 9)):
            made[pick.randrange(HEAD, len(made))] = pick.randrange(256)
    return bytes(made)


def _outcome(work: Callable[..., Any], *args: object) -> Any:
    try:
        return work(*args)
    except Unreadable:
        return "refused"


@pytest.mark.parametrize("id_bytes", [20, 32])
def test_readers_agree_or_refuse(id_bytes: int) -> None:
    pick = random.Random(id_bytes)
    for number in range(300):
        whole = _index(pick, pick.choice((0, 1, 3, 40)), id_bytes)
        data = _spoilt(pick, whole, number % 3)
        spoilt = [
            _outcome(digest_of, data, id_bytes),
            _outcome(find_unchecked, data, id_bytes),
            _outcome(entries_beyond, data, id_bytes, frozenset()),
        ]
        if number % 3:
            continue
        assert "refused" not in spoilt
        spans = list(entry_spans(data, id_bytes))
        pairs = [data[at + 36 : at + 40 + id_bytes] for at, _ in spans]
        paths = paths_of(data, id_bytes).files
        assert len(paths) == len(spans)
        hidden = {one.path for one in spoilt[1] if one.covered}
        assert {one.path for one in spoilt[2]} == set(paths) - hidden
        known = frozenset(pick.sample(pairs, len(pairs) // 2))
        left = [one for one in spoilt[2] if one.key[36:] not in known]
        assert entries_beyond(data, id_bytes, known) == left
        times = [struct.unpack_from(">I4xI", data, at) for at, _ in spans]
        odd = {path for path, (a, b) in zip(paths, times, strict=True) if a != b}
        assert {one.path for one in spoilt[1]} == hidden | odd
