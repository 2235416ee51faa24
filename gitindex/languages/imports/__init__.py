"""What an import means in one tree: a pure function of the tree's paths and a few of its files.

Nothing is stored: an edge can only be wrong if it is remembered after the tree changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property

from gitindex.languages.facts import Import
from gitindex.languages.imports import classpath, ecma, files, golang, python, rust
from gitindex.languages.imports.tree import Tree

_SEPARATORS = re.compile(r"::|[./\\]")
_MAIN = frozenset({"__init__", "index", "mod"})

Read = Callable[[str], bytes | None]
_Rule = Callable[[Tree, str, Import], Iterable[str]]

_RULES: dict[str, _Rule] = {
    "python": python.resolve,
    "javascript": ecma.resolve,
    "typescript": ecma.resolve,
    "tsx": ecma.resolve,
    "go": golang.resolve,
    "rust": rust.resolve,
    "java": classpath.resolve_type,
    "kotlin": classpath.resolve_type,
    "scala": classpath.resolve_type,
    "csharp": classpath.resolve_namespace,
    "php": classpath.resolve_php,
    "c": files.resolve_include,
    "cpp": files.resolve_include,
    "ruby": files.resolve_ruby,
    "lua": files.resolve_lua,
    "bash": files.resolve_beside,
    "css": files.resolve_beside,
    "dart": files.resolve_beside,
    "zig": files.resolve_beside,
}


class Resolver:
    """Resolves imports against one set of paths."""

    def __init__(self, paths: Iterable[str], read: Read) -> None:
        self._tree = Tree(paths, read)

    def resolve(self, path: str, language: str, imported: Import) -> tuple[str, ...]:
        """The files an import of `path` reaches, best first; empty where it leaves the tree."""
        rule = _RULES.get(language)
        if rule is None:
            return ()
        return tuple(dict.fromkeys(p for p in rule(self._tree, path, imported) if p != path))

    def may_hold(self, module: str) -> bool:
        """Does some file or folder of the tree have the last two names of a module, or its only one?"""
        parts = [part for part in _SEPARATORS.split(module) if part][-2:]
        return tuple(parts) in self._tails

    @cached_property
    def _tails(self) -> frozenset[tuple[str, ...]]:
        found: set[tuple[str, ...]] = set()
        for path in self._tree.paths:
            parts = path.split("/")
            parts[-1] = parts[-1].partition(".")[0]
            if parts[-1] in _MAIN:
                parts.pop()
            for end in range(1, len(parts) + 1):
                found.add((parts[end - 1],))
                found.add(tuple(parts[max(0, end - 2) : end]))
        return frozenset(found)
