"""Bare names: enclosing scopes, the module, imports, names shared by a package, built-ins."""

from __future__ import annotations

import builtins
import io
from bisect import bisect_right
from collections.abc import Sequence

from gitindex.languages.facts import Import
from gitindex.languages.scopes.model import (
    CLASS,
    MODELLED,
    MODULE,
    TYPED,
    Declaration,
    FileScopes,
    Resolved,
)
from gitindex.languages.syntax.kinds import FUNCTIONS, SPACES
from gitindex.query.names.model import (
    ECMA,
    NOT_BOUND,
    OUTSIDE,
    STRICT,
    UNKNOWN,
    Definition,
    FileNames,
    Meaning,
    State,
    defined,
    is_type,
)
from gitindex.query.names.modules import PACKAGED, Modules, dotted, joined, top_symbols
from gitindex.query.names.project import Project

_ECMA_NAMES = """
Array ArrayBuffer BigInt Boolean Buffer DataView Date Error EvalError Function Infinity Intl JSON Map Math NaN
Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String Symbol SyntaxError TypeError
URIError WeakMap WeakSet arguments clearInterval clearTimeout console decodeURI decodeURIComponent encodeURI
encodeURIComponent globalThis isFinite isNaN parseFloat parseInt queueMicrotask setImmediate setInterval
setTimeout structuredClone undefined
"""
_ECMA = frozenset(_ECMA_NAMES.split())
_PYTHON = frozenset(dir(builtins)) | {
    "__file__",
    "__path__",
    "WindowsError",
    "unicode",
    "reveal_type",
}

_JAVA_NAMES = """
AutoCloseable Boolean Byte CharSequence Character Class ClassCastException ClassLoader Cloneable Comparable
Double Enum Error Exception Float IllegalArgumentException IllegalStateException IndexOutOfBoundsException
Integer Iterable Long Math NullPointerException Number NumberFormatException Object Runnable Runtime
RuntimeException Short String StringBuffer StringBuilder System Thread ThreadLocal Throwable
UnsupportedOperationException Void
"""
"""Of java.lang, without names that a package may well have, too: Module, Process, Record."""

BUILTINS: dict[str, frozenset[str]] = {
    "python": _PYTHON,
    "javascript": _ECMA,
    "typescript": _ECMA,
    "tsx": _ECMA,
    "java": frozenset(_JAVA_NAMES.split()),
}

_OWN_TYPES = (dict, list, set, str, bytes, int, io.TextIOWrapper, io.BytesIO)
_ECMA_METHODS = """
add apply at bind call catch charAt charCodeAt clear concat delete endsWith entries every exec filter
finally find findIndex flat flatMap forEach get has hasOwnProperty includes indexOf join keys lastIndexOf
map match next normalize pop push reduce repeat replace replaceAll reverse search set shift slice some sort
splice split startsWith substring test then toLowerCase toString toUpperCase trim unshift valueOf values
"""

METHODS: dict[str, frozenset[str]] = {
    "python": frozenset(n for t in _OWN_TYPES for n in dir(t) if not n.startswith("__")),
    **dict.fromkeys(("javascript", "typescript", "tsx"), frozenset(_ECMA_METHODS.split())),
}
"""Methods of a language's own strings, collections and files: no receiver is known by their names."""


_WRAPPERS_NAMES = """
Optional Annotated Final ClassVar Required NotRequired Awaitable Promise PromiseLike Readonly Partial
NonNullable ReadOnly InitVar Mapped
"""
WRAPPERS = frozenset(_WRAPPERS_NAMES.split())
"""Wrappers: the type argument is the type itself."""

_EACH_NAMES = """
list List Sequence MutableSequence Iterable Iterator Generator set Set FrozenSet frozenset Collection
deque Deque tuple Tuple Array Type ReadonlyArray AsyncIterator AsyncGenerator AsyncIterable ReadonlySet
"""
OF_EACH = frozenset(_EACH_NAMES.split())
"""Collections: the type argument is the type of an element."""

PASSING_EACH = frozenset({"map", "forEach", "filter", "some", "every", "find", "flatMap"})
"""Methods of collections that pass an element to a callback."""

_PLAIN_NAMES = """
str int float bool bytes dict list set tuple complex string number boolean void never symbol bigint Array
Map Set Record Promise Date RegExp Error open len sorted range print repr frozenset bytearray Object JSON
Math String Number console document window process Buffer Symbol Reflect Proxy WeakMap WeakSet
"""
PLAIN = frozenset(_PLAIN_NAMES.split())
"""Types whose instances have no members in the tree."""


