"""Ambiguity flags of the contract: what makes the facts of a blob less than certain."""

from __future__ import annotations

from typing import NamedTuple

from gitindex.facts import Import
from gitindex.syntax.outline import Outline


class Reading(NamedTuple):
    """Everything read from one blob, for detectors to look at."""

    data: bytes
    language: str
    outline: Outline
    imports: tuple[Import, ...]
    postings: dict[str, bytes]


def read_flags(_reading: Reading, *, broken: bool, lossy: bool) -> tuple[str, ...]:
    """The flags of a blob, sorted."""
    flags = set()
    if broken:
        flags.add("parse_error")
    if lossy:
        flags.add("encoding_lossy")
    return tuple(sorted(flags))
