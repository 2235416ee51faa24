"""Hides macros of C and C++ that no grammar can read, byte for byte, so that all offsets hold."""

from __future__ import annotations

import re
from typing import NamedTuple

_MACRO = rb"([A-Z][A-Z0-9_]{2,}(?:\([^()\n]*\))?)"
_TYPES = (
    rb"template|class|struct|enum|union|auto|inline|static|void|bool|char|int|long|short|unsigned"
    rb"|signed|float|double|const|constexpr|virtual|friend|typename|explicit|extern|typedef"
    rb"|namespace|using|operator|size_t|ssize_t|u?int\d+_t"
)
_STORAGE = rb"(?:(?:static|inline|extern|constexpr|virtual|friend)[ \t]+)*"
_BEFORE_NAME = (
    rb"\b(?:class|struct|union)[ \t]+" + _MACRO + rb"(?=[ \t]+\w+\s*(?:final\b)?\s*[:{<;])"
)
_BEFORE_TYPE = rb"^[ \t]*" + _STORAGE + _MACRO + rb"(?=[ \t]+(?:" + _TYPES + rb")\b)"
_BEFORE_DECLARATION = rb"^[ \t]*" + _STORAGE + _MACRO + rb"(?=[ \t]+\w+[ \t*&]+\w+\s*[;=(\[{])"
# With an underscore it is hardly a type: a constructor follows.
_BEFORE_CONSTRUCTOR = (
    rb"^[ \t]+" + _STORAGE + rb"([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?=[ \t]+(?:explicit[ \t]+)?~?\w+\()"
)
# An enumerator can stand alone on a line too, but is indented.
_ALONE = rb"^([A-Z][A-Z0-9_]{2,})(?=[ \t\r]*$)"
_IN_LINE = re.compile(_BEFORE_NAME)
_AT_START = tuple(
    re.compile(pattern)
    for pattern in (_BEFORE_TYPE, _BEFORE_DECLARATION, _BEFORE_CONSTRUCTOR, _ALONE)
)
_STORAGE_WORDS = (b"static ", b"inline ", b"extern ", b"constexpr ", b"virtual ", b"friend ")
_WORD = re.compile(rb"\w+")

Span = tuple[int, int]


class Masked(NamedTuple):
    """A text with macros blanked, and where they were."""

    data: bytes
    spans: list[Span]  # of the macros' names


def mask_macros(data: bytes, language: str) -> Masked:
    """The text to parse; for other languages than C and C++ the text itself."""
    if language not in ("c", "cpp"):
        return Masked(data, [])
    spans = _macro_spans(data)
    if not spans:
        return Masked(data, [])
    masked = bytearray(data)
    for start, end in spans:
        masked[start:end] = b" " * (end - start)
    return Masked(bytes(masked), [_name_of(data, start) for start, _ in spans])


def _macro_spans(data: bytes) -> list[Span]:
    """Line by line: a pattern over the whole text is tried at every byte."""
    spans: list[Span] = []
    at = 0
    for line in data.split(b"\n"):
        words = line.lstrip()
        if words[:1].isupper() or words.startswith(_STORAGE_WORDS):
            match = next(filter(None, (pattern.match(line) for pattern in _AT_START)), None)
            if match:
                spans.append((at + match.start(1), at + match.end(1)))
        if b"class " in line or b"struct " in line:
            spans += [(at + m.start(1), at + m.end(1)) for m in _IN_LINE.finditer(line)]
        at += len(line) + 1
    return sorted(set(spans))


def _name_of(data: bytes, start: int) -> Span:
    match = _WORD.match(data, start)
    return match.span() if match else (start, start)
