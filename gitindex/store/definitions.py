"""Rows of definitions: what repeats or follows from other rows is left to the view `symbols`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
        """Yield the rows of a blob; shapes that are not stored yet are appended to `new`."""
        shapes = self._shapes
        for ordinal, (symbol, written) in enumerate(
            zip(symbols, written_names(symbols), strict=True)
        ):
            name, _, kind, line, column, start, end, signature, doc, parent, exported = symbol
            at = signature.find(name) if name else -1
            after = None if at < 0 else signature[at + len(name) :]
            shape = kind, signature if at < 0 else signature[:at], after
            ids = name_ids[name], written, shapes.get(shape) or self._number(shape, new)
            above, below, flag = line - start, end - line, 1 if exported else 0  # a bool is adapted
            yield blob_id, ordinal, *ids, line, column, above, below, parent, flag, doc

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
    for symbol in symbols:
        name, qualified, parent = symbol.name, symbol.qualified, symbol.parent
        derived = None
        if parent < 0:
            derived = name
        elif parent < len(written) and (written[parent] or symbols[parent].parent < 0):
            derived = f"{symbols[parent].qualified}.{name}"
        written.append(None if qualified == derived else qualified)
    return written
