"""Exports of modules and meanings of imports: re-exports, stars, renamed and default exports."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property

from gitindex.base.vocabulary import FactsStatus
from gitindex.languages.facts import Import
from gitindex.languages.scopes.model import EXPORTED_MORE, EXPORTED_WHOLE, MODELLED, Part
from gitindex.languages.syntax.kinds import SPACES
from gitindex.query.names.model import (
    ECMA,
    OUTSIDE,
    STRICT,
    UNKNOWN,
    Definition,
    FileNames,
    Meaning,
    Module,
    State,
    defined,
    module,
)
from gitindex.query.names.project import Project

PACKAGED = frozenset({"java", "kotlin", "scala", "csharp", "php"})
"""Languages whose files declare what names their definitions have for other files."""
_NESTING = frozenset({"csharp", "scala"})
"""Languages where a package sees the names of those around it."""
_GLOBAL = frozenset({"csharp", "php"})
"""Languages where it sees what is in no package."""

_MANY = 3
"""Files of a package that are examined one by one; with more, only those that define the name."""

MAX_LINE = 1 << 30
MAX_HOPS = 8
"""Re-exports followed for one name."""

_PACKAGES = (
    "SELECT DISTINCT s.qualified_name FROM {symbols} s JOIN {live} l ON l.blob_id=s.blob_id"
    " WHERE s.kind IN ('package', 'namespace')"
)
_USING = (
    "SELECT l.path FROM {live} l JOIN {blobs} b ON b.id=l.blob_id WHERE b.language='csharp'"
    " AND NOT EXISTS (SELECT 1 FROM {symbols} s WHERE s.blob_id=b.id)"
)
"""Files of C# that define nothing: they have the `using` of a whole project."""


