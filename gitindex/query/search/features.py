"""Features of a candidate: path, chunks of its text, definitions. Pure functions, no weights.

A query is split into its smallest words ("atoms", each with its share of the query). Every feature
is between 0 and 1; the few without a natural maximum are divided by the best candidate's value in
`ranking`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from gitindex.base.path_kind import MAIN_NAMES
from gitindex.extract.terms import parts_of
from gitindex.store.lexical import stem

STEP = 700
"""Half a chunk, in bytes: two steps are about 45 lines. Chunks overlap by a half."""
MAX_PLACES = 80
"""Positions of one word in one file that are examined."""
SATURATION = 1.2
DEEP = 8
"""Number of folders from which on a path counts as deepest."""
INSIDE = 0.4
"""Weight of a match in the middle of a word: `flush` in `cacheflushhandler`."""
MIN_INSIDE = 5
_A, _Z, _UPPER_A, _UPPER_Z, _S = *b"azAZ", ord("s")


class Atom(NamedTuple):
    """One of the smallest words of a query."""

    text: str  # lower case
    share: float  # share of the query; all shares sum to 1


class ChunkTerm(NamedTuple):
    """A word to look for in texts."""

    needle: bytes  # lower case, without its English ending
    weight: float  # inverse document frequency
    whole: bool  # an identifier as written: the letter after it counts


class NameMatch(NamedTuple):
    """How well a name matches a query."""

    cover: float  # share of the query that is in the name
    precision: float  # share of the name that is in the query


class PathFeatures(NamedTuple):
    """Features of a candidate's path."""

    stem_cover: float = 0.0
    stem_precision: float = 0.0
    folder_cover: float = 0.0
    last_cover: float = 0.0  # the folder that contains the file
    main_cover: float = 0.0  # the same, for a file that represents its folder
    path_cover: float = 0.0
    lead: float = 0.0  # how well the name matches the first significant word of the query
    lead_name: float = 0.0  # the name is exactly this word
    shallow: float = 0.0  # 1 at the top, 0 from eight folders on


class ChunkFeatures(NamedTuple):
    """Features of a candidate's text, by chunks."""

    best: float = 0.0  # with the words of the path, as if they were part of it
    best_three: float = 0.0  # of the text only
    best_cover: float = 0.0  # share of the query in the best chunk
    cover: float = 0.0  # share of the query in the whole text
    place: int = 0  # byte at which the best chunk starts
    others: tuple[int, ...] = ()  # the next best ones


class PathWords(NamedTuple):
    """The smallest words of a path."""

    stem: tuple[str, ...]
    folders: tuple[str, ...]
    last: tuple[str, ...]
    joined: str  # the stem's words without separators
    is_main: bool


def _common(first: str, second: str) -> int:
    """Return the length of the common prefix of two words."""
    count = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        count += 1
    return count


@lru_cache(maxsize=1 << 15)
def needle_of(word: str) -> str:
    """Return the prefix that a word's English forms share: `queries` → `quer`."""
    root = stem(word)
    common = word[: _common(word, root)]
    if len(common) > 4 and (common.endswith("e") or (root.endswith("i") and common.endswith("i"))):
        common = common[:-1]
    return common if len(common) >= 3 else word


@lru_cache(maxsize=1 << 16)
def similarity(asked: str, word: str) -> float:
    """Return how well a sub-word matches a query word: equal, another form, or an abbreviation."""
    if asked == word:
        return 1.0
    if stem(asked) == stem(word):
        return 0.95
    common = _common(asked, word)
    shorter, longer = sorted((len(asked), len(word)))
    if common == shorter >= 4:
        return 0.8  # config, configuration
    if common == shorter == 3 and asked[:3] == word.rstrip("s"):
        return 0.6
    if common >= 5 and common >= 0.6 * longer:
        return 0.7  # recovery, recoverer
    return 0.6 if common >= 4 and common >= 0.75 * longer else 0.0


@lru_cache(maxsize=1 << 15)
def path_words(path: str) -> PathWords:
    """Return the words of a path: of the name without its last suffix, then of the folders."""
    folder, _, name = path.rpartition("/")
    bare = name.removeprefix(".")
    stem_text = bare.rpartition(".")[0] or bare
    words = _unique(parts_of(stem_text))
    folders = [parts_of(part) for part in folder.split("/")] if folder else []
    return PathWords(
        words,
        _unique(word for part in folders for word in part),
        _unique(folders[-1]) if folders else (),
        "".join(words),
        stem_text.lower() in MAIN_NAMES,
    )


