"""An interface that only gained names: whoever says none of them sees the interface it saw."""

from __future__ import annotations

from collections.abc import Collection

from gitindex.base.vocabulary import FactsStatus
from gitindex.filestate.world import World
from gitindex.languages.facts import BlobFacts, FactsKey, Symbol
from gitindex.languages.table import extractor_id
from gitindex.store.connection import marks
from gitindex.store.history import PathAtTime
from gitindex.store.name_rows import read_names

BY_NAME = frozenset({"python", "javascript", "typescript", "tsx"})
"""Languages where a file has of another only what it names; elsewhere packages share names."""


class Additions:
    """The names that files gained, for one view."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._known: dict[tuple[str, PathAtTime], frozenset[str]] = {}

    def are_unseen(self, importer: str, target: str, was: PathAtTime) -> bool:
        """Did a file only gain top-level definitions, none of which this importer names?"""
        if (target, was) not in self._known:
            self._known[target, was] = self._gained(target, was)
        gained = self._known[target, was]
        return bool(gained) and not self._names_one(importer, gained)

    def _gained(self, path: str, was: PathAtTime) -> frozenset[str]:
        """Return the names that a file gained; none if its interface differs in anything else."""
        new = self._world.facts(path)
        if new is None or new.language not in BY_NAME or new.status is not FactsStatus.PARSED:
            return frozenset()
        old = self._world.view.facts(FactsKey(was.oid.hex(), extractor_id(new.language)))
        if old is None or old.status is not FactsStatus.PARSED:
            return frozenset()
        known = {symbol.name for symbol in old.symbols}
        tops = [s for s in new.symbols if s.parent < 0 and s.exported and s.name not in known]
        gained = [s for s in tops if not s.name.startswith("__")]  # __getattr__ makes others
        rest = self._without(path, new, gained) if gained else None
        same = rest is not None and rest.status is FactsStatus.PARSED
        if rest is None or not same or rest.interface_hash != was.interface:
            return frozenset()
        return frozenset(symbol.name for symbol in gained)

    def _without(self, path: str, facts: BlobFacts, gained: list[Symbol]) -> BlobFacts | None:
        """Return the facts of a file's text without some of its definitions."""
        lines = (self._world.read(path) or b"").split(b"\n")
        for symbol in gained:
            count = symbol.end_line + 1 - symbol.start_line
            lines[symbol.start_line : symbol.end_line + 1] = [b""] * count
        return self._world.view.parse(b"\n".join(lines), facts.language)

    def _names_one(self, importer: str, names: Collection[str]) -> bool:
        """Does a published file name one of these, or take everything with a star?"""
        blob = self._world.files[importer].blob_id
        asked = self._world.database.rows
        rows = asked(f"SELECT id FROM names WHERE text IN ({marks(names)})", *names)
        known = {name_id for (name_id,) in rows}
        return bool(
            any(
                not known.isdisjoint(read_names(packed)[0])
                for (packed,) in asked("SELECT names FROM occurrences WHERE blob_id=?", blob)
            )
            or asked("SELECT 1 FROM imports WHERE blob_id=? AND instr(names, '\"*\"')", blob)
        )
