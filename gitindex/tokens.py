"""Text into search terms: whole identifiers and their parts. Pure; the same for index and query."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

MAX_TERM = 200
MAX_REPEATS = 5
"""BM25 saturates: more repetitions of a term in one blob change no ranking worth having."""

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


def decode_text(data: bytes) -> str:
    """A blob's text: UTF-8 or, where marked, UTF-16; bad bytes become replacement characters."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def words_of(text: str) -> list[str]:
    """The identifiers and words of a text, as written."""
    return _WORD.findall(text)


@lru_cache(maxsize=1 << 17)
def terms_of(word: str) -> tuple[str, ...]:
    """The terms of one word: itself in lower case, then its parts when it has several."""
    whole = word.lower()[:MAX_TERM]
    if word.isalpha() and (word.islower() or word.isupper() or word.istitle()):
        return (whole,)
    parts = [part.lower() for part in _PART.findall(word)]
    if len(parts) < 2:
        bare = whole.strip("_")
        return (whole, bare) if bare and bare != whole else (whole,)
    joined = "".join(parts)[:MAX_TERM]
    extra = [joined] if joined != whole else []
    return tuple(dict.fromkeys([whole, *extra, *(part[:MAX_TERM] for part in parts)]))


def lexical_text(text: str) -> str:
    """What the lexical index stores of a text: its terms, repeated a few times at most."""
    counts: Counter[str] = Counter()
    for word, count in Counter(words_of(text)).items():
        for term in terms_of(word):
            counts[term] += count
    return " ".join(" ".join([term] * min(count, MAX_REPEATS)) for term, count in counts.items())
