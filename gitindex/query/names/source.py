"""One file of a tree for name resolution: its symbols, imports and text."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any, NamedTuple

from gitindex.languages.facts import Import
from gitindex.languages.syntax.source import line_starts, read_source
from gitindex.languages.table import may_be_of

_FAMILIES = {
    "javascript": "ecma",
    "typescript": "ecma",
    "tsx": "ecma",
    "c": "c",
    "cpp": "c",
    "java": "jvm",
    "kotlin": "jvm",
    "scala": "jvm",
    "ocaml_interface": "ocaml",
}


def family_of(language: str) -> str:
    """Return the group of languages that can name each other's symbols."""
    return _FAMILIES.get(language, language)


def is_python(path: str) -> bool:
    """Can a file be of Python? By its name: a script without a suffix may be."""
    return may_be_of(path, ("python",))


class Definition(NamedTuple):
    """One symbol of the tree. Lines and columns are 0-based."""

    path: str
    ordinal: int
    name: str
    qualified: str
    kind: str
    line: int
    column: int
    start_line: int
    end_line: int
    signature: str
    parent: int
    exported: bool


class LiveFile(NamedTuple):
    """A live path: its blob, and the stored facts about it."""

    path: str
    oid: bytes
    language: str
    status: str
    flags: tuple[str, ...]

    @property
    def family(self) -> str:
        """The group of languages that can name each other's symbols."""
        return family_of(self.language)


class Text:
    """The bytes of a file as columns count them, and where its lines start."""

    def __init__(self, data: bytes) -> None:
        self.data = read_source(data).data
        self.decoded = self.data is not data

    @cached_property
    def starts(self) -> list[int]:
        return line_starts(self.data)


class FileNames:
    """One file: its symbols and imports, indexed by name."""

    def __init__(
        self, origin: LiveFile, symbols: list[Definition], imports: tuple[Import, ...]
    ) -> None:
        self.origin = origin
        self.path = origin.path
        self.language = origin.language
        self.symbols = symbols
        self.imports = imports
        self.notes: dict[Any, Any] = {}
        """Results computed from exactly these bytes."""

    @cached_property
    def _by_name(self) -> dict[str, list[Definition]]:
        found: dict[str, list[Definition]] = {}
        for symbol in self.symbols:
            found.setdefault(symbol.name, []).append(symbol)
        return found

    @cached_property
    def bindings(self) -> dict[str, list[tuple[Import, str]]]:
        """Imports by local name: the import, and the name in the imported module."""
        found: dict[str, list[tuple[Import, str]]] = {}
        for imported in self.imports:
            for name, local in imported.names:
                if local != "*":
                    found.setdefault(local, []).append((imported, name))
        return found

    @cached_property
    def stars(self) -> list[Import]:
        """Imports that bind names without listing them."""
        bare = self.origin.family != "ecma"  # in ECMA an import without names binds nothing
        return [i for i in self.imports if (bare and not i.names) or ("*", "*") in i.names]

    def named(self, name: str) -> list[Definition]:
        """Return all symbols with this name, at any depth."""
        return self._by_name.get(name, [])

    def children(self, parent: int, name: str) -> list[Definition]:
        """Return symbols with this name directly below another (-1: the module)."""
        return [symbol for symbol in self.named(name) if symbol.parent == parent]

    def symbol(self, ordinal: int) -> Definition | None:
        """Return the symbol with this ordinal; None at module level."""
        return self.symbols[ordinal] if 0 <= ordinal < len(self.symbols) else None


def enclosing(source: FileNames, line: int) -> Definition | None:
    """Return the innermost definition that contains a line."""
    around = [s for s in source.symbols if s.start_line <= line <= s.end_line]
    return max(around, key=lambda s: (s.start_line, -s.end_line, s.ordinal), default=None)


def place_of(definition: Definition) -> tuple[bytes, int, int]:
    """Sort key of definitions: path as bytes, then line and column."""
    return os.fsencode(definition.path), definition.line, definition.column
