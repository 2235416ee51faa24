"""Search files: literals in-process, patterns by ripgrep, else by Python in a killable child."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitindex.base.confined_read import ConfinedRoot
from gitindex.extract.policy import MAX_TEXT_BYTES
from gitindex.query.grep.engines.lines import FileHits, LineLimits, search_text
from gitindex.query.grep.engines.ripgrep import (
    PatternRefused,
    RipgrepRun,
    find_ripgrep,
    portions,
    ripgrep,
)
from gitindex.query.grep.pattern import ParsedPattern

__all__ = ["FileHits", "LineLimits", "search_disk", "search_texts"]

FEW_FILES = 160
"""Up to this many files, reading them here is faster than starting ripgrep."""
FIRST_FILES = 256
"""Size of the first portion: a common pattern fills its limit there or soon after."""
SPARE = 2
"""Factor of wanted lines up to which reading all is cheaper than a second look at the files."""
MANY_FILES = 512
"""Up to this many files, ripgrep runs once, whatever the limit is."""


def search_disk(
    root: str, paths: list[bytes], understood: ParsedPattern, want: LineLimits
) -> Iterator[FileHits]:
    """Yield hits in files below `root`, in the order of `paths`."""
    if understood.is_plain and len(paths) <= FEW_FILES:
        yield from search_texts(_read(root, paths), understood, want)
        return
    program = find_ripgrep() if understood.for_ripgrep else None
    stepwise = want.enough > 0 and len(paths) > MANY_FILES
    for part in portions(root, paths, FIRST_FILES if stepwise else 0):
        if program is not None:
            try:
                found = _ask(RipgrepRun(program, root, understood.pattern), part, want, stepwise)
                yield from found
                stepwise = stepwise and _is_common(found, len(part) / len(paths), want)
                continue
            except PatternRefused:
                program = None
        yield from search_texts(_read(root, part), understood, want)


def _ask(asked: RipgrepRun, paths: list[bytes], want: LineLimits, stepwise: bool) -> list[FileHits]:
    """Return ripgrep's hits; stepwise, only the lines of the first files that fill the limit."""
    if not (stepwise and want.lines):
        return list(ripgrep(asked, paths, want))
    counted = ripgrep(asked, paths, want._replace(lines=False))
    chosen = list(_enough(counted, want.enough))
    return list(ripgrep(asked, chosen, want)) if chosen else []


def _is_common(found: list[FileHits], share: float, want: LineLimits) -> bool:
    """Return whether all files, if like these, would have many more lines than wanted."""
    return sum(hits.lines for hits in found) > SPARE * want.enough * share


def _enough(counted: Iterable[FileHits], lines: int) -> Iterator[bytes]:
    """Yield the first files that together have enough lines."""
    for hits in counted:
        if lines <= 0:
            return
        lines -= hits.lines
        yield hits.path


def search_texts(
    texts: Iterable[tuple[bytes, bytes]], understood: ParsedPattern, want: LineLimits
) -> Iterator[FileHits]:
    """Yield hits in contents, in their order."""
    if not understood.is_plain:
        from gitindex.query.grep.engines.child import (
            search_slowly,  # lazily: subprocess costs 20 ms
        )

        yield from search_slowly(texts, understood.pattern, want)
        return
    regex = understood.pattern.compiled()
    for path, data in texts:
        hits = search_text(regex, data, want, whole=True) if understood.may_be_in(data) else []
        if hits:
            yield FileHits(path, len(hits), hits)


def _read(root: str, paths: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
    with ConfinedRoot(root) as disk:
        for path in paths:
            try:
                found = disk.read(path, MAX_TEXT_BYTES + 1)
            except PermissionError:
                continue
            if found is not None:
                yield path, found.data
