"""The imports of a tree as they are written, by their words: unresolved, so a word is only a hint."""

from __future__ import annotations

import json
import os
from functools import cached_property
from typing import NamedTuple

from gitindex.base.pattern import compile_later
from gitindex.languages.facts import Import
from gitindex.view.tree import TreeView

_SEPARATORS = compile_later(r"[^\w$-]+")
MAIN = frozenset({"__init__", "index", "mod", "lib", "main"})
"""Files that are imported by the name of their folder."""


class WrittenImport(NamedTuple):
    """One import, and all files that have it, with their languages."""

    module: str
    names: str  # as JSON
    level: int
    users: list[tuple[bytes, str]]

    def item(self) -> Import:
        """Return what an import resolver takes."""
        pairs = tuple((there, local) for there, local in json.loads(self.names))
        return Import(self.module, pairs, self.level, 0)

    def is_nameless(self) -> bool:
        """Return whether it names no module: `from . import x`."""
        return not self.module.strip("./")


class WrittenImports:
    """All imports of one tree; the same text in many files is one entry."""

    def __init__(self, view: TreeView) -> None:
        view.ensure_facts()
        users: dict[tuple[str, str, int, bool], list[tuple[bytes, str]]] = {}
        for path, language, *written in view.rows(
            "SELECT l.path, b.language, i.module, i.names, i.level FROM {live} l"
            " JOIN {imports} i ON i.blob_id=l.blob_id JOIN {blobs} b ON b.id=l.blob_id"
        ):
            users.setdefault((*written, language == "python"), []).append((path, language))
        self.entries = [WrittenImport(*key[:3], found) for key, found in users.items()]

    def with_words(self, words: set[str]) -> set[int]:
        """Return the numbers of the entries that have one of some words."""
        return {number for word in words for number in self._by_word.get(word, ())}

    def files_with(self, words: set[str]) -> set[str]:
        """Return the files whose imports have one of some words."""
        entries = (self.entries[number] for number in self.with_words(words))
        return {os.fsdecode(path) for entry in entries for path, _ in entry.users}

    @cached_property
    def _by_word(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, entry in enumerate(self.entries):
            words = set(_SEPARATORS.split(f"{entry.module} {entry.names}"))
            words.add(entry.module.rpartition("/")[2])
            if not entry.is_nameless():
                words.discard("")
            for word in words:
                found.setdefault(word, []).append(number)
        return found


def words_of_import(item: Import) -> set[str]:
    """Return the words of an import that `words_of_file` may have; "" if it names no module."""
    words = {*_SEPARATORS.split(item.module), *(name for pair in item.names for name in pair)}
    return words | {item.module.rpartition("/")[2]}


def words_of_file(path: str) -> set[str]:
    """Return the words an import may use for a file: with and without suffix, and its folder's.

    A file that represents its folder is also reached by an import without name, the empty word. A
    Python import always names the last part of the module's path.
    """
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    if stem not in MAIN and name.endswith((".py", ".pyi", ".pyx")):
        return {stem}
    found = {name, stem, folder.rpartition("/")[2]}
    return found | {""} if stem in MAIN else found
