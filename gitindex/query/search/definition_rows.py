"""Definitions with a word of the query: from the store, or from a server's memory of whole files."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import Any, NamedTuple

from gitindex.query.search.definitions import NamedDefinition
from gitindex.query.search.features import Atom, needle_of
from gitindex.query.search.query_text import Query
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
MANY = 2_000
"""The definitions of a file with more of them stay in the store."""
_FIELDS = (
    "s.blob_id, s.ordinal, (SELECT text FROM {names} WHERE id=s.name_id), s.qualified_name, s.kind,"
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
        self.lengths = [len(named.qualified) for named in listed]
        self.names = JoinedTexts(named.qualified for named in listed)
        self.docs = JoinedTexts(named.doc for named in listed)

    def around(self, line: int) -> NamedDefinition | None:
        """Return the innermost definition around a line."""
        held = [d for d in self.listed if d.start_line <= line <= d.end_line]
        return min(held, key=lambda d: (-d.start_line, d.end_line), default=None)


class DefinitionMemory:
    """Definitions of stored blobs, kept between queries; the oldest are dropped."""

    def __init__(self) -> None:
        self._files: OrderedDict[tuple[int, str], FileDefinitions] = OrderedDict()
        self._kept = 0

    def files(self, view: TreeView, blobs: Iterable[tuple[int, str]]) -> dict[int, FileDefinitions]:
        """Return the definitions of blobs by id; those of overlaid or very large files are absent.

        A blob is given by its number and its id in git: numbers of collected blobs are used again.
        """
        asked = [blob for blob in dict.fromkeys(blobs) if NO_BLOB < blob[0] < FIRST_ID]
        self._read(view, {number: oid for number, oid in asked if (number, oid) not in self._files})
        found = {}
        for blob in asked:
            if blob in self._files:
                self._files.move_to_end(blob)
                found[blob[0]] = self._files[blob]
        while self._kept > MAX_KEPT:
            _, dropped = self._files.popitem(last=False)
            self._kept -= len(dropped.listed)
        return found

    def _read(self, view: TreeView, unknown: dict[int, str]) -> None:
        if not unknown:
            return
        few = "SELECT id FROM {blobs} WHERE symbols<=? AND id IN"
        listed: dict[int, list[NamedDefinition]] = {
            number: [] for (number,) in view.rows(f"{few} ({marks(unknown)})", MANY, *unknown)
        }
        rows = view.rows(
            f"SELECT {_FIELDS} FROM {{symbols}} s WHERE s.blob_id IN ({marks(listed)})"
            " ORDER BY s.blob_id, s.ordinal",
            *listed,
        )
        for number, _, *fields in rows:
            listed[number].append(NamedDefinition(*fields))
        for number, found in listed.items():
            self._files[number, unknown[number]] = FileDefinitions(found)
            self._kept += len(found)


class _DefinitionFilter(NamedTuple):
    """What a definition must have."""

    needles: list[str]
    kinds: tuple[str, ...]
    commented: frozenset[int]  # blobs whose comments are searched too


def load_definitions(
    view: TreeView,
    query: Query,
    atoms: Sequence[Atom],
    ids: Sequence[int],
    commented: int,
    files: Mapping[int, FileDefinitions] = MappingProxyType({}),
) -> dict[int, list[NamedDefinition]]:
    """Load definitions with a word of the query; for the first few blobs, match comments too.

    `files`: those blobs whose definitions are in memory.
    """
    kinds, needles = query.filters.kinds, _needles(atoms)
    if not ids or not (needles or kinds):
        return {}
    first = ids[:commented] if len(atoms) > 1 else ids[:0]
    wanted = _DefinitionFilter(needles, kinds, frozenset(first))
    found: list[_Order] = []
    absent = []
    for blob_id in dict.fromkeys(ids):
        known = files.get(blob_id)
        if known is None:
            absent.append(blob_id)
        elif known.listed:
            found += _selected(blob_id, known, wanted)
    stored = _stored(view, absent, wanted) if absent else {}
    found += stored
    found.sort()
    by_blob: dict[int, list[NamedDefinition]] = {}
    for order in found[:MAX_ROWS]:
        blob_id = order[2]
        known = files.get(blob_id)
        named = stored[order] if known is None else known.listed[order[3]]
        by_blob.setdefault(blob_id, []).append(named)
    return by_blob


def _selected(blob_id: int, known: FileDefinitions, wanted: _DefinitionFilter) -> list[_Order]:
    """Do what `_stored` does, for one blob in memory."""
    needles = [needle.encode() for needle in wanted.needles]
    counts = known.names.counts(needles) if needles else dict.fromkeys(range(len(known.listed)), 0)
    if blob_id in wanted.commented:
        for number, count in known.docs.counts(needles).items():
            if count > 1:
                counts.setdefault(number, 0)
    lengths, kinds = known.lengths, wanted.kinds
    return [
        (-count, lengths[number], blob_id, number)
        for number, count in counts.items()
        if not kinds or known.listed[number].kind in kinds
    ]


def _stored(
    view: TreeView, ids: list[int], wanted: _DefinitionFilter
) -> dict[_Order, NamedDefinition]:
    """Return the definitions in the store that are wanted, the best of them."""
    tests = ["1"]
    values: list[Any] = []
    patterns = [f"%{needle}%" for needle in wanted.needles]
    called = "+".join(["(called LIKE ?)"] * len(patterns)) or "0"
    if patterns:
        said = "+".join(["(doc LIKE ?)"] * len(patterns))
        first = [blob_id for blob_id in ids if blob_id in wanted.commented]
        tests.append(f"(said>0 OR (doc<>'' AND blob_id IN ({marks(first)}) AND ({said})>1))")
        values += [*first, *patterns]
    if wanted.kinds:
        tests.append(f"kind IN ({marks(wanted.kinds)})")
        values += wanted.kinds
    # with a limit SQLite works out each qualified name once, and not for every test of it
    each = (
        "SELECT blob_id, ordinal, qualified_name AS called, doc, kind FROM {symbols}"
        f" WHERE blob_id IN ({marks(ids)}) LIMIT -1"
    )
    best = (
        f"SELECT blob_id, ordinal, {called} AS said FROM ({each}) WHERE {' AND '.join(tests)}"
        f" ORDER BY said DESC, length(called), blob_id, ordinal LIMIT {MAX_ROWS}"
    )
    rows = view.rows(
        f"SELECT {_FIELDS}, f.said FROM ({best}) f CROSS JOIN {{symbols}} s"
        " ON s.blob_id=f.blob_id AND s.ordinal=f.ordinal",
        *patterns,
        *ids,
        *values,
    )
    return {
        (-said, len(qualified), blob_id, ordinal): NamedDefinition(name, qualified, *fields)
        for blob_id, ordinal, name, qualified, *fields, said in rows
    }


def stored_around(view: TreeView, blob_id: int, line: int) -> NamedDefinition | None:
    """Return the innermost definition around a line, from the store."""
    rows = view.rows(
        f"SELECT {_FIELDS} FROM {{symbols}} s WHERE s.blob_id=? AND s.start_line<=? AND s.end_line>=?"
        " ORDER BY s.start_line DESC, s.end_line, s.ordinal LIMIT 1",
        blob_id,
        line,
        line,
    )
    return NamedDefinition(*rows[0][2:]) if rows else None


def _needles(atoms: Sequence[Atom]) -> list[str]:
    """Return the strings to look for in names: the most distinctive atoms."""
    ordered = sorted(atoms, key=lambda atom: (-atom.share, atom.text))
    most = ordered[0].share if ordered else 0.0
    chosen = [
        needle_of(atom.text)
        for atom in ordered
        if atom.share >= most / 10 and (len(atom.text) > 1 or len(atoms) == 1)
    ]
    alone = [n for n in chosen if not any(other in n and other != n for other in chosen)]
    return [needle for needle in dict.fromkeys(alone) if needle.isalnum()][:MAX_NEEDLES]
