"""An in-memory index of the words of all paths of a tree: finds paths that contain a text. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from gitindex.base.pattern import compile_later

_RUN = compile_later(rb"[0-9a-z\x80-\xff]+")


class PathIndex:
    """Paths by their runs of letters and digits. A text without separators lies within one run."""

    def __init__(self, paths: Iterable[bytes]) -> None:
        self._paths = sorted(paths, key=lambda path: (len(path), path))
        runs: dict[bytes, list[int]] = {}
        for number, path in enumerate(self._paths):
            for run in set(_RUN.findall(path.lower())):
                runs.setdefault(run, []).append(number)
        self._holders = list(runs.values())
        self._text = b"\n".join(runs)
        self._starts: list[int] = []
        at = 0
        for run in runs:
            self._starts.append(at)
            at += len(run) + 1

    def best(self, needles: Sequence[tuple[str, float]], limit: int) -> list[bytes]:
        """Return the paths with the highest sum of their needles' shares, then the shortest."""
        parts: list[tuple[float, set[int]]] = []  # paths with the same needles, and their sum
        for needle, share in needles:
            held = self._holding(needle.lower().encode())
            both = [(total + share, numbers & held) for total, numbers in parts]
            alone = [(total, numbers - held) for total, numbers in parts]
            new = held.difference(*(numbers for _, numbers in parts))
            parts = [part for part in (*both, *alone, (share, new)) if part[1]]
        groups: dict[float, set[int]] = {}
        for total, numbers in parts:
            groups.setdefault(round(total, 9), set()).update(numbers)
        found: list[int] = []
        for total in sorted(groups, reverse=True):
            found += sorted(groups[total])[: limit - len(found)]
            if len(found) >= limit:
                break
        return [self._paths[number] for number in found]

    def _holding(self, needle: bytes) -> set[int]:
        """Return the paths that contain a text."""
        found: set[int] = set()
        at = self._text.find(needle)
        while at != -1:
            run = bisect_right(self._starts, at) - 1
            found.update(self._holders[run])
            at = self._text.find(needle, self._end(run))
        return found

    def _end(self, run: int) -> int:
        return self._starts[run + 1] if run + 1 < len(self._starts) else len(self._text)
