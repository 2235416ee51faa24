"""How well a file answers a query: features between 0 and 1, and one weighted sum of them. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from operator import mul
from typing import NamedTuple

from gitindex.base.path_kind import is_foreign, is_news, is_test, stem_of
from gitindex.base.vocabulary import PathKind
from gitindex.extract.terms import terms_of
from gitindex.query.search.query_text import Query, Word, path_matches

K1, B = 1.2, 0.75
"""BM25's constants, as the lexical index has them."""
PART_BOOST = 0.4
FORM_BOOST = 0.4


WEAK = frozenset(
    {"variable", "constant", "field", "property", "key", "enumerator", "heading", "section"}
)
"""Kinds of definitions that one rarely means when a function or a type has the same name."""


MANY = 1_000
"""Mentions beyond these make a file no more central."""


class Weights(NamedTuple):
    """What each feature is worth."""

    text: float = 0.6  # BM25, of the best candidate's
    cover: float = 0.6  # how many of the words are there, rare ones counting more
    symbol: float = 2.0  # a definition of what was asked for
    path: float = 1.0  # in the path
    near: float = 0.4  # close together
    central: float = 0.25  # mentioned by many files


WEIGHTS = Weights()
ASKED_PATH, ASKED_NAME = 4.0, 2.0
"""The feature of a path that is what was asked for: more than any words in it."""
TEST_SHARE, FOREIGN_SHARE, NEWS_SHARE = 0.6, 0.5, 0.6
"""What is left of the score of a file that is rarely what one looks for."""


class Features(NamedTuple):
    """What is known of a candidate, each between 0 and 1, but for a path that was asked for."""

    text: float = 0.0
    cover: float = 0.0
    symbol: float = 0.0
    path: float = 0.0
    near: float = 0.0
    central: float = 0.0


class NamedDefinition(NamedTuple):
    """A definition as ranking sees it."""

    name: str
    qualified: str
    kind: str
    doc: str


class Rarity:
    """How much a word of the query tells: its inverse document frequency, of the whole query's."""

    def __init__(self, query: Query, frequencies: Mapping[str, int], documents: int) -> None:
        self.frequencies = frequencies
        self.documents = max(documents, 1)
        weights = [self._weight(word) for word in query.words]
        total = sum(weights) or 1.0
        self.shares = {w.text: x / total for w, x in zip(query.words, weights, strict=True)}

    def idf(self, term: str) -> float:
        """BM25's inverse document frequency of a term."""
        n = self.frequencies.get(term, 0)
        return math.log(1 + (max(self.documents, n) - n + 0.5) / (n + 0.5))

    def _weight(self, word: Word) -> float:
        if self.frequencies.get(word.terms[0], 0) or len(word.terms) < 3:
            return self.idf(word.terms[0])
        parts = word.terms[1:]
        return sum(map(self.idf, parts)) / len(parts)


def asked_terms(query: Query) -> list[tuple[str, float]]:
    """The terms of a query for the lexical index: wholes count most, parts and other forms less."""
    found: dict[str, float] = {}
    for word in query.words:
        whole, *rest = word.terms
        listed = [(whole, 1.0), *((t, PART_BOOST) for t in rest)]
        for term, boost in (*listed, *((t, FORM_BOOST) for t in word.forms)):
            found[term] = max(found.get(term, 0.0), boost)
    return list(found.items())


def bm25(count: float, idf: float, relative_length: float) -> float:
    """One term's part in BM25, for a text that the lexical index does not hold."""
    return idf * (1 + K1) * count / (count + K1 * (1 - B + B * relative_length))


def coverage(query: Query, rarity: Rarity, held: Iterable[str]) -> float:
    """The share of the query that is there at all."""
    terms = held if isinstance(held, (set, frozenset)) else set(held)
    return sum(rarity.shares[word.text] * _presence(word, terms) for word in query.words)


def _presence(word: Word, terms: set[str] | frozenset[str]) -> float:
    if word.terms[0] in terms:
        return 1.0
    if any(form in terms for form in word.forms):
        return 0.8
    parts = word.terms[1:]
    return 0.6 * sum(part in terms for part in parts) / len(parts) if parts else 0.0


def path_match(query: Query, rarity: Rarity, path: str) -> float:
    """How much of the query the path says; all of it where the query is a path."""
    known = _path(path)
    if _is_path(query.plain, known.lowered):
        return ASKED_PATH
    if query.plain == known.stem.lowered:
        return ASKED_NAME
    found = 0.0
    for word in query.words:
        level = _name_match(word, known.stem)
        if not level and not known.folders.isdisjoint((word.terms[0], *word.forms)):
            level = 0.4
        found += rarity.shares[word.text] * level
    return found


class _Path(NamedTuple):
    """What can be said of a path without a query."""

    lowered: str
    stem: _Name
    folders: frozenset[str]
    is_test: bool
    share: float  # of the score, for being foreign or a list of changes


