"""Looks for bytes that the disk lost, a piece at a time: who answers compares what it reads itself.

After each refresh a runner compares the next few parts with their checksums, so that its work does
not grow with the store, and over many refreshes everything is compared. `gitindex index` may leave
the whole comparison to the runner that follows it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from gitindex.base.atomic_file import read_small, remove, write_atomic
from gitindex.store.seal import ALL, damage_of_store, sealed_parts

PIECE_BYTES = 32 << 20
"""How much one runner compares."""
QUICK_BYTES = 64 << 20
"""A store up to this size is compared at once: it takes less than a tenth of a second."""
CURSOR = "compared"
"""The file that says where the next piece begins."""
_EVERYTHING = b"all"


def rot_of_store(store: str) -> str:
    """Describe damage in the next piece of a store, or in all of it if that was left to us."""
    cursor = os.path.join(store, CURSOR)
    said = read_small(cursor)
    if said == _EVERYTHING or size_of_store(store) <= QUICK_BYTES:
        wrong = damage_of_store(store, ALL)
        with suppress(OSError):
            remove(cursor)
        return wrong
    wrong = damage_of_store(store)
    if wrong:
        return wrong
    wrong, at = _next_piece(store, int(said) if said and said.isdigit() else 0)
    with suppress(OSError):
        write_atomic(cursor, b"%d" % at, durable=False)
    return wrong


def leave_all(store: str) -> None:
    """Let the next runner compare everything."""
    write_atomic(os.path.join(store, CURSOR), _EVERYTHING, durable=False)


def is_left(store: str) -> bool:
    """Is everything to be compared by the next runner?"""
    return read_small(os.path.join(store, CURSOR)) == _EVERYTHING


def size_of_store(store: str) -> int:
    """Return the bytes of the database and of the lexical index."""
    return sum(map(_size, _files(store)))


def _next_piece(store: str, at: int) -> tuple[str, int]:
    """Compare parts from the given one on; returns what is wrong, and where to go on."""
    parts = sealed_parts(store)
    left = PIECE_BYTES
    while at < len(parts) and left > 0:
        if not parts[at].is_sound():
            return damage_of_store(store, ALL), 0  # it was replaced meanwhile, or is damaged
        left -= parts[at].size
        at += 1
    return "", at if at < len(parts) else 0


def _files(store: str) -> Iterator[str]:
    yield os.path.join(store, "facts.db")
    with suppress(OSError):
        for entry in os.scandir(os.path.join(store, "lexical")):
            yield entry.path


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
