"""Compare all pairs of worktrees and branches, and put the verdicts into an envelope.

A merge can only break where one side lost or changed a name that the other's edited files say, or
where both edited the same file. Most pairs have neither, and need no merged tree.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import combinations
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import path_fields, safe_text
from gitindex.base.worktree import Worktree
from gitindex.git.command import GitFailed
from gitindex.git.merge_tree import MergedTree
from gitindex.git.status_cache import Probe, StatusCache
from gitindex.query.impact.change import TreeChange
from gitindex.query.impact.dangling import find_misfits, provided
from gitindex.query.impact.merge import MergeFindings, SideFinding, Sides, check_merge, name_scope
from gitindex.query.names.finder import Finder
from gitindex.query.names.memory import Memory
from gitindex.query.names.model import FileNames
from gitindex.query.names.project import words_of_file
from gitindex.query.radar.sides import Objects, Side, branch_side, live_worktrees, worktree_sides
from gitindex.view.overlay import FactsMemory
from gitindex.view.tree import TreeChoice, TreeView, open_tree

FITS, CONFLICT, BREAKS, UNRELATED = "fits", "conflict", "breaks", "unrelated"
VERDICTS = (FITS, CONFLICT, BREAKS, UNRELATED)
MAX_KEPT = 4_096
"""Verdicts on pairs that a process remembers."""
MAX_COMMITS = 50_000
"""Commits between the sides and their common base that are walked."""
_WORD = re.compile(rb"[\w$\x80-\xff]+")

_NOTHING: tuple[MergeFindings, list[SideFinding]] = MergeFindings([], [], []), []

Row = dict[str, Any]
Pair = tuple[str, str]


class Work(NamedTuple):
    """What one side did since a base, as words."""

    places: frozenset[str]  # edited files; in Go their folders, where a name is unique
    paths: frozenset[str]  # edited files that still exist
    lost: frozenset[bytes]  # names that are gone, and of modules that are
    changed: frozenset[bytes]  # names with another signature
    said: frozenset[bytes]  # all words of the edited files

    def meets(self, other: Work) -> bool:
        """Return whether a merge of the two has to be examined."""
        return not (
            self.places.isdisjoint(other.places)
            and (self.lost | self.changed).isdisjoint(other.said)
            and (other.lost | other.changed).isdisjoint(self.said)
        )


class Merge(NamedTuple):
    """The result of one merge; without a tree the two have no history in common."""

    tree: str
    conflicts: tuple[bytes, ...] = ()


class RadarMemory:
    """What a process that looks again and again remembers: work and verdicts, by commits."""

    def __init__(self) -> None:
        self.work: dict[tuple[str, str], Work] = {}
        self.pairs: dict[tuple[str, str], Row] = {}
        self.facts = FactsMemory()
        self.looks: dict[Worktree, StatusCache] = {}

    def start(self, worktree: Worktree) -> Probe:
        """Start a probe of a worktree; git looks again only where something may have changed."""
        return self.looks.setdefault(worktree, StatusCache()).start(worktree)

    def trim(self) -> None:
        """Forget everything when it is too much: it is found again."""
        if len(self.pairs) > MAX_KEPT:
            self.work.clear()
            self.pairs.clear()


class RadarQuery(NamedTuple):
    """What to compare: the worktrees of a repository, and branches that no worktree has."""

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
        objects = Objects(root, folder, len(here.overlay.tree))
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
    """One comparison of all pairs; views of trees are opened when they are needed, and kept."""

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
        bases = _Bases(self._objects, {side.head for ends in new.values() for side in ends})
        based = {key: bases.of(one.head, other.head) for key, (one, other) in new.items()}
        merged = _merge_pairs(
            self._objects, [key for key, base in based.items() if base not in key]
        )
        return {
            key: self._judge(*key, base, merged) if key in merged else self._ahead(*key, base)
            for key, base in based.items()
        }

    def _ahead(self, one: str, other: str, base: str) -> Row:
        """Return the row of a pair in which one side has all that the other has: no merge is made."""
        return _row(FITS, Merge(self._tree(other if base == one else one)), *_NOTHING)

    def _judge(self, one: str, other: str, base: str, merged: dict[Pair, Merge]) -> Row:
        merge = merged[one, other]
        if not merge.tree:
            return _row(UNRELATED, merge, *_NOTHING)
        works = [self._work(base, side) for side in (one, other)] if base else []
        if works and not works[0].meets(works[1]):
            return _row(CONFLICT if merge.conflicts else FITS, merge, *_NOTHING)
        if not works:
            works = [self._work(one, other), self._work(other, one)]
        result = MergedTree(merge.tree, merge.conflicts, self._objects.env)
        with self._open(TreeChoice(merged=result)) as view:
            sides = Sides(self._view(one), self._view(other), view)
            findings, misfits = _find_breaks(sides, *works)
        fits = CONFLICT if merge.conflicts else FITS
        breaks = bool(findings.breaks or findings.duplicates or misfits)
        return _row(BREAKS if breaks else fits, merge, findings, misfits)

    def _work(self, base: str, commit: str) -> Work:
        key = (base, commit)
        if key not in self._memory.work:
            finders = (Finder(self._view(name), self._names) for name in key)
            self._memory.work[key] = _work_between(*finders)
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


def _row(verdict: str, merge: Merge, found: MergeFindings, misfits: list[SideFinding]) -> Row:
    return {
        "verdict": verdict,
        "mergedTree": merge.tree,
        "conflicts": [path_fields(name)["path"] for name in merge.conflicts],
        "breaks": [one.fields() for one in found.breaks],
        "possible": [one.fields() for one in found.possible],
        "duplicates": [one.fields() for one in found.duplicates],
        "misfits": [one.fields() for one in misfits],
    }


def _side_fields(side: Side) -> Row:
    fields: Row = {"name": side.name, "kind": side.kind, "head": side.head, "edits": side.edits}
    if side.root:
        fields["root"] = safe_text(side.root)
    return fields | {"commit": side.commit}


def _work_between(base: Finder, side: Finder) -> Work:
    """Return what was done between two trees."""
    change = TreeChange.between(base, side)
    paths = change.paths
    for finder in (base, side):
        finder.project.load(paths)
    kept = [path for path, what in paths.items() if what != "deleted"]
    side.project.read(kept)
    lost: set[str] = set()
    changed: set[str] = set()
    for path, what in paths.items():
        old, new = base.project.source(path), side.project.source(path)
        gone, other = _lost_and_changed(old, new)
        lost |= gone | (set(words_of_file(path)) if what == "deleted" else set())
        changed |= other
    said: set[bytes] = set()
    for path in kept:
        said.update(_WORD.findall(side.project.text(path)))
    places = frozenset(map(name_scope, paths))
    return Work(places, frozenset(kept), _raw(lost), _raw(changed), frozenset(said))


def _find_breaks(sides: Sides, one: Work, other: Work) -> tuple[MergeFindings, list[SideFinding]]:
    """Return what the merge of two sides breaks."""
    findings = check_merge(sides)
    misfits: list[SideFinding] = []
    memory = Memory()
    views = (("ours", sides.ours, one, other), ("theirs", sides.theirs, other, one))
    for name, view, mine, others in views:
        if mine.said.isdisjoint(others.changed):
            continue
        change = TreeChange.between(Finder(view, memory), Finder(sides.result, memory))
        found = find_misfits(change)
        misfits += [SideFinding(name, misfit) for misfit in found if misfit.path in mine.paths]
    return findings, misfits


def _lost_and_changed(old: FileNames | None, new: FileNames | None) -> tuple[set[str], set[str]]:
    """Return the names that a file lost, and those with another signature."""
    before = _signatures(old)
    after = _signatures(new)
    lost = {name.rpartition(".")[2] for name in before.keys() - after.keys()}
    lost |= provided(old) - provided(new)  # others may take imported names from this file
    changed = {name for name in before.keys() & after.keys() if before[name] != after[name]}
    return lost, {name.rpartition(".")[2] for name in changed}


def _signatures(source: FileNames | None) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for symbol in source.symbols if source else ():
        key = f"{symbol.qualified.rpartition('.')[0]}.{symbol.name}"
        found[key] = (*found.get(key, ()), symbol.signature)
    return found


def _raw(names: Iterable[str]) -> frozenset[bytes]:
    words = (_WORD.findall(name.encode("utf-8", "surrogatepass")) for name in names)
    return frozenset(word for found in words for word in found)


def _merge_pairs(objects: Objects, pairs: list[Pair]) -> dict[Pair, Merge]:
    """Merge pairs of commits; the trees are in the temporary object directory."""
    if not pairs:
        return {}
    text = "".join(f"{one} {other}\n" for one, other in pairs).encode()
    form = ("merge-tree", "--write-tree", "--stdin", "-z", "--name-only", "--no-messages")
    try:
        return dict(zip(pairs, _parse(objects.git(*form, stdin=text)), strict=True))
    except (GitFailed, ValueError):
        return {pair: _merge_one(objects, pair) for pair in pairs}


def _merge_one(objects: Objects, pair: Pair) -> Merge:
    form = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages")
    try:
        output = objects.git(*form, *pair)
    except GitFailed as error:
        if error.returncode != 1:
            return Merge("")
        output = error.output
    tree, *names = output.split(b"\0")
    return Merge(_tree(tree), tuple(filter(None, names)))


def _parse(output: bytes) -> Iterable[Merge]:
    """Yield the results that `merge-tree --stdin` prints: a status, a tree, paths, an empty field."""
    fields = output.split(b"\0")
    at = 0
    while at + 1 < len(fields):
        end = fields.index(b"", at + 2)
        yield Merge(_tree(fields[at + 1]), tuple(fields[at + 2 : end]))
        at = end + 1


def _tree(text: bytes) -> str:
    if not re.fullmatch(rb"[0-9a-f]{40,64}", text):
        raise GitIndexError("git merge-tree did not give a tree", "is git 2.38 or later installed?")
    return text.decode()


class _Bases:
    """The common ancestors of pairs of commits, from one walk of the commits between them."""

    def __init__(self, objects: Objects, commits: Iterable[str]) -> None:
        heads = list(dict.fromkeys(commits))
        self._common = ""
        self._order: dict[str, int] = {}
        self._parents: dict[str, list[str]] = {}
        self._above: dict[str, frozenset[str]] = {}
        try:
            self._common = objects.git("merge-base", "--octopus", *heads).decode().split()[0]
        except (GitFailed, IndexError):
            return
        walk = ("rev-list", "--parents", "--topo-order", f"--max-count={MAX_COMMITS}", *heads)
        for at, line in enumerate(objects.git(*walk, f"^{self._common}").decode().splitlines()):
            commit, *parents = line.split()
            self._order[commit], self._parents[commit] = at, parents

    def of(self, one: str, other: str) -> str:
        """Return the best common ancestor; empty where there is none or more than one."""
        if not self._common or len(self._order) >= MAX_COMMITS:
            return ""
        both = self._ancestors(one) & self._ancestors(other)
        if not both:
            return self._common
        best = min(both, key=self._order.__getitem__)
        return best if both <= self._ancestors(best) else ""

    def _ancestors(self, commit: str) -> frozenset[str]:
        """Return a commit and its ancestors down to the base of all."""
        if commit not in self._above:
            seen, waiting = {commit} & self._order.keys(), [commit]
            while waiting:
                for parent in self._parents.get(waiting.pop(), ()):
                    if parent in self._order and parent not in seen:
                        seen.add(parent)
                        waiting.append(parent)
            self._above[commit] = frozenset(seen)
        return self._above[commit]
