"""Caches of a long-running process: the lexical index, texts of blobs, the published tree.

The caches never change an answer: each holds what the store would return, under a key that changes
when the stored data does (the run that published a tree, the id of a blob).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

from gitindex.base.light_types import NamedTuple
from gitindex.base.pattern import compile_later
from gitindex.base.recent import Recent
from gitindex.extract.terms import words_of
from gitindex.languages.facts import FactsKey
from gitindex.languages.syntax.source import is_generated
from gitindex.query.search.definitions import DefinitionMemory, FileDefinitions, JoinedTexts
from gitindex.query.search.past_subjects import StoredSubjects
from gitindex.store.connection import rows_among
from gitindex.store.lexical import LexicalMemory
from gitindex.view.tree import TreeView

MAX_BYTES = 12 << 20
"""Bytes of texts in memory: what some fifty answers read on Django. A server has 150 MB in all."""
MAX_FILES = 20_000
"""Files of a tree in memory, some 10 MB; more are read again."""
MAX_PATHS = 500
"""Paths with one word, the shortest, that compete; beyond them it counts beside rarer words only."""
MAX_BLOB = 1 << 20
"""Larger texts are not cached."""

_NAMED = (
    "README README.md README.rst README.txt README.adoc Readme.md readme.md CONTRIBUTING.md"
    " CONTRIBUTING.rst .github/CONTRIBUTING.md package.json pyproject.toml setup.cfg setup.py Cargo.toml"
    " go.mod composer.json"
)
NAMING_FILES = tuple(path.encode() for path in _NAMED.split())
"""Files that mention the address of their repository."""
MAX_READ = 200_000
_ADDRESS = compile_later(
    rb"(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)[/:][\w.-]+/([\w-][\w.-]*)"
)
_SCOPE = compile_later(rb'^\s*"name"\s*:\s*"@([\w-]+)/', re.MULTILINE)
LEAST = 2
"""A name that is mentioned less may be anybody's."""
SCOPE = 5
"""How many mentions of an address the scope of a package's name is worth: `@vitest/monorepo`."""

COLUMNS = "l.path, l.oid, l.blob_id, b.language, l.source, b.extractor, b.lines"
# CROSS JOIN keeps the join order: without it SQLite may read every file of the tree.
BY_BLOB = " FROM {blobs} b CROSS JOIN {live} l ON l.blob_id=b.id"
BY_PATH = " FROM {live} l CROSS JOIN {blobs} b ON b.id=l.blob_id"
Row = tuple[bytes, bytes, int, str, str, str, int]
"""COLUMNS of one file of the tree."""


class Candidate(NamedTuple):
    """A path of the tree that may answer the query."""

    path: bytes
    name: str  # the path as text
    key: FactsKey
    blob_id: int
    language: str
    source: str
    lines: int = 0
    text: float = 0.0  # BM25
    subjects: float = 0.0  # BM25 of past commits' subjects


class CandidateText(NamedTuple):
    """The bytes of a file."""

    data: bytes
    generated: bool  # a line of it says so


NO_TEXT = CandidateText(b"", False)


def candidate_of(row: Row) -> Candidate:
    """Return a candidate from a row of COLUMNS."""
    path, oid, blob_id, language, source, extractor, lines = row
    name = path.decode("utf-8", "replace")
    return Candidate(path, name, FactsKey(oid.hex(), extractor), blob_id, language, source, lines)


class PathTexts:
    """The paths of a tree as one text: finds those with most words of a query."""

    def __init__(self, paths: Iterable[bytes]) -> None:
        self._paths = sorted(sorted(paths), key=len)
        self._texts = JoinedTexts(self._paths)

    def best(self, needles: Sequence[tuple[str, float]], limit: int) -> list[bytes]:
        """Return the paths with the highest sum of their needles' shares, then the shortest."""
        totals: dict[int, float] = {}
        for needle, share in sorted(needles, key=lambda pair: -pair[1]):
            word = needle.lower().encode()
            holding = {*self._texts.holding(word, MAX_PATHS)}
            if len(holding) == MAX_PATHS:
                holding.update(n for n in totals if word in self._paths[n].lower())
            for number in holding:
                totals[number] = totals.get(number, 0.0) + share
        from heapq import nsmallest  # lazily: a cold search needs none

        best = nsmallest(limit, totals, key=lambda n: (-round(totals[n], 9), n))
        return [self._paths[number] for number in best]


class PublishedTree:
    """Cached files of one published tree, and the words of its paths."""

    def __init__(self) -> None:
        self.by_key: dict[FactsKey, list[Candidate]] = {}
        self.by_path: dict[bytes, Candidate | None] = {}
        self.paths: PathTexts | None = None
        self.subjects = StoredSubjects()
        self.definitions = DefinitionMemory()


