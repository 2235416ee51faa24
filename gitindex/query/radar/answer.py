"""Compare all pairs of worktrees and branches, and put the verdicts into an envelope."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import combinations
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import path_fields, safe_text
from gitindex.base.worktree import Worktree
from gitindex.git.look_memory import LookMemory, Probe
from gitindex.git.merge_tree import MergedTree, environment
from gitindex.query.impact.merge import Duplicate, MergeBreak, MergeFindings, Sides
from gitindex.query.names.finder import Finder
from gitindex.query.names.memory import Memory
from gitindex.query.radar.compare import SideMisfit, Work, find_breaks, work_between
from gitindex.query.radar.merges import Bases, Merge, Pair, merge_pairs
from gitindex.query.radar.objects import Objects
from gitindex.query.radar.sides import Side, branch_side, live_worktrees, worktree_sides
from gitindex.view.overlay_tables import FactsMemory
from gitindex.view.tree import TreeChoice, TreeView, open_tree

FITS, CONFLICT, BREAKS, UNRELATED = "fits", "conflict", "breaks", "unrelated"
VERDICTS = (FITS, CONFLICT, BREAKS, UNRELATED)
MAX_KEPT = 4_096
"""Verdicts on pairs that a process remembers."""

Row = dict[str, Any]


class RadarMemory:
    """What a process that looks again and again remembers: work and verdicts, by commits."""

    def __init__(self) -> None:
        self.work: dict[tuple[str, str], Work] = {}
        self.pairs: dict[tuple[str, str], Row] = {}
        self.facts = FactsMemory()
        self.looks: dict[Worktree, LookMemory] = {}

    def start(self, worktree: Worktree) -> Probe:
        """Start a probe of a worktree; git looks again only where something may have changed."""
        return self.looks.setdefault(worktree, LookMemory()).start(worktree)

    def trim(self) -> None:
        """Forget everything when it is too much: it is found again."""
        if len(self.pairs) > MAX_KEPT:
            self.work.clear()
            self.pairs.clear()


class RadarQuery(NamedTuple):
    """Where to look: the worktrees of a repository, and branches that no worktree has."""

    worktree: Worktree
    path: str
    branches: list[str]
    only_branches: bool = False


def radar(query: RadarQuery, memory: RadarMemory | None = None) -> Row:
    """Return a verdict for each pair. The repository stays as it is; nothing is checked out."""
    memory = memory or RadarMemory()
    memory.trim()
    with tempfile.TemporaryDirectory(prefix="gitindex-radar-") as folder, ExitStack() as stack:
        root = query.worktree
        here = stack.enter_context(open_tree(root, query.path, TreeChoice(at="HEAD"), memory.facts))
        digits = len(here.overlay.tree)
        objects = Objects(folder, environment(root, folder, digits), digits)
        sides, notes = _sides(query, objects, memory)
        if len(sides) < 2:
            hint = "name a branch, or add a worktree: `git worktree add`"
            raise GitIndexError("there is only one line of work here", hint, Exit.USAGE)
        rows = list(_Radar(query, objects, memory, stack).rows(sides))
        counts = {name: sum(row["verdict"] == name for row in rows) for name in VERDICTS}
        return here.envelope(
            sides=[_side_fields(side) for side in sides], pairs=rows, counts=counts, notes=notes
        )


def _sides(
    query: RadarQuery, objects: Objects, memory: RadarMemory
) -> tuple[list[Side], list[str]]:
    sides: list[Side] = []
    worktrees, notes = ([], []) if query.only_branches else live_worktrees(query.worktree)
    for found in worktree_sides(worktrees, objects, memory.start):
        if isinstance(found, str):
            notes.append(found)
        else:
            sides.append(found)
            if found.left_out:
                notes.append(f"{safe_text(found.name)}: {found.left_out} edited files left out")
    sides += [branch_side(query.worktree, name) for name in query.branches]
    return sides, notes


class _Radar:
    """One look at all pairs; views of trees are opened when they are needed, and kept."""

    def __init__(
        self, query: RadarQuery, objects: Objects, memory: RadarMemory, stack: ExitStack
    ) -> None:
        self._query, self._objects, self._memory, self._stack = query, objects, memory, stack
        self._views: dict[str, TreeView] = {}
        self._names = Memory(workers=memory.facts.kept_workers())

    def rows(self, sides: list[Side]) -> Iterator[Row]:
        """Yield a row for each pair: its own verdict, and the tree that anyone can derive again."""
        pairs = list(combinations(sides, 2))
        known = self._memory.pairs
        new = {(a.commit, b.commit): (a, b) for a, b in pairs if (a.commit, b.commit) not in known}
        if new:
            known |= self._judge_all(new)
        for one, other in pairs:
            row = known[one.commit, other.commit]
            yield {"ours": one.name, "theirs": other.name, **row}

    def _judge_all(self, new: dict[Pair, tuple[Side, Side]]) -> dict[Pair, Row]:
        bases = Bases(self._objects, {side.head for ends in new.values() for side in ends})
        based = {key: bases.of(one.head, other.head) for key, (one, other) in new.items()}
        merged = merge_pairs(self._objects, [key for key, base in based.items() if base not in key])
        return {
            key: self._judge(*key, base, merged) if key in merged else self._ahead(*key, base)
            for key, base in based.items()
        }

    def _ahead(self, one: str, other: str, base: str) -> Row:
        """Return the row of a pair in which one side has all that the other has: no merge is made."""
        return _row(FITS, Merge(self._tree(other if base == one else one)))

    def _judge(self, one: str, other: str, base: str, merged: dict[Pair, Merge]) -> Row:
        merge = merged[one, other]
        if not merge.tree:
            return _row(UNRELATED, merge)
        works = [self._work(base, side) for side in (one, other)] if base else []
        if works and not works[0].meets(works[1]):
            return _row(CONFLICT if merge.conflicts else FITS, merge)
        if not works:
            works = [self._work(one, other), self._work(other, one)]
        result = MergedTree(merge.tree, merge.conflicts, self._objects.env)
        with self._open(TreeChoice(merged=result)) as view:
            sides = Sides(self._view(one), self._view(other), view)
            findings, misfits = find_breaks(sides, *works)
        return _found_row(merge, findings, misfits)

    def _work(self, base: str, commit: str) -> Work:
        key = (base, commit)
        if key not in self._memory.work:
            finders = (Finder(self._view(name), self._names) for name in key)
            self._memory.work[key] = work_between(*finders)
        return self._memory.work[key]

    def _view(self, commit: str) -> TreeView:
        if commit not in self._views:
            merged = MergedTree(self._tree(commit), (), self._objects.env)
            choice = TreeChoice(merged=merged)
            self._views[commit] = self._stack.enter_context(self._open(choice))
        return self._views[commit]

    def _tree(self, commit: str) -> str:
        return self._objects.git("rev-parse", f"{commit}^{{tree}}").decode().strip()

    def _open(self, choice: TreeChoice) -> Any:
        return open_tree(self._query.worktree, self._query.path, choice, self._memory.facts)


def _row(verdict: str, merge: Merge) -> Row:
    conflicts = [path_fields(name)["path"] for name in merge.conflicts]
    empty: Row = {"breaks": [], "possible": [], "duplicates": [], "misfits": []}
    return {"verdict": verdict, "mergedTree": merge.tree, "conflicts": conflicts, **empty}


def _found_row(merge: Merge, findings: MergeFindings, misfits: list[SideMisfit]) -> Row:
    breaks = bool(findings.breaks or findings.duplicates or misfits)
    verdict = BREAKS if breaks else CONFLICT if merge.conflicts else FITS
    return {
        **_row(verdict, merge),
        "breaks": [_break_fields(one) for one in findings.breaks],
        "possible": [_break_fields(one) for one in findings.possible],
        "duplicates": [_duplicate_fields(one) for one in findings.duplicates],
        "misfits": [_misfit_fields(one) for one in misfits],
    }


def _place(path: str, line: int) -> Row:
    return {**path_fields(os.fsencode(path)), "line": line + 1}


def _break_fields(one: MergeBreak) -> Row:
    place, gone = _place(one.found.path, one.found.line), safe_text(one.found.missing_from)
    tier = str(one.found.tier)
    return place | {"name": one.found.name, "missingFrom": gone, "tier": tier, "side": one.side}


def _duplicate_fields(one: Duplicate) -> Row:
    first = _place(one.first.path, one.first.line)
    place = _place(one.second.path, one.second.line)
    return place | {
        "name": one.first.qualified,
        "firstPath": first["path"],
        "firstLine": first["line"],
    }


def _misfit_fields(one: SideMisfit) -> Row:
    place = _place(one.found.path, one.found.line)
    told = {"name": one.found.name, "why": one.found.why, "signature": one.found.signature}
    return place | told | {"side": one.side}


def _side_fields(side: Side) -> Row:
    fields: Row = {"name": side.name, "kind": side.kind, "head": side.head, "edits": side.edits}
    if side.root:
        fields["root"] = safe_text(side.root)
    return fields | {"commit": side.commit}
