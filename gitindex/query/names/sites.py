"""What an answer says of one occurrence: a reference to a definition, or the class it is in instead."""

from __future__ import annotations

import os
from typing import NamedTuple

from gitindex.base.vocabulary import Layer, OccurrenceClass, Tier, Why
from gitindex.languages.facts import Occurrence
from gitindex.query.names.source import Definition, FileNames

_RANK = {tier: rank for rank, tier in enumerate(Tier)}

At = tuple[str, int, int]  # path, line, column


class PlaceClass(NamedTuple):
    """The class of an occurrence that is no reference, and the reason where it is possible."""

    group: OccurrenceClass
    why: str = ""  # a Why, or for prose a MentionKind


ELSEWHERE = PlaceClass(OccurrenceClass.ELSEWHERE)
UNLIKELY = PlaceClass(OccurrenceClass.UNLIKELY)
RECEIVER = PlaceClass(OccurrenceClass.POSSIBLE, Why.RECEIVER)
UNBOUND = PlaceClass(OccurrenceClass.POSSIBLE, Why.UNBOUND)
KEY = PlaceClass(OccurrenceClass.POSSIBLE, Why.KEY)
STRING = PlaceClass(OccurrenceClass.POSSIBLE, Why.STRING)
NOT_PARSED = PlaceClass(OccurrenceClass.POSSIBLE, Why.NOT_PARSED)
BUDGET = PlaceClass(OccurrenceClass.POSSIBLE, Why.BUDGET)


class Site(NamedTuple):
    """One place that refers to a target; with tier NAME, one that may."""

    path: str
    line: int
    column: int
    end_column: int
    use: int  # facts.Use
    tier: Tier
    layer: Layer
    enclosing: Definition | None
    targets: tuple[Definition, ...]
    via: str = ""  # the alias that stands there

    def order(self) -> tuple[int, bytes, int, int]:
        """Sort key: the surest first, then by place."""
        return _RANK[self.tier], os.fsencode(self.path), self.line, self.column


def make_site(
    source: FileNames, place: Occurrence, tier: Tier, targets: tuple[Definition, ...]
) -> Site:
    """Return the site of an occurrence."""
    end = place.column + len(place.name.encode())
    around = source.symbol(place.enclosing)
    span = (source.path, place.line, place.column, end)
    return Site(*span, place.use, tier, Layer.SYNTACTIC, around, targets)
