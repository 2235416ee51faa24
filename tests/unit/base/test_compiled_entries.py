"""Entries of git's index: the compiled loops and those in Python say the same, of damaged ones too."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from typing import Any

import pytest

from gitindex.base import compiled
from gitindex.git import index_file
from gitindex.git.index_file import (
    Unreadable,
    _contents,
    contents_of,
    digest_of,
    list_of,
    odd_entries,
)

pytestmark = pytest.mark.skipif(
    not hasattr(compiled.LIBRARY, "odd_entries"),
    reason="installed without a C compiler, or earlier",
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
    except (ValueError, IndexError, struct.error, Unreadable):
        return "refused"


@pytest.mark.parametrize("id_bytes", [20, 32])
def test_compiled_and_python_loops_agree(id_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same entries, contents and digests, or the same refusal."""
    library = compiled.LIBRARY
    assert library is not None
    pick = random.Random(id_bytes)
    for number in range(300):
        whole = _index(pick, pick.choice((0, 1, 3, 40)), id_bytes)
        data = _spoilt(pick, whole, number % 3)
        count = int.from_bytes(data[8:12])
        pairs = [data[at + 36 : at + 40 + id_bytes] for at in range(HEAD, len(data), 8)]
        known = frozenset(pick.sample(pairs, len(pairs) // 2))
        for held in (None, known):
            ours = _outcome(library.odd_entries, data, HEAD, count, id_bytes, held)
            assert ours == _outcome(odd_entries, data, count, id_bytes, held)
        told = []
        for large in (0, 1 << 60):
            monkeypatch.setattr(index_file, "LARGE", large)
            told.append(_outcome(digest_of, data, id_bytes))
        assert told[0] == told[1]
        assert _contents(whole, id_bytes) == contents_of(whole, id_bytes)
        listed = _outcome(library.entry_list, data, HEAD, count, id_bytes)
        assert listed == _outcome(list_of, data, id_bytes)


@pytest.mark.parametrize(
    "arguments",
    [(b"x", -1, 1, 20, None), (b"x", 0, 1, 7, None), (b"x", 0, 1, 20, {b"x"}), (b"x", 0, 1, 20)],
)
def test_bad_arguments_are_refused(arguments: tuple[object, ...]) -> None:
    """Nothing but a place, a length of ids and a frozen set is taken."""
    assert compiled.LIBRARY is not None
    with pytest.raises((TypeError, ValueError)):
        compiled.LIBRARY.odd_entries(*arguments)
