"""`python -m bench.gates REPOSITORY… [--commits N] [--merges N] [--planted N]`: the gates on real history.

Replays the last commits and merges of indexed clones, where every alarm is to be looked at, and plants
breakages: a definition is renamed where it is defined and nowhere else. Reads only; the renamed file is laid
over the tree as an editor's text is.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gitindex.base.errors import GitIndexError
from gitindex.base.path_kind import file_kinds
from gitindex.base.vocabulary import Tier
from gitindex.base.worktree import Worktree, worktree_at
from gitindex.git.merge_tree import merged_tree
from gitindex.languages.syntax.kinds import FUNCTIONS, TYPES
from gitindex.query.impact.change import TreeChange
from gitindex.query.impact.dangling import Dangling, find_dangling
from gitindex.query.impact.merge import check_merge, open_sides
from gitindex.query.names.finder import Finder
from gitindex.query.names.source import Definition
from gitindex.view.overlay_tables import FactsMemory
from gitindex.view.tree import TreeChoice, open_tree

SEED = 16
CODE = (".py", ".ts", ".tsx", ".js", ".go", ".rs", ".java")


class Alarm(NamedTuple):
    """A gate that would have said no."""

    commit: str
    found: Dangling

    def __str__(self) -> str:
        one = self.found
        return f"{self.commit[:10]} {one.path}:{one.line + 1} `{one.name}` from {one.missing_from}"


class Replay(NamedTuple):
    """How many were replayed, what was raised, and what it cost."""

    replayed: int
    alarms: list[Alarm]
    cpu_ms: list[float]


def replay_commits(worktree: Worktree, count: int) -> Replay:
    """The last commits that are no merges, each against its parent."""
    memory = FactsMemory()
    alarms: list[Alarm] = []
    cost: list[float] = []
    commits = _git(worktree, "rev-list", "--no-merges", "--min-parents=1", f"-n{count}", "HEAD")
    for commit in commits:
        started = time.process_time()
        with (
            open_tree(worktree, ".", TreeChoice(at=f"{commit}^"), memory) as old,
            open_tree(worktree, ".", TreeChoice(at=commit), memory) as new,
        ):
            alarms += [Alarm(commit, one) for one in find_dangling(TreeChange(old, new)).sure]
        cost.append((time.process_time() - started) * 1000)
    return Replay(len(commits), alarms, cost)


def replay_merges(worktree: Worktree, count: int) -> Replay:
    """The last merges, made again from their parents."""
    alarms: list[Alarm] = []
    cost: list[float] = []
    done = 0
    for line in _git(worktree, "rev-list", "--merges", "--parents", f"-n{count}", "HEAD"):
        commit, *parents = line.split()
        if len(parents) != 2:
            continue
        ours, theirs = parents
        started = time.process_time()
        try:
            with (
                merged_tree(worktree, ours, theirs) as merged,
                open_sides(worktree, ".", ours, theirs, merged) as sides,
            ):
                found = check_merge(sides)
        except GitIndexError:
            continue  # no common history
        done += 1
        cost.append((time.process_time() - started) * 1000)
        if merged.conflicts:
            continue  # a person resolved it: what git made is nobody's tree
        alarms += [Alarm(commit, one.found) for one in found.breaks]
        alarms += [Alarm(commit, _as_dangling(pair.second)) for pair in found.duplicates]
    return Replay(done, alarms, cost)


class Planted(NamedTuple):
    """Breakages that were planted, by what the reference engine knew of them before."""

    planted: int
    caught: int
    missed: list[Definition]


def plant(worktree: Worktree, count: int) -> Planted:
    """Rename definitions that are surely used elsewhere, one at a time, and ask the gate."""
    chosen = random.Random(SEED)
    caught = 0
    missed: list[Definition] = []
    with open_tree(worktree, ".", TreeChoice(at="HEAD")) as before:
        finder = Finder(before)
        for definition in _candidates(finder, chosen, count * 8):
            sites = [s for s in finder.sites([definition]) if s.tier in (Tier.EXACT, Tier.IMPORT)]
            if not sites:
                continue
            if _is_caught(worktree, finder, definition):
                caught += 1
            else:
                missed.append(definition)
            if caught + len(missed) == count:
                break
    return Planted(caught + len(missed), caught, missed)


def _is_caught(worktree: Worktree, finder: Finder, definition: Definition) -> bool:
    data = finder.project.text(definition.path)
    at = finder.project.offset(definition.path, definition.line, definition.column)
    name = definition.name.encode()
    if data[at : at + len(name)] != name:
        return True
    changed = data[:at] + b"Renamed" + name[:1].upper() + name[1:] + data[at + len(name) :]
    raw = os.fsencode(definition.path)
    with open_tree(worktree, ".", buffers={raw: changed}) as after:
        found = find_dangling(TreeChange.between(finder, Finder(after)))
    return any(one.name == definition.name for one in found.sure)


def _candidates(finder: Finder, chosen: random.Random, count: int) -> Iterator[Definition]:
    rows = finder.view.rows("SELECT DISTINCT path FROM {live} WHERE skip IS NULL")
    paths = [os.fsdecode(path) for (path,) in rows]
    paths = [p for p in paths if p.endswith(CODE) and not file_kinds(p).test]
    chosen.shuffle(paths)
    taken = 0
    for path in paths:
        source = finder.project.source(path)
        kinds = FUNCTIONS | TYPES
        symbols = [s for s in source.symbols if s.kind in kinds] if source else []
        symbols = [s for s in symbols if re.fullmatch(r"[A-Za-z]\w{3,}", s.name)]
        for symbol in chosen.sample(symbols, min(4, len(symbols))):
            taken += 1
            yield symbol
            if taken == count:
                return


def _as_dangling(found: Definition) -> Dangling:
    return Dangling(found.path, found.line, found.column, found.name, "both sides", Tier.EXACT)


def _git(worktree: Worktree, *args: str) -> list[str]:
    done = subprocess.run(
        ["git", "-C", worktree.root, *args], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def main() -> int:
    """Print a line per repository, and every alarm."""
    parser = argparse.ArgumentParser(prog="python -m bench.gates", description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--commits", type=int, default=300)
    parser.add_argument("--merges", type=int, default=200)
    parser.add_argument("--planted", type=int, default=60)
    asked = parser.parse_args()
    for path in asked.repositories:
        worktree = worktree_at(os.path.realpath(path))
        for name, replay, count in (
            ("commits", replay_commits, asked.commits),
            ("merges", replay_merges, asked.merges),
        ):
            if count:
                _print(path.name, name, replay(worktree, count))
        if asked.planted:
            planted = plant(worktree, asked.planted)
            print(f"{path.name}: {planted.caught} of {planted.planted} planted breakages caught")
            for one in planted.missed:
                print(f"  missed {one.path}:{one.line + 1} {one.kind} {one.qualified}")
    return 0


def _print(repository: str, name: str, done: Replay) -> None:
    cost = sorted(done.cpu_ms) or [0.0]
    commits = len({alarm.commit for alarm in done.alarms})
    print(
        f"{repository}: {done.replayed} {name}, alarms in {commits} of them; "
        f"CPU ms p50 {cost[len(cost) // 2]:.0f}, p95 {cost[int(len(cost) * 0.95)]:.0f}"
    )
    for alarm in done.alarms:
        print(f"  {alarm}")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
