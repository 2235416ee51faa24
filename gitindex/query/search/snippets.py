"""Locate the words of a query in a text: the best few lines. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate

from gitindex.base.light_types import NamedTuple
from gitindex.base.pattern import compile_later
from gitindex.extract.terms import MAX_TERM, parts_of, terms_of
from gitindex.query.search.chunks import STEP
from gitindex.query.search.features import needle_of
from gitindex.query.search.query_text import Query

MAX_COUNTED = 200
MAX_LINE = 240
SNIPPET_LINES = 3
BLOCKS = (8_192, 512)
_WHOLE_WORD = compile_later(r"\w+")
_KEYWORDS = (
    "def",
    "class",
    "func",
    "fn",
    "fun",
    "function",
    "struct",
    "interface",
    "trait",
    "enum",
    "type",
    "const",
    "module",
    "macro",
)
"""Keywords that often precede a definition's name; a Go receiver may be in between."""
_BEFORE = 120
_INTRODUCED = compile_later(
    rf"\b(?:{'|'.join(_KEYWORDS)})(?:\s{{1,9}}\([^)\n]{{0,80}}\)\s{{0,9}}|\s{{1,9}})\Z",
    re.IGNORECASE,
)
_IMPORT = compile_later(
    rb"\s*(import\b|from\s+\S+\s+import\b|use\s|using\s|#\s*include|require\b|export\s.*\bfrom\b)"
)
_BLANK = compile_later(r"\s+")


def best_line(data: bytes, start: int, query: Query, others: Sequence[int] = ()) -> int:
    """Return the line with most of the query within three lines; imports count less.

    Searches the chunk at `start`, and the other chunks if the best line there is an import.
    """
    needles = {needle_of(part).encode() for word in query.words for part in parts_of(word.text)}
    wanted = needles | {word.text.lower().encode() for word in query.words}
    found = _line_in(data, start, wanted)
    for other in others:
        if found.is_import:
            found = max(found, _line_in(data, other, wanted), key=lambda place: place.worth)
    return found.line


class _BestLine(NamedTuple):
    worth: float
    line: int
    is_import: bool


def _line_in(data: bytes, start: int, wanted: set[bytes]) -> _BestLine:
    text = data[start : start + 2 * STEP].lower()
    ends = list(accumulate(len(line) + 1 for line in text.split(b"\n")))
    held = [0] * (len(ends) + SNIPPET_LINES)  # words by line, one bit each
    for number, needle in enumerate(wanted):
        at = text.find(needle)
        while at != -1:
            line = bisect_right(ends, at)
            held[line] |= 1 << number
            at = text.find(needle, ends[line])
    best, chosen = 0.0, 0
    for number, own in enumerate(held):
        if own:
            near = own | held[number + 1] | held[number + 2]
            worth = near.bit_count() + 0.5 * own.bit_count()
            if worth > best and _is_import(text, ends, number):
                worth *= 0.25
            if worth > best + 1e-9:
                best, chosen = worth, number
    is_import = _is_import(text, ends, chosen)
    return _BestLine(best, data.count(b"\n", 0, start) + chosen, is_import)


def _is_import(text: bytes, ends: list[int], line: int) -> bool:
    start = ends[line - 1] if line else 0
    return _IMPORT.match(text, start, ends[line] - 1) is not None


def holds_phrases(text: str, phrases: Sequence[str]) -> bool:
    """Return whether a text contains all phrases, ignoring case and spacing."""
    spaced = _BLANK.sub(" ", text.lower()) if phrases else ""
    return all(re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", spaced) for phrase in phrases)


def phrase_line(text: str, phrase: str) -> int | None:
    """Return the line where a phrase starts."""
    spelled = r"\s+".join(map(re.escape, phrase.split(" ")))
    match = re.search(rf"(?<!\w){spelled}(?!\w)", text, re.IGNORECASE)
    return text.count("\n", 0, match.start()) if match else None


def count_terms(text: str, terms: Iterable[str]) -> Counter[str]:
    """Count each term in a text as the lexical index does."""
    wanted = set(terms)
    counts: Counter[str] = Counter()
    for _, word in words_with(text, wanted):
        counts.update(wanted.intersection(terms_of(word)))
    return counts


def defines(text: str, word: str) -> bool:
    """Return whether a keyword before a word suggests its definition. Uses `find` for speed."""
    lowered, needle = text.lower(), word.lower()
    if len(lowered) != len(text):  # lowering changed the length: match the given spelling only
        lowered, needle = text, word
    at = lowered.find(needle)
    while at != -1:
        end = at + len(needle)
        before = lowered[max(0, at - _BEFORE) : at]
        if before[-1:].isspace() or before.endswith(")"):
            introduced = before.rstrip().endswith((*_KEYWORDS, ")"))
            if introduced and not _continues(text, end) and _INTRODUCED.search(before):
                return True
        at = lowered.find(needle, end)
    return False


def _continues(text: str, end: int) -> bool:
    """Return whether a word continues at this position."""
    following = text[end : end + 1]
    return following.isalnum() or following == "_"


def words_with(text: str, terms: Iterable[str]) -> set[tuple[int, str]]:
    """Return the words of a text that contain a term, with positions. Uses `find` for speed."""
    lowered = text.lower()
    if len(lowered) != len(text):  # lowering changed the length: match the given spelling only
        lowered = text
    found: set[tuple[int, str]] = set()
    for term in terms:
        at, left = lowered.find(term), MAX_COUNTED
        while at != -1 and left:
            match = _WHOLE_WORD.match(text, _word_start(text, at))
            end = match.end() if match else at + len(term)
            if match:
                found.add((match.start(), match.group()))
            left -= 1
            at = lowered.find(term, max(end, at + 1))
    return found


def snippet(text: str, line: int) -> str:
    """Return a few lines of a text."""
    start = end = line_start(text, line)
    for _ in range(SNIPPET_LINES):
        found = text.find("\n", end)
        end = found + 1 if found != -1 else len(text)
    lines = text[start:end].removesuffix("\n").split("\n")
    return "\n".join(part.rstrip("\r")[:MAX_LINE] for part in lines)


def line_start(text: str, line: int) -> int:
    """Return the offset of a line. Counts by blocks, which is faster than splitting."""
    at = 0
    for block in BLOCKS:
        while (inside := text.count("\n", at, at + block)) < line and at < len(text):
            line -= inside
            at += block
    for _ in range(line):
        at = text.find("\n", at) + 1 or len(text)
    return at


def _word_start(text: str, at: int) -> int:
    least = max(0, at - MAX_TERM)
    while at > least and (text[at - 1].isalnum() or text[at - 1] == "_"):
        at -= 1
    return at
