"""Values stored with a checksum of themselves and of their row."""

from __future__ import annotations

from typing import TypeGuard
from zlib import crc32

SIZE = 4


def with_checksum(table: str, row_id: int, value: bytes) -> bytes:
    """Return the stored form of a value: its checksum, then the value."""
    return _checksum(table, row_id, value) + value


def checked(table: str, row_id: int, stored: object) -> bytes | None:
    """Return the value behind a checksum; None if the stored bytes have changed."""
    return stored[SIZE:] if is_sound(stored, table, row_id) else None


def is_sound(stored: object, table: str, row_id: int) -> TypeGuard[bytes]:
    """Are the stored bytes unchanged? Copies nothing; the value begins at `SIZE`."""
    if not isinstance(stored, bytes) or len(stored) < SIZE:
        return False
    return _checksum(table, row_id, memoryview(stored)[SIZE:]) == stored[:SIZE]


def _checksum(table: str, row_id: int, value: bytes | memoryview) -> bytes:
    return crc32(value, crc32(b"%s %d" % (table.encode(), row_id))).to_bytes(SIZE, "little")
