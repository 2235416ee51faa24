"""Bare names: the scopes around a place, the module, what imports bind, what a package shares."""

from __future__ import annotations

import re
from enum import StrEnum
from itertools import takewhile
from typing import NamedTuple

from gitindex.binding.blocks import Blocks
from gitindex.binding.locals import Locals, bound_names
from gitindex.binding.project import Project
from gitindex.binding.signatures import Bound, parameters
from gitindex.binding.source import Definition, Source
from gitindex.binding.typed import typed_names
from gitindex.facts import Import
from gitindex.syntax.kinds import FUNCTIONS, SPACES, TYPES

ECMA = frozenset({"javascript", "typescript", "tsx"})
STRICT = ECMA | {"python"}
"""Here a name of another file is only in reach if an import binds it."""

_SHARED = frozenset({"go", "java", "kotlin", "scala", "csharp"})
"""Here the files of one folder see each other's names."""

MAX_HOPS = 8
"""Re-exports followed for one name."""

_DEFAULT = re.compile(
    rb"export\s+default\s+(?:async\s+)?(?:abstract\s+)?(?:function\s*\*?\s*|class\s+)?([\w$]+)"
)
_EXPORTED = re.compile(rb"export\s+(?:type\s+)?\{([^}]*)\}(?!\s*from)")


class State(StrEnum):
    """What is known of a name at one place."""

    DEFINED = "defined"  # definitions of the tree
    MODULE = "module"  # a file or package of the tree
    LOCAL = "local"  # a variable of the function around it
    OUTSIDE = "outside"  # something that is not in the tree
    UNBOUND = "unbound"  # nothing here binds it: a built-in, or a mistake
    UNKNOWN = "unknown"  # cannot be told from the text
    KEY = "key"  # a keyword argument or a key: a member of something


class Module(NamedTuple):
    """Files that one module name stands for."""

    paths: tuple[str, ...]
    name: str = ""  # as it is imported, to find what is below it
    home: str = ""  # the file that imports it


class Meaning(NamedTuple):
    """What a name stands for."""

    state: State
    definitions: tuple[Definition, ...] = ()
    module: Module | None = None
    bound: Bound | None = None  # of a local name
    within: Definition | None = None  # the function that binds it
    at: int = -1  # where it is bound


OUTSIDE = Meaning(State.OUTSIDE)
UNBOUND = Meaning(State.UNBOUND)
UNKNOWN = Meaning(State.UNKNOWN)


