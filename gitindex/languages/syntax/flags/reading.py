"""The input of detectors: everything that was read from one blob."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from gitindex.languages.facts import Import, Postings, Use, unpack_places
from gitindex.languages.syntax.outline import Outline

if TYPE_CHECKING:
    from gitindex.languages.syntax.parser import Captures


class Reading(NamedTuple):
    """One blob's text, captures and facts."""

    data: bytes
    language: str
    captures: Captures
    outline: Outline
    imports: tuple[Import, ...]
    postings: Postings

    def offsets(self, name: str, *uses: int) -> Iterator[int]:
        """Return the byte offsets of a name; only those with the given uses, if any are given."""
        if name not in self.postings.counts:
            return
        for place in unpack_places(name, self.postings[name]):
            if not uses or place.use in uses:
                yield self.outline.starts[place.line] + place.column

    def has(self, name: str, *uses: int) -> bool:
        """Does a name occur in one of these uses?"""
        if name not in self.postings.counts:
            return False  # the common case: a generator would be slower
        return next(self.offsets(name, *uses), None) is not None

    def calls_bare(self, name: str) -> bool:
        """Is a name called, other than as a member?"""
        return any(self.data[at - 1 : at] != b"." for at in self.offsets(name, Use.CALL))

    def imported(self) -> set[str]:
        """Return the local names that imports bind."""
        return {local for item in self.imports for _, local in item.names}

    def line_at(self, offset: int) -> bytes:
        """Return the line around a place."""
        start = self.data.rfind(b"\n", 0, offset) + 1
        end = self.data.find(b"\n", offset)
        return self.data[start : end if end >= 0 else None]


Detector = Callable[[Reading], bool]
