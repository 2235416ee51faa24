"""Find the tests that executed the changed code, as coverage.py, LCOV or Go recorded it test by test.

A record counts for one blob only: the staged one if the file on disk is that blob and older than the record,
else the one before the change if every recorded line is a line of code in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from gitindex.base.confined_read import ConfinedRoot, DiskFile
from gitindex.base.path_kind import is_test
from gitindex.git.interface import blob_id
from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.impact.change import TreeChange, hunks
from gitindex.query.impact.profiles import Profiles
from gitindex.query.names.finder import Finder
from gitindex.query.names.model import FileNames, enclosing
from gitindex.store.coverage_data import MAX_BYTES, CoverageData, Executed, read_coverage

MAX_PATHS = 200
"""Changed files of one change that records are read for."""
MAX_FOLDERS = 20
_NAME = b".coverage"
_MEASURED = re.compile(r"\.(?:py|go|rs|java|kt|c|cc|cpp|h|[cm]?[jt]s|[jt]sx)$")
"""Files that records tell of."""

Nodes = dict[str, dict[str, int]]
"""Test file → pytest node id → distance; the empty id is the whole file."""


class ExecutedTests(NamedTuple):
    """What records say about a change."""

    tests: Nodes  # ran a changed line (distance 0), or another one of its function (1)
    known: set[str]  # changed files that a record describes
    idle: set[str]  # test files that ran since they were last edited, and did not run the change


def executed_tests(change: TreeChange) -> ExecutedTests:
    """Return what the records beside or above the changed files say about the change."""
    found = ExecutedTests({}, set(), set())
    paths = [p for p, how in change.paths.items() if how != "added" and _is_measured(p)]
    folders = dict.fromkeys(f for path in paths[:MAX_PATHS] for f in _folders(path))
    with ConfinedRoot(change.after.view.worktree.root) as disk:
        for folder in list(folders)[:MAX_FOLDERS]:
            inside = [p for p in paths[:MAX_PATHS] if f"/{p}".startswith(f"/{folder}".rstrip("/"))]
            with _records(disk, change.after.view.worktree.root, folder) as records:
                for data, modified in records:
                    _Record(change, disk, modified, folder, data).collect(inside, found)
    return found._replace(idle=found.idle - found.tests.keys())


@contextmanager
def _records(
    disk: ConfinedRoot, root: str, folder: str
) -> Iterator[list[tuple[CoverageData | Profiles, int]]]:
    """Open the records of one folder, `.coverage` and what is in `coverage`, with when they were written."""
    profiles = Profiles(disk, root, folder)
    texts: list[tuple[CoverageData | Profiles, int]] = []
    texts += [(profiles, profiles.modified)] if profiles.paths else []
    file = _read(disk, os.path.join(os.fsencode(folder), _NAME))
    if file is None or file.size > MAX_BYTES:
        yield texts
        return
    with read_coverage(file.data) as data:
        yield [*([(data, file.modified)] if data is not None else []), *texts]


class _Record:
    """One record and the folder it lies in, which its relative names start from."""

    def __init__(
        self,
        change: TreeChange,
        disk: ConfinedRoot,
        modified: int,
        folder: str,
        data: CoverageData | Profiles,
    ) -> None:
        self._change, self._disk, self._modified = change, disk, modified
        self._folder, self._data = folder, data
        self._tests: dict[str, list[tuple[str, str]]] = {}

    def collect(self, paths: list[str], found: ExecutedTests) -> None:
        for path in paths:
            executed = self._executed(path)
            finder = self._recorded(path, executed)
            if finder is None or path in found.known:
                continue
            found.known.add(path)
            lines, around = _changed_lines(self._change, finder, path)
            for context, ran in executed.items():
                distance = int(ran.isdisjoint(lines))
                for test, node in self._named(context) if not ran.isdisjoint(around) else ():
                    nodes = found.tests.setdefault(test, {})
                    nodes[node] = min(distance, nodes.get(node, 1))
        if not found.known.isdisjoint(paths):
            found.idle.update(self._ran())

    def _ran(self) -> Iterator[str]:
        """Yield the test files that ran and are older than the record."""
        names = {context.partition("::")[0]: context for context in self._data.contexts()}
        paths = {path for context in names.values() for path, _ in self._named(context)}
        for path in paths:
            file = _read(self._disk, os.fsencode(path))
            if file is not None and file.modified <= self._modified:
                yield path

    def _executed(self, path: str) -> Executed:
        """Return what ran in a file: by its path here, else by the only one elsewhere that ends like it."""
        inside = path[len(self._folder) :].lstrip("/")
        root = self._change.after.view.worktree.root
        for name in (os.path.join(root, path), inside):
            if name in self._data.paths:
                return self._data.executed(name)
        other = (n for n in self._data.paths if n[:1] == "/" and not n.startswith(f"{root}/"))
        alike = [name for name in other if name.endswith(f"/{inside}")]
        return self._data.executed(alike[0]) if len(alike) == 1 else {}

    def _recorded(self, path: str, executed: Executed) -> Finder | None:
        """Return the tree that has the blob which the record describes."""
        lines = set().union(*executed.values())
        if not lines:
            return None
        after, before = self._change.after, self._change.before
        source, file = after.project.source(path), _read(self._disk, os.fsencode(path))
        if source is not None and file is not None and file.modified <= self._modified:
            oid = source.origin.oid
            if blob_id(file.data, 2 * len(oid)) == oid.hex() and _fits(after, path, lines):
                return after
        return before if _fits(before, path, lines) else None

    def _named(self, context: str) -> list[tuple[str, str]]:
        """Return the file and node id of the test that a context names; several where it is ambiguous."""
        name = context.partition("|")[0]
        if name not in self._tests:
            self._tests[name] = self._file(name) or self._functions(name)
        return self._tests[name]

    def _file(self, name: str) -> list[tuple[str, str]]:
        """`tests/test_a.py::Case::test_b[1]`, as pytest-cov writes it, or a test file alone."""
        path, colons, rest = name.partition("::")
        path = os.path.join(self._folder, path)
        source = self._change.after.project.source(path) if is_test(path) else None
        if source is None:
            return []
        parts = rest.partition("[")[0].split("::")
        known = colons and any(s.qualified == ".".join(parts) for s in source.named(parts[-1]))
        return [(path, "::".join([path, *parts]) if known else "")]

    def _functions(self, name: str) -> list[tuple[str, str]]:
        """`tests.test_a.Case.test_b`, as `dynamic_context = test_function` writes it, or `TestMux` of Go."""
        found = []
        for symbol in self._change.after.project.definitions(name.rpartition(".")[2]):
            own = f".{symbol.path.removesuffix('.py').replace('/', '.')}.{symbol.qualified}"
            python = symbol.path.endswith(".py")
            whole = own.endswith(f".{name}") and ("." in name or not python)
            if is_test(symbol.path) and whole:
                parts = [symbol.path, *symbol.qualified.split(".")] if python else []
                found.append((symbol.path, "::".join(parts)))
        return found


def _is_measured(path: str) -> bool:
    return _MEASURED.search(path) is not None and not is_test(path)


def _folders(path: str) -> Iterator[str]:
    """Yield the folders above a file, the nearest first; the empty name is the root."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def _read(disk: ConfinedRoot, path: bytes) -> DiskFile | None:
    try:
        return disk.read(path, MAX_BYTES + 1)
    except OSError:
        return None


