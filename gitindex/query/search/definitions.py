"""The definitions of candidate files: read from the store, chosen by words, scored for a query."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import NamedTuple

from gitindex.base.recent import Recent
from gitindex.extract.terms import parts_of
from gitindex.query.search.features import Atom, NameMatcher, needle_of
from gitindex.query.search.query_text import Query
from gitindex.store.connection import rows_among
from gitindex.store.lexical import stem
from gitindex.view.overlay import FIRST_ID
from gitindex.view.tree import TreeView

MAX_ROWS = 240
"""Definitions that one query scores; those with most of its words first."""
MAX_NEEDLES = 12
MAX_KEPT = 8 << 20
"""Bytes of definitions in memory: those of some 300 files of Django, ten answers."""
EACH = 400
"""Bytes of a definition besides its qualified name and its comment, which are there twice."""
NO_BLOB = 0
"""The number of a blob whose facts are not read yet."""
MANY = 20_000
"""Further definitions of one file are not ranked."""
_FIELDS = (
    "s.blob_id, (SELECT text FROM {names} WHERE id=s.name_id), s.qualified_name, s.kind,"
    " lower(s.doc), s.line, s.start_line, s.end_line, s.parent<0"
)
_Order = tuple[int, int, int, int]
"""What decides between definitions: words of the query, length of the name, blob, ordinal."""
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


DOC = NamedDefinition._fields.index("doc")


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
        self, definitions: Iterable[NamedDefinition]
    ) -> tuple[DefinitionFeatures, list[ScoredDefinition]]:
        """Return the features of a file's definitions, and the definitions, best first."""
        listed = list(definitions)
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

    def scored(self, definitions: Iterable[NamedDefinition]) -> list[ScoredDefinition]:
        """Return the definitions with how well name, class and comment match, in the given order."""
        known = self._names
        return [self._score(d, known.get(d.name) or self._match_name(d.name)) for d in definitions]

    def _match_name(self, name: str) -> _NameSaid:
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
    greatest: dict[str, float] = {}
    for key, value in pairs:
        greatest[key] = max(value, greatest.get(key, 0.0))
    return greatest


def _factor(kind: str) -> float:
    """Return the weight of a kind: types before functions, functions before values."""
    return _KIND_FACTORS.get(kind, OTHER_KIND)


OTHER_KIND = 0.9
_KIND_FACTORS = dict.fromkeys(TYPES, 1.0) | dict.fromkeys(WEAK, 0.6)


