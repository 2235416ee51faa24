"""A site: one place that refers to a definition."""

from __future__ import annotations

import os
from typing import NamedTuple

from gitindex.base.vocabulary import Layer, Tier
from gitindex.languages.facts import Occurrence
from gitindex.query.names.source import Definition, FileNames

_RANK = {tier: rank for rank, tier in enumerate(Tier)}


class Site(NamedTuple):
    """One place that refers to a target."""

    path: str
    line: int
    column: int
    end_column: int
    use: int  # facts.Use
    tier: Tier
    layer: Layer
    enclosing: Definition | None
    targets: tuple[Definition, ...]

    def order(self) -> tuple[int, bytes, int, int]:
        """Sort key: the surest first, then by place."""
        return _RANK[self.tier], os.fsencode(self.path), self.line, self.column


def make_site(
    source: FileNames, place: Occurrence, tier: Tier, targets: tuple[Definition, ...]
) -> Site:
    """Return the site of an occurrence."""
    end = place.column + len(place.name.encode())
    around = source.symbol(place.enclosing)
    return Site(
        source.path,
        place.line,
        place.column,
        end,
        place.use,
        tier,
        Layer.SYNTACTIC,
        around,
        targets,
    )