class Modules:
    """Follows names between the modules of one tree."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._exports: dict[str, dict[str, tuple[Part, ...]]] = {}
        self._included: dict[tuple[str, str], Meaning] = {}
        self._includes = Includes(project)
        self.packages = Packages(project)
        self._exported: dict[tuple[tuple[str, ...], str], Meaning] = {}

    @cached_property
    def _imported(self) -> dict[tuple[str, Import, str], Meaning]:
        """The meanings of imports, valid for the tree."""
        return self.project.tree.cache("imported")

    def exported(
        self, paths: tuple[str, ...], name: str, seen: frozenset[str] = frozenset()
    ) -> Meaning:
        """Return what a module exports under a name: its own, re-exported, or by a star."""
        if seen:
            return self._find_exported(paths, name, seen)
        if (paths, name) not in self._exported:
            self._exported[paths, name] = self._find_exported(paths, name, seen)
        return self._exported[paths, name]

    def _find_exported(self, paths: tuple[str, ...], name: str, seen: frozenset[str]) -> Meaning:
        if len(paths) > _MANY and paths[0].endswith(".go"):  # a package is of one language
            having = {d.path for d in self.project.definitions(name)}
            paths = tuple(path for path in paths if path in having)
        outside = False
        for source in self._unseen(paths, seen):
            meaning = self._offered(source, name, seen | {source.path})
            if meaning.state in (State.DEFINED, State.MODULE):
                return meaning
            outside = outside or meaning.state is State.OUTSIDE
        return OUTSIDE if outside else UNKNOWN

    def _unseen(self, paths: tuple[str, ...], seen: frozenset[str]) -> Iterator[FileNames]:
        """Yield the files of a module that re-exports have not led through yet."""
        for path in paths if len(seen) <= MAX_HOPS else ():
            source = self.project.source(path) if path not in seen else None
            if source is not None:
                yield source

    def imported(
        self, source: FileNames, item: Import, name: str, seen: frozenset[str] = frozenset()
    ) -> Meaning:
        """Return the meaning of one name of an import."""
        key = (source.path, item, name)
        if key not in self._imported:
            meaning = self._import(source, item, name, seen)
            resolver = self.project.tree.resolver
            certain = source.language in PACKAGED or resolver.is_certain(
                source.path, source.language, item
            )
            if meaning.sure and not (certain and not self._may_be_elsewhere(source, item)):
                meaning = meaning._replace(sure=False)
            if seen:  # imports may be circular: a result inside a cycle is incomplete
                return meaning
            self._imported[key] = meaning
        return self._imported[key]

    def below(self, space: Module, name: str, seen: frozenset[str] = frozenset()) -> Meaning:
        """Return the meaning of a name in a module: its export, or a submodule."""
        home = self.project.source(space.home) if space.name else None
        if home is not None and home.language in PACKAGED:
            return self.packages.member(home, f"{space.name}.{name}")
        if home is not None and home.language == "rust":
            file = self._rust_file(home, f"{space.name}::{name}")
            return file if file.module is not None else self.exported(space.paths, name, seen)
        meaning = self.exported(space.paths, name, seen)
        if meaning.state is State.UNKNOWN and home is not None and home.language == "python":
            inner = f"{space.name}.{name}"
            paths = self.project.resolve(home, Import(inner, (), 0, 0))
            if paths:
                return module(paths[:1], inner, home.path)
        return meaning

    def renamed(self, source: FileNames) -> dict[str, str]:
        """Return exported → local name where they differ; `=` is a whole CommonJS module."""
        exports = self._exports_of(source)
        return {out: local for out, chain in exports.items() if (local := _plain_name(chain))}

    def _exports_of(self, source: FileNames) -> dict[str, tuple[Part, ...]]:
        """Return exported name → the chain it stands for; empty for anything else."""
        if source.path not in self._exports:
            data = self.project.text(source.path)
            may_export = b"exports" in data or b"export " in data or b"export{" in data
            scopes = self.project.scopes(source.path) if may_export else None
            self._exports[source.path] = scopes.exports if scopes else {}
        return self._exports[source.path]

    def starred(self, source: FileNames, name: str, seen: frozenset[str]) -> Meaning:
        """Resolve a name through imports that bind everything: stars, includes, namespaces."""
        if source.origin.family == "c":
            return self._from_headers(source, name)
        if source.language in PACKAGED:
            return self.packages.starred(source, name)
        meanings = []
        for star in source.stars:
            if source.language == "rust":
                meanings.append(self._rust_path(source, [*star.module.split("::"), name], seen))
                continue
            paths = self.project.resolve(source, star)
            self.project.load(paths)
            meanings.append(self.exported(paths, name, seen))
        meanings = [one for one in meanings if one.state in (State.DEFINED, State.MODULE)]
        if len(meanings) > 1:  # one hides the others
            return defined(dict.fromkeys(d for one in meanings for d in one.definitions))
        return meanings[0] if meanings else UNKNOWN

    def _from_headers(self, source: FileNames, name: str) -> Meaning:
        """Return what the files that a file of C includes define under a name."""
        key = (source.path, name)
        if key not in self._included:
            near = self.project.definitions(name)
            seen = [d for d in near if self._includes.reach(source.path, d.path)]
            self._included[key] = defined(seen) if seen else UNKNOWN
        return self._included[key]

    def hidden(self, source: FileNames, name: str, seen: frozenset[str]) -> Meaning | None:
        """Return what a star may bind to a name that the module also binds; None if none can."""
        if source.language != "python" or not source.stars:
            return None
        meaning = self.starred(source, name, seen)
        known = all(self.project.resolve(source, star) for star in source.stars)
        return None if known and meaning.state is State.UNKNOWN else meaning

    def _offered(self, source: FileNames, name: str, seen: frozenset[str]) -> Meaning:
        if source.language in ECMA:
            name, chain = self._local_of(source, name)
            if chain or not name:
                return self._reexported(source, name, chain, seen) if chain else UNKNOWN
        own, passed_on = self._own(source, name), self._passed_on(source, name, seen)
        hidden = self.hidden(source, name, seen) if own or passed_on else None
        meaning = joined(passed_on, own, hidden)
        if meaning.state is not State.UNKNOWN:
            return meaning
        if source.language not in STRICT and source.named(name):
            return defined(source.named(name))
        return self.starred(source, name, seen)

    def _reexported(
        self, source: FileNames, name: str, chain: Sequence[Part], seen: frozenset[str]
    ) -> Meaning:
        """Return what `exports.name = a.b` gives: what the chain leads to, else the line itself."""
        meaning = self._chain(source, chain, seen)
        own = top_symbols(source, name) if meaning.state in (State.UNKNOWN, State.OUTSIDE) else []
        return defined(own, sure=meaning.state is State.OUTSIDE) if own else meaning

    def _local_of(self, source: FileNames, name: str) -> tuple[str, tuple[Part, ...]]:
        """Return the local name of an export of ECMAScript, or the chain that it stands for."""
        exports = self._exports_of(source)
        if name == "default" and name not in exports and name not in source.bindings:
            name = EXPORTED_WHOLE  # the CommonJS equivalent
        chain = exports.get(name, ())
        if chain and not (local := _plain_name(chain)):
            return name, chain
        return local if chain else "" if name == EXPORTED_WHOLE else name, ()

    def _own(self, source: FileNames, name: str) -> list[Definition]:
        """Return what a module defines under a name; in ECMAScript what it exports comes first."""
        symbols = top_symbols(source, name)
        if source.language not in ECMA:
            return symbols
        symbols = [symbol for symbol in symbols if symbol.exported] or symbols
        return symbols or self._of_whole(source, name)

    def _passed_on(self, source: FileNames, name: str, seen: frozenset[str]) -> list[Meaning]:
        """Return what a module imports under a name, and that more may take its place."""
        bound = source.bindings.get(name, ())
        meanings = [self.imported(source, item, there, seen) for item, there in bound]
        if source.language in ECMA and EXPORTED_MORE in self._exports_of(source):
            meanings.append(UNKNOWN)
        return meanings

    def _of_whole(self, source: FileNames, name: str) -> list[Definition]:
        """Return a member of the object or class that a CommonJS module exports as a whole."""
        local = _plain_name(self._exports_of(source).get(EXPORTED_WHOLE, ()))
        owners = top_symbols(source, local) if local else []
        members = [d for owner in owners for d in source.children(owner.ordinal, name)]
        return members or [s for s in source.named(name) if s.qualified == f"{local}.{name}"]

    def _chain(self, source: FileNames, parts: Sequence[Part], seen: frozenset[str]) -> Meaning:
        """Return the meaning of a re-exported `require('./a')` or `require('./a').b`."""
        if not parts[0].load or any(part.called for part in parts[1:]):
            return UNKNOWN
        meaning = self.loaded(source, parts[0].load, seen)
        for part in parts[1:]:
            meaning = self.below(meaning.module, part.name, seen) if meaning.module else UNKNOWN
        return meaning

    def loaded(self, source: FileNames, name: str, seen: frozenset[str] = frozenset()) -> Meaning:
        """Return the module that `require('…')` or `import('…')` loads."""
        return self.imported(source, Import(name, (("*", "*"),), 0, 0), "*", seen)

    def _module(self, paths: tuple[str, ...], seen: frozenset[str]) -> Meaning:
        """Return a JavaScript module, with its CommonJS export as a whole if it has one."""
        whole = self.exported(paths, EXPORTED_WHOLE, seen)
        itself = module(paths)
        if whole.module is not None:  # `module.exports = require('./a')`
            itself = whole
        return itself._replace(definitions=whole.definitions)

    def _import(self, source: FileNames, item: Import, name: str, seen: frozenset[str]) -> Meaning:
        if source.language == "python":
            return self._python(source, item, name, seen)
        if source.language in PACKAGED:
            return self.packages.imported(source, item.module, name)
        if source.language == "rust":
            path = item.module.split("::")
            meaning = self._rust_path(source, [*path, name], seen)
            itself = meaning.state is State.UNKNOWN and path[-1] == name  # `extern crate name`
            return self._rust_path(source, path, seen) if itself else meaning
        return self._from_files(source, item, name, seen)

    def _from_files(
        self, source: FileNames, item: Import, name: str, seen: frozenset[str]
    ) -> Meaning:
        """Return what the files that an import reaches have under a name."""
        if source.language in ECMA:
            paths = self.project.resolve(source, item)
            if not paths:
                return UNKNOWN if item.module.startswith(".") else self._outside(source, item)
            return self._module(paths, seen) if name == "*" else self.exported(paths, name, seen)
        paths = self.project.resolve(source, item._replace(names=((name, name),)))
        if source.language == "go":
            meaning = module(paths, item.module, source.path)
            return meaning if paths else self._outside(source, item)
        meaning = self.exported(paths, name, seen) if paths else OUTSIDE
        if meaning.state is State.DEFINED or not paths:
            return meaning
        return module(paths, item.module, source.path)

    def _rust_path(self, source: FileNames, path: list[str], seen: frozenset[str]) -> Meaning:
        """Return what a path of Rust leads to: modules that are files, and what is in one."""
        meaning, own = self.rust_start(source, path[0]), top_symbols(source, path[0])
        if meaning.state is State.UNKNOWN:
            meaning = defined(own) if own else OUTSIDE
        for part in path[1:]:
            meaning = self._rust_part(source, meaning, part, seen)
        return meaning

    def _rust_part(
        self, source: FileNames, outer: Meaning, part: str, seen: frozenset[str]
    ) -> Meaning:
        """Return what a name means in a module of Rust, a type or an inline module."""
        if outer.module is None:
            inner = (_inside(self.project, d, part) for d in outer.definitions)
            return (
                next((defined(one) for one in inner if one), UNKNOWN)
                if outer.definitions
                else outer
            )
        own = top_symbols(source, part) if source.path in outer.module.paths else []
        if own and (own[0].kind not in SPACES or own[0].end_line > own[0].line):
            return defined(own)  # a module that is a file has one line here
        return self.below(outer.module, part, seen)

    def rust_start(self, source: FileNames, name: str) -> Meaning:
        """Return the module that a path of Rust starts at: of this file, or the root of a crate."""
        if name == "self":
            return module((source.path,), name, source.path)
        return self._rust_file(source, name)

    def _rust_file(self, source: FileNames, path: str) -> Meaning:
        """Return the file that is a module of Rust by its path; UNKNOWN if none is."""
        name = path.rpartition("::")[2]
        files = self.project.resolve(source, Import(path, (), 0, 0))
        own = tuple(f for f in files if f"/{f}".endswith((f"/{name}.rs", f"/{name}/mod.rs")))
        paths = own if "::" in path and name != "super" else files
        return module(paths, path, source.path) if paths else UNKNOWN

    def _python(self, source: FileNames, item: Import, name: str, seen: frozenset[str]) -> Meaning:
        bare = item._replace(names=())
        if name == item.module and not item.level and self._is_plain(source, item):
            return self._python_module(source, item)
        paths = self.project.resolve(source, bare)[:1]
        meaning = self.exported(paths, name, seen) if source.path not in paths else UNKNOWN
        if meaning.state in (State.DEFINED, State.MODULE):
            return meaning
        below = self.project.resolve(source, item._replace(names=((name, name),)))
        inner = [path for path in below if path not in paths]
        if inner:
            dotted = f"{item.module}.{name}" if not item.level else ""
            return module((inner[0],), dotted, source.path)
        return UNKNOWN if paths or item.level else self._outside(source, item)

    def _outside(self, source: FileNames, item: Import) -> Meaning:
        """Return the meaning of an import outside the tree; sure for the language's own modules."""
        resolver = self.project.tree.resolver
        return OUTSIDE._replace(sure=resolver.is_outside(source.language, item.module))

    def _may_be_elsewhere(self, source: FileNames, item: Import) -> bool:
        """Return whether a package of Python on the way to a module also looks in other folders."""
        notes = self.project.tree.notes
        if "open_packages" not in notes:
            split_paths = (p.rpartition("/") for p in self.project.places("__path__"))
            notes["open_packages"] = tuple(f for f, _, name in split_paths if name == "__init__.py")
        folders: tuple[str, ...] = notes["open_packages"]
        if not folders or source.language != "python":
            return False
        paths = self.project.resolve(source, item)
        return any(path.startswith(f"{folder}/") for path in paths for folder in folders)

    def _is_plain(self, source: FileNames, item: Import) -> bool:
        """Tell `import a` from `from a import a`, which have the same facts."""
        if len(item.names) != 1 or "." in item.module:
            return len(item.names) == 1
        line = self.project.span(source.path, item.line, item.line).lstrip()
        return not line.startswith("from")

    def _python_module(self, source: FileNames, item: Import) -> Meaning:
        """Resolve `import a.b`: it binds `a`; with an alias, `a.b` itself."""
        [(_, local)] = item.names
        dotted = item.module.partition(".")[0]
        dotted = dotted if local == dotted else item.module
        paths = self.project.resolve(source, Import(dotted, (), 0, item.line))
        if paths or self.project.resolve(source, item):
            return module(paths[:1], dotted, source.path)
        return self._outside(source, item)


