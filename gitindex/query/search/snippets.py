"""Locate the words of a query in a text: the best few lines. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from gitindex.base.pattern import compile_later
from gitindex.extract.terms import MAX_TERM, terms_of

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
_BLANK = compile_later(r"\s+")


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
    distinct = set(terms)
    counts: Counter[str] = Counter()
    lowered = _lowered(text)
    for _, word in {pair for term in distinct for pair in _words_with(text, lowered, term)}:
        counts.update(distinct.intersection(terms_of(word)))
    return counts


def matched_terms(text: str, terms: Iterable[str]) -> list[str]:
    """Return those of the terms that a text has as the lexical index sees it."""
    lowered = _lowered(text)
    return [t for t in terms if any(t in terms_of(w) for _, w in _words_with(text, lowered, t))]


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


def _lowered(text: str) -> str:
    """Return a text in small letters; as it is if that changes its length, and so all positions."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text


def _words_with(text: str, lowered: str, term: str) -> Iterator[tuple[int, str]]:
    """Yield the words of a text that contain a term, with positions. Uses `find` for speed."""
    at, left = lowered.find(term), MAX_COUNTED
    while at != -1 and left:
        match = _WHOLE_WORD.match(text, _word_start(text, at))
        end = match.end() if match else at + len(term)
        if match:
            yield match.start(), match.group()
        left -= 1
        at = lowered.find(term, max(end, at + 1))


def snippet(text: str, line: int) -> str:
    """Return a few lines of a text."""
    start = end = line_start(text, line)
    for _ in range(SNIPPET_LINES):
        newline = text.find("\n", end)
        end = newline + 1 if newline != -1 else len(text)
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