class NameMatcher:
    """Compares names with the atoms of one query; caches every word it has seen."""

    def __init__(self, atoms: Sequence[Atom], lead: Sequence[int] = ()) -> None:
        """`lead`: the atoms of the first significant word of the query."""
        self._lead = lead
        self._lead_text = "".join(atoms[number].text for number in lead)
        self._shares = [atom.share for atom in atoms]
        self._long = [(n, atom.text) for n, atom in enumerate(atoms) if len(atom.text) >= 4]
        self._known: dict[str, list[tuple[int, float]]] = {}
        self._by_start: dict[str, list[tuple[int, str]]] = {}
        for number, atom in enumerate(atoms):
            self._by_start.setdefault(atom.text[:2], []).append((number, atom.text))

    def match(self, words: Sequence[str], joined: str = "") -> NameMatch:
        """Compare the words of one name; `joined` is also searched for words of the query."""
        return self.measured(self.levels(words), words, joined)

    def measured(
        self, levels: dict[int, float], words: Sequence[str], joined: str = ""
    ) -> NameMatch:
        """Return cover and precision of a name from its levels."""
        inside = self._inside(joined, levels) if joined else 0.0
        if not levels:
            return _NO_MATCH
        shares, known = self._shares, self._known
        said = 0.0
        for word in words:
            found = known[word]
            if found:
                said += found[0][1]
        precision = max(said / len(words), inside)
        cover = sum([shares[number] * level for number, level in levels.items()])
        return NameMatch(cover, precision if precision < 1.0 else 1.0)

    def levels(self, words: Sequence[str]) -> dict[int, float]:
        """Return how well some words match each atom."""
        found: dict[int, float] = {}
        known = self._known
        for word in words:
            pairs = known.get(word)
            if pairs is None:
                pairs = known[word] = self._compared(word)
            for number, level in pairs:
                if level > found.get(number, 0.0):
                    found[number] = level
        return found

    def lead(self, levels: dict[int, float]) -> float:
        """Return how well a name with these levels matches the first significant word."""
        if not levels or not self._lead:
            return 0.0
        return sum([levels.get(number, 0.0) for number in self._lead]) / len(self._lead)

    def is_lead(self, words: Sequence[str]) -> float:
        """Return 1 if a name is exactly the first significant word, else 0."""
        return float(bool(words) and "".join(words) == self._lead_text)

    def _compared(self, word: str) -> list[tuple[int, float]]:
        """Return the atoms that a word matches, best first."""
        alike = self._by_start.get(word[:2])
        if alike is None:
            return _NO_ATOMS
        pairs = [(number, similarity(text, word)) for number, text in alike]
        return sorted([pair for pair in pairs if pair[1]], key=lambda pair: -pair[1])

    def _inside(self, joined: str, levels: dict[int, float]) -> float:
        """Add atoms found inside a joined name; return how much of the name they cover."""
        most = 0.0
        for number, text in self._long:
            if text in joined and levels.get(number, 0.0) < 0.6:
                levels[number] = 0.6
                most = max(most, 0.6 * len(text) / len(joined))
        return most


_NO_MATCH = NameMatch(0.0, 0.0)
_NO_ATOMS: list[tuple[int, float]] = []


def path_features(matcher: NameMatcher, path: str) -> PathFeatures:
    """Return the features of a path."""
    words = path_words(path)
    stem_levels = matcher.levels(words.stem)
    folder_levels = matcher.levels(words.folders)
    whole = dict(stem_levels)
    for number, level in folder_levels.items():
        if level > whole.get(number, 0.0):
            whole[number] = level
    stem_match = matcher.measured(stem_levels, words.stem, words.joined)
    folder = last = 0.0
    if folder_levels:
        folder = matcher.measured(folder_levels, words.folders).cover
        last = matcher.match(words.last).cover
    cover = matcher.measured(whole, words.stem).cover if whole else 0.0
    shallow = max(0.0, 1.0 - path.count("/") / DEEP)
    if words.is_main:
        lead = matcher.lead(matcher.levels(words.last)), matcher.is_lead(words.last)
        return PathFeatures(0.0, 0.0, folder, last, last, cover, *lead, shallow)
    lead = matcher.lead(stem_levels), matcher.is_lead(words.stem)
    return PathFeatures(*stem_match, folder, last, 0.0, cover, *lead, shallow)


