"""Bare names: the scopes around a place, the module, what imports bind, what a package shares."""

from __future__ import annotations

from itertools import takewhile

from gitindex.languages.syntax.kinds import FUNCTIONS, SPACES
from gitindex.query.names.blocks import Blocks
from gitindex.query.names.locals import Locals, bound_names
from gitindex.query.names.meanings import ECMA, STRICT, UNBOUND, UNKNOWN, Meaning, State, defined
from gitindex.query.names.modules import Modules, top_symbols
from gitindex.query.names.project import Project
from gitindex.query.names.signatures import parameters
from gitindex.query.names.source import Definition, FileNames
from gitindex.query.names.typed import typed_names

_SHARED = frozenset({"go", "java", "kotlin", "scala", "csharp"})
"""Here the files of one folder see each other's names."""


class Names:
    """Looks bare names up in one tree."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.modules = Modules(project)

    def lookup(
        self, source: FileNames, name: str, scope: int, at: int = -1, of_type: bool = False
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

    def _locals_of(self, source: FileNames, function: Definition) -> Locals:
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

    def _in_blocks(self, source: FileNames, name: str, at: int, of_type: bool) -> Meaning | None:
        """A name that a block around the place declares: a symbol, or a variable without one."""
        found = self._blocks_of(source).find(name, at, of_type)
        if found is None:
            return None
        for symbol in source.named(name):
            if self.project.offset(source.path, symbol.line, symbol.column) == found.offset:
                return defined([symbol])
        return Meaning(State.LOCAL, bound=found.bound, at=found.offset)

    def _blocks_of(self, source: FileNames) -> Blocks:
        known: Blocks | None = source.notes.get("blocks")
        if known is None:
            known = source.notes["blocks"] = Blocks(self.project.text(source.path))
        return known

    def header(self, source: FileNames, definition: Definition) -> str:
        """The signature; read again where the stored one was cut."""
        if not definition.signature.endswith("…"):
            return definition.signature
        last = min(definition.end_line, definition.line + 60)
        return " ".join(self.project.span(source.path, definition.line, last).split())

    def _own_text(self, source: FileNames, function: Definition) -> str:
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

    def _in_module(self, source: FileNames, name: str) -> Meaning:
        top = top_symbols(source, name)
        if top and source.language in ECMA and name in source.bindings:
            top = [symbol for symbol in top if self._is_outermost(source, symbol)]
        if name in source.bindings:  # `mod a;` names a file, and is a symbol
            top = [symbol for symbol in top if symbol.kind not in SPACES]
        if top:
            return defined(top)
        for item, there in source.bindings.get(name, ()):
            found = self.modules.imported(source, item, there)
            if found.state is not State.UNKNOWN:
                return found
        if name in source.bindings:
            return UNKNOWN
        found = self.modules.starred(source, name, frozenset({source.path}))
        if found.state is State.DEFINED:
            return found
        if source.language in _SHARED:
            return self._beside(source, name)
        if source.language in ECMA and not source.imports and not _exports_any(source):
            return UNKNOWN  # a script: it shares one scope with the others
        return UNBOUND if source.language in STRICT else UNKNOWN

    def _is_outermost(self, source: FileNames, symbol: Definition) -> bool:
        """Not in a function without a name: those are no symbols, and no parents."""
        at = self.project.offset(source.path, symbol.line, symbol.column)
        return self._blocks_of(source).is_top(at)

    def _beside(self, source: FileNames, name: str) -> Meaning:
        """Definitions of the same package: the same folder."""
        folder = source.path.rpartition("/")[0]
        near = [
            d
            for d in self.project.definitions(name)
            if d.path.rpartition("/")[0] == folder and self._is_family(source, d) and d.parent < 0
        ]
        return defined(near) if near else UNKNOWN

    def _is_family(self, source: FileNames, definition: Definition) -> bool:
        other = self.project.source(definition.path)
        return other is not None and other.origin.family == source.origin.family


def _exports_any(source: FileNames) -> bool:
    return any(symbol.exported for symbol in source.symbols)
