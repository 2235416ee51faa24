"""Imports as written, with one reader per language. Resolves nothing."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitindex.languages.facts import Import
from gitindex.languages.syntax.imports import ecma, python
from gitindex.languages.syntax.imports.statements import STATEMENTS, Reader

if TYPE_CHECKING:
    from gitindex.languages.syntax.parser import Captures

_NODES = {"python": python.read, "javascript": ecma.read, "typescript": ecma.read, "tsx": ecma.read}


def read_imports(captures: Captures, starts: list[int], language: str) -> tuple[Import, ...]:
    """Return the imports of a blob in file order."""
    if language in _NODES:
        found = _NODES[language](captures)
    elif language in STATEMENTS:
        found = list(_statements(captures, STATEMENTS[language]))
    else:
        return ()
    # Readers give byte offsets: `start_point.row` of tree-sitter 0.26.0 crashes the process.
    ordered = sorted(found, key=lambda item: item.line)
    return tuple(item._replace(line=bisect_right(starts, item.line) - 1) for item in ordered)


def _statements(captures: Captures, reader: Reader) -> Iterator[Import]:
    for capture in ("import", "import.call", "import.module"):
        for node in captures.get(capture, ()):
            for module, names in reader(node):
                if module:
                    yield Import(module, names, 0, node.start_byte)