_SHARED = PACKAGED | {"go"}
"""Languages where the files of one package see each other's names."""

_MAX_PATTERN = 30
"""Maximum lines of a destructuring pattern."""

_LOOSE = frozenset({"pattern", "hoisted"})
"""Declarations whose scope depends on control flow, or on the mode of JavaScript."""


class Names:
    """Resolves bare names in one tree."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.modules = Modules(project)
        self._beyond: dict[tuple[str, str, int, bool], Meaning] = {}

    def lookup(
        self,
        source: FileNames,
        name: str,
        scope: int,
        at: int = -1,
        of_type: bool = False,
        called: bool = False,
    ) -> Meaning:
        """Return the meaning of a bare name at an offset inside the symbol `scope`.

        `scope` is -1 at module level. `of_type`: a type is expected there; `called`: it is called.
        """
        scopes = self.project.scopes(source.path) if at >= 0 else None
        if scopes is not None and scopes.is_declared_inside(name):
            resolved = scopes.resolve(name, at, of_type, called)
            if resolved is None and of_type and source.language != "java":
                resolved = scopes.resolve(name, at)
            if resolved is not None and resolved.kind != MODULE:
                return self._local(source, scopes, name, resolved)
        key = (source.path, name, scope, of_type)
        if key not in self._beyond:  # the same wherever it stands in the symbol
            self._beyond[key] = self._around(*key[1:], source)
        return self._beyond[key]

    def _around(self, name: str, scope: int, of_type: bool, source: FileNames) -> Meaning:
        """Return the meaning of a name that no scope inside the module declares."""
        here = scope
        while (symbol := source.symbol(here)) is not None:
            kids = _children(source, here, name, of_type)
            if symbol.kind in FUNCTIONS:
                if kids and source.language not in MODELLED:
                    return defined(kids)
            elif kids and source.language not in STRICT:
                return defined(kids)
            elif merged := self._merged(source, symbol, name):
                return defined(merged)
            if near := self._bindings(source, name, symbol.ordinal):
                return self._bound_here(source, name, [], near)
            here = symbol.parent
        return self._in_module(source, name)

    def _merged(self, source: FileNames, space: Definition, name: str) -> list[Definition]:
        """Return what other declarations of a namespace have under a name, and those around it."""
        if source.language == "ruby" and name[:1].isupper():  # any file reopens classes, too
            return self._of_ruby(source, f"{space.qualified}.{name}")
        if space.kind not in SPACES:
            return []
        if source.language in PACKAGED:
            space_name = dotted(space.qualified)
            return list(self.modules.packages.around(source, name, space_name).definitions)
        outer = [(s, source.symbol(s.parent)) for s in source.named(name)]
        return [s for s, owner in outer if owner is not None and owner.qualified == space.qualified]

    def _local(
        self, source: FileNames, scopes: FileScopes, name: str, resolved: Resolved
    ) -> Meaning:
        """Return the meaning of a name that a scope inside the module declares."""
        sure = self._is_surely(source, scopes, name, resolved)
        imported = self._imported_by(source, name, resolved)
        if source.language in ECMA and imported and imported[0].module is not None:
            return imported[0]  # `const x = require('./x')` inside a function
        offsets = {d.offset for d in resolved.declarations}
        definitions = [
            symbol
            for symbol in source.named(name)
            if self.project.offset(source.path, symbol.line, symbol.column) in offsets
        ]
        definitions += [d for meaning in imported for d in meaning.definitions]
        if definitions:
            return defined(dict.fromkeys(definitions), sure)
        if imported:
            return imported[0]
        return self._variable(source, resolved)._replace(sure=sure)

    def _is_surely(
        self, source: FileNames, scopes: FileScopes, name: str, resolved: Resolved
    ) -> bool:
        """Return whether a name can mean nothing but what a scope declares."""
        if scopes.partial or any(d.kind in _LOOSE for d in resolved.declarations):
            return False
        if source.language in TYPED:
            return not self._may_hide(source, name, resolved)
        return not _may_be_outside(source, scopes, name, resolved)

    def _may_hide(self, source: FileNames, name: str, resolved: Resolved) -> bool:
        """Return whether something inside may hide what a scope declares: a member, an import, an item."""
        if resolved.kind == CLASS or name in source.bindings:
            return True
        within = self.function_at(source, resolved.declarations[0].offset)
        near = source.named(name) if within is not None else ()
        return any(within and within.start_line < s.line <= within.end_line for s in near)

    def _imported_by(self, source: FileNames, name: str, resolved: Resolved) -> list[Meaning]:
        """Return what declarations inside the module import or load."""
        imports = (d for d in resolved.declarations if d.kind == "import")
        meanings = [self.imported_at(source, name, d.offset) for d in imports]
        return meanings + [m for d in resolved.declarations if (m := self._loaded(source, name, d))]

    def _variable(self, source: FileNames, resolved: Resolved) -> Meaning:
        """Return a name that a scope declares and that is neither a symbol nor imported."""
        listed = resolved.declarations
        first = next((d for d in listed if d.bound.type or d.value[1]), listed[0])
        kind = first.bound.type
        member = resolved.kind == CLASS and first.kind != "typeparam" and source.language != "java"
        return Meaning(
            State.UNKNOWN if member else State.LOCAL,  # in Java of a class without a name
            bound=first.bound,
            within=self.function_at(source, first.offset),
            at=first.value[0] or (kind.at if kind else first.offset),
            variable=resolved.scope,
        )

    def _loaded(self, source: FileNames, name: str, declaration: Declaration) -> Meaning | None:
        """Resolve `const { name } = require('./x')` inside a function, else None."""
        if source.language not in ECMA or declaration.kind != "var":
            return None
        line = self.project.line(source.path, declaration.offset)
        near = [
            (item, there)
            for item, there in source.bindings.get(name, ())
            if line <= item.line <= line + _MAX_PATTERN
        ]
        if not near:
            return None
        item, there = min(near, key=lambda pair: pair[0].line)
        return self.modules.imported(source, item, there)

    def imported_at(self, source: FileNames, name: str, offset: int) -> Meaning:
        """Return what the nearest import at or before an offset binds to a name."""
        bound = source.bindings.get(name, ())
        starts = self.project.starts(source.path)
        before = [
            (item, there)
            for item, there in bound
            if item.line < len(starts) and starts[item.line] <= offset
        ]
        for item, there in sorted(before, key=lambda pair: -pair[0].line):
            return self.modules.imported(source, item, there)
        return UNKNOWN

    def function_at(self, source: FileNames, offset: int) -> Definition | None:
        """Return the innermost function whose head or body contains an offset."""
        line = bisect_right(self.project.starts(source.path), offset) - 1
        function = None
        for symbol in source.symbols:
            if symbol.start_line > line:
                break
            if symbol.kind in FUNCTIONS and line <= symbol.end_line:
                function = symbol
        return function

    def _in_module(self, source: FileNames, name: str) -> Meaning:
        """Return the meaning of a name at module level: bound there, or from other files."""
        top = top_symbols(source, name)
        bindings = self._bindings(source, name)
        if bindings:  # `mod a;` names a file, and is also a symbol
            top = [symbol for symbol in top if symbol.kind not in SPACES]
        if top or bindings:
            return self._bound_here(source, name, top, bindings)
        return self._from_others(source, name)

    def _bound_here(
        self,
        source: FileNames,
        name: str,
        top: list[Definition],
        bindings: Sequence[tuple[Import, str]],
    ) -> Meaning:
        """Return the meaning of a name that the module defines or imports."""
        hidden = self.modules.hidden(source, name, frozenset({source.path}))
        meaning = joined([self.modules.imported(source, *item) for item in bindings], top, hidden)
        whole = source.language in MODELLED and hidden is None
        return meaning._replace(sure=meaning.sure and whole)

    def _from_others(self, source: FileNames, name: str) -> Meaning:
        """Return the meaning of a name that the module neither defines nor imports."""
        if source.language not in ECMA:  # in ECMA a star only re-exports
            starred = self.modules.starred(source, name, frozenset({source.path}))
            if starred.state is State.DEFINED:
                return starred
        scopes = self.project.scopes(source.path) if source.language in MODELLED else None
        if scopes is not None and any(d.scope == 0 for d in scopes.declared(name)):
            whole = not scopes.partial and (source.language in ECMA or not source.stars)
            return Meaning(State.LOCAL, variable=0, sure=whole)
        if _is_shared(source, name):
            return self._beside(source, name)
        if source.language not in STRICT or _is_script(source):
            return UNKNOWN
        return NOT_BOUND

    def _bindings(
        self, source: FileNames, name: str, block: int = -1
    ) -> Sequence[tuple[Import, str]]:
        """Return the imports that bind a name; in Go the package's own clause names it.

        `block`: those directly in a function or an inline module of Rust, which end with it.
        """
        bound = source.bindings.get(name, [])
        if source.language == "rust":
            return [pair for pair in bound if _block_of(source, pair[0].line) == block]
        if block >= 0:
            return []
        others = self._named_otherwise(source) if source.language == "go" else {}
        if not others:
            return bound
        own = [(item, name) for item, clause in others.items() if clause == name]
        return [pair for pair in bound if pair[0] not in others] + own

    def _named_otherwise(self, source: FileNames) -> dict[Import, str]:
        """Return imports of Go without an alias whose package has another name than its folder."""
        known: dict[str, dict[Import, str]] = self.project.tree.cache("named_otherwise")
        if source.path not in known:
            clauses = ((item, self._clause(source, item)) for item in source.imports)
            known[source.path] = {item: clause for item, clause in clauses if clause}
        return known[source.path]

    def _clause(self, source: FileNames, item: Import) -> str:
        """Return the name of an imported package if it is not the last part of its path."""
        last = item.module.rpartition("/")[2]
        paths = self.project.resolve(source, item) if item.names == ((last, last),) else ()
        scopes = self.project.scopes(source.path) if paths else None
        if scopes is None or any(d.kind == "import" for d in scopes.declared(last)):
            return ""
        named = {d.path for d in self.project.definitions(last) if d.kind == "package"}
        home = self.project.source(paths[0]) if named.isdisjoint(paths) else None
        clauses = (s.name for s in home.symbols if s.kind == "package") if home else iter(())
        return next(clauses, "")

    def _beside(self, source: FileNames, name: str) -> Meaning:
        """Return definitions of the same package; those of Ruby's constants in any file."""
        near: Sequence[Definition]
        if source.language in PACKAGED:
            packages = self.modules.packages
            near = packages.around(source, name, packages.of(source.path)).definitions
        elif source.language == "ruby":
            near = self._of_ruby(source, name)
        else:
            near = self._of_package(source, name)
        if near:
            return defined(near, source.language == "go")
        own = source.language == "java" and name in BUILTINS["java"]
        return (
            OUTSIDE._replace(sure=True) if own and not self.project.definitions(name) else UNKNOWN
        )

    def _of_package(self, source: FileNames, name: str) -> list[Definition]:
        """Return what the package of a file of Go defines under a name."""
        found = [d for d in self.project.definitions(name) if d.qualified == name]
        self.project.load(d.path for d in found)
        homes = ((d, self.project.source(d.path)) for d in found)
        here = _package_of(source)
        return [d for d, home in homes if home is not None and _package_of(home) == here]

    def _of_ruby(self, source: FileNames, qualified: str) -> list[Definition]:
        """Return a constant of Ruby by its full name: they are global."""
        name = qualified.rpartition(".")[2]
        found = [d for d in self.project.definitions(name) if d.qualified == qualified]
        return [d for d in found if self.project.family(d) == source.origin.family]


