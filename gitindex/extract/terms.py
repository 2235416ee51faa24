"""Text into search terms: whole identifiers and their parts. Pure; the same for index and query."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

MAX_TERM = 200
MAX_REPEATS = 5
"""BM25 saturates: more repetitions of a term in one blob change no ranking worth having."""

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_BLANKED = bytes(byte if byte >= 128 or _WORD.match(chr(byte)) else 32 for byte in range(256))
"""ASCII bytes that are in no word become spaces."""

_MAX_CACHED = 1 << 17


def decode_text(data: bytes) -> str:
    """A blob's text: UTF-8 or, where marked, UTF-16; bad bytes become replacement characters."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def words_of(text: str) -> list[str]:
    """The identifiers and words of a text, as written."""
    return _WORD.findall(text)


def parts_of(name: str) -> list[str]:
    """The smallest words of a name, in lower case: `parseHTTPRequest_v2` → parse, http, request, v, 2."""
    return [part.lower() for part in _PART.findall(name)]


def terms_of(word: str) -> tuple[str, ...]:
    """The terms of one word: itself in lower case, then its parts when it has several."""
    return _TERMS[word]


def _terms(word: str) -> tuple[str, ...]:
    whole = word.lower()[:MAX_TERM]
    if word.isalpha() and (word.islower() or word.isupper() or word.istitle()):
        return (whole,)
    parts = parts_of(word)
    if len(parts) < 2:
        bare = whole.strip("_")
        return (whole, bare) if bare and bare != whole else (whole,)
    joined = "".join(parts)[:MAX_TERM]
    extra = [joined] if joined != whole else []
    return tuple(dict.fromkeys([whole, *extra, *(part[:MAX_TERM] for part in parts)]))


class _Cache(dict[str, tuple[str, ...]]):
    """The terms of words seen before; a plain dict is half the cost of a cached function."""

    def __init__(self) -> None:
        self.plain: set[str] = set()  # words that are their own only term: most of a text

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) >= _MAX_CACHED:
            self.clear()
            self.plain.clear()
        terms = self[word] = _terms(word)
        if terms == (word,):
            self.plain.add(word)
        return terms


_TERMS = _Cache()


def document_text(data: bytes, names: Iterable[str]) -> tuple[str, str]:
    """What the lexical index stores of a blob and of the names of its definitions."""
    return lexical_text(decode_text(data)), lexical_text(" ".join(names))


def lexical_text(text: str) -> str:
    """What the lexical index stores of a text: its terms, repeated a few times at most."""
    counts = _count_words(text)
    plain = _TERMS.plain
    others = [(word, counts.pop(word)) for word in list(counts) if word not in plain]
    for word, count in others:
        for term in _TERMS[word]:
            if term in counts:
                counts[term] += count
            else:
                counts[term] = count
    return " ".join(_repeated(counts))


def _repeated(counts: dict[str, int]) -> list[str]:
    """Each term as often as it counts: round by round, for the index knows no order."""
    terms = list(counts)
    for round_ in range(1, MAX_REPEATS):
        terms += [term for term, count in counts.items() if count > round_]
    return terms


def _count_words(text: str) -> dict[str, int]:
    """How often each word occurs: as `words_of`, at a quarter of the cost."""
    found = Counter(text.encode("utf-8", "replace").translate(_BLANKED).decode().split())
    if text.isascii():
        return dict(found)  # a plain one: a Counter is slow to change
    words: dict[str, int] = {}
    for word, count in found.items():
        for part in (word,) if word.isascii() else words_of(word):
            words[part] = words.get(part, 0) + count
    return words
