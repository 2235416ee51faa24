"""What ranking knows of a candidate: path, chunks of its text, definitions. Pure functions, no weights.

A query is seen as its smallest words ("atoms", each with its share of the query). Every feature is
between 0 and 1; the few that have no natural end are divided by the best candidate's in `ranking`.
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
"""Places of one word in one file that are looked at."""
SATURATION = 1.2
DEEP = 8
"""Folders from which on a path is as deep as any."""
INSIDE = 0.4
"""What a match in the middle of a word is worth: `flush` in `cacheflushhandler`."""
MIN_INSIDE = 5
_A, _Z, _UPPER_A, _UPPER_Z, _S = *b"azAZ", ord("s")


class Atom(NamedTuple):
    """One of the smallest words of a query."""

    text: str  # lower case
    share: float  # of the query; all shares make 1


class ChunkTerm(NamedTuple):
    """A word that is looked for in texts."""

    needle: bytes  # lower case, without its English ending
    weight: float  # inverse document frequency
    whole: bool  # an identifier as it was written: what follows it counts


class NameMatch(NamedTuple):
    """How a name and a query meet."""

    cover: float  # share of the query that the name says
    precision: float  # share of the name that the query says


class PathFeatures(NamedTuple):
    """What the path of a candidate says."""

    stem_cover: float = 0.0
    stem_precision: float = 0.0
    folder_cover: float = 0.0
    last_cover: float = 0.0  # the folder that the file is in
    main_cover: float = 0.0  # the same, for a file that stands for its folder
    path_cover: float = 0.0
    lead: float = 0.0  # how far the name says the first telling word of the query
    lead_name: float = 0.0  # the name is this word and nothing else
    shallow: float = 0.0  # 1 at the top, 0 from eight folders on


class ChunkFeatures(NamedTuple):
    """What the text of a candidate says, by chunks."""

    best: float = 0.0  # with the words of the path, as if they were in it too
    best_three: float = 0.0  # of the text alone
    best_cover: float = 0.0  # share of the query in the best chunk
    cover: float = 0.0  # share of the query in the whole text
    place: int = 0  # byte at which the best chunk starts
    others: tuple[int, ...] = ()  # the next best ones


class PathWords(NamedTuple):
    """The smallest words of a path."""

    stem: tuple[str, ...]
    folders: tuple[str, ...]
    last: tuple[str, ...]
    joined: str  # the stem's words without what separates them
    is_main: bool


def _common(first: str, second: str) -> int:
    """How many letters two words start with."""
    count = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        count += 1
    return count


@lru_cache(maxsize=1 << 15)
def needle_of(word: str) -> str:
    """What all English forms of a word start with: `queries` → `quer`, `closing` → `clos`."""
    root = stem(word)
    common = word[: _common(word, root)]
    if len(common) > 4 and (common.endswith("e") or (root.endswith("i") and common.endswith("i"))):
        common = common[:-1]
    return common if len(common) >= 3 else word


@lru_cache(maxsize=1 << 16)
def similarity(asked: str, word: str) -> float:
    """How far a sub-word of a name is a word of the query: itself, another form, an abbreviation."""
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
    """The words of a path: all of the name but its last suffix, then the folders."""
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
    """Compares names with the atoms of one query; remembers every word it has seen."""

    def __init__(self, atoms: Sequence[Atom], lead: Sequence[int] = ()) -> None:
        """`lead`: which atoms make up the first telling word of the query."""
        self._lead = lead
        self._lead_text = "".join(atoms[number].text for number in lead)
        self._shares = [atom.share for atom in atoms]
        self._long = [(n, atom.text) for n, atom in enumerate(atoms) if len(atom.text) >= 4]
        self._known: dict[str, list[tuple[int, float]]] = {}
        self._by_start: dict[str, list[tuple[int, str]]] = {}
        for number, atom in enumerate(atoms):
            self._by_start.setdefault(atom.text[:2], []).append((number, atom.text))

    def match(self, words: Sequence[str], joined: str = "") -> NameMatch:
        """Compare the words of one name. `joined`: words of the query are looked for inside it too."""
        return self.measured(self.levels(words), words, joined)

    def measured(
        self, levels: dict[int, float], words: Sequence[str], joined: str = ""
    ) -> NameMatch:
        """Cover and precision of a name whose levels are known."""
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
        """How well each atom is said by some words."""
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
        """How far a name whose levels are known says the first telling word."""
        if not levels or not self._lead:
            return 0.0
        return sum([levels.get(number, 0.0) for number in self._lead]) / len(self._lead)

    def is_lead(self, words: Sequence[str]) -> float:
        """Is a name the first telling word and nothing else?"""
        return float(bool(words) and "".join(words) == self._lead_text)

    def _compared(self, word: str) -> list[tuple[int, float]]:
        """Atoms that a word says, the best first."""
        alike = self._by_start.get(word[:2])
        if alike is None:
            return _NO_ATOMS
        pairs = [(number, similarity(text, word)) for number, text in alike]
        return sorted([pair for pair in pairs if pair[1]], key=lambda pair: -pair[1])

    def _inside(self, joined: str, levels: dict[int, float]) -> float:
        """Atoms within a joined name; returns how much of the name they make up."""
        most = 0.0
        for number, text in self._long:
            if text in joined and levels.get(number, 0.0) < 0.6:
                levels[number] = 0.6
                most = max(most, 0.6 * len(text) / len(joined))
        return most


_NO_MATCH = NameMatch(0.0, 0.0)
_NO_ATOMS: list[tuple[int, float]] = []


def path_features(matcher: NameMatcher, path: str) -> PathFeatures:
    """The features of a path."""
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
    """BM25 over overlapping chunks of a text: `find` over bytes is what is fast here."""
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
    """What the path counts for as text: its name as twice, its folders as once."""
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
    """What a word counts for in each chunk that has it: a place lies in two chunks."""
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
    """Where a word is, and what each place is worth: starts of words count most."""
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
    """The sum of the best three chunks that do not overlap, and where they start."""
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