def _inside(project: Project, outer: Definition, name: str) -> list[Definition]:
    """Return what an enum, a type or an inline module of Rust has under a name."""
    source = project.source(outer.path)
    full = f"{outer.qualified}.{name}"
    return [d for d in source.named(name) if d.qualified == full] if source is not None else []


def _plain_name(chain: Sequence[Part]) -> str:
    """Return the name that a chain is; empty for any other."""
    return chain[0].name if len(chain) == 1 and not chain[0].called else ""


def joined(imported: list[Meaning], own: list[Definition], hidden: Meaning | None) -> Meaning:
    """Return what a module binds to a name by its imports, its own definitions, and maybe a star."""
    meanings = [*imported, *([hidden._replace(sure=False)] if hidden else [])]
    known = [meaning for meaning in meanings if meaning.state is not State.UNKNOWN]
    others = [d for meaning in known for d in meaning.definitions]
    sure = len(known) == len(meanings) and all(meaning.sure for meaning in known)
    if own or (others and len(known) > 1):
        return defined(dict.fromkeys([*own, *others]), sure)
    return known[0]._replace(sure=sure) if known else UNKNOWN


def top_symbols(source: FileNames, name: str) -> list[Definition]:
    """Return symbols at module level, no members; an enclosing namespace is ignored."""
    symbols = source.children(-1, name)
    if source.language in MODELLED:
        own = (name, f"exports.{name}")
        return [s for s in symbols if s.qualified.removeprefix("module.") in own]
    if source.language == "rust":  # what an `impl` has is no item of a module
        return [s for s in source.named(name) if _is_item(source, s)]
    if symbols:
        return symbols
    return [s for s in source.named(name) if _is_grouped(source, s)]


