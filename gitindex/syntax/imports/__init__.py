"""Imports as written, one reader per language. Resolves nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gitindex.facts import Import
from gitindex.syntax.imports import ecma, python

if TYPE_CHECKING:
    from gitindex.syntax.parser import Captures

Reader = Callable[["Captures"], list[Import]]

_READERS: dict[str, Reader] = {
    "python": python.read,
    "javascript": ecma.read,
    "typescript": ecma.read,
    "tsx": ecma.read,
}


def read_imports(captures: Captures, language: str) -> tuple[Import, ...]:
    """The imports of a blob in the order they stand."""
    reader = _READERS.get(language)
    return tuple(sorted(reader(captures), key=lambda item: item.line)) if reader else ()
