"""What one side's work does to another's: a cheap comparison of words, then the merge check.

A merge can only break where one side lost or changed a name that the other's edited files say, or
where both edited the same file. Most pairs have neither, and need no merged tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from gitindex.query.impact.change import TreeChange
from gitindex.query.impact.merge import MergeFindings, Sides, check_merge
from gitindex.query.impact.misfits import Misfit, find_misfits
from gitindex.query.names.finder import Finder
from gitindex.query.names.memory import Memory
from gitindex.query.names.model import FileNames
from gitindex.query.names.project import words_of_file

_WORD = re.compile(rb"[\w$\x80-\xff]+")


class Work(NamedTuple):
    """What one side did since a base, as words."""

    places: frozenset[str]  # edited files; in Go their folders, where a name is unique
    paths: frozenset[str]  # edited files that still exist
    lost: frozenset[bytes]  # names that are gone, and of modules that are
    changed: frozenset[bytes]  # names with another signature
    said: frozenset[bytes]  # all words of the edited files

    def meets(self, other: Work) -> bool:
        """Return whether a merge of the two has to be looked at."""
        return not (
            self.places.isdisjoint(other.places)
            and (self.lost | self.changed).isdisjoint(other.said)
            and (other.lost | other.changed).isdisjoint(self.said)
        )


class SideMisfit(NamedTuple):
    """A call on one side that does not fit the signature that the other side gave it."""

    side: str
    found: Misfit


def work_between(base: Finder, side: Finder) -> Work:
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
        gone, other = _differences(old, new)
        lost |= gone | (set(words_of_file(path)) if what == "deleted" else set())
        changed |= other
    said: set[bytes] = set()
    for path in kept:
        said.update(_WORD.findall(side.project.text(path)))
    places = frozenset(map(_place, paths))
    return Work(places, frozenset(kept), _raw(lost), _raw(changed), frozenset(said))


def find_breaks(sides: Sides, one: Work, other: Work) -> tuple[MergeFindings, list[SideMisfit]]:
    """Return what the merge of two sides breaks."""
    findings = check_merge(sides)
    misfits: list[SideMisfit] = []
    memory = Memory()
    views = (("ours", sides.ours, one, other), ("theirs", sides.theirs, other, one))
    for name, view, mine, others in views:
        if mine.said.isdisjoint(others.changed):
            continue
        change = TreeChange.between(Finder(view, memory), Finder(sides.result, memory))
        found = find_misfits(change)
        misfits += [SideMisfit(name, misfit) for misfit in found if misfit.path in mine.paths]
    return findings, misfits


def _differences(old: FileNames | None, new: FileNames | None) -> tuple[set[str], set[str]]:
    """Return the names that a file lost, and those with another signature."""
    before = _signatures(old)
    after = _signatures(new)
    lost = {name.rpartition(".")[2] for name in before.keys() - after.keys()}
    lost |= _bound(old) - _bound(new)
    changed = {name for name in before.keys() & after.keys() if before[name] != after[name]}
    return lost, {name.rpartition(".")[2] for name in changed}


def _signatures(source: FileNames | None) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for symbol in source.symbols if source else ():
        key = f"{symbol.qualified.rpartition('.')[0]}.{symbol.name}"
        found[key] = (*found.get(key, ()), symbol.signature)
    return found


def _bound(source: FileNames | None) -> set[str]:
    """Return the names that imports bind: others may take them from this file."""
    imports = source.imports if source else ()
    return {local for item in imports for _, local in item.names}


def _place(path: str) -> str:
    return path.rpartition("/")[0] + "/*.go" if path.endswith(".go") else path


def _raw(names: Iterable[str]) -> frozenset[bytes]:
    words = (_WORD.findall(name.encode("utf-8", "surrogatepass")) for name in names)
    return frozenset(word for found in words for word in found)
