"""Rows of definitions: what repeats or follows from other rows is left to the view `symbols`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, repeat
from operator import sub
from typing import Any

from gitindex.languages.facts import BlobFacts, Symbol
from gitindex.store.connection import Database

MAX_SHAPES = 1 << 15
"""Number of shapes from which on those that were not used lately are dropped from the cache."""

Shape = tuple[str, str, str | None]
"""A kind, and a signature before and after the definition's own name; None: the name is not in it."""


class DefinitionTable:
    """Writes definitions of blobs. The caller holds the write transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._shapes: dict[Shape, int] = {}
        self._next = 1
        self._older: dict[Shape, int] = {}  # used before; half of the shapes of C are used once

    def add(self, blobs: Iterable[tuple[int, BlobFacts]], name_ids: Mapping[str, int]) -> None:
        """Store the definitions of some blobs; `name_ids` has all their names."""
        if len(self._shapes) > MAX_SHAPES:
            self._older, self._shapes = self._shapes, {}
        new: list[Shape] = []
        self._next = int(self._db.row("SELECT coalesce(max(id), 0) + 1 FROM shapes")[0])
        rows = [
            row
            for blob_id, facts in blobs
            for row in self._rows(blob_id, facts.symbols, name_ids, new)
        ]
        self._db.insert_many(
            "shapes", "(?,?,?,?)", ((i, *s) for i, s in enumerate(new, self._next))
        )
        self._db.insert_many("definitions", "(?,?,?,?,?,?,?,?,?,?,?,?)", rows)

    def forget(self) -> None:
        """Drop the cached ids: after a rollback, or when there are too many."""
        self._shapes.clear()
        self._older.clear()

    def _rows(
        self, blob_id: int, symbols: Sequence[Symbol], name_ids: Mapping[str, int], new: list[Shape]
    ) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a blob; shapes that are not stored yet are appended to `new`."""
        if not symbols:
            return iter(())
        columns = zip(*symbols, strict=True)  # by column: a step of Python for each symbol is dear
        names, _, kinds, lines, at, starts, ends, signatures, docs, parents, exported = columns
        shapes, number = self._shapes, self._number
        shape_ids = []
        for name, kind, signature in zip(names, kinds, signatures, strict=True):
            before, found, after = signature.partition(name) if name else (signature, "", "")
            shape = kind, before, after if found else None
            shape_ids.append(shapes.get(shape) or number(shape, new))
        return zip(
            repeat(blob_id),
            count(),
            map(name_ids.__getitem__, names),
            written_names(symbols),
            shape_ids,
            lines,
            at,
            map(sub, lines, starts),
            map(sub, ends, lines),
            parents,
            map(int, exported),  # a bool would be adapted
            docs,
            strict=False,
        )

    def _number(self, shape: Shape, new: list[Shape]) -> int:
        """Return the number of a shape that was not used lately."""
        number = self._older.get(shape)
        if number is None:
            number = self._next + len(new)
            new.append(shape)
        self._shapes[shape] = number
        return number


def written_names(symbols: Sequence[Symbol]) -> list[str | None]:
    """Return the qualified names of a blob that are stored: None where the view derives it."""
    written: list[str | None] = []
    for name, qualified, _, _, _, _, _, _, _, parent, _ in symbols:
        derived = None
        if parent < 0:
            derived = name
        elif parent < len(written) and (written[parent] or symbols[parent].parent < 0):
            derived = f"{symbols[parent].qualified}.{name}"
        written.append(None if qualified == derived else qualified)
    return written
