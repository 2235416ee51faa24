"""`python -m bench.gates REPOSITORY… [--commits N] [--merges N] [--radar N]`: the gates on real history.

Replays the last commits and merges of indexed clones; every alarm is to be looked at. `--radar`: the two
sides of a merge as two branches that the radar compares. Reads only.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gitindex.base.errors import GitIndexError
from gitindex.base.vocabulary import Tier
from gitindex.base.worktree import Worktree, worktree_at
from gitindex.git.merge_tree import merged_tree
from gitindex.query.impact.change import TreeChange
from gitindex.query.impact.dangling import Dangling, find_dangling
from gitindex.query.impact.merge import check_merge, open_sides
from gitindex.query.names.model import Definition
from gitindex.query.radar.answer import UNRELATED, RadarMemory, RadarQuery, radar
from gitindex.view.overlay import FactsMemory
from gitindex.view.tree import TreeChoice, open_tree


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
            change = TreeChange(old, new, memory)
            alarms += [Alarm(commit, one) for one in find_dangling(change).sure]
        cost.append((time.process_time() - started) * 1000)
    return Replay(len(commits), alarms, cost)


def replay_merges(worktree: Worktree, count: int) -> Replay:
    """The last merges, made again from their parents."""
    memory = FactsMemory()
    alarms: list[Alarm] = []
    cost: list[float] = []
    done = 0
    for commit, ours, theirs in _merges(worktree, count):
        started = time.process_time()
        try:
            with (
                merged_tree(worktree, ours, theirs) as merged,
                open_sides(worktree, ".", ours, theirs, merged, memory) as sides,
            ):
                found = check_merge(sides)
        except GitIndexError:
            continue  # no common history
        done += 1
        cost.append((time.process_time() - started) * 1000)
        if merged.conflicts:
            continue  # a person resolved it: what git made is nobody's tree
        broken = [one.found for one in found.breaks]
        alarms += [Alarm(commit, one) for one in broken if isinstance(one, Dangling)]
        alarms += [Alarm(commit, _as_dangling(pair.second)) for pair in found.duplicates]
    return Replay(done, alarms, cost)


def replay_radar(worktree: Worktree, count: int) -> Replay:
    """The sides of the last merges, compared as two branches; those that git cannot merge are not counted."""
    memory = RadarMemory()
    alarms: list[Alarm] = []
    cost: list[float] = []
    for commit, *sides in _merges(worktree, count):
        started = time.process_time()
        [pair] = radar(RadarQuery(worktree, ".", sides, True), memory)["pairs"]
        if pair["conflicts"] or pair["verdict"] == UNRELATED:
            continue
        cost.append((time.process_time() - started) * 1000)
        for one in (*pair["breaks"], *pair["duplicates"], *pair["misfits"]):
            place = one["path"], one["line"] - 1, one.get("column", 1) - 1, one["name"]
            why = one.get("missingFrom") or one.get("why") or "both sides"
            alarms.append(Alarm(commit, Dangling(*place, why, Tier.EXACT)))
    return Replay(len(cost), alarms, cost)


def _merges(worktree: Worktree, count: int) -> Iterator[tuple[str, str, str]]:
    """Yield the last merges of two commits, and these."""
    for line in _git(worktree, "rev-list", "--merges", "--parents", f"-n{count}", "HEAD"):
        commit, *parents = line.split()
        if len(parents) == 2:
            yield commit, parents[0], parents[1]


def _as_dangling(found: Definition) -> Dangling:
    return Dangling(found.path, found.line, found.column, found.name, "both sides", Tier.EXACT)


def _git(worktree: Worktree, *args: str) -> list[str]:
    command = ["git", "-C", worktree.root, *args]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def main() -> int:
    """Print a line per repository, and every alarm."""
    parser = argparse.ArgumentParser(prog="python -m bench.gates", description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--commits", type=int, default=300)
    parser.add_argument("--merges", type=int, default=200)
    parser.add_argument("--radar", type=int, default=0)
    asked = parser.parse_args()
    for path in asked.repositories:
        worktree = worktree_at(os.path.realpath(path))
        for name, replay, count in (
            ("commits", replay_commits, asked.commits),
            ("merges", replay_merges, asked.merges),
            ("merges by radar", replay_radar, asked.radar),
        ):
            if count:
                _print(path.name, name, replay(worktree, count))
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
