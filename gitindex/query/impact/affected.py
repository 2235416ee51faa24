"""Find the tests that a change affects: those that executed it, then by calls, then by imports."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import NamedTuple

from gitindex.base.path_kind import is_test
from gitindex.base.vocabulary import Tier
from gitindex.languages.facts import Use
from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.impact.change import ChangedSymbol, Difference, TreeChange
from gitindex.query.impact.executed import executed_tests
from gitindex.query.impact.fixtures import fixture_users, is_fixture, is_shared, tests_below
from gitindex.query.impact.reach import importing_rings, runnable_tests, users
from gitindex.query.names.finder import PROVEN, Finder
from gitindex.query.names.project import Project
from gitindex.query.names.sites import Site
from gitindex.query.names.source import Definition

MAX_DEPTH = 8
MAX_EXAMINED = 12
"""Files whose names are resolved to follow callers; a name in more files is left to imports."""
MAX_IMPORTERS = 200
"""Files reached through imports before farther ones are left out, which the answer then says."""
_FOLLOWED = (Tier.SEMANTIC, Tier.EXACT, Tier.IMPORT, Tier.DISPATCH)
_MADE = ("__init__", "__new__", "__post_init__")
_WIDTH = "SELECT count(*) FROM {names} n JOIN {occurrences} o ON o.name_id=n.id WHERE n.text=?"


class ReachRoute(StrEnum):
    """How a test is reached, the surest first."""

    CHANGED = "changed"  # part of the change
    EXECUTED = "executed"  # ran the changed code, as coverage.py recorded
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
    executed = executed_tests(change)
    for path in runnable_tests(change, executed.tests):
        found.setdefault(path, _reached(path, ReachRoute.EXECUTED, executed.tests[path]))
    calls = _Calls(change)
    calls.follow()
    for path, reached in calls.tests().items():
        found.setdefault(path, reached)
    unexplained = calls.unexplained()
    truncated = _follow_imports(change, unexplained - executed.known, set(), found)
    truncated |= _follow_imports(change, unexplained & executed.known, executed.idle, found)
    return AffectedTests(sorted(found.values(), key=AffectedTest.order), truncated)


def _follow_imports(
    change: TreeChange, paths: set[str], idle: set[str], found: dict[str, AffectedTest]
) -> bool:
    """Add the tests that import some files, directly or not, except idle ones. True if cut off."""
    importers = 0
    for distance, ring in enumerate(importing_rings(change, paths), 1):
        project = change.after.project
        shared = {p for path in ring if is_shared(path) for p in tests_below(project, path)}
        for path in runnable_tests(change, (ring | shared) - idle):
            step = distance + (path not in ring)
            found.setdefault(path, AffectedTest(path, ReachRoute.IMPORTS, step))
        importers += len(ring)
        if importers > MAX_IMPORTERS:
            return True
    return False


class _Calls:
    """Follows the users of changed symbols, step by step, up to the tests."""

    def __init__(self, change: TreeChange) -> None:
        self._change = change
        self._left = MAX_EXAMINED
        self._found: dict[str, dict[str, int]] = {}  # test file → node id → distance
        self._explained: set[str] = set()  # changed files all of whose users are known

    def follow(self) -> None:
        """Follow each changed file's symbols; what may have other users is left to imports."""
        by_path: dict[str, list[ChangedSymbol]] = {}
        for one in self._change.symbols:
            by_path.setdefault(one.definition.path, []).append(one)
        for path, symbols in by_path.items():
            if not is_test(path) and self._follow(symbols):
                self._explained.add(path)

    def _follow(self, symbols: list[ChangedSymbol]) -> bool:
        """Return True if every way upwards ends in a test, and there is one."""
        before, after = self._change.before, self._change.after
        ring = [
            (before if s.difference is Difference.REMOVED else after, s.definition)
            for s in symbols
            if s.difference is not Difference.ADDED or s.definition.parent >= 0
        ]  # what uses a new name is changed as well; a new member may replace another
        seen = {(d.path, d.ordinal) for finder, d in ring if finder is after}
        closed, known = True, len(self._found)
        for distance in range(1, MAX_DEPTH + 1):
            following: list[Definition] = []
            for finder, wanted in ring:
                found, complete = self._users(finder, wanted, distance)
                closed = closed and (complete or is_test(wanted.path))
                for definition in found:
                    if (definition.path, definition.ordinal) not in seen:
                        seen.add((definition.path, definition.ordinal))
                        if not self._note(definition, distance):
                            following.append(definition)
            ring = [(after, definition) for definition in following]
        return closed and not ring and len(self._found) > known

    def _users(
        self, finder: Finder, wanted: Definition, distance: int
    ) -> tuple[list[Definition], bool]:
        """Return the symbols that use one, and whether nothing else does."""
        project = finder.project
        if is_test(wanted.path) and is_fixture(project, wanted):
            return fixture_users(project, wanted), True
        if wanted.name in _MADE:  # making an object calls it
            source = project.source(wanted.path)
            wanted = (source.symbol(wanted.parent) if source else None) or wanted
        width = sum(count for (count,) in finder.view.rows(_WIDTH, wanted.name))
        if width > self._left:
            return [], False
        self._left -= width
        told = finder.find([wanted])
        outside = (s for s in told.sites if s.enclosing is None and s.use != Use.IMPORT)
        loose = [site.path for site in outside if not _is_listed(project, site)]
        for path in filter(is_test, loose):
            self._found.setdefault(path, {}).setdefault("", distance)
        found = [d for d, tier in users(self._change, finder, [wanted]) if tier in _FOLLOWED]
        certain = not told.cut and all(why == PROVEN for why in told.excluded.values())
        return found, bool(told.sites) and certain and all(map(is_test, loose))

    def _note(self, definition: Definition, distance: int) -> bool:
        """Note a test; False for what is none, whose own users count."""
        if not is_test(definition.path):
            return False
        is_node = definition.name.startswith("test") and definition.kind in FUNCTIONS
        if not is_node and (
            is_shared(definition.path) or is_fixture(self._change.after.project, definition)
        ):
            return False
        nodes = self._found.setdefault(definition.path, {})
        python = is_node and definition.path.endswith(".py")
        parts = definition.qualified.split(".") if python else ()
        node = "::".join([definition.path, *parts]) if parts else ""
        nodes[node] = min(distance, nodes.get(node, distance))
        return is_node

    def tests(self) -> dict[str, AffectedTest]:
        """Return the test files reached through calls."""
        wanted = runnable_tests(self._change, self._found)
        return {path: _reached(path, ReachRoute.CALLS, self._found[path]) for path in wanted}

    def unexplained(self) -> set[str]:
        """Return the changed files that calls do not explain."""
        return {path for path in self._change.paths if path not in self._explained}


def _is_listed(project: Project, site: Site) -> bool:
    """Is a place in `__all__`, which passes a name on and does not use it?"""
    source = project.source(site.path)
    lists = [s for s in (source.symbols if source else ()) if s.name == "__all__"]
    return any(s.start_line <= site.line <= s.end_line for s in lists)


def _reached(path: str, route: ReachRoute, nodes: dict[str, int]) -> AffectedTest:
    """Return a test file with its tests, the nearest first; all of it if one of them is unknown."""
    names = () if "" in nodes else tuple(sorted(nodes, key=lambda n: (nodes[n], n)))
    return AffectedTest(path, route, min(nodes.values()), names)
