"""How far a change reaches: symbols through calls and uses, files through imports, and the tests to run.

Tests are those that executed the change, as coverage.py recorded; then those that calls lead to; then
those that import what calls do not explain.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from gitindex.base.escape import path_fields
from gitindex.base.path_kind import is_test
from gitindex.base.vocabulary import Tier
from gitindex.languages.facts import Use
from gitindex.languages.implicit_calls import called_without_name
from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.impact.change import ChangedSymbol, Difference, TreeChange, counterparts
from gitindex.query.impact.executed import executed_tests
from gitindex.query.impact.runners import TestRunners
from gitindex.query.names.dispatch import fixture_decorator, is_fixture
from gitindex.query.names.finder import Finder
from gitindex.query.names.model import Definition, Site, enclosing, place_of
from gitindex.query.names.project import Project, words_of_file
from gitindex.view.tree import BLOBS_NAMED

if TYPE_CHECKING:
    from gitindex.base.answers import ImpactAnswer

MAX_REACHED = 500
"""Symbols to follow and show: more than a reader looks at."""
MAX_DEPTH = 10
"""Steps to follow; everything is reached long before."""
MAX_IMPORTERS = 200
"""Files reached through imports before farther ones are left out, which the answer then says."""
MAX_EXAMINED = 400
"""Files whose names are resolved to follow callers; what needs more is left to imports."""
MAX_IN_LARGE_TREES = 12
LARGE_TREE = 2_000
"""Files; in larger trees a name costs several times as much to resolve."""
_SIZE = "SELECT count(*) FROM {live}"
_WIDTH = f"SELECT count(*) FROM {BLOBS_NAMED} WHERE n.text=?"
_BELOW = "SELECT path FROM {live} WHERE path>=? AND path<? AND skip IS NULL"
_PYTHON = (".py", ".pyi", ".pyx")
_FIXTURE_NAME = re.compile(r"\bname\s*=\s*[\"'](\w+)[\"']")
_AUTOUSE = re.compile(r"\bautouse\s*=\s*True\b")


class Reached(NamedTuple):
    """A symbol that a changed one may break, its distance, and the tier of the last step."""

    definition: Definition
    distance: int
    tier: Tier


def impact(change: TreeChange, depth: int) -> ImpactAnswer:
    """Return changed symbols, and the symbols, files and tests they reach, as an envelope."""
    reached, cut = _reached(change, max(1, min(depth, MAX_DEPTH)))
    files = {r.definition.path for r in reached}
    files.update(*importing_rings(change, change.felt))
    tests = runnable_tests(change, files | set(change.felt))
    answer = change.after.view.envelope(
        base=change.before.view.overlay.commit or change.before.view.overlay.tree,
        changedFiles=[
            {**path_fields(os.fsencode(path)), "change": what}
            for path, what in change.paths.items()
        ],
        changedSymbols=[
            {**_symbol_fields(one.definition), "change": str(one.difference)}
            for one in change.symbols
        ],
        reached=[
            {**_symbol_fields(one.definition), "distance": one.distance, "tier": str(one.tier)}
            for one in reached
        ],
        files=_shown(files - set(change.paths)),
        tests=_shown(tests),
        truncated=cut,
    )
    return cast("ImpactAnswer", answer)


def importing_rings(change: TreeChange, paths: Iterable[str]) -> Iterator[set[str]]:
    """Yield the files that import some changed files by distance; deleted files: in the old tree."""
    ring = set(paths)
    reached = ring | set(change.paths)
    deleted = {path for path in ring if change.paths.get(path) == "deleted"}
    while ring:
        importers = Importers(change.after.project).of(ring)
        if deleted:  # the new tree does not resolve imports of deleted files
            importers |= Importers(change.before.project).of(deleted)
            deleted = set()
        ring = importers - reached
        reached |= ring
        if ring:
            yield ring


class Importers:
    """Which files import which: imports are chosen by their words, and only these are resolved."""

    def __init__(self, project: Project) -> None:
        self._resolver = project.tree.resolver
        self._written = project.written
        self._known: dict[int, tuple[str, ...] | None] = project.tree.notes.setdefault("reach", {})

    def of(self, targets: set[str]) -> set[str]:
        """Return the files that import one of some files, without these."""
        words = {word for target in targets for word in words_of_file(target)}
        python = {target for target in targets if target.endswith(_PYTHON)}
        files: set[str] = set()
        for number in self._written.with_words(words):
            language = self._written.entries[number].users[0][1]
            # Python imports nothing else, and nothing else imports Python
            if meant := python if language == "python" else targets - python:
                files.update(self._users(number, meant))
        return files - targets

    def _users(self, number: int, targets: set[str]) -> Iterator[str]:
        """Yield the files in which one written import reaches one of some files."""
        written = self._written.entries[number]
        everywhere, item = self._everywhere(number), written.item()
        for raw, language in written.users:
            path = os.fsdecode(raw)
            reached = everywhere
            if reached is None:
                reached = self._resolver.resolve(path, language, item)
            if not targets.isdisjoint(reached):
                yield path

    def _everywhere(self, number: int) -> tuple[str, ...] | None:
        """Return what an absolute Python import reaches in every file; None if that differs."""
        if number not in self._known:
            written = self._written.entries[number]
            item, python = written.item(), written.users[0][1] == "python"
            same = python and not item.level and self._resolver.is_certain("", "python", item)
            self._known[number] = self._resolver.resolve("", "python", item) if same else None
        return self._known[number]


def runners_of(change: TreeChange) -> TestRunners:
    """Return what collects the tests of the new tree."""
    project = change.after.project
    runners: TestRunners = project.notes.setdefault("runners", TestRunners(project))
    return runners


def runnable_tests(change: TreeChange, paths: Iterable[str]) -> set[str]:
    """Return the paths that a test runner collects in the new tree."""
    return set(runners_of(change).collected(path for path in paths if is_test(path)))


def _reached(change: TreeChange, depth: int) -> tuple[list[Reached], bool]:
    """Search breadth first; only certain references are followed further."""
    own = {(c.definition.path, c.definition.ordinal) for c in change.symbols}
    removed = _that(change, Difference.REMOVED)
    ring = _that(change, Difference.INTERFACE, Difference.BODY)
    users = [*_users(change, change.before, removed), *_users(change, change.after, ring)]
    reached: dict[tuple[str, int], Reached] = {}
    for distance in range(1, depth + 1):
        ring = []
        for definition, tier in users:
            key = (definition.path, definition.ordinal)
            if key not in reached and key not in own:
                reached[key] = Reached(definition, distance, tier)
                ring += [definition] if tier is not Tier.NAME else []
        if len(reached) > MAX_REACHED or distance == depth:
            break
        users = _users(change, change.after, ring)
    ordered = sorted(reached.values(), key=lambda r: (r.distance, place_of(r.definition)))
    return ordered[:MAX_REACHED], len(ordered) > MAX_REACHED


def _that(change: TreeChange, *how: Difference) -> list[Definition]:
    return [one.definition for one in change.symbols if one.difference in how]


def _users(
    change: TreeChange, finder: Finder, definitions: list[Definition]
) -> list[tuple[Definition, Tier]]:
    """Return the symbols of the new tree whose code refers to some definitions."""
    users = []
    for site in finder.uses(definitions):
        around = _now(change, finder, site.enclosing) if site.enclosing else None
        if around is not None:
            users.append((around, site.tier))
    return sorted(users, key=lambda pair: (place_of(pair[0]), pair[1]))


def _now(change: TreeChange, finder: Finder, definition: Definition) -> Definition | None:
    """Return a definition of one tree as it is in the new tree."""
    if finder is change.after:
        return definition
    return next(iter(counterparts(change.after.project, definition)), None)


def _symbol_fields(definition: Definition) -> dict[str, Any]:
    return {
        "name": definition.name,
        "qualifiedName": definition.qualified,
        "kind": definition.kind,
        **path_fields(os.fsencode(definition.path)),
        "line": definition.line + 1,
    }


def _shown(paths: Iterable[str]) -> list[str]:
    return [path_fields(raw)["path"] for raw in sorted(map(os.fsencode, paths))]


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
    tests: dict[str, AffectedTest] = {}
    for path in runnable_tests(change, change.felt):
        tests[path] = AffectedTest(path, ReachRoute.CHANGED, 0)
    executed = executed_tests(change)
    for path in runnable_tests(change, executed.tests):
        tests.setdefault(path, _test_file(path, ReachRoute.EXECUTED, executed.tests[path]))
    calls = _CallerWalk(change)
    unexplained = calls.follow()
    called = runnable_tests(change, calls.tests)
    for path in called:
        tests.setdefault(path, _test_file(path, ReachRoute.CALLS, calls.tests[path]))
    unexplained |= calls.tests.keys() - called  # helpers: whatever imports them may run the change
    truncated = _follow_imports(change, unexplained - executed.known, set(), tests)
    truncated |= _follow_imports(change, unexplained & executed.known, executed.idle, tests)
    return AffectedTests(sorted(tests.values(), key=AffectedTest.order), truncated)


def _follow_imports(
    change: TreeChange, paths: set[str], idle: set[str], tests: dict[str, AffectedTest]
) -> bool:
    """Add the tests that import some files, directly or not, except idle ones. True if cut off."""
    importers = 0
    own = {path for path in paths if _is_shared(path)}
    for distance, ring in enumerate(chain([own], importing_rings(change, paths))):
        project = change.after.project
        shared = {p for path in ring if _is_shared(path) for p in _offered_to(project, path)}
        for path in runnable_tests(change, (ring | shared) - idle):
            step = distance + (path not in ring)
            known = tests.setdefault(path, AffectedTest(path, ReachRoute.IMPORTS, step))
            if known.route is ReachRoute.CALLS:  # calls did not explain all: any test of it may run
                tests[path] = known._replace(nodes=())
        importers += len(ring)
        if importers > MAX_IMPORTERS:
            return True
    return False


def _test_file(path: str, route: ReachRoute, nodes: dict[str, int]) -> AffectedTest:
    """Return a test file with its tests, the nearest first; all of it if one of them is unknown."""
    names = () if "" in nodes else tuple(sorted(nodes, key=lambda n: (nodes[n], n)))
    return AffectedTest(path, route, min(nodes.values()), names)


class _CallerWalk:
    """Follows the users of changed symbols, guesses by name included, up to the tests."""

    def __init__(self, change: TreeChange) -> None:
        self._change = change
        files = sum(count for (count,) in change.after.view.rows(_SIZE))
        self._left = MAX_EXAMINED if files <= LARGE_TREE else MAX_IN_LARGE_TREES
        self.tests: dict[str, dict[str, int]] = {}  # test file → node id ("": all) → distance
        self._reached = False
        self._heard: set[Definition] = set()  # test classes whose heirs are noted

    def follow(self) -> set[str]:
        """Follow each changed file's symbols; return the files that lead to no test: left to imports."""
        by_path: dict[str, list[ChangedSymbol]] = {}
        for one in self._change.symbols:
            by_path.setdefault(one.definition.path, []).append(one)
        unexplained = set(self._change.felt)
        for path, symbols in by_path.items():
            if not is_test(path) and self._follow(symbols):
                unexplained.discard(path)
        return unexplained

    def _follow(self, symbols: list[ChangedSymbol]) -> bool:
        """Return True if tests were found, and nothing is left to imports."""
        after = self._change.after
        # what uses a new name is changed as well; a new member may replace another
        felt = [
            s for s in symbols if s.difference is not Difference.ADDED or s.definition.parent >= 0
        ]
        trees = {Difference.REMOVED: self._change.before}
        ring = [(trees.get(s.difference, after), s.definition) for s in felt]
        seen = {(d.path, d.ordinal) for finder, d in ring if finder is after}
        distance, whole, self._reached = 0, True, False
        while ring:
            distance += 1
            following: list[tuple[Finder, Definition]] = []
            for finder, definition in ring:
                users = self._users(finder, definition, distance)
                whole &= _are_all(users, definition, distance)
                following += ((after, d) for d in self._unseen(users or (), seen, distance))
            ring = following
        return self._reached and whole

    def _unseen(
        self, users: Iterable[Definition], seen: set[tuple[str, int]], distance: int
    ) -> Iterator[Definition]:
        """Note the users that are tests, and yield the others."""
        for definition in users:
            if (definition.path, definition.ordinal) not in seen:
                seen.add((definition.path, definition.ordinal))
                self._reached = self._reached or is_test(definition.path)
                if not self._note(definition, distance):
                    yield definition

    def _users(
        self, finder: Finder, definition: Definition, distance: int
    ) -> list[Definition] | None:
        """Return the symbols that may run one; None if there are too many places to examine."""
        project = finder.project
        if is_test(definition.path) and is_fixture(project, definition):
            return _fixture_users(project, definition)
        holder, width = self._holder(finder, definition), self._width(finder, definition)
        if holder is not None and self._is_run_by(finder, holder, definition, width):
            return [holder]
        if width > self._left:
            return None
        self._left -= width
        users, loose = self._around_uses(finder, definition, distance)
        if loose and not users:
            return None  # a statement of a module hands it over: who imports that may run it
        if holder is not None and (not users or _may_override(finder, definition)):
            users.append(holder)  # called from outside of the tree
        return users

    def _holder(self, finder: Finder, member: Definition) -> Definition | None:
        """Return what a definition is a part of, as it is in the new tree if it is there."""
        source = finder.project.source(member.path)
        owner = source.symbol(member.parent) if source else None
        return (_now(self._change, finder, owner) or owner) if owner else None

    def _is_run_by(self, finder: Finder, owner: Definition, member: Definition, width: int) -> bool:
        """Return whether who makes an object stands for a member of it."""
        source = finder.project.source(member.path)
        if source is not None and called_without_name(source.language, member.name):
            return True
        # a rarer name, and nobody runs the member without it
        return owner.kind not in FUNCTIONS and self._width(finder, owner) < width

    def _around_uses(
        self, finder: Finder, definition: Definition, distance: int
    ) -> tuple[list[Definition], bool]:
        """Return the symbols around the uses of one, and whether there are uses outside of any."""
        users, loose = [], False
        for site in filter(_runs, finder.uses([definition])):
            around = site.enclosing or _around(finder.project, site)
            if site.enclosing is None and around is not None and around.name == "__all__":
                continue
            now = _now(self._change, finder, around) if around else None
            if now is not None:
                users.append(now)
            elif is_test(site.path):
                self.tests.setdefault(site.path, {}).setdefault("", distance)
                self._reached = True
            else:
                loose = True
        return users, loose

    def _width(self, finder: Finder, definition: Definition) -> int:
        """Return how many files have the name of a definition."""
        return sum(count for (count,) in finder.view.rows(_WIDTH, definition.name))

    def _note(self, definition: Definition, distance: int) -> bool:
        """Note a test; False for what is none, whose own users count."""
        if not is_test(definition.path):
            return False
        project = self._change.after.project
        test = self._test(definition)
        if test is None and (_is_shared(definition.path) or is_fixture(project, definition)):
            return False
        nodes = self.tests.setdefault(definition.path, {})
        python = test is not None and definition.path.endswith(".py")
        parts = test.qualified.split(".") if test is not None and python else ()
        node = "::".join([definition.path, *parts]) if parts else ""
        nodes[node] = min(distance, nodes.get(node, distance))
        if test is not None and test.parent >= 0:
            self._note_heirs(test, distance)
        return test is not None or definition.parent >= 0

    def _note_heirs(self, test: Definition, distance: int) -> None:
        """Note the other files that collect a test: those of subclasses, and that import its class."""
        after = self._change.after
        owner = after.binder.types.classes.class_of(test)
        if owner is None or owner in self._heard:
            return
        self._heard.add(owner)
        paths = {heir.path for heir in after.dispatch.descendants(owner)}
        paths |= {source.path for source in after.project.importing_name(owner.name)}
        for path in filter(is_test, paths - {test.path}):
            self.tests.setdefault(path, {}).setdefault("", distance)

    def _test(self, definition: Definition) -> Definition | None:
        """Return the test that a definition is, or is inside of."""
        source = self._change.after.project.source(definition.path)
        around: Definition | None = definition
        while around is not None and source is not None:
            if around.name.startswith("test") and around.kind in FUNCTIONS:
                return around
            around = source.symbol(around.parent)
        return None


