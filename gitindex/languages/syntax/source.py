"""A blob as text: its encoding made UTF-8, its lines found. Bad bytes are kept and marked."""

from __future__ import annotations

import codecs
import re
from io import BytesIO
from itertools import accumulate
from typing import NamedTuple

SAMPLE = 4096

_PRINTABLE = bytes(b if (b >= 32 and b != 127) or b in b"\t\n\v\f\r" else 32 for b in range(256))
_ESCAPED = re.compile("[\udc80-\udcff]")


class SourceText(NamedTuple):
    """UTF-8 bytes of a text. They are the stored bytes unless those were UTF-16 or UTF-32."""

    data: bytes
    lossy: bool


def read_source(stored: bytes) -> SourceText:
    """The text behind stored bytes. Bytes that are no UTF-8 stay in place, so columns hold."""
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
    """The name of a 16- or 32-bit encoding, by its mark or by where its NUL bytes are."""
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
    """What a parser gets: no control characters and no broken bytes, each place as it was.

    Error recovery of some grammars does not end on them (Kotlin, three bytes 0xFF).
    """
    data = data.translate(_PRINTABLE)
    if not source.lossy:
        return data
    text = data.decode("utf-8", "surrogateescape")
    return _ESCAPED.sub("_", text).encode("utf-8", "replace")


def line_starts(data: bytes) -> list[int]:
    """Byte offset of the start of every line; lines end at LF, as tree-sitter and git count."""
    starts = list(accumulate(map(len, BytesIO(data)), initial=0))
    if data and not data.endswith(b"\n"):
        starts.pop()
    return starts


def count_lines(data: bytes) -> int:
    """Lines of a text; a last line without its end counts."""
    return data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
