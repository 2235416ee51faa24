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
