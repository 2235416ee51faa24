"""Text of a repository made safe to show on a terminal and in JSON, and standard output; columns as editors
count them."""

from __future__ import annotations

import os
import sys

from gitindex.base.errors import GitIndexError, NotIndexed
from gitindex.base.light_types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gitindex.base.answers import PathFields


def safe_text(text: str | bytes, keep: str = "") -> str:
    """Text for a terminal: control characters, bidi marks and bytes that are not UTF-8 escaped."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    bare = text
    for char in keep:
        bare = bare.replace(char, "")
    if bare.isascii() and bare.isprintable():
        return text
    return "".join(c if c in keep or _harmless(c) else _escape(c) for c in text)


def counted(number: int, what: str) -> str:
    """`1 file`, `2 files`: a number and what it counts, given in the plural."""
    return f"{number} {what.removesuffix('s') if number == 1 else what}"


def path_fields(path: bytes) -> PathFields:
    """A path in an answer: escaped to be shown, and its very bytes where they are not UTF-8."""
    fields: PathFields = {"path": safe_text(path)}
    try:
        path.decode()
    except UnicodeDecodeError:
        from base64 import b64encode  # lazily: most answers need none

        fields["pathBytes"] = b64encode(path).decode()
    return fields


def utf16_length(text: bytes) -> int:
    """UTF-16 units of UTF-8 text: the columns that editors count."""
    if text.isascii():
        return len(text)
    return len(text.decode("utf-8", "replace").encode("utf-16-le")) // 2


def _harmless(char: str) -> bool:
    return char.isprintable() and not "\u2066" <= char <= "\u2069"


def _escape(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def print_line(text: str) -> None:
    """One line, now. A reader that has seen enough and left is no failure."""
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def print_json(answer: Mapping[str, Any]) -> None:
    """One answer on one line, in ASCII: no terminal and no locale can break it."""
    import json  # lazily: a prompt prints no JSON

    print_line(json.dumps(answer, ensure_ascii=True))


def refusal(status: str, message: str, hint: str = "") -> dict[str, Any]:
    """An answer that is neither ok nor a closed gate."""
    envelope: dict[str, Any] = {"status": status, "message": safe_text(message)}
    return envelope | ({"hints": {"remedy": safe_text(hint)}} if hint else {})


def refused(error: GitIndexError) -> dict[str, Any]:
    """A failure as a structured answer."""
    envelope = refusal(error.status, error.message, error.hint)
    return envelope | ({"reason": error.status} if isinstance(error, NotIndexed) else {})
