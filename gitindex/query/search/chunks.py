"""BM25 over overlapping chunks of a candidate's text. Pure functions; native/chunks.c does the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitindex.base.compiled import LIBRARY
from gitindex.query.search.features import PathWords, path_words

STEP = 700
"""Half a chunk, in bytes: two steps are about 45 lines. Chunks overlap by a half."""
MAX_TERMS = 128
"""Words of a query, and their parts, that are searched for in texts."""
MAX_PLACES = 80
"""Positions of one word in one file that are examined."""
SATURATION = 1.2
INSIDE = 0.4
"""Weight of a match in the middle of a word: `flush` in `cacheflushhandler`."""
MIN_INSIDE = 5
_Terms = tuple[tuple[bytes, float, bool, float], ...]
_A, _Z, _UPPER_A, _UPPER_Z = b"azAZ"


class ChunkTerm(NamedTuple):
    """A word to search for in texts."""

    needle: bytes  # lower case, without its English ending
    weight: float  # inverse document frequency
    whole: bool  # an identifier as written: the letter after it counts


class ChunkScorer:
    """BM25 over overlapping chunks of texts, for the terms of one query."""

    def __init__(self, terms: Sequence[ChunkTerm]) -> None:
        self._terms = terms
        self._needles = [term.needle.decode() for term in terms]
        self._inside = [
            (n, text) for n, text in enumerate(self._needles) if len(text) >= MIN_INSIDE
        ]
        self._starts: dict[str, int] = {}
        self._plain: _Terms = tuple((*term, 0.0) for term in terms)
        self._listed = {(0, 0): self._plain}

    def best(self, data: bytes, path: str = "") -> float:
        """Return the score of the best chunk; the words of the path count as part of each."""
        terms = self._beside(path_words(path)) if path else self._plain
        score = LIBRARY.score_chunks if LIBRARY is not None else python_chunks
        return float(score(data, terms, STEP))

    def _beside(self, words: PathWords) -> _Terms:
        """Return the terms with how often the path counts as text: the name twice, folders once."""
        stem_bits = self._bits(words.stem)
        folder_bits = self._bits(words.folders)
        for number, needle in self._inside:
            if needle in words.joined:
                stem_bits |= 1 << number
        terms = self._listed.get((stem_bits, folder_bits))
        if terms is None:
            terms = self._listed[stem_bits, folder_bits] = tuple(
                (*term, 2.0 * (stem_bits >> number & 1) + (folder_bits >> number & 1))
                for number, term in enumerate(self._terms)
            )
        return terms

    def _bits(self, words: Sequence[str]) -> int:
        """Return the terms with which one of the words starts, one bit each."""
        union, known = 0, self._starts
        for word in words:
            bits = known.get(word)
            if bits is None:
                starts = (1 << n for n, text in enumerate(self._needles) if word.startswith(text))
                bits = known[word] = sum(starts)
            union |= bits
        return union


def python_chunks(
    data: bytes, terms: Sequence[tuple[bytes, float, bool, float]], step: int
) -> float:
    """Do what native/chunks.c does. Uses `find` on bytes for speed."""
    lowered = data.lower()
    joint: dict[int, float] = {}
    base = 0.0
    for needle, weight, whole, beside in terms:
        at_least = _saturated(weight, beside)
        base += at_least
        for start, count in _counts(_places(data, lowered, needle, whole), step).items():
            part = _saturated(weight, count + beside) - at_least
            joint[start] = joint.get(start, 0.0) + part
    return base + max(joint.values(), default=0.0)


def _saturated(weight: float, count: float) -> float:
    return weight * (1 + SATURATION) * count / (count + SATURATION)


def _counts(places: Iterable[tuple[int, float]], step: int) -> dict[int, float]:
    """Return the weight of a word in each chunk that has it; each position is in two chunks."""
    counts: dict[int, float] = {}
    for place, worth in places:
        at = place // step
        counts[at] = counts.get(at, 0.0) + worth
    for at, worth in list(counts.items()):
        if at:
            counts[at - 1] = counts.get(at - 1, 0.0) + worth
    return counts


def _places(data: bytes, lowered: bytes, needle: bytes, whole: bool) -> list[tuple[int, float]]:
    """Return the positions of a word with their weights: starts of words count most."""
    size, places, find = len(needle), list[tuple[int, float]](), lowered.find
    at = find(needle)
    while at != -1 and len(places) < MAX_PLACES:
        worth = 1.0 if _starts_word(data, at) else INSIDE if size >= MIN_INSIDE else 0.0
        if (whole or size <= 3) and _goes_on(lowered[at + size : at + size + 1]):
            worth = 0.0 if size <= 3 else worth / 2
        if worth:
            places.append((at, worth))
        at = find(needle, at + size)
    return places


def _goes_on(after: bytes) -> bool:
    """Return whether a word goes on with a letter other than an s."""
    return b"a" <= after <= b"z" and after != b"s"


def _starts_word(data: bytes, at: int) -> bool:
    """Return whether no letter is before a position, or a small one before a capital."""
    before = data[at - 1] if at else 32
    if _UPPER_A <= before <= _UPPER_Z:
        return False
    return not _A <= before <= _Z or _UPPER_A <= data[at] <= _UPPER_Z
