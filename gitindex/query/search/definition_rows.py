"""The definitions of candidate files, from the store, and those of them with a word of the query."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from gitindex.query.search.definitions import NamedDefinition
from gitindex.query.search.features import Atom, needle_of
from gitindex.store.connection import marks
from gitindex.view.overlay_tables import FIRST_ID
from gitindex.view.tree import TreeView

MAX_ROWS = 240
"""Definitions that one query scores; those with most of its words first."""
MAX_NEEDLES = 12
MAX_KEPT = 60_000
"""Definitions in memory."""
NO_BLOB = 0
"""The number of a blob whose facts are not read yet."""
MANY = 20_000
"""Further definitions of one file are not ranked."""
CHUNK = 400
_FIELDS = (
    "s.blob_id, (SELECT text FROM {names} WHERE id=s.name_id), s.qualified_name, s.kind,"
    " lower(s.doc), s.line, s.start_line, s.end_line, s.parent<0"
)
_Order = tuple[int, int, int, int]
"""What decides between definitions: words of the query, length of the name, blob, ordinal."""


class JoinedTexts:
    """Some texts as one, in small letters: finds those that contain a word."""

    def __init__(self, texts: Iterable[str]) -> None:
        encoded = [text.encode("utf-8", "replace").lower() for text in texts]
        self._text = b"\n".join(encoded)
        self._starts = [0, *accumulate(len(text) + 1 for text in encoded)]

    def counts(self, needles: Iterable[bytes]) -> dict[int, int]:
        """Return how many of the needles each text contains, for those with one."""
        found: dict[int, int] = {}
        text, starts = self._text, self._starts
        for needle in needles:
            at = text.find(needle)
            while at != -1:
                number = bisect_right(starts, at) - 1
                found[number] = found.get(number, 0) + 1
                at = text.find(needle, starts[number + 1])
        return found


class FileDefinitions:
    """All definitions of one blob, in the order of the store."""

    def __init__(self, listed: list[NamedDefinition]) -> None:
        self.listed = listed
        self.names = JoinedTexts(named.qualified for named in listed)
        self.docs = JoinedTexts(named.doc for named in listed)


def innermost(listed: Iterable[NamedDefinition], line: int) -> NamedDefinition | None:
    """Return the innermost definition around a line."""
    around = [d for d in listed if d.start_line <= line <= d.end_line]
    return min(around, key=lambda d: (-d.start_line, d.end_line), default=None)


class DefinitionMemory:
    """Definitions of stored blobs, kept between queries; the oldest are dropped."""

    def __init__(self) -> None:
        self._files: OrderedDict[tuple[int, str], FileDefinitions] = OrderedDict()
        self._kept = 0

    def files(self, view: TreeView, blobs: Iterable[tuple[int, str]]) -> dict[int, FileDefinitions]:
        """Return the definitions of blobs by number; those of overlaid files are not kept.

        A blob is given by its number and its id in git: numbers of collected blobs are used again.
        """
        wanted = [blob for blob in dict.fromkeys(blobs) if blob[0] != NO_BLOB]
        found = {}
        for blob in wanted:
            if blob in self._files:
                self._files.move_to_end(blob)
                found[blob[0]] = self._files[blob]
        oids = {number: oid for number, oid in wanted if number not in found}
        for number, listed in _read(view, list(oids)).items():
            found[number] = FileDefinitions(listed)
            if number < FIRST_ID:
                self._files[number, oids[number]] = found[number]
                self._kept += len(listed)
        while self._kept > MAX_KEPT:
            _, dropped = self._files.popitem(last=False)
            self._kept -= len(dropped.listed)
        return found


def _read(view: TreeView, numbers: list[int]) -> dict[int, list[NamedDefinition]]:
    listed: dict[int, list[NamedDefinition]] = {number: [] for number in numbers}
    for at in range(0, len(numbers), CHUNK):
        part = numbers[at : at + CHUNK]
        rows = view.rows(
            f"SELECT {_FIELDS} FROM {{symbols}} s WHERE s.blob_id IN ({marks(part)}) AND s.ordinal<{MANY}"
            " ORDER BY s.blob_id, s.ordinal",
            *part,
        )
        for number, *fields in rows:
            listed[number].append(NamedDefinition(*fields))
    return listed


def matching_definitions(
    files: Mapping[int, FileDefinitions],
    atoms: Sequence[Atom],
    kinds: Sequence[str],
    commented: Iterable[int],
) -> dict[int, list[NamedDefinition]]:
    """Return definitions of these kinds with a word of the query in their name, by blob.

    In the `commented` blobs, two words in the comment suffice.
    """
    needles = [needle.encode() for needle in _needles(atoms)]
    both = {*commented} if len(atoms) > 1 else set()
    found: list[_Order] = []
    for number, file in files.items():
        counts = _counts(file, needles, number in both)
        if kinds:
            counts = {at: n for at, n in counts.items() if file.listed[at].kind in kinds}
        found += [(-n, len(file.listed[at].qualified), number, at) for at, n in counts.items()]
    by_blob: dict[int, list[NamedDefinition]] = {}
    for _, _, number, at in sorted(found)[:MAX_ROWS]:
        by_blob.setdefault(number, []).append(files[number].listed[at])
    return by_blob


def _counts(file: FileDefinitions, needles: list[bytes], commented: bool) -> dict[int, int]:
    """Return how many needles each name has; two in a comment suffice where `commented`."""
    if not needles:
        return dict.fromkeys(range(len(file.listed)), 0)
    counts = file.names.counts(needles)
    if commented:
        for at, count in file.docs.counts(needles).items():
            if count > 1:
                counts.setdefault(at, 0)
    return counts


def _needles(atoms: Sequence[Atom]) -> list[str]:
    """Return the strings to look for in names: the most distinctive atoms."""
    ordered = sorted(atoms, key=lambda atom: (-atom.share, atom.text))
    least = ordered[0].share / 10 if ordered else 0.0
    shortest = min(2, len(atoms))
    telling = [a.text for a in ordered if a.share >= least and len(a.text) >= shortest]
    chosen = [*map(needle_of, telling)]
    alone = [n for n in chosen if not any(other in n and other != n for other in chosen)]
    return [needle for needle in dict.fromkeys(alone) if needle.isalnum()][:MAX_NEEDLES]
