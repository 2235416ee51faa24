"""Features of a candidate's path, and how names match a query. Pure functions, no weights.

A query is split into its smallest words ("atoms", each with its share of the query). Every feature
is between 0 and 1; the few without a natural maximum are divided by the best candidate's value in
`ranking`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from gitindex.base.path_kind import CENTRAL_NAMES, MAIN_NAMES
from gitindex.extract.terms import parts_of
from gitindex.store.lexical import stem


class Atom(NamedTuple):
    """One of the smallest words of a query."""

    text: str  # lower case
    share: float  # share of the query; all shares sum to 1


class NameMatch(NamedTuple):
    """How well a name matches a query."""

    cover: float  # share of the query that is in the name
    precision: float  # share of the name that is in the query


class PathFeatures(NamedTuple):
    """Features of a candidate's path."""

    stem_precision: float = 0.0
    path_cover: float = 0.0
    lead_name: float = 0.0  # the name is exactly the first significant word of the query
    central: float = 0.0  # in a folder for what the other folders share


class PathWords(NamedTuple):
    """The smallest words of a path."""

    stem: tuple[str, ...]
    folders: tuple[str, ...]
    last: tuple[str, ...]
    joined: str  # the stem's words without separators
    is_main: bool
    central: float


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
def similarity(term: str, word: str) -> float:
    """Return how well a sub-word matches a query word: equal, another form, or an abbreviation."""
    if term == word:
        return 1.0
    if stem(term) == stem(word):
        return 0.95
    common = _common(term, word)
    shorter, longer = sorted((len(term), len(word)))
    if common == shorter >= 4:
        return 0.8  # config, configuration
    if common == shorter == 3 and term[:3] == word.rstrip("s"):
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
        float(not CENTRAL_NAMES.isdisjoint(folder.lower().split("/"))),
    )


class NameMatcher:
    """Compares names with the atoms of one query; caches every word it has seen."""

    def __init__(
        self,
        atoms: Sequence[Atom],
        lead: str = "",
    ) -> None:
        """`lead`: the first significant word of the query, in small letters, without separators."""
        self._lead = lead
        self._shares = [atom.share for atom in atoms]
        self._long = [(n, atom.text) for n, atom in enumerate(atoms) if len(atom.text) >= 4]
        self._known: dict[str, list[tuple[int, float]]] = {}
        self._folders: dict[tuple[str, ...], dict[int, float]] = {}
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
        known = self._known
        said = 0.0
        for word in words:
            matches = known[word]
            if matches:
                said += matches[0][1]
        precision = max(said / len(words), inside)
        return NameMatch(self.cover(levels), precision if precision < 1.0 else 1.0)

    def cover(self, levels: dict[int, float]) -> float:
        """Return the share of the query that these levels cover."""
        shares = self._shares
        return sum([shares[number] * level for number, level in levels.items()])

    def levels(self, words: Sequence[str]) -> dict[int, float]:
        """Return how well some words match each atom."""
        best: dict[int, float] = {}
        known = self._known
        for word in words:
            pairs = known.get(word)
            if pairs is None:
                pairs = known[word] = self._compared(word)
            for number, level in pairs:
                if level > best.get(number, 0.0):
                    best[number] = level
        return best

    def folder_levels(self, folders: tuple[str, ...]) -> dict[int, float]:
        """Return the levels of the folders of a path; candidates share them."""
        levels = self._folders.get(folders)
        if levels is None:
            levels = self._folders[folders] = self.levels(folders)
        return levels

    def is_lead(self, words: Sequence[str]) -> float:
        """Return 1 if a name is exactly the first significant word, else 0."""
        return float(bool(words) and "".join(words) == self._lead)

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
    whole = {**matcher.folder_levels(words.folders)}
    for number, level in stem_levels.items():
        if level > whole.get(number, 0.0):
            whole[number] = level
    precision = matcher.measured(stem_levels, words.stem, words.joined).precision
    return PathFeatures(
        0.0 if words.is_main else precision,
        matcher.cover(whole),
        matcher.is_lead(words.last if words.is_main else words.stem),
        words.central,
    )


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
