"""The files of one tree as a graph of imports and mentions, and the importance of each file."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from gitindex.base.path_kind import is_foreign, is_test
from gitindex.languages.facts import Import
from gitindex.languages.imports import Resolver
from gitindex.languages.syntax.kinds import FUNCTIONS, TYPES
from gitindex.store.connection import rows_among
from gitindex.store.name_rows import blobs_of
from gitindex.view.tree import TreeView

MIN_NAME = 4
MAX_NAMES = 20_000
"""Names whose mentions are followed."""
MAX_MENTIONS = 200
"""A name mentioned by more files than this adds no edges."""
IMPORT_WEIGHT, MENTION_WEIGHT = 1.0, 0.3
TEST_WEIGHT = 0.2
"""Weight of an edge from a test: tests import everything."""
DAMPING = 0.6
"""Lower than usual for the web: two files that import each other must not keep their rank."""
ROUNDS = 25
DIGITS = 12
"""Digits that ranks are rounded to; equal ranks are ordered by path."""


_BINDING = frozenset({"python", "javascript", "typescript", "tsx"})
_SCOPES = FUNCTIONS | TYPES


class GraphFile(NamedTuple):
    """A file of the tree that has facts."""

    path: str
    blob_id: int
    language: str
    lines: int


class OuterDefinition(NamedTuple):
    """A definition at the top level of a file."""

    name: str
    qualified: str
    kind: str
    exported: int


class TopDefinition(NamedTuple):
    """A definition at the top level of a file or one level below; the line is 0-based."""

    name: str
    qualified: str
    kind: str
    line: int
    signature: str
    exported: bool
    depth: int  # 0 at the top level of a file


class FileGraph:
    """Files and edges of one tree."""

    def __init__(self, view: TreeView) -> None:
        self._view = view
        view.ensure_facts()
        rows = view.rows(
            "SELECT l.path, l.blob_id, b.language, b.lines FROM {live} l JOIN {blobs} b ON b.id=l.blob_id"
        )
        live = {
            path.decode("utf-8", "surrogateescape"): (blob_id, language, lines)
            for path, blob_id, language, lines in rows
        }
        self.files = {path: GraphFile(path, *live[path]) for path in sorted(live)}

    @cached_property
    def blobs(self) -> dict[int, list[str]]:
        """Return the paths of each blob."""
        paths: dict[int, list[str]] = defaultdict(list)
        for file in self.files.values():
            paths[file.blob_id].append(file.path)
        return paths

    @cached_property
    def imports(self) -> dict[str, tuple[str, ...]]:
        """Return the files that each file imports."""
        resolver = Resolver(self.files, self._read)
        written: dict[str, list[Import]] = defaultdict(list)
        for blob_id, module, names, level, line in self._view.rows(
            "SELECT blob_id, module, names, level, line FROM {imports} ORDER BY blob_id, ordinal"
        ):
            for path in self.blobs.get(blob_id, ()):
                pairs = tuple((a, b) for a, b in json.loads(names))
                written[path].append(Import(module, pairs, level, line))
        imported = {}
        for path in sorted(written):
            language = self.files[path].language
            reached = {t for i in written[path] for t in resolver.resolve(path, language, i)}
            imported[path] = tuple(sorted(reached & self.files.keys()))
        return imported

    @cached_property
    def importers(self) -> Counter[str]:
        """Return how many files import each file."""
        return Counter(target for targets in self.imports.values() for target in targets)

    @cached_property
    def outer(self) -> dict[str, list[OuterDefinition]]:
        """Return the definitions of each file at the top level."""
        rows = self._view.rows(
            "SELECT s.blob_id, n.text, s.qualified_name, s.kind, s.exported FROM {symbols} s"
            " JOIN {names} n ON n.id=s.name_id WHERE s.parent<0 ORDER BY s.blob_id, s.ordinal"
        )
        definitions: dict[str, list[OuterDefinition]] = defaultdict(list)
        for blob_id, *fields in rows:
            outer = OuterDefinition(*fields)
            for path in self.blobs.get(blob_id, ()):
                definitions[path].append(outer)
        return definitions

    def definitions(self, paths: Iterable[str]) -> dict[str, list[TopDefinition]]:
        """Return the definitions of some files at the top level and one level below."""
        chosen = set(paths)
        blobs = sorted({self.files[path].blob_id for path in chosen})
        tops: dict[str, list[TopDefinition]] = defaultdict(list)
        rows = rows_among(
            self._view.rows,
            "SELECT s.blob_id, n.text, s.qualified_name, s.kind, s.line, s.signature, s.exported,"
            " s.parent FROM {symbols} s JOIN {names} n ON n.id=s.name_id"
            " LEFT JOIN {symbols} p ON p.blob_id=s.blob_id AND p.ordinal=s.parent"
            " WHERE s.blob_id IN ({marks}) AND (s.parent<0 OR p.parent<0)"
            " ORDER BY s.blob_id, s.ordinal",
            blobs,
        )
        for blob_id, *fields, exported, parent in rows:
            top = TopDefinition._make((*fields, bool(exported), int(parent >= 0)))
            for path in self.blobs[blob_id]:
                if path in chosen:
                    tops[path].append(top)
        return tops

    @cached_property
    def mentions(self) -> dict[str, dict[str, set[str]]]:
        """Return the unique names of each defining file, with the files that mention them."""
        owners = self._owners()
        unique = sorted(name for name, paths in owners.items() if len(paths) == 1)[:MAX_NAMES]
        mentioned: dict[str, dict[str, set[str]]] = defaultdict(dict)
        sql = (
            "SELECT n.text, b.first, b.others FROM {names} n JOIN {name_blobs} b ON b.name_id=n.id"
        )
        for name, *row in rows_among(self._view.rows, f"{sql} WHERE n.text IN ({{marks}})", unique):
            (owner,) = owners[name]
            users = mentioned[owner].setdefault(name, set())
            for blob_id in blobs_of(*row):
                users.update(path for path in self.blobs.get(blob_id, ()) if path != owner)
        return mentioned

    def _owners(self) -> dict[str, set[str]]:
        """Return the files that define each exported function or type."""
        owners: dict[str, set[str]] = defaultdict(set)
        for path, tops in self.outer.items():
            for top in tops:
                if top.exported and top.kind in _SCOPES and len(top.name) >= MIN_NAME:
                    owners[top.name].add(path)
        return owners

    def ranks(self, focus: Iterable[str] = ()) -> dict[str, float]:
        """Return each file's importance: PageRank over links, starting at the focus if any."""
        focused = set(focus)
        start = {path: self._start(path, focused) for path in self.files}
        return page_rank(self._edges(), start)

    def _start(self, path: str, focus: set[str]) -> float:
        if focus:
            return float(path in focus)
        return 0.1 if is_test(path) or is_foreign(path) else 1.0

    def _edges(self) -> dict[str, dict[str, float]]:
        edges: dict[str, dict[str, float]] = defaultdict(dict)
        for path, targets in self.imports.items():
            for target in targets:
                edges[path][target] = IMPORT_WEIGHT
        for owner in sorted(self.mentions):
            for users in self.mentions[owner].values():
                if len(users) <= MAX_MENTIONS:
                    for user in sorted(users):
                        if self._may_mean(user, owner):
                            edges[user][owner] = edges[user].get(owner, 0.0) + MENTION_WEIGHT
        return {
            path: {t: w * (TEST_WEIGHT if is_test(path) else 1.0) for t, w in targets.items()}
            for path, targets in edges.items()
        }

    def _may_mean(self, user: str, owner: str) -> bool:
        """Return whether a name may refer to another file; some languages need an import."""
        language = self.files[user].language
        if language in _BINDING:
            return owner in self.imports.get(user, ())
        return language == self.files[owner].language

    def _read(self, path: str) -> bytes | None:
        raw = path.encode("utf-8", "surrogateescape")
        return self._view.read([raw]).get(raw)


def page_rank(
    edges: Mapping[str, Mapping[str, float]], start: Mapping[str, float]
) -> dict[str, float]:
    """Return the PageRank of each file, restarting at `start`. Sums to 1."""
    total = sum(start.values())
    if not total:
        return dict.fromkeys(start, 0.0)
    home = {path: weight / total for path, weight in start.items()}
    flows = [(path, list(edges[path].items()), sum(edges[path].values())) for path in sorted(edges)]
    ranks = dict(home)
    for _ in range(ROUNDS):
        received = dict.fromkeys(home, 0.0)
        for path, targets, weight in flows:
            share = DAMPING * ranks[path] / weight
            for target, part in targets:
                received[target] += share * part
        lost = 1.0 - sum(received.values())  # restarts, and rank from files without edges
        ranks = {path: received[path] + lost * home[path] for path in received}
    return {path: round(rank, DIGITS) for path, rank in ranks.items()}
