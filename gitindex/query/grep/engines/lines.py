"""The lines of one text that match. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gitindex.extract.fragments import plain_bytes


class LineLimits(NamedTuple):
    """How much to return of each file."""

    per_file: int = 0  # maximum lines; 0: all
    lines: bool = True  # False: only the number of lines
    enough: int = 0  # lines, or files, that the caller uses in total; 0: all


class LineMatch(NamedTuple):
    """A matching line; 1-based, with the column in UTF-8 bytes."""

    line: int
    column: int
    text: bytes


class FileHits(NamedTuple):
    """The matching lines of one file: their number, and the lines if requested."""

    path: bytes
    lines: int
    hits: list[LineMatch]


def search_text(
    regex: re.Pattern[str], data: bytes, want: LineLimits, whole: bool, invert: bool = False
) -> list[LineMatch]:
    """Return matching lines, or with `invert` all others. `whole`: matches never span lines."""
    text = plain_bytes(data).decode("utf-8", "surrogateescape")
    found = _in_whole(regex, text) if whole else _in_lines(regex, text, invert)
    hits: list[LineMatch] = []
    for number, column, line in found:
        before = line[:column].encode("utf-8", "surrogateescape")
        hits.append(LineMatch(number, len(before) + 1, line.encode("utf-8", "surrogateescape")))
        if len(hits) == want.per_file:
            break
    return hits


def _in_whole(regex: re.Pattern[str], text: str) -> Iterator[tuple[int, int, str]]:
    number, counted, at = 1, 0, 0
    while (match := regex.search(text, at)) is not None:
        number += text.count("\n", counted, match.start())
        counted = match.start()
        start = text.rfind("\n", 0, counted) + 1
        end = text.find("\n", counted)
        end = len(text) if end == -1 else end
        yield number, counted - start, text[start:end]
        at = end


def _in_lines(
    regex: re.Pattern[str], text: str, invert: bool = False
) -> Iterator[tuple[int, int, str]]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()  # no line follows the last line break
    for number, line in enumerate(lines, 1):
        match = regex.search(line)
        if (match is None) is invert:
            yield number, match.start() if match else 0, line
