"""Resolves imports in one tree: a pure function of the tree's paths and a few of its rules.

Nothing is stored, so an edge cannot outlive a change of the tree.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cached_property

from gitindex.base.pattern import compile_later
from gitindex.languages.facts import Import
from gitindex.languages.imports import ecma, rules
from gitindex.languages.imports.tree import Tree

_SEPARATORS = compile_later(r"::|[./\\]")
_NODE_MODULES = """
    assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns
    domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring
    readline repl stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads
    zlib
"""
NODE_MODULES = frozenset(_NODE_MODULES.split())
"""Node's built-in modules."""

Read = Callable[[str], bytes | None]
_Rule = Callable[[Tree, str, Import], Iterable[str]]

_RULES: dict[str, _Rule] = {
    "python": rules.resolve_python,
    "javascript": ecma.resolve,
    "typescript": ecma.resolve,
    "tsx": ecma.resolve,
    "go": rules.resolve_go,
    "rust": rules.resolve_rust,
    "java": rules.resolve_type,
    "kotlin": rules.resolve_type,
    "scala": rules.resolve_type,
    "csharp": rules.resolve_namespace,
    "php": rules.resolve_php,
    "c": rules.resolve_include,
    "cpp": rules.resolve_include,
    "ruby": rules.resolve_ruby,
    "lua": rules.resolve_lua,
    "bash": rules.resolve_beside,
    "css": rules.resolve_beside,
    "dart": rules.resolve_beside,
    "zig": rules.resolve_beside,
}


class Resolver:
    """Resolves imports against one set of paths."""

    def __init__(self, paths: Iterable[str], read: Read) -> None:
        self._tree = Tree(paths, read)

    def resolve(
        self, path: str, language: str, imported: Import, itself: bool = False
    ) -> tuple[str, ...]:
        """Return the files an import in `path` reaches, best first; empty if it leaves the tree.

        `itself`: also the file that imports, as in `use super::f` of an inline module of Rust.
        """
        rule = _RULES.get(language)
        if rule is None:
            return ()
        return tuple(
            dict.fromkeys(p for p in rule(self._tree, path, imported) if itself or p != path)
        )

    def include_finder(self, module: str) -> Callable[[str], str | None]:
        """Return what tells the file that an include of C means in the files of a folder."""
        return rules.include_finder(self._tree, module)

    def is_certain(self, path: str, language: str, imported: Import) -> bool:
        """Can the import of a file mean at most one file?"""
        if language == "python":
            return bool(imported.level) or len(rules.python_roots(self._tree, imported.module)) <= 1
        if _RULES.get(language) is ecma.resolve:
            return ecma.is_certain(self._tree, path, imported)
        return True

    def is_outside(self, language: str, module: str) -> bool:
        """Is it certain that a module is outside the tree and does not re-export anything from it?

        True for the language's own modules, unless a file or folder of the tree has the same name,
        and in Go, where paths are exact, for what no module, vendor folder or `replace` holds.
        A third-party package may be the tree under another name (a mapped source folder, a
        bundler's alias), or re-export parts of the tree.
        """
        if language == "go":
            return rules.is_outside_go(self._tree, module)
        name = _SEPARATORS.split(module)[0]
        if language == "python":
            own = name in sys.stdlib_module_names
        else:
            own = module.startswith("node:") or name in NODE_MODULES
        return own and name not in self._words

    @cached_property
    def _words(self) -> frozenset[str]:
        """The names of all folders, and of all files up to their first dot."""
        parts = {part for path in self._tree.paths for part in path.split("/")}
        return frozenset(part.partition(".")[0] for part in parts)
