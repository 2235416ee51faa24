"""Probes a few files to decide whether a context is worth an indexer's time."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gitindex.base.vocabulary import ContextState, FactsStatus

LOOKED_AT = 5
_SOUND = (FactsStatus.PARSED, FactsStatus.PARTIAL)


def probed(paths: Iterable[str]) -> list[str]:
    """Return the files to probe: the shortest paths, ties by name."""
    return sorted(paths, key=lambda path: (len(path), path))[:LOOKED_AT]


def probe(paths: Iterable[str], status_of: Callable[[str], str | None]) -> ContextState:
    """Return the state of a context from the facts status of up to five of its files."""
    chosen = probed(paths)
    if not chosen:
        return ContextState.EMPTY
    sound = any(status_of(path) in _SOUND for path in chosen)
    return ContextState.VALID if sound else ContextState.FAILED
