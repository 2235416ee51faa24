"""The scopes of a blob in their stored form: compressed."""

from __future__ import annotations

import zlib

MAX_BYTES = 1 << 24
"""Most bytes of a row once it is unpacked: a row of a foreign pack may claim to be any size."""


def pack_scopes(scopes: bytes) -> bytes:
    """Return the value that is stored."""
    return zlib.compress(scopes)


def unpack_scopes(stored: bytes) -> bytes:
    """Return the scopes of a stored value; empty if it is damaged."""
    inflating = zlib.decompressobj()
    try:
        found = inflating.decompress(stored, MAX_BYTES)
    except zlib.error:
        return b""
    return found if inflating.eof and not inflating.unused_data else b""