def _is_item(source: FileNames, definition: Definition) -> bool:
    own = definition.parent < 0 and definition.qualified == definition.name
    return own or (definition.parent >= 0 and _is_grouped(source, definition))


def _is_grouped(source: FileNames, definition: Definition) -> bool:
    outer = source.symbol(definition.parent)
    while outer is not None and outer.kind in SPACES:
        outer = source.symbol(outer.parent)
    return outer is None


class Packages:
    """Definitions by their full names: the package that their file declares, and the name in it."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, path: str, line: int = MAX_LINE) -> str:
        """Return the package that a file declares above a line; empty if there is none."""
        source = self._project.source(path)
        clauses = [s for s in source.symbols if s.kind == "package"] if source is not None else []
        above = [s.qualified for s in clauses if s.line <= line]
        nested = source is not None and source.language == "scala"
        return dotted(".".join(above if nested else above[-1:]))

    def find(self, source: FileNames, name: str) -> list[Definition]:
        """Return what has a full name in the languages of a file."""
        near = [d for d in self._near(name) if f".{name}".endswith(f".{d.qualified}")]
        self._project.load(d.path for d in near)
        family = source.origin.family
        definitions = [
            d for d in near if self._project.family(d) == family and self.full_name(d) == name
        ]
        return [d for d in definitions if d.kind != "package"]

    def _meaning(self, source: FileNames, definitions: list[Definition]) -> Meaning:
        """Return what is sure if only one file has it; in Java the nearest of several variants."""
        paths = {d.path for d in definitions}
        if len(paths) > 1 and source.language == "java":
            shared = {p: len(os.path.commonpath([p, source.path])) for p in paths}
            best = max(shared.values())
            definitions = [d for d in definitions if shared[d.path] == best]
        return defined(definitions, len(paths) == 1)

    def around(self, source: FileNames, name: str, package: str) -> Meaning:
        """Return what a name means in a package, or in one around it that it sees."""
        spaces = [package, *(_ends(package) if source.language in _NESTING else ())]
        if source.language in _GLOBAL:
            spaces.append("")
        by_space = (self.find(source, f"{space}.{name}".lstrip(".")) for space in spaces)
        return self._meaning(source, next(filter(None, by_space), []))

    def imported(self, source: FileNames, module_name: str, name: str) -> Meaning:
        """Return the meaning of one name of an import; what is sure has its full name."""
        full = dotted(module_name).replace(".Companion", "")  # whose members have no name of it
        if name not in (full.rpartition(".")[2], module_name):
            full = f"{full}.{name}"
        definitions = self.find(source, full) or self.find(source, f"{full}.{name}")
        if definitions:
            return self._meaning(source, definitions)
        if self.is_package(full):
            return module((), full, source.path)
        holders = [d for end in _ends(full) for d in self.find(source, end)]
        other = all(self._is_other(d, full) for d in self._near(full))
        return UNKNOWN if holders else OUTSIDE._replace(sure=other and source.language != "scala")

    def member(self, source: FileNames, full: str) -> Meaning:
        """Return what has a full name: definitions, or a package."""
        definitions = self.find(source, full)
        if definitions:
            return self._meaning(source, definitions)
        return module((), full, source.path) if self.is_package(full) else UNKNOWN

    def starred(self, source: FileNames, name: str) -> Meaning:
        """Return what the imports of whole packages or types bind to a name."""
        spaces = sorted(self._starred_spaces(source))
        definitions = [d for space in spaces for d in self.find(source, f"{space}.{name}")]
        return defined(definitions) if definitions else UNKNOWN

    def _starred_spaces(self, source: FileNames) -> set[str]:
        shared = self._global_usings() if source.language == "csharp" else []
        return {dotted(star.module) for star in source.stars} | set(shared)

    def visible(self, source: FileNames, definitions: list[Definition]) -> list[Definition]:
        """Return those of some definitions whose package a file is of, or imports."""
        package = self.of(source.path)
        spaces = {package, *(_ends(package) if source.language in _NESTING else ())}
        spaces |= self._starred_spaces(source) | {dotted(i.module) for i in source.imports}
        self._project.load(d.path for d in definitions)
        near = [d for d in definitions if self._project.family(d) == source.origin.family]
        homes = ((d, self.full_name(d)) for d in near)
        return [d for d, full in homes if full in spaces or not spaces.isdisjoint(_ends(full))]

    def is_package(self, name: str) -> bool:
        """Return whether some file declares a package, or one below it."""
        notes = self._project.tree.notes
        if "packages" not in notes:
            self._project.view.ensure_facts()
            rows = self._project.view.rows(_PACKAGES)
            packages = [dotted(row[0]).split(".") for row in rows]
            notes["packages"] = {".".join(p[:at]) for p in packages for at in range(1, len(p) + 1)}
        return name in notes["packages"]

    def _near(self, name: str) -> list[Definition]:
        return self._project.definitions(name.rpartition(".")[2])

    def full_name(self, definition: Definition) -> str:
        """Return the name that a definition has for other packages."""
        package = self.of(definition.path, definition.line)
        return f"{package}.{definition.qualified}" if package else definition.qualified

    def _is_other(self, definition: Definition, full: str) -> bool:
        """Return whether a definition is of a package, known as its file was parsed, that a name is not in.

        Java names a function of Kotlin by a class for its file: `a.b.ToolsKt.f`.
        """
        source = self._project.source(definition.path)
        package = self.of(definition.path, definition.line)
        parsed = source is not None and source.origin.status == FactsStatus.PARSED
        return parsed and not full.startswith(f"{package}.")

    def _global_usings(self) -> list[str]:
        """Return the namespaces that all files of C# use."""
        notes = self._project.tree.notes
        if "global_usings" not in notes:
            users = self._project.view.rows(_USING)
            paths = [os.fsdecode(path) for (path,) in users]
            self._project.load(paths)
            notes["global_usings"] = [
                item.module
                for source in filter(None, map(self._project.source, paths))
                for item in source.stars
                if self._project.span(source.path, item.line, item.line).startswith("global ")
            ]
        spaces: list[str] = notes["global_usings"]
        return spaces