def chunk_features(
    data: bytes, terms: Sequence[ChunkTerm], lowered: bytes = b"", path: str = ""
) -> ChunkFeatures:
    """Return BM25 over overlapping chunks of a text. Uses `find` on bytes for speed."""
    lowered = lowered or data.lower()
    scores: dict[int, float] = {}
    covers: dict[int, float] = {}
    joint: dict[int, float] = {}
    held = total = base = 0.0
    said = _said(path, terms) if path else [0.0] * len(terms)
    for term, beside in zip(terms, said, strict=True):
        weight = term.weight
        total += weight
        counts = _counts(data, lowered, term)
        if counts:
            held += weight
        at_least = _saturated(weight, beside)
        base += at_least
        for start, count in counts.items():
            part = _saturated(weight, count)
            scores[start] = scores.get(start, 0.0) + part
            covers[start] = covers.get(start, 0.0) + (weight if count > 1.0 else weight * count)
            part = _saturated(weight, count + beside) - at_least if beside else part
            joint[start] = joint.get(start, 0.0) + part
    if not scores:
        return ChunkFeatures(base)
    chunks = sorted(scores.items(), key=_best_chunk)
    three, taken = _three(chunks)
    first, *others = (at * STEP for at in taken)
    best, total = base + max(joint.values()), total or 1.0
    cover = covers[taken[0]] / total
    return ChunkFeatures(best, three, cover, held / total, first, tuple(others))


def _saturated(weight: float, count: float) -> float:
    return weight * (1 + SATURATION) * count / (count + SATURATION)


def _said(path: str, terms: Sequence[ChunkTerm]) -> list[float]:
    """Return how often the path counts as text for each term: the name twice, folders once."""
    words = path_words(path)
    found = []
    for term in terms:
        needle = term.needle.decode()
        inside = len(needle) >= MIN_INSIDE and needle in words.joined
        stem_says = inside or any(word.startswith(needle) for word in words.stem)
        folder_says = any(word.startswith(needle) for word in words.folders)
        found.append(2.0 * stem_says + folder_says)
    return found


def _best_chunk(chunk: tuple[int, float]) -> tuple[float, int]:
    return -chunk[1], chunk[0]


def _counts(data: bytes, lowered: bytes, term: ChunkTerm) -> dict[int, float]:
    """Return the weight of a word in each chunk that has it; each position is in two chunks."""
    found: dict[int, float] = {}
    for place, worth in _places(data, lowered, term):
        step = place // STEP
        found[step] = found.get(step, 0.0) + worth
    if found:
        steps = list(found.items())
        for step, worth in steps:
            if step:
                found[step - 1] = found.get(step - 1, 0.0) + worth
    return found


def _places(data: bytes, lowered: bytes, term: ChunkTerm) -> list[tuple[int, float]]:
    """Return the positions of a word with their weights: starts of words count most."""
    needle, size = term.needle, len(term.needle)
    strict = term.whole or size <= 3
    inside = INSIDE if size >= MIN_INSIDE else 0.0
    found: list[tuple[int, float]] = []
    find = lowered.find
    at = find(needle)
    while at != -1 and len(found) < MAX_PLACES:
        before = data[at - 1] if at else 32
        worth = 1.0
        if (_A <= before <= _Z and not _UPPER_A <= data[at] <= _UPPER_Z) or (
            _UPPER_A <= before <= _UPPER_Z
        ):
            worth = inside
        if strict and worth:
            after = lowered[at + size] if at + size < len(lowered) else 32
            if _A <= after <= _Z and after != _S:
                worth = 0.0 if size <= 3 else worth / 2
        if worth:
            found.append((at, worth))
        at = find(needle, at + size)
    return found


def _three(chunks: Sequence[tuple[int, float]]) -> tuple[float, list[int]]:
    """Return the sum of the best three chunks that do not overlap, and where they start."""
    total, taken = 0.0, list[int]()
    for start, score in chunks:
        if all(abs(start - other) > 1 for other in taken):
            total += score
            taken.append(start)
            if len(taken) == 3:
                break
    return total, taken


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
