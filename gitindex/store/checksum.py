"""Values that carry a checksum of themselves and of the row they belong to."""

from __future__ import annotations

from zlib import crc32

SIZE = 4


def with_checksum(table: str, row_id: int, value: bytes) -> bytes:
    """The value as it is stored: its checksum, then itself."""
    return _checksum(table, row_id, value) + value


def checked(table: str, row_id: int, stored: object) -> bytes | None:
    """The value behind a checksum; None where the stored bytes are not what was written."""
    if not isinstance(stored, bytes) or len(stored) < SIZE:
        return None
    value = stored[SIZE:]
    return value if _checksum(table, row_id, value) == stored[:SIZE] else None


def _checksum(table: str, row_id: int, value: bytes) -> bytes:
    return crc32(value, crc32(b"%s %d" % (table.encode(), row_id))).to_bytes(SIZE, "little")
