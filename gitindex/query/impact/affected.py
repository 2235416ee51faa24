"""Find the tests that a change affects: those that executed it, then by calls, then by imports."""

from __future__ import annotations

import os
from enum import StrEnum
from itertools import chain
from typing import NamedTuple

from gitindex.query.impact.callers import Callers
from gitindex.query.impact.change import TreeChange
from gitindex.query.impact.executed import executed_tests
from gitindex.query.impact.fixtures import is_shared, tests_below
from gitindex.query.impact.reach import importing_rings, runnable_tests

MAX_IMPORTERS = 200
"""Files reached through imports before farther ones are left out, which the answer then says."""


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
    for path in runnable_tests(change, change.felt):
        found[path] = AffectedTest(path, ReachRoute.CHANGED, 0)
    executed = executed_tests(change)
    for path in runnable_tests(change, executed.tests):
        found.setdefault(path, _reached(path, ReachRoute.EXECUTED, executed.tests[path]))
    calls = Callers(change)
    calls.follow()
    called = runnable_tests(change, calls.tests)
    for path in called:
        found.setdefault(path, _reached(path, ReachRoute.CALLS, calls.tests[path]))
    helpers = calls.tests.keys() - called  # whatever imports them may run the change
    unexplained = calls.unexplained() | helpers
    truncated = _follow_imports(change, unexplained - executed.known, set(), found)
    truncated |= _follow_imports(change, unexplained & executed.known, executed.idle, found)
    return AffectedTests(sorted(found.values(), key=AffectedTest.order), truncated)


def _follow_imports(
    change: TreeChange, paths: set[str], idle: set[str], found: dict[str, AffectedTest]
) -> bool:
    """Add the tests that import some files, directly or not, except idle ones. True if cut off."""
    importers = 0
    own = {path for path in paths if is_shared(path)}
    for distance, ring in enumerate(chain([own], importing_rings(change, paths))):
        project = change.after.project
        shared = {p for path in ring if is_shared(path) for p in tests_below(project, path)}
        for path in runnable_tests(change, (ring | shared) - idle):
            step = distance + (path not in ring)
            known = found.setdefault(path, AffectedTest(path, ReachRoute.IMPORTS, step))
            if known.route is ReachRoute.CALLS:  # calls did not explain all: any test of it may run
                found[path] = known._replace(nodes=())
        importers += len(ring)
        if importers > MAX_IMPORTERS:
            return True
    return False


def _reached(path: str, route: ReachRoute, nodes: dict[str, int]) -> AffectedTest:
    """Return a test file with its tests, the nearest first; all of it if one of them is unknown."""
    names = () if "" in nodes else tuple(sorted(nodes, key=lambda n: (nodes[n], n)))
    return AffectedTest(path, route, min(nodes.values()), names)