@lru_cache(maxsize=1 << 15)
def _path(path: str) -> _Path:
    stem = stem_of(path)
    folders = frozenset(t for part in path.split("/")[:-1] for t in terms_of(part))
    share = (FOREIGN_SHARE if is_foreign(path) else 1.0) * (NEWS_SHARE if is_news(path) else 1.0)
    return _Path(path.lower(), _name(stem), folders, is_test(path), share)


class _Name(NamedTuple):
    """What can be said of a name without a query."""

    text: str
    lowered: str
    wholes: tuple[str, ...]  # as a term, and without what separates its parts
    terms: frozenset[str]


@lru_cache(maxsize=1 << 15)
def _name(text: str) -> _Name:
    terms = terms_of(text)
    return _Name(text, text.lower(), terms[:2], frozenset(terms))


def _is_path(plain: str, lowered: str) -> bool:
    """`pkg/foo.py`, `foo.py`, `pkg/foo`: a name or a path, not just any part of one."""
    if len(plain) < 3 or ("/" not in plain and "." not in plain):
        return False
    tail = f"/{lowered}"
    return tail.endswith(f"/{plain}") or f"/{plain}." in tail or f"/{plain}/" in tail


def _name_match(word: Word, name: _Name) -> float:
    """How well one name is what one word says: exact, other spelling, part, another form."""
    if name.text == word.text:
        return 1.0
    asked, terms = word.terms, name.terms
    if name.lowered == asked[0]:
        return 0.95
    if len(asked) > 1 and asked[1] in name.wholes:
        return 0.9
    if asked[0] in terms:
        return 0.6
    if not terms.isdisjoint(word.forms):
        return 0.5
    if len(asked) > 2:
        inner = asked[1:]
        return 0.5 * sum(part in terms for part in inner) / len(inner)
    return 0.0


class SymbolMatcher:
    """How well a definition is what was asked for: by its name, then its surroundings, then its words."""

    def __init__(self, query: Query, rarity: Rarity) -> None:
        self._words = [(word, rarity.shares[word.text]) for word in query.words]
        self._asked = frozenset(t for w in query.words for t in (*w.terms, *w.forms))
        self._dotted = f".{query.plain}" if "." in query.plain else ""

    def match(self, symbol: NamedDefinition) -> float:
        """Between 0, nothing of it, and 1, exactly it."""
        if self._dotted and f".{symbol.qualified.lower()}".endswith(self._dotted):
            return 1.0
        name = _name(symbol.name)
        named = not self._asked.isdisjoint(name.terms)
        around, _, _ = symbol.qualified.rpartition(".")
        context = f"{around.lower()} " if around else ""
        doc = symbol.doc.lower()
        factor = self._precision(symbol.name) if named else 0.0
        found = 0.0
        for word, share in self._words:
            level = _name_match(word, name) if named else 0.0
            if not level:
                level = _context_match(word, context, doc)
            elif level < 0.9:
                level *= factor
            found += share * level
        return found * (1.0 if named else 0.6) * (0.8 if symbol.kind in WEAK else 1.0)

    def _precision(self, name: str) -> float:
        """What a match of parts of a name is worth: more, the less else the name says."""
        own = _parts(name)
        share = len(own & self._asked) / len(own) if own else 0.0
        return 1.4 if share == 1.0 else 0.7 + 0.3 * share


def _context_match(word: Word, around: str, doc: str) -> float:
    if word.terms[0] in around:
        return 0.55
    if word.terms[0] in doc:
        return 0.4
    return 0.3 if any(form in around or form in doc for form in word.forms) else 0.0


@lru_cache(maxsize=1 << 15)
def _parts(name: str) -> frozenset[str]:
    """The smallest terms of a name."""
    terms = terms_of(name)
    return frozenset(terms[1:] if len(terms) > 2 else terms[-1:]) - {"".join(terms[2:])}


def centrality(mentions: int) -> float:
    """Of a file whose name so many blobs mention."""
    return min(1.0, math.log1p(mentions) / math.log1p(MANY))


def total(features: Features) -> float:
    """One number."""
    return float(sum(map(mul, features, WEIGHTS)))


def share_of(query: Query, path: str) -> float:
    """What is left of the score of tests, generated and foreign files, unless one asks for them."""
    filters, known = query.filters, _path(path)
    if filters.paths and path_matches(filters.paths, path):
        return 1.0
    if known.is_test and PathKind.TESTS not in filters.places and not _asks_for_tests(query):
        return known.share * TEST_SHARE
    return known.share


def _asks_for_tests(query: Query) -> bool:
    return any(not _TEST_WORDS.isdisjoint(word.terms) for word in query.words)


_TEST_WORDS = frozenset(
    {"test", "tests", "testing", "spec", "specs", "fixture", "fixtures", "conftest"}
)
