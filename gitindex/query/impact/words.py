"""Words shared by an import and the file it reaches: cheaper to compare than to resolve. Pure."""

from __future__ import annotations

import re

from gitindex.languages.facts import Import

_SEPARATORS = re.compile(r"[^\w$-]+")
_MAIN = frozenset({"__init__", "index", "mod", "lib", "main"})


def import_words(item: Import) -> set[str]:
    """Return the words of an import that file names may have; "" if it names no module."""
    words = {*_SEPARATORS.split(item.module), *(name for pair in item.names for name in pair)}
    words.add(item.module.rpartition("/")[2])
    return words


def file_words(path: str) -> set[str]:
    """Return the names an import may use for a file: with and without suffix, and its folder's.

    A file that represents its folder is also reached by an import without name: `from . import x`.
    """
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    found = {name, stem, folder.rpartition("/")[2]}
    if stem in _MAIN:
        found.add("")
    return found
