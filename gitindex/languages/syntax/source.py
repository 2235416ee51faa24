"""A blob as text: converted to UTF-8 and split into lines. Bad bytes are kept and flagged.

Also the one detector of generated files: they are searched like others, and ranked below them.
"""

from __future__ import annotations

import codecs
import re
from io import BytesIO
from itertools import accumulate

from gitindex.base.light_types import NamedTuple
from gitindex.base.pattern import compile_later

SAMPLE = 4096
"""Bytes from which a wide encoding without a mark is recognised: NUL bytes are spread evenly in it."""

_HEAD = 1_000
"""The marker must be in this many bytes at the start of a file."""
_SAYS_SO = compile_later(rb"^\W{0,8}(@generated\b|(\w.{0,200})?\bDO NOT EDIT\b)", re.MULTILINE)
"""The marker is on its own line, with only comment characters before it."""

_PRINTABLE = bytes(b if (b >= 32 and b != 127) or b in b"\t\n\v\f\r" else 32 for b in range(256))
_ESCAPED = compile_later("[\udc80-\udcff]")


class SourceText(NamedTuple):
    """UTF-8 bytes of a text: the stored bytes, unless those are UTF-16 or UTF-32."""

    data: bytes
    lossy: bool


def read_source(stored: bytes) -> SourceText:
    """Return the text of stored bytes. Invalid UTF-8 stays in place, so columns are unchanged."""
    encoding = _wide_encoding(stored)
    if encoding:
        text = stored.decode(encoding, "replace")
        lossy = "\ufffd" in text
        return SourceText(text.encode("utf-8", "replace"), lossy)
    try:
        stored.decode()
    except UnicodeDecodeError:
        return SourceText(stored, lossy=True)
    return SourceText(stored, lossy=False)


def _wide_encoding(stored: bytes) -> str:
    """Return the name of a 16- or 32-bit encoding, by its BOM or the positions of NUL bytes."""
    if stored.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if stored.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    sample = stored[:SAMPLE]
    if len(stored) % 2 or sample.count(0) * 3 < len(sample) or not sample:
        return ""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if odd > 9 * even:
        return "utf-16-le"
    return "utf-16-be" if even > 9 * odd else ""


def readable(source: SourceText, data: bytes) -> bytes:
    """Return the parser's input: control characters and broken bytes replaced, all offsets kept.

    The error recovery of some grammars does not end on them (Kotlin, three bytes 0xFF).
    """
    data = data.translate(_PRINTABLE)
    if not source.lossy:
        return data
    text = data.decode("utf-8", "surrogateescape")
    return _ESCAPED.sub("_", text).encode("utf-8", "replace")


def line_starts(data: bytes) -> list[int]:
    """Return the byte offset of each line's start; lines end at LF, as in tree-sitter and git."""
    starts = list(accumulate(map(len, BytesIO(data)), initial=0))
    if data and not data.endswith(b"\n"):
        starts.pop()
    return starts


def count_lines(data: bytes) -> int:
    """Return the number of lines; a last line without a line end counts."""
    return data.count(b"\n") + (not data.endswith(b"\n") and data != b"")


def is_generated(data: bytes) -> bool:
    """Does the file's head mark it as generated (`@generated`, `DO NOT EDIT`)?"""
    return _SAYS_SO.search(data, 0, _HEAD) is not None
