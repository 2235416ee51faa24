"""Definitions in candidate files that match a query, and the features of their file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from gitindex.extract.terms import parts_of
from gitindex.query.search.features import Atom, NameMatcher, needle_of
from gitindex.query.search.query_text import Query
from gitindex.store.connection import marks
from gitindex.store.lexical import stem
from gitindex.view.tree import TreeView

MAX_ROWS = 240
"""Definitions that one query scores; those with most of its words first."""
MAX_NEEDLES = 12
MUCH = 40
"""Lines of a definition that certainly is the primary one of its name."""
_TYPES = "class interface trait struct enum type protocol object module union namespace"
TYPES = frozenset(_TYPES.split())
_WEAK = "variable constant field property key enumerator heading section selector anchor"
WEAK = frozenset(_WEAK.split())
"""Kinds that a query rarely means if a function or a type has the same name."""


class NamedDefinition(NamedTuple):
    """A definition as ranking uses it. Lines are 0-based."""

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

    levels: dict[int, float]
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
    best: float = 0.0  # the best one: its name, its class, its comment
    doc: float = 0.0  # share of the query in one comment
    phrase: float = 0.0  # words that are adjacent in the query and in a name
    names: float = 0.0  # share of the query in all names
    qualified: float = 0.0  # the query is a qualified name
    named: float = 0.0  # the query is exactly one name


class DefinitionMatcher:
    """Scores definitions for one query."""

    def __init__(
        self, query: Query, atoms: Sequence[Atom], shares: dict[str, float], matcher: NameMatcher
    ) -> None:
        self._atoms = atoms
        self._matcher = matcher
        self._words = [(w.text, w.terms, shares[w.text]) for w in query.words]
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
        exact = best = doc = phrase = qualified = called = 0.0
        levels: dict[int, float] = {}
        scored = []
        for named in found:
            factor = _kind_factor(named.kind)
            name = self._names.get(named.name) or self._look_at(named.name)
            for number, level in name.levels.items():
                if level > levels.get(number, 0.0):
                    levels[number] = level
            commented = self._commented(named.doc) if named.doc else 0.0
            one = self._score(named, name, factor, commented)
            scored.append(one)
            best, exact, doc = max(best, one.score), max(exact, one.exact), max(doc, commented)
            phrase = max(phrase, name.phrase * factor)
            if self._dotted and self._is_qualified(named):
                qualified = 1.0
            if self._only:
                called = max(called, self._called(named))
        names = sum([self._atoms[number].share * level for number, level in levels.items()])
        scored.sort(key=lambda one: (-one.exact, -one.score, one.named.line))
        features = DefinitionFeatures(exact, best, doc, phrase, names, qualified, called)
        return features, scored

    def _look_at(self, name: str) -> _NameSaid:
        """Return how a name matches the query, and remember it: names repeat."""
        parts = _parts(name)
        levels = self._matcher.levels(parts)
        phrase = self._phrase(parts) if len(levels) > 1 else 0.0
        named = dict(levels)
        cover, precision = self._matcher.measured(levels, parts, "".join(parts))
        said = _NameSaid(named, cover, precision, phrase, self._exact(name) if cover else 0.0)
        self._names[name] = said
        return said

    def _score(
        self, named: NamedDefinition, name: _NameSaid, factor: float, commented: float
    ) -> ScoredDefinition:
        if self._is_qualified(named):
            return ScoredDefinition(named, factor, factor)
        cover = name.cover
        if not cover:
            return ScoredDefinition(named, 0.0, 0.0)
        score = cover * (0.5 + 0.5 * name.precision)
        if cover < 1.0:
            context = self._context(named.qualified.removesuffix(named.name))
            score += 0.35 * max(0.0, min(context, 1 - cover)) + 0.3 * max(0.0, commented - cover)
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

    def _exact(self, name: str) -> float:
        """Return the share of the query word that equals the name, less if the spelling differs."""
        found, lowered = 0.0, name.lower()
        for text, terms, share in self._words:
            if name == text:
                level = 1.0
            elif lowered == terms[0]:
                level = 0.8
            elif len(terms) > 1 and "".join(_parts(name)) == terms[1]:
                level = 0.7
            else:
                continue
            found = max(found, share * level)
        return found

    def _called(self, named: NamedDefinition) -> float:
        """Return how well the query is the name alone; types and long definitions score higher."""
        if not self._only or named.name.lower() != self._only.lower():
            return 0.0
        level = 1.0 if named.name == self._only else 0.5
        level *= 0.5 if named.kind in WEAK else _kind_factor(named.kind)
        size = min(1.0, (named.end_line - named.start_line) / MUCH)
        return level * (0.7 if not named.is_top else 0.8 + 0.2 * size)

    def _commented(self, doc: str) -> float:
        lowered = doc.lower()
        return sum(share for needle, share in self._needles if needle in lowered) if doc else 0.0

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


def load_definitions(
    view: TreeView, query: Query, atoms: Sequence[Atom], ids: Sequence[int], commented: int
) -> dict[int, list[NamedDefinition]]:
    """Load definitions with a word of the query; for the first few blobs, match comments too."""
    kinds, needles = query.filters.kinds, _needles(atoms)
    if not ids or not (needles or kinds):
        return {}
    values: list[Any] = [*ids]
    tests = []
    order = "length('')"
    if needles:
        patterns = [f"%{needle}%" for needle in needles]
        called = "+".join(["(s.qualified_name LIKE ?)"] * len(needles))
        said = "+".join(["(s.doc LIKE ?)"] * len(needles))
        first = ids[:commented] if len(atoms) > 1 else ids[:0]
        tests.append(
            f"({called}>0 OR (s.doc<>'' AND s.blob_id IN ({marks(first)}) AND ({said})>1))"
        )
        values += [*patterns, *first, *patterns]
        order = called
    if kinds:
        tests.append(f"s.kind IN ({marks(kinds)})")
        values += kinds
    rows = view.rows(
        "SELECT s.blob_id, (SELECT text FROM {names} WHERE id=s.name_id), s.qualified_name, s.kind,"
        " s.doc, s.line, s.start_line, s.end_line, s.parent<0 FROM {symbols} s"
        f" WHERE s.blob_id IN ({marks(ids)}) AND {' AND '.join(tests)}"
        f" ORDER BY {order} DESC, length(s.qualified_name), s.blob_id, s.ordinal LIMIT {MAX_ROWS}",
        *values,
        *([f"%{needle}%" for needle in needles] if needles else ()),
    )
    found: dict[int, list[NamedDefinition]] = {}
    for blob_id, *fields in rows:
        found.setdefault(blob_id, []).append(NamedDefinition(*fields))
    return found


def _needles(atoms: Sequence[Atom]) -> list[str]:
    """Return the strings to look for in names: the most distinctive atoms."""
    ordered = sorted(atoms, key=lambda atom: (-atom.share, atom.text))
    most = ordered[0].share if ordered else 0.0
    chosen = [
        needle_of(atom.text)
        for atom in ordered
        if atom.share >= most / 10 and (len(atom.text) > 1 or len(atoms) == 1)
    ]
    shortest = [n for n in chosen if not any(other in n and other != n for other in chosen)]
    return list(dict.fromkeys(shortest))[:MAX_NEEDLES]


def _kind_factor(kind: str) -> float:
    """Return the weight of a kind: types before functions, functions before values."""
    if kind in TYPES:
        return 1.0
    return 0.6 if kind in WEAK else 0.9
