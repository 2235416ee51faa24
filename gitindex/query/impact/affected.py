"""The tests that a change reaches, the likeliest first: through calls, then through imports."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import NamedTuple

from gitindex.base.path_kind import is_test
from gitindex.base.vocabulary import Tier
from gitindex.languages.syntax.kinds import FUNCTIONS, TYPES
from gitindex.query.impact.change import ChangedSymbol, Difference, TreeChange
from gitindex.query.impact.reach import importing_rings, runnable_tests, users
from gitindex.query.names.source import Definition

MAX_DEPTH = 8
MAX_FOLLOWED = 40
"""Symbols whose callers are looked for, of one changed file; beyond them imports take over."""
MAX_IMPORTERS = 500
"""Files that are reached through imports before the rest is left out: by then nearly all are."""
_FOLLOWED = (Tier.SEMANTIC, Tier.EXACT, Tier.IMPORT, Tier.DISPATCH)


class ReachRoute(StrEnum):
    """How a test is reached, the surest first."""

    CHANGED = "changed"  # it is part of the change
    CALLS = "calls"  # calls and uses lead there
    IMPORTS = "imports"  # only imports lead there


class AffectedTest(NamedTuple):
    """A test file, and the tests in it that are known to be reached."""

    path: str
    route: ReachRoute
    distance: int
    nodes: tuple[str, ...] = ()  # pytest's node ids; none where the whole file is meant

    def order(self) -> tuple[int, int, bytes]:
        """The likeliest first."""
        return list(ReachRoute).index(self.route), self.distance, os.fsencode(self.path)


class AffectedTests(NamedTuple):
    """All of them, the likeliest first."""

    tests: list[AffectedTest]
    truncated: bool  # so many files import what changed that not all were followed


def affected_tests(change: TreeChange) -> AffectedTests:
    """Test files of the new tree that reach the change."""
    found: dict[str, AffectedTest] = {}
    for path in runnable_tests(change, change.paths):
        found[path] = AffectedTest(path, ReachRoute.CHANGED, 0)
    calls = _Calls(change)
    calls.follow()
    for path, reached in calls.tests().items():
        found.setdefault(path, reached)
    importers, truncated = 0, False
    for distance, ring in enumerate(importing_rings(change, calls.unexplained()), 1):
        for path in runnable_tests(change, ring):
            found.setdefault(path, AffectedTest(path, ReachRoute.IMPORTS, distance))
        importers += len(ring)
        if importers > MAX_IMPORTERS:
            truncated = True
            break
    return AffectedTests(sorted(found.values(), key=AffectedTest.order), truncated)


class _Calls:
    """Who calls what changed, step by step, up to the tests."""

    def __init__(self, change: TreeChange) -> None:
        self._change = change
        self._code = [one for one in change.symbols if _is_code(one)]
        self._seen: dict[tuple[str, int], int] = {}
        self._found: dict[str, dict[str, int]] = {}  # test file → node id → distance
        self._explained: set[str] = set()  # changed files whose symbols lead to tests

    def follow(self) -> None:
        """Follow each changed file's symbols: what leads to no test is left to imports."""
        by_path: dict[str, list[ChangedSymbol]] = {}
        for one in self._code:
            by_path.setdefault(one.definition.path, []).append(one)
        for path, symbols in by_path.items():
            if is_test(path):
                continue
            if self._follow(symbols) and not self._has_loose_code(path):
                self._explained.add(path)

    def _has_loose_code(self, path: str) -> bool:
        """Did something change that belongs to no function or class?"""
        return any(
            one.definition.path == path and not _is_code(one) for one in self._change.symbols
        ) or not any(one.definition.path == path for one in self._code)

    def _follow(self, symbols: list[ChangedSymbol]) -> bool:
        """True if tests were reached and nothing was cut short."""
        removed = [s.definition for s in symbols if s.difference is Difference.REMOVED]
        others = [s.definition for s in symbols if s.difference is not Difference.REMOVED]
        rings = [(self._change.before, removed), (self._change.after, others)]
        reached, followed = False, 0
        own: set[tuple[str, int]] = {(d.path, d.ordinal) for d in others}
        for distance in range(1, MAX_DEPTH + 1):
            following: list[Definition] = []
            for finder, wanted in rings:
                for definition, tier in users(self._change, finder, wanted):
                    key = (definition.path, definition.ordinal)
                    if key in own or tier not in _FOLLOWED:
                        continue
                    own.add(key)
                    if is_test(definition.path):
                        reached = True
                        self._note(definition, distance)
                    else:
                        following.append(definition)
            followed += len(following)
            if followed > MAX_FOLLOWED:
                return False
            if not following:
                break
            rings = [(self._change.after, following)]
        return reached

    def _note(self, definition: Definition, distance: int) -> None:
        nodes = self._found.setdefault(definition.path, {})
        node = self._node(definition)
        nodes[node] = min(distance, nodes.get(node, distance))

    def _node(self, definition: Definition) -> str:
        """pytest's name of a test; empty for a helper or a fixture, which any test may use."""
        parts = definition.qualified.split(".")
        is_node = parts[-1].startswith("test") and definition.kind in FUNCTIONS
        if not is_node or not definition.path.endswith(".py"):
            return ""
        return "::".join([definition.path, *parts])

    def tests(self) -> dict[str, AffectedTest]:
        """Test files that calls lead to."""
        wanted = runnable_tests(self._change, self._found)
        found = {}
        for path in wanted:
            nodes = self._found[path]
            whole = "" in nodes
            names = () if whole else tuple(sorted(nodes, key=lambda n: (nodes[n], n)))
            found[path] = AffectedTest(path, ReachRoute.CALLS, min(nodes.values()), names)
        return found

    def unexplained(self) -> set[str]:
        """Changed files that calls say too little about."""
        return {path for path in self._change.paths if path not in self._explained}


def _is_code(one: ChangedSymbol) -> bool:
    return one.definition.kind in FUNCTIONS | TYPES