def _fits(finder: Finder, path: str, lines: set[int]) -> bool:
    """Return whether every recorded line holds code: a record of other bytes rarely fits."""
    text = finder.project.text(path).split(b"\n")
    comment = b"#" if path.endswith(".py") else b"//"
    code = {
        n
        for n, line in enumerate(text, 1)
        if line.strip() and not line.lstrip().startswith(comment)
    }
    return lines <= code


def _changed_lines(change: TreeChange, finder: Finder, path: str) -> tuple[set[int], set[int]]:
    """Return the lines of one tree that differ, and all lines of the functions they are in."""
    source = finder.project.source(path)
    own = finder.project.text(path).split(b"\n")
    other_tree = change.after if finder is change.before else change.before
    other = other_tree.project.text(path).split(b"\n")
    lines: set[int] = set()
    for first, last, _, _ in hunks(own, other):
        lines.update(range(first + 1, last + 1))
        if first == last:  # only the other tree has lines here: those beside them
            lines.update((first, first + 1))
    return lines, lines | _functions(source, lines)


def _functions(source: FileNames | None, lines: set[int]) -> set[int]:
    """Return the lines of the functions around some lines, without their headers."""
    found: set[int] = set()
    for line in lines if source else ():
        around = enclosing(source, line - 1) if source else None
        if around is not None and around.kind in FUNCTIONS:
            found.update(range(around.line + 2, around.end_line + 2))
    return found
