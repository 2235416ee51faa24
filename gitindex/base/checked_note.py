"""Notes in the store that carry a checksum of themselves: one that was changed counts as absent."""

from __future__ import annotations

from zlib import crc32


def add_checksum(data: bytes) -> bytes:
    """The bytes to write: a line with the checksum, then the data."""
    return b"%08x\n%s" % (crc32(data), data)


def strip_checksum(stored: bytes | None) -> bytes | None:
    """The data of what `add_checksum` made; None for anything else."""
    said, _, data = (stored or b"").partition(b"\n")
    return data if said == b"%08x" % crc32(data) else None
