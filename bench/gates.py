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
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
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
KINDS = ("function", "method", "class", "member", "module")
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
    for line in _git(worktree, "rev-list", "--merges", "--parents", f"-n{count}", "HEAD"):
        commit, *parents = line.split()
        if len(parents) != 2:
            continue
        ours, theirs = parents
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
        alarms += [Alarm(commit, one.found) for one in found.breaks]
        alarms += [Alarm(commit, _as_dangling(pair.second)) for pair in found.duplicates]
    return Replay(done, alarms, cost)


class Planted(NamedTuple):
    """Breakages that were planted by kind, how many of them were caught, and what was missed."""

    planted: Counter[str]
    caught: Counter[str]
    missed: list[str]


def plant(worktree: Worktree, count: int) -> Planted:
    """Rename what is surely used elsewhere, one at a time, as many of each kind, and ask the gate."""
    planted: Counter[str] = Counter()
    caught: Counter[str] = Counter()
    missed: list[str] = []
    with open_tree(worktree, ".", TreeChoice(at="HEAD")) as before:
        finder = Finder(before)
        for kind, definition in _candidates(finder, random.Random(SEED)):
            if planted[kind] * len(KINDS) >= count or not _is_used(finder, kind, definition):
                continue
            planted[kind] += 1
            if _is_caught(worktree, finder, kind, definition):
                caught[kind] += 1
            else:
                missed.append(f"{kind} {definition.path}:{definition.line + 1} {definition.name}")
            if planted.total() >= count:
                break
    return Planted(planted, caught, missed)


def _candidates(finder: Finder, chosen: random.Random) -> Iterator[tuple[str, Definition]]:
    """Definitions of every kind, a few of each file; the first of a file stands for its module."""
    rows = finder.view.rows("SELECT DISTINCT path FROM {live} WHERE skip IS NULL")
    paths = [os.fsdecode(path) for (path,) in rows]
    paths = sorted(p for p in paths if p.endswith(CODE) and not file_kinds(p).test)
    chosen.shuffle(paths)
    for path in paths:
        source = finder.project.source(path)
        by_kind: dict[str, list[Definition]] = {}
        for symbol in source.symbols if source else ():
            if re.fullmatch(r"[A-Za-z]\w{3,}", symbol.name):
                by_kind.setdefault(_kind(finder, symbol), []).append(symbol)
        for kind in set(by_kind) & set(KINDS):
            yield from ((kind, s) for s in chosen.sample(by_kind[kind], min(3, len(by_kind[kind]))))
        if source and source.symbols and source.language not in ("go", "java"):
            yield "module", source.symbols[0]


def _kind(finder: Finder, symbol: Definition) -> str:
    if symbol.kind in TYPES:
        return "class"
    member = finder.binder.is_member(symbol)
    if symbol.kind in FUNCTIONS - {"constructor"}:
        return "method" if member else "function"
    return "member" if symbol.kind in ("field", "property", "constant", "variable") else ""


def _is_used(finder: Finder, kind: str, definition: Definition) -> bool:
    """Is something surely broken by a rename? Not if a twin, or what a base has, takes its place."""
    if kind != "module":
        twins = [d for d in finder.project.definitions(definition.name) if d != definition]
        folder = os.path.dirname(definition.path)
        same = [d for d in twins if d.qualified == definition.qualified]
        if any(d.path == definition.path or os.path.dirname(d.path) == folder for d in same):
            return False
        classes = finder.binder.types.classes
        owner = classes.class_of(definition)
        if owner and (
            classes.ancestors(owner)[1] or classes.members(owner, definition.name, True)[0]
        ):
            return False
        return any(s.tier in (Tier.EXACT, Tier.IMPORT) for s in finder.sites([definition]))
    stem = os.path.basename(definition.path).partition(".")[0]
    if stem in ("__init__", "index", "mod", "lib", "main"):
        return False
    importers = finder.project.importing(definition.path)
    finder.project.load(importers)
    return any(
        definition.path in finder.project.resolve(source, item)
        for path in importers
        if path != definition.path and (source := finder.project.source(path)) is not None
        for item in source.imports
    )


def _is_caught(worktree: Worktree, finder: Finder, kind: str, definition: Definition) -> bool:
    data = finder.project.text(definition.path)
    if kind == "module":
        with _moved(worktree, definition.path) as tree:
            choice = TreeChoice(at=tree)
            with open_tree(worktree, ".", choice) as after:
                found = find_dangling(TreeChange.between(finder, Finder(after)))
        return any(one.missing_from == definition.path for one in found.sure)
    source = finder.project.source(definition.path)
    own = source.children(definition.ordinal, definition.name) if source else []
    name = definition.name.encode()
    for symbol in sorted([definition, *own], key=lambda s: (s.line, s.column), reverse=True):
        at = finder.project.offset(symbol.path, symbol.line, symbol.column)
        assert data[at : at + len(name)] == name  # a class, and its constructors with it
        data = data[:at] + _renamed(definition.name).encode() + data[at + len(name) :]
    with open_tree(worktree, ".", buffers={os.fsencode(definition.path): data}) as after:
        found = find_dangling(TreeChange.between(finder, Finder(after)))
    return any(one.name == definition.name for one in found.sure)


def _renamed(name: str) -> str:
    """Another name that is exported as the old one was."""
    return f"Renamed{name[0].upper()}{name[1:]}" if name[0].isupper() else f"renamed_{name}"


@contextmanager
def _moved(worktree: Worktree, path: str) -> Iterator[str]:
    """A tree in which one file has another name; git keeps it as an object that nothing refers to."""
    folder, base = os.path.split(path)
    new = os.path.join(folder, f"renamed_{base}")
    with TemporaryDirectory() as scratch:
        env = {**os.environ, "GIT_INDEX_FILE": os.path.join(scratch, "index")}
        _git(worktree, "read-tree", "HEAD", env=env)
        [line] = _git(worktree, "ls-files", "-s", "--", path, env=env)
        mode, oid, _ = line.split(maxsplit=2)
        _git(worktree, "update-index", "--force-remove", path, env=env)
        entry = f"{mode},{oid},{new}"
        _git(worktree, "update-index", "--add", "--cacheinfo", entry, env=env)
        yield _git(worktree, "write-tree", env=env)[0]


def _as_dangling(found: Definition) -> Dangling:
    return Dangling(found.path, found.line, found.column, found.name, "both sides", Tier.EXACT)


def _git(worktree: Worktree, *args: str, env: dict[str, str] | None = None) -> list[str]:
    done = subprocess.run(
        ["git", "-C", worktree.root, *args], capture_output=True, text=True, check=True, env=env
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
            by_kind = [f"{k} {planted.caught[k]}/{n}" for k, n in sorted(planted.planted.items())]
            print(
                f"{path.name}: {planted.caught.total()} of {planted.planted.total()} planted"
                f" breakages caught ({', '.join(by_kind)})"
            )
            for one in planted.missed:
                print(f"  missed {one}")
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
