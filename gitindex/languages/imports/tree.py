"""The paths of a tree, indexed by name, suffix and folder."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from functools import cached_property
from typing import Any, TypeVar

T = TypeVar("T")

MAX_SUFFIXES = 200
"""Ends of paths for which the best path below each folder is kept."""


class Tree:
    """A set of paths, and a reader for the files that configure resolution."""

    def __init__(self, paths: Iterable[str], read: Callable[[str], bytes | None]) -> None:
        self.paths = frozenset(paths)
        self.read = read
        self._notes: dict[Hashable, Any] = {}
        self._best: dict[str, dict[str, str]] = {}

    def note(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what a rule found out about this tree under a key, made at the first call."""
        if key not in self._notes:
            self._notes[key] = make()
        known: T = self._notes[key]
        return known

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """Paths by their last part."""
        return _grouped(sorted(self.paths), lambda path: path.rpartition("/")[2])

    @cached_property
    def by_tail(self) -> dict[str, list[str]]:
        """Paths by their last two parts: every package has an `__init__.py`."""
        return _grouped(sorted(self.paths), _tail)

    @cached_property
    def folders(self) -> dict[str, list[str]]:
        """Files of each folder."""
        return _grouped(sorted(self.paths), parent)

    @cached_property
    def folders_by_name(self) -> dict[str, list[str]]:
        """Folders that hold files, by their last part."""
        return _grouped(self.folders, lambda folder: folder.rpartition("/")[2])

    def first(self, candidates: Iterable[str]) -> str | None:
        """Return the first candidate that exists."""
        return next((path for path in candidates if path in self.paths), None)

    def best_below(self, suffix: str) -> dict[str, str]:
        """Return the shortest path that ends with whole segments `suffix` below each folder.

        The one under "" is that of the whole tree; where it is the only one, there are no others.
        """
        best = self._best.get(suffix)
        if best is None:
            best = self._find_best(suffix)
            if len(self._best) > MAX_SUFFIXES:
                self._best.clear()
            self._best[suffix] = best
        return best

    def _find_best(self, suffix: str) -> dict[str, str]:
        paths = self._ending(suffix)
        best = {"": min(paths, key=_shortness)} if paths else {}
        for path in sorted(paths, key=_shortness) if len(paths) > 1 else ():
            at = 0
            while at := path.find("/", at) + 1:
                best.setdefault(path[:at], path)
        return best

    def ending(self, suffix: str, near: str) -> list[str]:
        """Return paths that end with whole segments `suffix`, those close to `near` first."""
        paths = self._ending(suffix)
        return paths if len(paths) < 2 else sorted(paths, key=_closeness(near))

    def _ending(self, suffix: str) -> list[str]:
        tail = f"/{suffix}"
        known = (
            self.by_tail.get(_tail(suffix), ()) if "/" in suffix else self.by_name.get(suffix, ())
        )
        return [p for p in known if p == suffix or p.endswith(tail)]


def _grouped(paths: Iterable[str], key: Callable[[str], str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        groups[key(path)].append(path)
    return dict(groups)


def _shortness(path: str) -> tuple[int, str]:
    return path.count("/"), path


def _closeness(near: str) -> Callable[[str], tuple[int, int, str]]:
    folders = [near[: at + 1] for at, char in enumerate(near) if char == "/"]

    def order(path: str) -> tuple[int, int, str]:
        shared = len(folders)
        while shared and not path.startswith(folders[shared - 1]):
            shared -= 1
        return -shared, path.count("/"), path

    return order


def _tail(path: str) -> str:
    folder, _, name = path.rpartition("/")
    return f"{folder.rpartition('/')[2]}/{name}"


def join(*parts: str) -> str | None:
    """Return a path inside the tree, or None if it leaves the tree."""
    path = "/".join(filter(None, parts))
    if path[:1].isalnum() and "/." not in path and "//" not in path and path[-1] != "/":
        return path  # as nearly all are
    path = posixpath.normpath(posixpath.join(*parts))
    if path.startswith(("../", "/")) or path == "..":
        return None
    return "" if path == "." else path


def parent(path: str) -> str:
    """Return the folder of a path; the root is the empty string."""
    return path.rpartition("/")[0]


def under(folder: str, name: str) -> str:
    """Return the path of a name inside a folder."""
    return f"{folder}/{name}" if folder else name
