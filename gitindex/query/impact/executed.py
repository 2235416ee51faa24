"""Find the tests that executed the changed code, where coverage.py recorded a context per test.

A record counts for one blob only: the staged one if the file on disk is that blob and older than the record,
else the one before the change if every recorded line is a line of code in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from gitindex.base.confined_read import ConfinedRoot, DiskFile
from gitindex.base.path_kind import is_test
from gitindex.git.interface import blob_id
from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.impact.change import TreeChange, hunks
from gitindex.query.names.finder import Finder
from gitindex.query.names.model import FileNames, enclosing
from gitindex.store.coverage_data import MAX_BYTES, CoverageData, Executed, read_coverage

MAX_PATHS = 200
"""Changed files of one change that records are read for."""
MAX_FOLDERS = 20
_NAME = b".coverage"

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
            record = _read(disk, os.path.join(os.fsencode(folder), _NAME))
            if record is None or record.size > MAX_BYTES:
                continue
            inside = [p for p in paths[:MAX_PATHS] if f"/{p}".startswith(f"/{folder}".rstrip("/"))]
            with read_coverage(record.data) as data:
                if data is not None:
                    _CoverageRecord(change, disk, record, folder, data).collect(inside, found)
    return found._replace(idle=found.idle - found.tests.keys())


class _CoverageRecord:
    """One `.coverage` file and the folder it lies in, which its relative names start from."""

    def __init__(
        self,
        change: TreeChange,
        disk: ConfinedRoot,
        record: DiskFile,
        folder: str,
        data: CoverageData,
    ) -> None:
        self._change, self._disk, self._record = change, disk, record
        self._folder, self._data = folder, data
        self._tests: dict[str, tuple[str, str] | None] = {}

    def collect(self, paths: list[str], found: ExecutedTests) -> None:
        for path in paths:
            executed = self._executed(path)
            finder = self._recorded(path, executed)
            if finder is None or path in found.known:
                continue
            found.known.add(path)
            lines, around = _changed_lines(self._change, finder, path)
            for context, ran in executed.items():
                if not ran.isdisjoint(around) and (test := self._test(context)):
                    distance = int(ran.isdisjoint(lines))
                    nodes = found.tests.setdefault(test[0], {})
                    nodes[test[1]] = min(distance, nodes.get(test[1], 1))
        if not found.known.isdisjoint(paths):
            found.idle.update(self._ran())

    def _ran(self) -> Iterator[str]:
        """Yield the test files that ran and are older than the record."""
        names = {context.partition("::")[0]: context for context in self._data.contexts()}
        paths = {test[0] for context in names.values() if (test := self._test(context))}
        for path in paths:
            file = _read(self._disk, os.fsencode(path))
            if file is not None and file.modified <= self._record.modified:
                yield path

    def _executed(self, path: str) -> Executed:
        """Return what ran in a file: by its path here, else by the only one that ends like it."""
        inside = path[len(self._folder) :].lstrip("/")
        whole = os.path.join(self._change.after.view.worktree.root, path)
        for name in (whole, inside):
            if name in self._data.paths:
                return self._data.executed(name)
        alike = [name for name in self._data.paths if name.endswith(f"/{inside}")]
        return self._data.executed(alike[0]) if len(alike) == 1 else {}

    def _recorded(self, path: str, executed: Executed) -> Finder | None:
        """Return the tree that has the blob which the record describes."""
        lines = set().union(*executed.values())
        if not lines:
            return None
        after, before = self._change.after, self._change.before
        source, file = after.project.source(path), _read(self._disk, os.fsencode(path))
        if source is not None and file is not None and file.modified <= self._record.modified:
            oid = source.origin.oid
            if blob_id(file.data, 2 * len(oid)) == oid.hex() and _fits(after, path, lines):
                return after
        return before if _fits(before, path, lines) else None

    def _test(self, context: str) -> tuple[str, str] | None:
        """Return the file and node id of the test that a context names; None if it is none."""
        name = context.partition("|")[0]
        if name not in self._tests:
            self._tests[name] = self._node(name) or self._function(name)
        return self._tests[name]

    def _node(self, name: str) -> tuple[str, str] | None:
        """`tests/test_a.py::Case::test_b[1]`, as pytest-cov writes it."""
        path, colons, rest = name.partition("::")
        path = os.path.join(self._folder, path)
        source = self._change.after.project.source(path) if colons and is_test(path) else None
        if source is None:
            return None
        parts = rest.partition("[")[0].split("::")
        known = any(s.qualified == ".".join(parts) for s in source.named(parts[-1]))
        return path, "::".join([path, *parts]) if known else ""

    def _function(self, name: str) -> tuple[str, str] | None:
        """`tests.test_a.Case.test_b`, as `dynamic_context = test_function` writes it."""
        parts = name.split(".")
        for symbol in self._change.after.project.definitions(parts[-1]) if parts[1:] else ():
            module = symbol.path.removesuffix(".py").replace("/", ".")
            own = f"{module}.{symbol.qualified}"
            if is_test(symbol.path) and f".{own}".endswith(f".{name}"):
                return symbol.path, "::".join([symbol.path, *symbol.qualified.split(".")])
        return None


def _is_measured(path: str) -> bool:
    return path.endswith(".py") and not is_test(path)


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
    code = {at for at, line in enumerate(text, 1) if line.strip() and line.lstrip()[:1] != b"#"}
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
