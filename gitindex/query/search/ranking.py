"""Rank files for a query: features, and one weighted sum of them. Pure.

`Features` lists every feature with its meaning; the weights are data
(`weights.py`), fitted by `python -m bench.fit_ranking`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter, mul
from typing import NamedTuple

from gitindex.base.path_kind import file_kinds, stem_of
from gitindex.base.vocabulary import PathKind
from gitindex.extract.terms import parts_of
from gitindex.query.search.chunks import MAX_TERMS, ChunkTerm
from gitindex.query.search.features import Atom, PathFeatures, needle_of
from gitindex.query.search.query_text import Query, Word, is_vague, path_matches

K1, B = 1.2, 0.75
"""BM25's constants, the same as in the lexical index."""
PART_BOOST = 0.4
FORM_BOOST = 0.4
VAGUE = 0.3
"""Weight of a word such as `fix` or `handling` beside others."""
RUN = 2.0
"""Weight of the query's own words in a row, relative to the sum of these words."""
OWN_NAME = 0.15
"""Weight of the repository's own name relative to other words: nearly every file is about it."""

MANY_LINES = math.log(3_000)
COMMON = 0.1
"""Share of files that contain the repository's name from which on the name is not significant."""


class Features(NamedTuple):
    """Features of a candidate: a value between 0 and 1, or a flag."""

    # from the index and the path: known for every candidate
    text: float = 0.0  # BM25 of the whole file, relative to the best candidate
    stem_precision: float = 0.0  # share of the file's name that is in the query
    path_cover: float = 0.0  # share of the query that is in the whole path
    lead_name: float = 0.0  # the file's name is the first significant word of the query
    central: float = 0.0  # in a folder such as core or common: what the other folders share
    size: float = 0.0  # lines, on a logarithmic scale; 3,000 and more are 1
    asked_path: float = 0.0  # the query is this path, or the end of it
    subjects: float = 0.0  # BM25 of the subjects of past commits that changed it
    test: float = 0.0
    aside: float = 0.0  # a document, an example, data; generated, vendored, built
    stub: float = 0.0  # declarations only; a header next to the source that it declares
    # from text and definitions: known for the best candidates so far
    chunk: float = 0.0  # BM25 of its best chunk with the words of its path, relative to the best
    exact: float = 0.0  # a definition's name equals a word of the query
    doc: float = 0.0  # share of the query in one comment
    phrase: float = 0.0  # words that are adjacent in the query and in a definition's name
    qualified: float = 0.0  # the query is the qualified name of a definition
    named: float = 0.0  # the query is exactly the name of a definition
    quoted: float = 0.0  # share of the quoted phrases, or of the fixed parts of a message, in it


RELATIVE = ("text", "subjects", "chunk")
"""Features without a natural maximum: divided by the best candidate's value."""


def total(features: Features, weights: Sequence[float]) -> float:
    """Return the weighted sum of features: of the first ones, if there are fewer weights."""
    return float(sum(map(mul, features, weights)))


def scaled(rows: list[Features]) -> list[Features]:
    """Return the features with the relative ones divided by the best candidate's value."""
    if not rows:
        return rows
    most = [max(column) or 1.0 for column in (map(itemgetter(at), rows) for at in _RELATIVE)]
    result = []
    for row in rows:
        values = list(row)
        for at, value in zip(_RELATIVE, most, strict=True):
            values[at] /= value
        result.append(Features._make(values))
    return result


_RELATIVE = tuple(map(Features._fields.index, RELATIVE))


class Rarity:
    """How significant each query word is: its share of the inverse document frequencies."""

    def __init__(
        self,
        query: Query,
        frequencies: Mapping[str, int],
        documents: int,
        own: frozenset[str] = frozenset(),
    ) -> None:
        self.frequencies = frequencies
        self.documents = max(documents, 1)
        self._own = own if len(query.words) > 1 else frozenset[str]()
        self._is_long = _has_telling(query)
        weights = [self._weight(word) for word in query.words]
        total_weight = sum(weights) or 1.0
        self.shares = {w.text: x / total_weight for w, x in zip(query.words, weights, strict=True)}

    def idf(self, term: str) -> float:
        """Return BM25's inverse document frequency of a term."""
        return self._idf(self.frequencies.get(term, 0))

    def atoms(self, query: Query) -> list[Atom]:
        """Return the smallest words of the query with their shares."""
        shares: dict[str, float] = {}
        for word in query.words:
            parts = parts_of(word.text) or [word.terms[0]]
            weights = [self.idf(part) + 0.1 for part in parts]
            for part, weight in zip(parts, weights, strict=True):
                share = self.shares[word.text] * weight / sum(weights)
                shares[part] = shares.get(part, 0.0) + share
        return [Atom(text, share) for text, share in shares.items()]

    def lead(self, query: Query) -> str:
        """Return the first query word that is not vague nor the repository's name, as joined parts."""
        telling = [word for word in query.words if self._factor(word) == 1.0]
        return "".join(dict.fromkeys(parts_of(telling[0].text))) if telling else ""

    def chunk_terms(self, query: Query) -> list[ChunkTerm]:
        """Return the terms to search for in texts."""
        terms: dict[bytes, ChunkTerm] = {}
        for word in query.words:
            factor = self._factor(word)
            parts = parts_of(word.text)
            if len(parts) > 1:
                listed = [ChunkTerm(word.text.lower().encode(), self.idf(word.terms[0]), True)]
                listed += [
                    ChunkTerm(needle_of(part).encode(), PART_BOOST * self.idf(part), False)
                    for part in parts
                ]
            else:
                most = max(self.frequencies.get(t, 0) for t in (word.terms[0], *word.forms))
                needle = needle_of(word.terms[0]).encode()
                listed = [ChunkTerm(needle, self._idf(most), False)]
            for term in listed:
                weight = factor * term.weight
                if term.needle not in terms or terms[term.needle].weight < weight:
                    terms[term.needle] = term._replace(weight=weight)
        for run in query.runs:  # words that follow each other as in the query count once more
            weight = sum(terms[n].weight for n in terms if n in run.encode())
            terms[run.encode()] = ChunkTerm(run.encode(), RUN * weight, False)
        return list(terms.values())[:MAX_TERMS]

    def _idf(self, holders: int) -> float:
        return math.log(1 + (max(self.documents, holders) - holders + 0.5) / (holders + 0.5))

    def _factor(self, word: Word) -> float:
        whole = word.terms[0]
        common = self.frequencies.get(whole, 0) >= COMMON * self.documents
        if common and whole in self._own:
            return OWN_NAME
        return VAGUE if self._is_long and is_vague(whole) else 1.0

    def _weight(self, word: Word) -> float:
        factor = self._factor(word)
        if self.frequencies.get(word.terms[0], 0) or len(word.terms) < 3:
            return factor * self.idf(word.terms[0])
        parts = word.terms[1:]
        return factor * sum(map(self.idf, parts)) / len(parts)


