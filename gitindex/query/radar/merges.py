"""Merges of all pairs in one process of git, and the bases that they have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from gitindex.base.errors import GitIndexError
from gitindex.git.command import GitFailed
from gitindex.query.radar.objects import Objects

MAX_COMMITS = 50_000
"""Commits between the sides and their common base that are walked."""


class Merge(NamedTuple):
    """The result of one merge; without a tree the two have no history in common."""

    tree: str
    conflicts: tuple[bytes, ...] = ()


Pair = tuple[str, str]


def merge_pairs(objects: Objects, pairs: list[Pair]) -> dict[Pair, Merge]:
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


class Bases:
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