class SearchMemory:
    """Caches that a server keeps between queries."""

    def __init__(self) -> None:
        self.lexical = LexicalMemory()
        self._texts = Recent(MAX_BYTES)
        self._tree: tuple[tuple[str, str | None], PublishedTree] | None = None
        self._name: tuple[tuple[str | None, ...], frozenset[str]] | None = None

    def tree(self, view: TreeView) -> PublishedTree:
        """Return the cache for the published tree that a view is based on."""
        name = (view.worktree.database, view.served.published.run_id)
        if self._tree is None or self._tree[0] != name:
            self._tree = (name, PublishedTree())
        return self._tree[1]

    def repository_words(self, view: TreeView) -> frozenset[str]:
        """Return the words of the repository's name, as the files of the view say it."""
        overlay = view.overlay
        key = (view.worktree.database, view.served.published.run_id, overlay.source, overlay.digest)
        if self._name is None or self._name[0] != key:
            self._name = (key, repository_words(view.read(NAMING_FILES).values()))
        return self._name[1]

    def definitions(self, view: TreeView, pool: Iterable[Candidate]) -> dict[int, FileDefinitions]:
        """Return all definitions of some files by blob."""
        blobs = ((c.blob_id, c.key.oid) for c in pool)
        return self.tree(view).definitions.files(view, blobs)

    def texts(self, view: TreeView, candidates: Iterable[Candidate]) -> dict[bytes, CandidateText]:
        """Return the texts of some files by path; an empty text for a file without content."""
        texts: dict[bytes, CandidateText] = {}
        unknown: dict[bytes, str] = {}
        for candidate in candidates:
            known = self._texts.get(candidate.key.oid)
            if known is None:
                unknown[candidate.path] = candidate.key.oid
            else:
                texts[candidate.path] = known
        read = view.read(unknown) if unknown else {}
        for path, oid in unknown.items():
            data = read.get(path)
            texts[path] = NO_TEXT if data is None else self._keep(oid, data)
        return texts

    def _keep(self, oid: str, data: bytes) -> CandidateText:
        text = CandidateText(data, is_generated(data))
        if len(data) <= MAX_BLOB:
            self._texts.keep(oid, text, len(data))
        return text


class TreeFiles:
    """Looks up the files of a view as candidates, using the caches."""

    def __init__(self, view: TreeView, memory: SearchMemory) -> None:
        self._view = view
        self._tree = memory.tree(view)
        overlay = view.overlay
        self._hidden = {*overlay.files, *overlay.left_out}

    def with_keys(self, keys: Sequence[FactsKey]) -> list[Candidate]:
        """Return the files of the tree with these blobs, in the order of the keys, then by path."""
        published = self._published(keys)
        if not self._hidden:
            return list(published)
        place = {key: number for number, key in enumerate(keys)}
        candidates = [c for c in published if c.path not in self._hidden]
        candidates += self._with_blobs(place.keys(), published=False)
        return sorted(candidates, key=lambda c: (place[c.key], c))

    def _published(self, keys: Sequence[FactsKey]) -> Iterator[Candidate]:
        known = self._tree.by_key
        if len(known) > MAX_FILES:
            known.clear()
        unknown = {key for key in keys if key not in known}
        if unknown:
            known.update((key, []) for key in unknown)
            for candidate in sorted(self._with_blobs(unknown, published=True)):
                known[candidate.key].append(candidate)
        return chain.from_iterable(known[key] for key in keys)

    def _with_blobs(self, keys: Collection[FactsKey], published: bool) -> Iterator[Candidate]:
        oids = list({bytes.fromhex(key.oid): None for key in keys})
        rows = self._rows(f"SELECT {COLUMNS}{BY_BLOB} WHERE b.oid", oids, published)
        return (candidate for candidate in map(candidate_of, rows) if candidate.key in keys)

    def at(self, paths: Sequence[bytes]) -> list[Candidate]:
        """Return the files at these paths, in the given order; those without facts are left out."""
        known = self._tree.by_path
        if len(known) > MAX_FILES:
            known.clear()
        unknown = [path for path in paths if path not in known]
        known.update(dict.fromkeys(unknown))
        for row in self._rows(f"SELECT {COLUMNS}{BY_PATH} WHERE l.path", unknown, published=True):
            known[row[0]] = candidate_of(row)
        overlaid = [path for path in paths if path in self._hidden]
        rows = self._rows(f"SELECT {COLUMNS}{BY_PATH} WHERE l.path", overlaid, published=False)
        over = {row[0]: candidate_of(row) for row in rows}
        listed = (over.get(p) if p in self._hidden else known[p] for p in dict.fromkeys(paths))
        return [candidate for candidate in listed if candidate is not None]

    def with_words(self, needles: Sequence[tuple[str, float]], limit: int) -> list[bytes]:
        """Return published paths that contain needles: highest share first, then the shortest."""
        tree = self._tree
        if tree.paths is None:
            rows = self._view.published_rows("SELECT l.path FROM {live} l")
            tree.paths = PathTexts(path for (path,) in rows)
        return tree.paths.best(needles, limit)

    def _rows(self, sql: str, values: Sequence[bytes], published: bool) -> list[Row]:
        ask = self._view.published_rows if published else self._view.overlay_rows
        return rows_among(ask, f"{sql} IN ({{marks}})", values)


def repository_words(texts: Iterable[bytes]) -> frozenset[str]:
    """Return the words of the name that the texts mention most often as a repository; none if none is."""
    counts: Counter[str] = Counter()
    for text in texts:
        for name in _ADDRESS.findall(text[:MAX_READ]):
            counts[name.decode().lower().rstrip(".").removesuffix(".git")] += 1
        for name in _SCOPE.findall(text[:MAX_READ]):
            counts[name.decode().lower()] += SCOPE
    name, mentions = min(counts.items(), key=lambda pair: (-pair[1], pair[0]), default=("", 0))
    return frozenset(words_of(name)) if mentions >= LEAST else frozenset()