def dotted(name: str) -> str:
    """Return a full name with points between its parts, also one of PHP."""
    return name.replace("\\", ".").strip(".")


def _ends(full: str) -> Iterator[str]:
    """Yield the full names of what is around a name."""
    while "." in full:
        full = full.rpartition(".")[0]
        yield full


class Includes:
    """The includes of one tree."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._includers: dict[str, set[str]] = project.tree.table("includers")

    def reach(self, path: str, header: str) -> bool:
        """Return whether a C file includes another one, directly or indirectly."""
        if header not in self._includers:
            includers, todo = {header}, [header]
            while todo:
                new = self._including(todo.pop()) - includers
                includers |= new
                todo += new
            self._includers[header] = includers - {header}
        return path in self._includers[header]

    def _including(self, header: str) -> set[str]:
        """Return the files whose includes resolve to a header.

        Computed once per tree for all headers of one name: there may be hundreds.
        """
        tree = self._project.tree
        known: dict[str, dict[str, set[str]]] = tree.table("including")
        name = header.rpartition("/")[2]
        if name not in known:
            includers: dict[str, set[str]] = {}
            for module, paths in self._lines().get(name, {}).items():
                find = tree.resolver.include_finder(module)
                resolved: dict[str, set[str]] = {}  # by folder
                for path in paths:
                    folder, _, file = path.rpartition("/")
                    key = path if file == name else folder  # itself is no edge
                    if key not in resolved:
                        there = find(folder)
                        other = there if there != path else None
                        resolved[key] = includers.setdefault(other, set()) if other else set()
                    resolved[key].add(path)
            known[name] = includers
        return known[name].get(header, set())

    def _lines(self) -> dict[str, dict[str, list[str]]]:
        """Return all includes of a tree: file name → what is written → the files that have it."""
        notes = self._project.tree.notes
        if "includes" in notes:
            includes: dict[str, dict[str, list[str]]] = notes["includes"]
            return includes
        self._project.view.ensure_facts()
        written: dict[str, list[str]] = {}
        for (
            raw,
            modules,
        ) in self._project.view.rows(  # a row per file: hundreds of thousands cost more
            "SELECT l.path, (SELECT group_concat(i.module, char(10)) FROM {imports} i"
            " WHERE i.blob_id=b.id) FROM {blobs} b JOIN {live} l ON l.blob_id=b.id"
            " WHERE b.language IN ('c', 'cpp')"
        ):
            path = os.fsdecode(raw)
            for name in modules.split("\n") if modules else ():
                written.setdefault(name, []).append(path)
        lines: dict[str, dict[str, list[str]]] = {}
        for name, users in written.items():
            lines.setdefault(name.rpartition("/")[2], {})[name] = users
        notes["includes"] = lines
        return lines


def locals_of(project: Project, path: str, out: str) -> list[str]:
    """Return the local names of a module's default export, or of a whole CommonJS module."""
    bound = _bound(project, ("default", "*") if out == EXPORTED_WHOLE else ("default",))
    homes = [path]
    for home in homes:  # grows during the loop: files that re-export the default
        homes += [
            importer
            for importer, there, local, paths in bound
            if there == local == "default" and home in paths and importer not in homes
        ]
    return [
        local
        for _, _, local, paths in bound
        if local != "default" and any(home in paths for home in homes)
    ]


def _bound(
    project: Project, listed: tuple[str, ...]
) -> list[tuple[str, str, str, tuple[str, ...]]]:
    """Return imports of some names: the importer, the name, what it is called there, the files."""
    view = project.view
    view.ensure_facts()
    importers = {
        os.fsdecode(row[0])
        for name in listed
        for row in view.rows(
            "SELECT DISTINCT l.path FROM {imports} i JOIN {live} l ON l.blob_id=i.blob_id"
            f" WHERE i.names LIKE '%[\"{name}\",%'"
        )
    }
    project.load(importers)
    sources = [s for s in map(project.source, sorted(importers)) if s and s.language in ECMA]
    return [
        (source.path, there, local, project.resolve(source, item))
        for source in sources
        for item in source.imports
        for there, local in item.names
        if there in listed and local != "*"
    ]