class Names:
    """Looks bare names up in one tree."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._imported: dict[tuple[str, Import, str], Meaning] = {}
        self._exports: dict[str, dict[str, str]] = {}

    def lookup(
        self, source: Source, name: str, scope: int, at: int = -1, of_type: bool = False
    ) -> Meaning:
        """The meaning of a bare name inside the symbol `scope` (-1: at module level).

        `at` is its place in the text, which languages with block scopes need; `of_type`: a type is
        expected there.
        """
        if source.language in ECMA and at >= 0:
            found = self._in_blocks(source, name, at, of_type)
            if found is not None:
                return found
        here = scope
        while (symbol := source.symbol(here)) is not None:
            kids = source.children(here, name)
            if symbol.kind in FUNCTIONS:
                if kids:
                    return defined(kids)
                bound = self._locals_of(source, symbol).get(name)
                if bound is not None:
                    return Meaning(State.LOCAL, bound=bound, within=symbol)
            elif kids and (here == scope or source.language not in STRICT):
                return defined(kids)
            here = symbol.parent
        return self._in_module(source, name)

    def _locals_of(self, source: Source, function: Definition) -> Locals:
        """Names a function binds itself, parameters included."""
        if source.language in ECMA:
            return {}
        known: Locals | None = source.notes.get(function.ordinal)
        if known is None:
            text = self._own_text(source, function)
            if source.language == "python":
                known = bound_names(text) | dict(parameters(self.header(source, function)))
            else:
                known = typed_names(text, source.language)
            source.notes[function.ordinal] = known
        return known

    def _in_blocks(self, source: Source, name: str, at: int, of_type: bool) -> Meaning | None:
        """A name that a block around the place declares: a symbol, or a variable without one."""
        found = self._blocks_of(source).find(name, at, of_type)
        if found is None:
            return None
        for symbol in source.named(name):
            if self.project.offset(source.path, symbol.line, symbol.column) == found.offset:
                return defined([symbol])
        return Meaning(State.LOCAL, bound=found.bound, at=found.offset)

    def _blocks_of(self, source: Source) -> Blocks:
        known: Blocks | None = source.notes.get("blocks")
        if known is None:
            known = source.notes["blocks"] = Blocks(self.project.text(source.path))
        return known

    def header(self, source: Source, definition: Definition) -> str:
        """The signature; read again where the stored one was cut."""
        if not definition.signature.endswith("…"):
            return definition.signature
        last = min(definition.end_line, definition.line + 60)
        return " ".join(self.project.span(source.path, definition.line, last).split())

    def exported(
        self, paths: tuple[str, ...], name: str, seen: frozenset[str] = frozenset()
    ) -> Meaning:
        """What a module offers under a name: its own, passed on, or by a star."""
        outside = False
        for path in paths:
            source = self.project.source(path)
            if source is None or path in seen or len(seen) > MAX_HOPS:
                continue
            found = self._offered(source, name, seen | {path})
            if found.state in (State.DEFINED, State.MODULE):
                return found
            outside = outside or found.state is State.OUTSIDE
        return OUTSIDE if outside else UNKNOWN

    def imported(
        self, source: Source, item: Import, name: str, seen: frozenset[str] = frozenset()
    ) -> Meaning:
        """What one name of an import means."""
        key = (source.path, item, name)
        if key not in self._imported:
            found = self._import(source, item, name, seen)
            if seen:  # imports may go in circles: what is seen from half-way is not the whole
                return found
            self._imported[key] = found
        return self._imported[key]

    def below(self, module: Module, name: str) -> Meaning:
        """A name of a module: what it offers, or a module below it."""
        found = self.exported(module.paths, name)
        home = self.project.source(module.home) if module.name else None
        if found.state is State.UNKNOWN and home is not None and home.language == "python":
            inner = f"{module.name}.{name}"
            paths = self.project.resolve(home, Import(inner, (), 0, 0))
            if paths:
                return _module(paths[:1], inner, home.path)
        return found

    def _own_text(self, source: Source, function: Definition) -> str:
        """The text of a function with the named functions inside it taken out."""
        text = self.project.span(source.path, function.start_line, function.end_line)
        last = function.end_line
        after = takewhile(lambda s: s.start_line <= last, source.symbols[function.ordinal + 1 :])
        inner = [
            s for s in after if s.kind in FUNCTIONS and function.start_line < s.start_line <= last
        ]
        if not inner:
            return text
        lines = text.split("\n")
        for symbol in inner:
            first = symbol.start_line - function.start_line
            end = min(symbol.end_line - function.start_line, len(lines) - 1)
            lines[first : end + 1] = [""] * (end - first + 1)
        return "\n".join(lines)

    def _in_module(self, source: Source, name: str) -> Meaning:
        top = self._top(source, name)
        if top and source.language in ECMA and name in source.bindings:
            top = [symbol for symbol in top if self._is_outermost(source, symbol)]
        if name in source.bindings:  # `mod a;` names a file, and is a symbol
            top = [symbol for symbol in top if symbol.kind not in SPACES]
        if top:
            return defined(top)
        for item, there in source.bindings.get(name, ()):
            found = self.imported(source, item, there)
            if found.state is not State.UNKNOWN:
                return found
        if name in source.bindings:
            return UNKNOWN
        found = self._starred(source, name, frozenset({source.path}))
        if found.state is State.DEFINED:
            return found
        if source.language in _SHARED:
            return self._beside(source, name)
        if source.language in ECMA and not source.imports and not _exports_any(source):
            return UNKNOWN  # a script: it shares one scope with the others
        return UNBOUND if source.language in STRICT else UNKNOWN

    def _top(self, source: Source, name: str) -> list[Definition]:
        """Symbols at module level; a namespace around them does not count."""
        found = source.children(-1, name)
        if found or source.language in STRICT:
            return found
        return [s for s in source.named(name) if self._is_grouped(source, s)]

    def _is_outermost(self, source: Source, symbol: Definition) -> bool:
        """Not in a function without a name: those are no symbols, and no parents."""
        at = self.project.offset(source.path, symbol.line, symbol.column)
        return self._blocks_of(source).is_top(at)

    @staticmethod
    def _is_grouped(source: Source, definition: Definition) -> bool:
        outer = source.symbol(definition.parent)
        while outer is not None and outer.kind in SPACES:
            outer = source.symbol(outer.parent)
        return outer is None

    def _beside(self, source: Source, name: str) -> Meaning:
        """Definitions of the same package: the same folder."""
        folder = source.path.rpartition("/")[0]
        near = [
            d
            for d in self.project.definitions(name)
            if d.path.rpartition("/")[0] == folder and self._is_family(source, d) and d.parent < 0
        ]
        return defined(near) if near else UNKNOWN

    def _is_family(self, source: Source, definition: Definition) -> bool:
        other = self.project.source(definition.path)
        return other is not None and other.origin.family == source.origin.family

    def _offered(self, source: Source, name: str, seen: frozenset[str]) -> Meaning:
        if source.language in ECMA:
            name = self.renamed(source).get(name, name)
        found = self._top(source, name)
        if source.language in ECMA:
            found = [symbol for symbol in found if symbol.exported] or found
        if found:
            return defined(found)
        for item, there in source.bindings.get(name, ()):
            passed_on = self.imported(source, item, there, seen)
            if passed_on.state is not State.UNKNOWN:
                return passed_on
        if source.language not in STRICT and source.named(name):
            return defined(source.named(name))
        return self._starred(source, name, seen)

    def _starred(self, source: Source, name: str, seen: frozenset[str]) -> Meaning:
        """Through imports that bind everything: stars, includes, namespaces."""
        for star in source.stars:
            paths = self.project.resolve(source, star)
            self.project.load(paths)
            found = self.exported(paths, name, seen)
            if found.state in (State.DEFINED, State.MODULE):
                return found
        return UNKNOWN

    def renamed(self, source: Source) -> dict[str, str]:
        """Exported name → local name, where they differ."""
        if source.path not in self._exports:
            data = self.project.text(source.path)
            names = {}
            if default := _DEFAULT.search(data):
                names["default"] = default.group(1).decode()
            for listed in _EXPORTED.findall(data):
                for item in listed.decode("utf-8", "replace").split(","):
                    words = item.split()
                    if len(words) >= 3 and words[-2] == "as":
                        names[words[-1]] = words[-3]
            self._exports[source.path] = names
        return self._exports[source.path]

    def _import(self, source: Source, item: Import, name: str, seen: frozenset[str]) -> Meaning:
        if source.language == "python":
            return self._python(source, item, name, seen)
        if source.language in ECMA:
            paths = self.project.resolve(source, item)
            if not paths:
                return UNKNOWN if item.module.startswith(".") else OUTSIDE
            return _module(paths) if name == "*" else self.exported(paths, name, seen)
        paths = self.project.resolve(source, item._replace(names=((name, name),)))
        if not paths:
            return OUTSIDE
        if source.language == "go":
            return _module(paths, item.module, source.path)
        found = self.exported(paths, name, seen)
        if found.state is State.DEFINED:
            return found
        return _module(paths, item.module, source.path)

    def _python(self, source: Source, item: Import, name: str, seen: frozenset[str]) -> Meaning:
        bare = item._replace(names=())
        if name == item.module and not item.level and self._is_plain(source, item):
            return self._python_module(source, item)
        paths = self.project.resolve(source, bare)[:1]
        found = self.exported(paths, name, seen) if source.path not in paths else UNKNOWN
        if found.state in (State.DEFINED, State.MODULE):
            return found
        below = self.project.resolve(source, item._replace(names=((name, name),)))
        inner = [path for path in below if path not in paths]
        if inner:
            dotted = f"{item.module}.{name}" if not item.level else ""
            return _module((inner[0],), dotted, source.path)
        return UNKNOWN if paths or item.level else OUTSIDE

    def _is_plain(self, source: Source, item: Import) -> bool:
        """`import a`, which the facts of `from a import a` look like."""
        if len(item.names) != 1 or "." in item.module:
            return len(item.names) == 1
        line = self.project.span(source.path, item.line, item.line).lstrip()
        return not line.startswith("from")

    def _python_module(self, source: Source, item: Import) -> Meaning:
        """`import a.b` binds `a`; with an alias, `a.b` itself."""
        [(_, local)] = item.names
        dotted = item.module.partition(".")[0]
        dotted = dotted if local == dotted else item.module
        paths = self.project.resolve(source, Import(dotted, (), 0, item.line))
        if paths or self.project.resolve(source, item):
            return _module(paths[:1], dotted, source.path)
        return OUTSIDE


def defined(found: list[Definition]) -> Meaning:
    """Definitions as a meaning."""
    return Meaning(State.DEFINED, tuple(found))


def _module(paths: tuple[str, ...], name: str = "", home: str = "") -> Meaning:
    return Meaning(State.MODULE, module=Module(paths, name, home))


def _exports_any(source: Source) -> bool:
    return any(symbol.exported for symbol in source.symbols)


def is_type(definition: Definition) -> bool:
    """A class or whatever has members."""
    return definition.kind in TYPES