def _may_override(finder: Finder, member: Definition) -> bool:
    """Return whether a class outside of the tree may call a member: one of its own has that name."""
    if not finder.dispatch.kin(member).outside:
        return False
    classes = finder.binder.types.classes
    home = classes.class_of(member)
    above = classes.ancestors(home)[0] if home else ()
    return not above or any(classes.may_inherit(one, member.name) for one in above)


def _are_all(users: list[Definition] | None, definition: Definition, distance: int) -> bool:
    """Return whether all users are known: not of too many, nor of a value such as `__all__`, read unseen."""
    return users is not None and bool(users or distance > 1 or definition.kind in FUNCTIONS)


def _runs(site: Site) -> bool:
    """Return whether a place may run what it names: imports and annotations do not."""
    return site.use != Use.IMPORT and not (site.use == Use.TYPE and site.path.endswith(".py"))


def _around(project: Project, site: Site) -> Definition | None:
    """Return the variable or decorated function whose lines have a place."""
    source = project.source(site.path)
    return enclosing(source, site.line) if source else None


def _is_shared(path: str) -> bool:
    """Return whether pytest offers the fixtures of a file to every test below its folder."""
    return path.rpartition("/")[2] == "conftest.py"


def _fixture_users(project: Project, fixture: Definition) -> list[Definition]:
    """Return the tests and fixtures that take a fixture as parameter; all tests if it is autouse."""
    decorator = fixture_decorator(project, fixture)
    given = _FIXTURE_NAME.search(decorator)
    name = re.compile(rf"\b{re.escape(given.group(1) if given else fixture.name)}\b")
    paths = _offered_to(project, fixture.path) if _is_shared(fixture.path) else []
    sources = filter(None, map(project.source, [fixture.path, *paths]))
    functions = [s for source in sources for s in source.symbols if s.kind in FUNCTIONS]
    if _AUTOUSE.search(decorator):
        return [f for f in functions if f.name.startswith("test")]
    return [f for f in functions if f != fixture and name.search(f.signature.partition("(")[2])]


def _offered_to(project: Project, shared: str) -> list[str]:
    """Return the Python files to which a `conftest.py` offers its fixtures."""
    folder = os.fsencode(shared[: -len("conftest.py")])
    rows = project.view.rows(_BELOW, folder, folder + b"\xff")
    paths = sorted(os.fsdecode(raw) for (raw,) in rows if raw.endswith(b".py"))
    project.load(paths)
    return [path for path in paths if path != shared]
