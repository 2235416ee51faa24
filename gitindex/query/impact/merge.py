"""Find what a textually clean merge breaks: one side removes a name, the other refers to it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from gitindex.base.escape import path_fields, safe_text
from gitindex.base.worktree import Worktree
from gitindex.git.merge_tree import MergedTree
from gitindex.languages.syntax.kinds import FUNCTIONS, TYPES
from gitindex.query.impact.change import TreeChange
from gitindex.query.impact.dangling import Dangling, Misfit, find_dangling
from gitindex.query.names.finder import Finder
from gitindex.query.names.memory import Memory
from gitindex.query.names.model import Definition, FileNames
from gitindex.view.overlay import FactsMemory
from gitindex.view.tree import TreeChoice, TreeView, open_tree

_ONCE = frozenset({"python", "go", "rust", "java", "javascript", "typescript", "tsx"})
"""Languages where a second definition of a name hides the first, or does not compile."""


class Sides(NamedTuple):
    """The three trees of one merge."""

    ours: TreeView
    theirs: TreeView
    result: TreeView


class SideFinding(NamedTuple):
    """A reference on one side to what the other side removed, or a call that fits it no longer."""

    side: str  # "ours" or "theirs": the side of the reference
    found: Dangling | Misfit

    def fields(self) -> dict[str, Any]:
        """Return the JSON fields."""
        return self.found.fields() | {"side": self.side}


class Duplicate(NamedTuple):
    """A name that both sides define."""

    first: Definition
    second: Definition

    def fields(self) -> dict[str, Any]:
        """Return the JSON fields: the place of the second, and where the first is."""
        return {
            "name": self.first.qualified,
            **path_fields(os.fsencode(self.second.path)),
            "line": self.second.line + 1,
            "firstPath": safe_text(self.first.path),
            "firstLine": self.first.line + 1,
        }


class MergeFindings(NamedTuple):
    """Problems that a merge would cause."""

    breaks: list[SideFinding]
    possible: list[SideFinding]
    duplicates: list[Duplicate]


@contextmanager
def open_sides(
    worktree: Worktree,
    path: str,
    ours: str,
    theirs: str,
    result: MergedTree | None,
    memory: FactsMemory | None = None,
) -> Iterator[Sides]:
    """Open both sides by commit, and the merge result, or the staged tree if none is given."""
    memory = memory or FactsMemory()
    merged = TreeChoice(merged=result) if result else TreeChoice(staged=True)
    with (
        open_tree(worktree, path, TreeChoice(at=ours), memory) as one,
        open_tree(worktree, path, TreeChoice(at=theirs), memory) as two,
        open_tree(worktree, path, merged, memory) as three,
    ):
        yield Sides(one, two, three)


def check_merge(sides: Sides) -> MergeFindings:
    """Check both directions for dangling references, and the result for duplicate names."""
    memory = Memory()
    ours, theirs, result = (Finder(view, memory) for view in sides)
    breaks: list[SideFinding] = []
    possible: list[SideFinding] = []
    one, two = (TreeChange.between(side, result) for side in (ours, theirs))
    for side, change, other in (("ours", one, two), ("theirs", two, one)):
        # references that the other side itself left dangling are in files the merge takes unchanged
        own = [path for path, what in other.paths.items() if what != "deleted"]
        found = find_dangling(change, frozenset(own))
        breaks += [SideFinding(side, dangling) for dangling in found.sure]
        possible += [SideFinding(side, dangling) for dangling in found.possible]
    return MergeFindings(breaks, possible, list(_duplicates(one, two)))


def _duplicates(ours: TreeChange, theirs: TreeChange) -> Iterator[Duplicate]:
    """Yield names that the result defines more often than either side, where both sides changed."""
    result = ours.after
    changed = [{name_scope(path) for path in side.paths} for side in (ours, theirs)]
    both = changed[0] & changed[1]
    paths = sorted(p for p in ours.paths.keys() | theirs.paths.keys() if name_scope(p) in both)
    for finder in (ours.before, theirs.before, result):
        finder.project.load(paths)
    groups: dict[str, list[str]] = {}
    for path in paths:
        source = result.project.source(path)
        if source is not None and source.language in _ONCE:
            groups.setdefault(name_scope(path), []).append(path)
    for group in groups.values():
        yield from _twice(ours.before, theirs.before, result, group)


def name_scope(path: str) -> str:
    """Return the unit in which a name is unique: a file, or in Go the folder of the package."""
    return os.path.dirname(path) + "/*.go" if path.endswith(".go") else path


def _twice(ours: Finder, theirs: Finder, result: Finder, paths: list[str]) -> Iterator[Duplicate]:
    counts = [_counted(finder, paths) for finder in (ours, theirs)]
    seen: dict[str, Definition] = {}
    after = _counted(result, paths)
    for path in paths:
        source = result.project.source(path)
        for symbol in _named(source) if source else ():
            name = symbol.qualified
            if name in seen and all(after[name] > count[name] for count in counts):
                yield Duplicate(seen[name], symbol)
            seen.setdefault(name, symbol)


def _counted(finder: Finder, paths: list[str]) -> Counter[str]:
    sources = (finder.project.source(path) for path in paths)
    return Counter(s.qualified for source in sources if source for s in _named(source))


def _named(source: FileNames) -> list[Definition]:
    """Return the functions and types that other code can name."""
    inner = {s.ordinal for s in source.symbols if s.kind in FUNCTIONS}
    return [s for s in source.symbols if s.kind in FUNCTIONS | TYPES and s.parent not in inner]
