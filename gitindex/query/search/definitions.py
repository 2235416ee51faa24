"""Definitions in candidate files that match a query, and the features of their file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from gitindex.extract.terms import parts_of
from gitindex.query.search.features import Atom, NameMatcher, needle_of
from gitindex.query.search.query_text import Query
from gitindex.store.lexical import stem

MUCH = 40
"""Lines of a definition that certainly is the primary one of its name."""
_TYPES = "class interface trait struct enum type protocol object module union namespace"
TYPES = frozenset(_TYPES.split())
_WEAK = "variable constant field property key enumerator heading section selector anchor"
WEAK = frozenset(_WEAK.split())
"""Kinds that a query rarely means if a function or a type has the same name."""


class NamedDefinition(NamedTuple):
    """A definition as ranking uses it. Lines are 0-based, the comment is in small letters."""

    name: str
    qualified: str
    kind: str
    doc: str
    line: int = 0
    start_line: int = 0
    end_line: int = 0
    is_top: bool = True


class _NameSaid(NamedTuple):
    """How one name matches the query."""

    cover: float
    precision: float
    phrase: float
    exact: float


class ScoredDefinition(NamedTuple):
    """A definition, its score, and how exactly it matches."""

    named: NamedDefinition
    score: float
    exact: float


class DefinitionFeatures(NamedTuple):
    """Features of the definitions of one file, each between 0 and 1."""

    exact: float = 0.0  # a name equals a word of the query
    doc: float = 0.0  # share of the query in one comment
    phrase: float = 0.0  # words that are adjacent in the query and in a name
    qualified: float = 0.0  # the query is a qualified name
    named: float = 0.0  # the query is exactly one name


class DefinitionMatcher:
    """Scores definitions for one query."""

    def __init__(
        self, query: Query, atoms: Sequence[Atom], shares: dict[str, float], matcher: NameMatcher
    ) -> None:
        self._matcher = matcher
        self._spelled = {w.text: shares[w.text] for w in query.words}
        self._lowered = _greatest((w.terms[0], 0.8 * shares[w.text]) for w in query.words)
        several = (w for w in query.words if len(w.terms) > 1)
        self._joined = _greatest((w.terms[1], 0.7 * shares[w.text]) for w in several)
        self._needles = [(needle_of(atom.text), atom.share) for atom in atoms]
        sequence = [part for word in query.words for part in parts_of(word.text)]
        self._sequence = [stem(part) for part in sequence]
        self._pairs = set(pairwise(self._sequence))
        self._only = query.words[0].text if len(query.words) == 1 else ""
        self._dotted = f".{query.dotted}" if query.dotted else ""
        self._names: dict[str, _NameSaid] = {}
        self._around: dict[str, float] = {}

    def features(
        self, found: Iterable[NamedDefinition]
    ) -> tuple[DefinitionFeatures, list[ScoredDefinition]]:
        """Return the features of a file's definitions, and the definitions, best first."""
        listed = list(found)
        scored = self.scored(listed)
        if not scored:
            return DefinitionFeatures(), scored
        names = [(self._names[d.name].phrase, _factor(d.kind)) for d in listed]
        dotted, only = self._dotted, self._only
        features = DefinitionFeatures(
            max([one.exact for one in scored]),
            max([self._commented(d.doc) for d in listed if d.doc], default=0.0),
            max([phrase * factor for phrase, factor in names]),
            float(bool(dotted) and any(map(self._is_qualified, listed))),
            max(map(self._called, listed)) if only else 0.0,
        )
        return features, sorted(scored, key=_best_definition)

    def scored(self, found: Iterable[NamedDefinition]) -> list[ScoredDefinition]:
        """Return the definitions with how well name, class and comment match, in the given order."""
        known = self._names
        return [self._score(d, known.get(d.name) or self._look_at(d.name)) for d in found]

    def _look_at(self, name: str) -> _NameSaid:
        """Return how a name matches the query, and remember it: names repeat."""
        parts = _parts(name)
        levels = self._matcher.levels(parts)
        phrase = self._phrase(parts) if len(levels) > 1 else 0.0
        joined = "".join(parts)
        cover, precision = self._matcher.measured(levels, parts, joined)
        exact = self._exact(name, joined) if cover else 0.0
        said = self._names[name] = _NameSaid(cover, precision, phrase, exact)
        return said

    def _score(self, named: NamedDefinition, name: _NameSaid) -> ScoredDefinition:
        factor = _factor(named.kind)
        if self._dotted and self._is_qualified(named):
            return ScoredDefinition(named, factor, factor)
        cover = name.cover
        if not cover:
            return ScoredDefinition(named, 0.0, 0.0)
        score = cover * (0.5 + 0.5 * name.precision)
        if cover < 1.0:
            context = self._context(named.qualified.removesuffix(named.name))
            score += 0.35 * max(0.0, min(context, 1 - cover))
            score += 0.3 * max(0.0, self._commented(named.doc) - cover)
        exact = name.exact * (1.0 if named.is_top else 0.8)
        return ScoredDefinition(named, min(1.0, score) * factor, exact * factor)

    def _context(self, around: str) -> float:
        """Return the share of the query in the qualified name around a definition."""
        if not around:
            return 0.0
        known = self._around.get(around)
        if known is None:
            known = self._around[around] = self._matcher.match(_parts(around)).cover
        return known

    def _exact(self, name: str, joined: str) -> float:
        """Return the share of the query word that equals the name, less if the spelling differs."""
        spelled = self._spelled.get(name, 0.0)
        return max(spelled, self._lowered.get(name.lower(), 0.0), self._joined.get(joined, 0.0))

    def _called(self, named: NamedDefinition) -> float:
        """Return how well the query is the name alone; types and long definitions score higher."""
        if not self._only or named.name.lower() != self._only.lower():
            return 0.0
        level = 1.0 if named.name == self._only else 0.5
        level *= 0.5 if named.kind in WEAK else _factor(named.kind)
        size = min(1.0, (named.end_line - named.start_line) / MUCH)
        return level * (0.7 if not named.is_top else 0.8 + 0.2 * size)

    def _commented(self, doc: str) -> float:
        return sum([share for needle, share in self._needles if needle in doc]) if doc else 0.0

    def _phrase(self, parts: Sequence[str]) -> float:
        """Return 1 if the query has the name as a phrase, 0.6 for two adjacent words, else 0."""
        if len(parts) < 2 or len(self._sequence) < 2:
            return 0.0
        stems = [stem(part) for part in parts]
        if self._pairs.isdisjoint(pairwise(stems)):
            return 0.0
        width = len(stems)
        runs = (self._sequence[n : n + width] for n in range(len(self._sequence) - width + 1))
        return 1.0 if any(run == stems for run in runs) else 0.6

    def _is_qualified(self, named: NamedDefinition) -> bool:
        return bool(self._dotted) and f".{named.qualified.lower()}".endswith(self._dotted)


@lru_cache(maxsize=1 << 15)
def _parts(name: str) -> tuple[str, ...]:
    """Return the smallest words of a name; a server meets the same names again."""
    return tuple(parts_of(name))


def _best_definition(one: ScoredDefinition) -> tuple[float, float, int]:
    return -one.exact, -one.score, one.named.line


def _greatest(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the greatest value of every key."""
    found: dict[str, float] = {}
    for key, value in pairs:
        found[key] = max(value, found.get(key, 0.0))
    return found


def _factor(kind: str) -> float:
    """Return the weight of a kind: types before functions, functions before values."""
    return _KIND_FACTORS.get(kind, OTHER_KIND)


OTHER_KIND = 0.9
_KIND_FACTORS = dict.fromkeys(TYPES, 1.0) | dict.fromkeys(WEAK, 0.6)
