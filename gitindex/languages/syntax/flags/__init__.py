"""Ambiguity flags of the contract: why the facts of a blob are not certain."""

from __future__ import annotations

from gitindex.languages.syntax.flags import common, ecma, python, reflection
from gitindex.languages.syntax.flags.reading import Detector, Reading

__all__ = ["Reading", "read_flags"]

_ECMA = {**common.DETECTORS, **common.DYNAMIC, **ecma.DETECTORS}
_OTHERS = {**common.DETECTORS, **reflection.DETECTORS}
_DETECTORS: dict[str, dict[str, Detector]] = {
    "python": {**common.DETECTORS, **common.DYNAMIC, **python.DETECTORS},
    "javascript": _ECMA,
    "typescript": _ECMA,
    "tsx": _ECMA,
}


def read_flags(reading: Reading, *, broken: bool, lossy: bool) -> tuple[str, ...]:
    """Return the flags of a blob, sorted."""
    detectors = _DETECTORS.get(reading.language, _OTHERS)
    flags = {name for name, detects in detectors.items() if detects(reading)}
    if broken:
        flags.add("parse_error")
    if lossy:
        flags.add("encoding_lossy")
    return tuple(sorted(flags))
