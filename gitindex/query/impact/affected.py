"""Find the tests that a change affects, the likeliest first: by calls, then by imports."""

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
"""Symbols per changed file whose callers are followed; beyond this, imports are used instead."""
MAX_IMPORTERS = 500
"""Files reached through imports before the rest is left out: nearly all files are by then."""
_FOLLOWED = (Tier.SEMANTIC, Tier.EXACT, Tier.IMPORT, Tier.DISPATCH)


class ReachRoute(StrEnum):
    """How a test is reached, the surest first."""

    CHANGED = "changed"  # part of the change
    CALLS = "calls"  # reached through calls and uses
    IMPORTS = "imports"  # reached through imports only


class AffectedTest(NamedTuple):
    """A test file, and the tests in it that are known to be affected."""

    path: str
    route: ReachRoute
    distance: int
    nodes: tuple[str, ...] = ()  # pytest node ids; empty for the whole file

    def order(self) -> tuple[int, int, bytes]:
        """Sort key: the likeliest first."""
        return list(ReachRoute).index(self.route), self.distance, os.fsencode(self.path)


class AffectedTests(NamedTuple):
    """All affected tests, the likeliest first."""

    tests: list[AffectedTest]
    truncated: bool  # too many files import the change: not all were followed


def affected_tests(change: TreeChange) -> AffectedTests:
    """Return the test files of the new tree that the change affects."""
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
    """Follows the callers of changed symbols, step by step, up to the tests."""

    def __init__(self, change: TreeChange) -> None:
        self._change = change
        self._code = [one for one in change.symbols if _is_code(one)]
        self._seen: dict[tuple[str, int], int] = {}
        self._found: dict[str, dict[str, int]] = {}  # test file → node id → distance
        self._explained: set[str] = set()  # changed files whose symbols reach tests

    def follow(self) -> None:
        """Follow each changed file's symbols; files that reach no test are left to imports."""
        by_path: dict[str, list[ChangedSymbol]] = {}
        for one in self._code:
            by_path.setdefault(one.definition.path, []).append(one)
        for path, symbols in by_path.items():
            if is_test(path):
                continue
            if self._follow(symbols) and not self._has_loose_code(path):
                self._explained.add(path)

    def _has_loose_code(self, path: str) -> bool:
        """Return whether code outside functions and classes changed."""
        return any(
            one.definition.path == path and not _is_code(one) for one in self._change.symbols
        ) or not any(one.definition.path == path for one in self._code)

    def _follow(self, symbols: list[ChangedSymbol]) -> bool:
        """Return True if tests were reached and nothing was cut off."""
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
        """Return the pytest node id of a test; empty for a helper or fixture, used by any test."""
        parts = definition.qualified.split(".")
        is_node = parts[-1].startswith("test") and definition.kind in FUNCTIONS
        if not is_node or not definition.path.endswith(".py"):
            return ""
        return "::".join([definition.path, *parts])

    def tests(self) -> dict[str, AffectedTest]:
        """Return the test files reached through calls."""
        wanted = runnable_tests(self._change, self._found)
        found = {}
        for path in wanted:
            nodes = self._found[path]
            whole = "" in nodes
            names = () if whole else tuple(sorted(nodes, key=lambda n: (nodes[n], n)))
            found[path] = AffectedTest(path, ReachRoute.CALLS, min(nodes.values()), names)
        return found

    def unexplained(self) -> set[str]:
        """Return the changed files that calls do not explain."""
        return {path for path in self._change.paths if path not in self._explained}


def _is_code(one: ChangedSymbol) -> bool:
    return one.definition.kind in FUNCTIONS | TYPES