def query_terms(query: Query) -> list[tuple[str, float]]:
    """Return the terms for the lexical index with weights: parts and other forms weigh less."""
    weights: dict[str, float] = {}
    is_long = _has_telling(query)
    for word in query.words:
        whole, *rest = word.terms
        factor = VAGUE if is_long and is_vague(whole) else 1.0
        listed = [(whole, 1.0), *((t, PART_BOOST) for t in rest)]
        for term, boost in (*listed, *((t, FORM_BOOST) for t in word.forms)):
            weights[term] = max(weights.get(term, 0.0), factor * boost)
    return list(weights.items())


def _has_telling(query: Query) -> bool:
    """Return whether a query has two words at least that are not vague."""
    return sum(not is_vague(word.terms[0]) for word in query.words) > 1


def bm25(count: float, idf: float, relative_length: float) -> float:
    """Return one term's part in BM25, for a text that is not in the lexical index."""
    return idf * (1 + K1) * count / (count + K1 * (1 - B + B * relative_length))


def names_path(plain: str, path: str) -> bool:
    """Return whether the query names the path: `pkg/foo.py`, `foo.py`, `pkg/foo`."""
    if len(plain) < 3 or ("/" not in plain and "." not in plain):
        return False
    tail = f"/{path.lower()}"
    return tail.endswith(f"/{plain}") or f"/{plain}." in tail or f"/{plain}/" in tail


@lru_cache(maxsize=1 << 13)
def size_of(lines: int) -> float:
    """Return the size of a file on a logarithmic scale, from 0 to 1."""
    return min(1.0, math.log1p(lines) / MANY_LINES)


def first_features(
    query: Query,
    path: str,
    said: PathFeatures,
    text: float = 0.0,
    subjects: float = 0.0,
    lines: int = 0,
) -> Features:
    """Return the features that the index and the path give, without reading the text."""
    named = float(names_path(query.plain, path))
    kinds = kinds_of(query, path)
    return Features._make((text, *said, size_of(lines), named, subjects, *kinds, *_UNREAD))


_UNREAD = (0.0,) * (len(Features._fields) - Features._fields.index("chunk"))
"""What the text says, before anything is known of it."""


def headers(paths: Iterable[str]) -> set[str]:
    """Return headers of C and C++ whose source, of the same name, is among the paths in any folder."""
    listed = set(paths)
    sources = {stem_of(path) for path in listed if path.endswith(_SOURCES)}
    return {path for path in listed if path.endswith(_HEADER_ENDS) and stem_of(path) in sources}


_HEADER_ENDS = (".h", ".hh", ".hpp", ".hxx")
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".m", ".mm")


def kinds_of(query: Query, path: str) -> tuple[float, ...]:
    """Return the kinds of a file, 1 or 0 each; one that the query asks for does not count."""
    filters = query.filters
    if not filters.paths and not filters.places:
        return _kinds(path)
    if path_matches(filters.paths, path):
        return _NO_KINDS
    places = {"test": PathKind.TESTS, "aside": PathKind.DOCS}
    kinds = zip(KINDS, _kinds(path), strict=True)
    return tuple(0.0 if places.get(name) in filters.places else kind for name, kind in kinds)


@lru_cache(maxsize=1 << 15)
def _kinds(path: str) -> tuple[float, ...]:
    kinds = file_kinds(path)
    aside = kinds.docs or kinds.news or kinds.example or kinds.data or kinds.foreign
    return float(kinds.test), float(aside), float(kinds.stub)


KINDS = ("test", "aside", "stub")
"""Kinds of files that count: features of the same names, in their order."""
_NO_KINDS = (0.0,) * len(KINDS)
