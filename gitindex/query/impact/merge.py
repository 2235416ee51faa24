"""What a textually clean merge breaks: one side removes or renames, the other still refers to it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from gitindex.base.worktree import Worktree
from gitindex.git.merge_tree import MergedTree
from gitindex.languages.syntax.kinds import FUNCTIONS, TYPES
from gitindex.query.impact.change import TreeChange
from gitindex.query.impact.dangling import Dangling, find_dangling
from gitindex.query.names.finder import Finder
from gitindex.query.names.memory import Memory
from gitindex.query.names.source import Definition, FileNames
from gitindex.view.tree import TreeChoice, TreeView, open_tree

_BY_FOLDER = frozenset({"go"})
"""Here a package is a folder: a name twice in it does not compile."""
_ONCE = frozenset({"python", "go", "rust", "java", "javascript", "typescript", "tsx"})
"""Here a second definition of the same name hides the first, or does not compile."""


class Sides(NamedTuple):
    """The three trees of one merge."""

    ours: TreeView
    theirs: TreeView
    result: TreeView


class MergeBreak(NamedTuple):
    """A reference that stands on one side, to something that the other side took away."""

    side: str  # "ours" or "theirs": where the reference comes from
    found: Dangling


class Duplicate(NamedTuple):
    """A name that both sides define."""

    first: Definition
    second: Definition


class MergeFindings(NamedTuple):
    """What a merge would break."""

    breaks: list[MergeBreak]
    possible: list[MergeBreak]
    duplicates: list[Duplicate]


@contextmanager
def open_sides(
    worktree: Worktree, path: str, ours: str, theirs: str, result: MergedTree | None
) -> Iterator[Sides]:
    """Both sides by commit, and what is merged: by git, or the staged tree if no result is given."""
    merged = TreeChoice(merged=result) if result else TreeChoice(staged=True)
    with (
        open_tree(worktree, path, TreeChoice(at=ours)) as one,
        open_tree(worktree, path, TreeChoice(at=theirs)) as two,
        open_tree(worktree, path, merged) as three,
    ):
        yield Sides(one, two, three)


def check_merge(sides: Sides) -> MergeFindings:
    """Both directions, and names that are defined twice."""
    memory = Memory()
    ours, theirs, result = (Finder(view, memory) for view in sides)
    breaks: list[MergeBreak] = []
    possible: list[MergeBreak] = []
    for side, own, other in (("ours", ours, theirs), ("theirs", theirs, ours)):
        change = TreeChange.between(own, result)
        found = find_dangling(change)
        known = _broken_already(change, other, [*found.sure, *found.possible])
        breaks += [MergeBreak(side, one) for one in found.sure if one not in known]
        possible += [MergeBreak(side, one) for one in found.possible if one not in known]
    duplicates = list(_duplicates(ours, theirs, result))
    return MergeFindings(breaks, possible, duplicates)


def _broken_already(
    change: TreeChange, other: Finder, found: list[Dangling]
) -> frozenset[Dangling]:
    """What the other side left behind itself: its file is the merged one, the merge adds nothing."""
    paths = {one.path for one in found}
    mine, theirs = (_ids(finder.view, paths) for finder in (change.after, other))
    return frozenset(one for one in found if mine.get(one.path) == theirs.get(one.path))


def _ids(view: TreeView, paths: set[str]) -> dict[str, bytes]:
    sql = "SELECT path, oid FROM {live} WHERE path=?"
    rows = [row for path in paths for row in view.rows(sql, os.fsencode(path))]
    return {os.fsdecode(path): oid for path, oid in rows}


def _duplicates(ours: Finder, theirs: Finder, result: Finder) -> Iterator[Duplicate]:
    """Names that the result defines more often than either side does, where both sides changed."""
    changed = [set(TreeChange.between(side, result).paths) for side in (ours, theirs)]
    paths = changed[0] | changed[1]
    for finder in (ours, theirs, result):
        finder.project.load(paths)
    groups: dict[tuple[str, str], list[str]] = {}
    for path in sorted(paths):
        source = result.project.source(path)
        if source is not None and source.language in _ONCE:
            by_folder = source.language in _BY_FOLDER
            key = os.path.dirname(path) if by_folder else path
            groups.setdefault((source.language, key), []).append(path)
    for group in groups.values():
        yield from _twice(ours, theirs, result, group)


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
    """Functions and types that other code can name."""
    inner = {s.ordinal for s in source.symbols if s.kind in FUNCTIONS}
    return [s for s in source.symbols if s.kind in FUNCTIONS | TYPES and s.parent not in inner]