class JoinedTexts:
    """Some texts as one, in small letters: finds those that contain a word."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        self._text = b"\n".join(texts).lower()
        self._starts = array("L", accumulate(map(_AND_BREAK, map(len, texts)), initial=0))

    def holding(self, needle: bytes, most: int = MANY) -> Iterator[int]:
        """Yield the numbers of the texts that contain a needle, at most so many."""
        text, starts = self._text, self._starts
        at = text.find(needle)
        while at != -1 and most:
            number = bisect_right(starts, at) - 1
            yield number
            most -= 1
            at = text.find(needle, starts[number + 1])

    def counts(self, needles: Iterable[bytes]) -> Counter[int]:
        """Return how many of the needles each text contains, for those with one."""
        return Counter(number for needle in needles for number in self.holding(needle))


_AND_BREAK = (1).__add__


class FileDefinitions:
    """All definitions of one blob, in the order of the store."""

    def __init__(self, listed: list[NamedDefinition]) -> None:
        self.listed = listed
        names = [d.qualified.encode("utf-8", "replace") for d in listed]
        self.names = JoinedTexts(names)
        commented = sum(map(len, map(itemgetter(DOC), listed)))
        self.size = EACH * len(listed) + 2 * (sum(map(len, names)) + commented)

    @cached_property
    def docs(self) -> JoinedTexts:
        """Their comments, which few questions ask for."""
        return JoinedTexts([d.doc.encode("utf-8", "replace") for d in self.listed])


def innermost(listed: Iterable[NamedDefinition], line: int) -> NamedDefinition | None:
    """Return the innermost definition around a line."""
    around = [d for d in listed if d.start_line <= line <= d.end_line]
    return min(around, key=lambda d: (-d.start_line, d.end_line), default=None)


class DefinitionMemory:
    """Definitions of stored blobs, kept between queries; the oldest are dropped."""

    def __init__(self) -> None:
        self._files = Recent(MAX_KEPT)

    def files(self, view: TreeView, blobs: Iterable[tuple[int, str]]) -> dict[int, FileDefinitions]:
        """Return the definitions of blobs by number; those of overlaid files are not kept.

        A blob is given by its number and its id in git: numbers of collected blobs are used again.
        """
        stored = [blob for blob in dict.fromkeys(blobs) if blob[0] != NO_BLOB]
        kept = ((blob[0], self._files.get(blob)) for blob in stored)
        by_blob: dict[int, FileDefinitions] = {number: file for number, file in kept if file}
        oids = {number: oid for number, oid in stored if number not in by_blob}
        for number, listed in _read(view, list(oids)).items():
            file = by_blob[number] = FileDefinitions(listed)
            if number < FIRST_ID:
                self._files.keep((number, oids[number]), file, file.size)
        return by_blob


def _read(view: TreeView, numbers: list[int]) -> dict[int, list[NamedDefinition]]:
    listed: dict[int, list[NamedDefinition]] = {number: [] for number in numbers}
    sql = f"SELECT {_FIELDS} FROM {{symbols}} s WHERE s.blob_id IN ({{marks}}) AND s.ordinal<{MANY}"
    for number, *fields in rows_among(view.rows, f"{sql} ORDER BY s.blob_id, s.ordinal", numbers):
        listed[number].append(NamedDefinition(*fields))
    return listed


def matching_definitions(
    files: Mapping[int, FileDefinitions],
    atoms: Sequence[Atom],
    kinds: Sequence[str],
    commented: Iterable[int],
) -> dict[int, list[NamedDefinition]]:
    """Return definitions of these kinds with a word of the query in their name, by blob.

    In the `commented` blobs, two words in the comment suffice.
    """
    needles = [needle.encode() for needle in _needles(atoms)]
    both = {*commented} if len(atoms) > 1 else set()
    matches: list[_Order] = []
    for number, file in files.items():
        counts = _counts(file, needles, number in both)
        if kinds:
            counts = {at: n for at, n in counts.items() if file.listed[at].kind in kinds}
        matches += [(-n, len(file.listed[at].qualified), number, at) for at, n in counts.items()]
    by_blob: dict[int, list[NamedDefinition]] = {}
    for _, _, number, at in sorted(matches)[:MAX_ROWS]:
        by_blob.setdefault(number, []).append(files[number].listed[at])
    return by_blob


def _counts(file: FileDefinitions, needles: list[bytes], commented: bool) -> dict[int, int]:
    """Return how many needles each name has; two in a comment suffice where `commented`."""
    if not needles:
        return dict.fromkeys(range(len(file.listed)), 0)
    counts = file.names.counts(needles)
    if commented:
        for at, count in file.docs.counts(needles).items():
            if count > 1:
                counts.setdefault(at, 0)
    return counts


def _needles(atoms: Sequence[Atom]) -> list[str]:
    """Return the strings to search for in names: the most distinctive atoms."""
    ordered = sorted(atoms, key=lambda atom: (-atom.share, atom.text))
    least = ordered[0].share / 10 if ordered else 0.0
    shortest = min(2, len(atoms))
    telling = [a.text for a in ordered if a.share >= least and len(a.text) >= shortest]
    chosen = [*map(needle_of, telling)]
    alone = [n for n in chosen if not any(other in n and other != n for other in chosen)]
    return [needle for needle in dict.fromkeys(alone) if needle.isalnum()][:MAX_NEEDLES]
