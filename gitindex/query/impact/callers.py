"""Follow a change from symbol to symbol, up to the tests whose code may run it."""

from __future__ import annotations

from gitindex.base.path_kind import is_test
from gitindex.languages.facts import Use
from gitindex.languages.implicit_calls import called_without_name
from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.impact.change import ChangedSymbol, Difference, TreeChange
from gitindex.query.impact.fixtures import fixture_users, is_shared
from gitindex.query.names.dispatch import is_fixture
from gitindex.query.names.finder import Finder
from gitindex.query.names.model import Definition, Site, enclosing
from gitindex.query.names.project import Project
from gitindex.view.tree import BLOBS_NAMED

MAX_EXAMINED = 400
"""Files whose names are resolved to follow callers; what needs more is left to imports."""
MAX_IN_LARGE_TREES = 12
LARGE_TREE = 2_000
"""Files; in larger trees a name costs several times as much to resolve."""
_SIZE = "SELECT count(*) FROM {live}"
_WIDTH = f"SELECT count(*) FROM {BLOBS_NAMED} WHERE n.text=?"

Asked = tuple[Finder, Definition]


class Callers:
    """Follows the users of changed symbols, guesses by name included, up to the tests."""

    def __init__(self, change: TreeChange) -> None:
        self._change = change
        files = sum(count for (count,) in change.after.view.rows(_SIZE))
        self._left = MAX_EXAMINED if files <= LARGE_TREE else MAX_IN_LARGE_TREES
        self.tests: dict[str, dict[str, int]] = {}  # test file → node id ("": all) → distance
        self._explained: set[str] = set()
        self._reached = False

    def follow(self) -> None:
        """Follow each changed file's symbols; a file that leads to no test is left to imports."""
        by_path: dict[str, list[ChangedSymbol]] = {}
        for one in self._change.symbols:
            by_path.setdefault(one.definition.path, []).append(one)
        for path, symbols in by_path.items():
            if not is_test(path) and self._follow(symbols):
                self._explained.add(path)

    def unexplained(self) -> set[str]:
        """Return the changed files that calls do not explain."""
        return {path for path in self._change.felt if path not in self._explained}

    def _follow(self, symbols: list[ChangedSymbol]) -> bool:
        """Return True if tests were found, and nothing is left to imports."""
        before, after = self._change.before, self._change.after
        ring: list[Asked] = [
            (before if s.difference is Difference.REMOVED else after, s.definition)
            for s in symbols
            if s.difference is not Difference.ADDED or s.definition.parent >= 0
        ]  # what uses a new name is changed as well; a new member may replace another
        seen = {(d.path, d.ordinal) for finder, d in ring if finder is after}
        distance, whole, self._reached = 0, True, False
        while ring:
            distance += 1
            following: list[Asked] = []
            for finder, wanted in ring:
                found = self._users(finder, wanted, distance)
                if found is None or not (found or distance > 1 or wanted.kind in FUNCTIONS):
                    whole = False  # too wide, or a value such as `__all__` that is read unseen
                for definition in found or ():
                    if (definition.path, definition.ordinal) in seen:
                        continue
                    seen.add((definition.path, definition.ordinal))
                    self._reached = self._reached or is_test(definition.path)
                    if not self._note(definition, distance):
                        following.append((after, definition))
            ring = following
        return self._reached and whole

    def _users(self, finder: Finder, wanted: Definition, distance: int) -> list[Definition] | None:
        """Return the symbols that may run one; None if there are too many places to look at."""
        project = finder.project
        if is_test(wanted.path) and is_fixture(project, wanted):
            return fixture_users(project, wanted)
        source = project.source(wanted.path)
        owner = source.symbol(wanted.parent) if source else None
        found: list[Definition] = []
        if source and owner and called_without_name(source.language, wanted.name):
            return [self._now(finder, owner) or owner]  # who makes the object may call it
        width = self._width(finder, wanted)
        if owner and owner.kind not in FUNCTIONS and self._width(finder, owner) < width:
            return [self._now(finder, owner) or owner]  # a rarer name, and nobody runs it without
        if width > self._left:
            return None
        self._left -= width
        loose = False
        for site in filter(_runs, finder.uses([wanted])):
            around = site.enclosing or _around(project, site)
            listed = site.enclosing is None and around is not None and around.name == "__all__"
            around = self._now(finder, around) if around and not listed else None
            if around is not None:
                found.append(around)
            elif is_test(site.path):
                self.tests.setdefault(site.path, {}).setdefault("", distance)
                self._reached = True
            else:
                loose = loose or not listed
        if loose and not found:
            return None  # a statement of a module hands it over: who imports that may run it
        if owner is not None and (not found or finder.dispatch.kin(wanted).outside):
            found.append(self._now(finder, owner) or owner)  # called from outside of the tree
        return found

    def _width(self, finder: Finder, definition: Definition) -> int:
        """Return how many files have the name of a definition."""
        return sum(count for (count,) in finder.view.rows(_WIDTH, definition.name))

    def _now(self, finder: Finder, definition: Definition) -> Definition | None:
        """Return a definition as it is in the new tree."""
        if finder is self._change.after:
            return definition
        source = self._change.after.project.source(definition.path)
        same = source.named(definition.name) if source else []
        return next((s for s in same if s.qualified == definition.qualified), None)

    def _note(self, definition: Definition, distance: int) -> bool:
        """Note a test; False for what is none, whose own users count."""
        if not is_test(definition.path):
            return False
        project = self._change.after.project
        test = self._test(definition)
        if test is None and (is_shared(definition.path) or is_fixture(project, definition)):
            return False
        nodes = self.tests.setdefault(definition.path, {})
        python = test is not None and definition.path.endswith(".py")
        parts = test.qualified.split(".") if test is not None and python else ()
        node = "::".join([definition.path, *parts]) if parts else ""
        nodes[node] = min(distance, nodes.get(node, distance))
        return test is not None or definition.parent >= 0

    def _test(self, definition: Definition) -> Definition | None:
        """Return the test that a definition is, or is inside of."""
        source = self._change.after.project.source(definition.path)
        found: Definition | None = definition
        while found is not None and source is not None:
            if found.name.startswith("test") and found.kind in FUNCTIONS:
                return found
            found = source.symbol(found.parent)
        return None


def _runs(site: Site) -> bool:
    """Return whether a place may run what it names: imports and annotations do not."""
    return site.use != Use.IMPORT and not (site.use == Use.TYPE and site.path.endswith(".py"))


def _around(project: Project, site: Site) -> Definition | None:
    """Return the variable or decorated function whose lines have a place."""
    source = project.source(site.path)
    return enclosing(source, site.line) if source else None