def _package_of(source: FileNames) -> tuple[str, str]:
    """Return the package of a file of Go: its folder, and the clause, which tests may end in `_test`."""
    clause = next((s.name for s in source.symbols if s.kind == "package"), "")
    return source.path.rpartition("/")[0], clause


def _is_shared(source: FileNames, name: str) -> bool:
    """Return whether a name may be one of the package without an import."""
    return source.language in _SHARED or (source.language == "ruby" and name[:1].isupper())


def _may_be_outside(source: FileNames, scopes: FileScopes, name: str, resolved: Resolved) -> bool:
    """Return whether a name may mean something further out: Java inherits, Python has not bound it."""
    if source.language == "java":
        return resolved.through_class
    if source.language != "python" or resolved.kind != CLASS:
        return False
    return bool(source.stars) or any(d.scope == 0 for d in scopes.declared(name))


def _children(source: FileNames, parent: int, name: str, of_type: bool) -> list[Definition]:
    found = source.children(parent, name)
    separate = of_type and source.language == "java"  # which separates the names of types
    return list(filter(is_type, found)) if separate else found


def _block_of(source: FileNames, line: int) -> int:
    """Return the innermost function or inline module around a line; -1 for the file."""
    block = -1
    for symbol in source.symbols:
        if symbol.start_line > line:
            break
        is_block = symbol.kind in FUNCTIONS or symbol.start_line < symbol.end_line
        if line <= symbol.end_line and is_block and symbol.kind in (*FUNCTIONS, *SPACES):
            block = symbol.ordinal
    return block


def _is_script(source: FileNames) -> bool:
    """Return whether a file of ECMAScript is no module: scripts share one global scope."""
    exports = any(symbol.exported for symbol in source.symbols)
    return source.language in ECMA and not source.imports and not exports
