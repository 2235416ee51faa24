"""Where in a text the words of a query are: the best few lines, and how close together. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gitindex.extract.terms import MAX_TERM, terms_of
from gitindex.query.search.query_text import Query

LINE, NEAR = 80, 300
"""Characters before and after a word within which others are on its line, or near it."""
MAX_PLACES = 16
MAX_COUNTED = 200
MAX_LINE = 240
SNIPPET_LINES = 3
BLOCKS = (8_192, 512)
_WHOLE_WORD = re.compile(r"\w+")
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
"""What a definition's name often follows; a Go method's receiver may stand between."""
_BEFORE = 120
_INTRODUCED = re.compile(
    rf"\b(?:{'|'.join(_KEYWORDS)})(?:\s{{1,9}}\([^)\n]{{0,80}}\)\s{{0,9}}|\s{{1,9}})\Z",
    re.IGNORECASE,
)
_BLANK = re.compile(r"\s+")


class TextMatch(NamedTuple):
    """What a look at a text found; the line is 0-based."""

    line: int
    near: float  # the share of the query within a few lines of it


class SnippetWord(NamedTuple):
    """One word of the query, as it is looked for in one text."""

    text: str  # as written
    needles: tuple[tuple[str, float], ...]  # in lower case, with what each is worth
    share: float  # of the query


def sought_in(query: Query, shares: Mapping[str, float], held: Container[str]) -> list[SnippetWord]:
    """The words that a text is known to hold, those that tell most first."""
    found = []
    for word in query.words:
        whole, *parts = word.terms
        if whole in held:
            needles = [(whole, 1.0)]
        else:
            needles = [(form, 0.7) for form in word.forms if form in held]
            needles += [(part, 0.5 / len(parts)) for part in parts if part in held]
        if needles:
            found.append(SnippetWord(word.text, tuple(needles), shares[word.text]))
    return sorted(found, key=lambda one: (-one.share, one.text))


def look(text: str, words: list[SnippetWord]) -> TextMatch:
    """The lines with the most of what was asked.

    Looked for around the word that tells most: `find` is what is fast here.
    """
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters grow: then only the spelling asked for is seen
        lowered = text
    best, place = 0.0, 0
    for at, level in _places(lowered, words[0].needles) if words else ():
        exact = 0.2 if text.startswith(words[0].text, at) else 0.0
        near = words[0].share * (level + exact) + _around(lowered, at, words[1:])
        if near > best + 1e-9:
            best, place = near, at
            if near >= 1.0:
                break
    return TextMatch(text.count("\n", 0, place), min(best, 1.0))


def _places(lowered: str, needles: tuple[tuple[str, float], ...]) -> Iterator[tuple[int, float]]:
    """Where a word is: whole words count more than parts of longer ones."""
    for needle, level in needles:
        at, left = lowered.find(needle), MAX_PLACES
        while at != -1 and left:
            left -= 1
            yield at, level * (1.0 if _is_whole(lowered, at, at + len(needle)) else 0.7)
            at = lowered.find(needle, at + len(needle))


def _is_whole(text: str, start: int, end: int) -> bool:
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum())


def _around(lowered: str, at: int, words: list[SnippetWord]) -> float:
    """What the text around a place holds of the other words: about a line, then a few of them."""
    if not words:
        return 0.0
    line = lowered[max(0, at - LINE) : at + LINE]
    near = lowered[max(0, at - NEAR) : at + NEAR]
    found = 0.0
    for word in words:
        for needle, level in word.needles:
            if needle in line:
                found += word.share * level
                break
            if needle in near:
                found += word.share * level * 0.8
                break
    return found


def holds_phrases(text: str, phrases: Sequence[str]) -> bool:
    """Are all the phrases there, whatever their case and however their words are spaced?"""
    spaced = _BLANK.sub(" ", text.lower()) if phrases else ""
    return all(re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", spaced) for phrase in phrases)


def phrase_line(text: str, phrase: str) -> int | None:
    """The first line of a phrase."""
    spelled = r"\s+".join(map(re.escape, phrase.split(" ")))
    match = re.search(rf"(?<!\w){spelled}(?!\w)", text, re.IGNORECASE)
    return text.count("\n", 0, match.start()) if match else None


def count_terms(text: str, terms: Iterable[str]) -> Counter[str]:
    """How often each of some terms is in a text, as the lexical index counts."""
    wanted = set(terms)
    counts: Counter[str] = Counter()
    for _, word in words_with(text, wanted):
        counts.update(wanted.intersection(terms_of(word)))
    return counts


def defines(text: str, word: str) -> bool:
    """Does a text define a word, as far as what stands before it tells? `find` is what is fast here."""
    lowered, needle = text.lower(), word.lower()
    if len(lowered) != len(text):  # a few letters grow: then only the spelling asked for is seen
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
    """Does a word go on at this place?"""
    following = text[end : end + 1]
    return following.isalnum() or following == "_"


def words_with(text: str, terms: Iterable[str]) -> set[tuple[int, str]]:
    """The words of a text that contain a term, with their places: `find` is what is fast here."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters grow: then only the spelling asked for is seen
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
    """A few lines of a text."""
    start = end = line_start(text, line)
    for _ in range(SNIPPET_LINES):
        found = text.find("\n", end)
        end = found + 1 if found != -1 else len(text)
    lines = text[start:end].removesuffix("\n").split("\n")
    return "\n".join(part.rstrip("\r")[:MAX_LINE] for part in lines)


def line_start(text: str, line: int) -> int:
    """Where a line starts. Counts by blocks: splitting a long text costs more than searching it."""
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
