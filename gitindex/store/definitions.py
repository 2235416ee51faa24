"""Rows of definitions: kinds and signatures repeat, and are stored once; the view `symbols` joins them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
        self._older: dict[Shape, int] = {}  # used before; half of the shapes of C are used once

    def add(self, blobs: Iterable[tuple[int, BlobFacts]], name_ids: Mapping[str, int]) -> None:
        """Store the definitions of some blobs; `name_ids` has all their names."""
        if len(self._shapes) > MAX_SHAPES:
            self._older, self._shapes = self._shapes, {}
        symbols = [
            (blob_id, ordinal, symbol, _shape(symbol))
            for blob_id, facts in blobs
            for ordinal, symbol in enumerate(facts.symbols)
        ]
        unknown = {shape for *_, shape in symbols}.difference(self._shapes)
        again = [shape for shape in unknown if shape in self._older]
        self._shapes.update((shape, self._older[shape]) for shape in again)
        self._add_shapes(unknown.difference(again))
        rows = self._rows(symbols, name_ids)
        self._db.insert_many("definitions", "(?,?,?,?,?,?,?,?,?,?,?,?)", rows)

    def forget(self) -> None:
        """Drop the cached ids: after a rollback, or when there are too many."""
        self._shapes.clear()
        self._older.clear()

    def _add_shapes(self, new: set[Shape]) -> None:
        if not new:
            return
        first = int(self._db.row("SELECT coalesce(max(id), 0) + 1 FROM shapes")[0])
        numbered = list(enumerate(sorted(new, key=repr), first))
        self._db.insert_many("shapes", "(?,?,?,?)", ((i, *s) for i, s in numbered))
        self._shapes.update((shape, number) for number, shape in numbered)

    def _rows(
        self, symbols: Iterable[tuple[int, int, Symbol, Shape]], name_ids: Mapping[str, int]
    ) -> Iterator[tuple[Any, ...]]:
        shapes = self._shapes
        for blob_id, ordinal, symbol, shape in symbols:
            name, qualified, _, line, column, start, end, _, doc, parent, exported = symbol
            above, below, flag = line - start, end - line, 1 if exported else 0  # a bool is adapted
            ids = name_ids[name], qualified, shapes[shape]
            yield blob_id, ordinal, *ids, line, column, above, below, parent, flag, doc


def _shape(symbol: Symbol) -> Shape:
    """Return kind and signature, cut where the definition's own name first stands in it."""
    name, signature = symbol.name, symbol.signature
    at = signature.find(name) if name else -1
    if at < 0:
        return symbol.kind, signature, None
    return symbol.kind, signature[:at], signature[at + len(name) :]
