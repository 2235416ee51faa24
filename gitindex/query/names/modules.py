"""Exports of modules and meanings of imports: re-exports, stars, renamed and default exports."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property

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

_MANY = 3
"""Files of a package that are examined one by one; with more, only those that define the name."""

MAX_HOPS = 8
"""Re-exports followed for one name."""


class Modules:
    """Follows names between the modules of one tree."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._exports: dict[str, dict[str, tuple[Part, ...]]] = {}
        self._included: dict[tuple[str, str], Meaning] = {}
        self._includes = Includes(project)
        self._asked: dict[tuple[tuple[str, ...], str], Meaning] = {}

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
        if (paths, name) not in self._asked:
            self._asked[paths, name] = self._find_exported(paths, name, seen)
        return self._asked[paths, name]

    def _find_exported(self, paths: tuple[str, ...], name: str, seen: frozenset[str]) -> Meaning:
        if len(paths) > _MANY and paths[0].endswith(".go"):  # a package is of one language
            having = {d.path for d in self.project.definitions(name)}
            paths = tuple(path for path in paths if path in having)
        outside = False
        for source in self._unseen(paths, seen):
            found = self._offered(source, name, seen | {source.path})
            if found.state in (State.DEFINED, State.MODULE):
                return found
            outside = outside or found.state is State.OUTSIDE
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
            found = self._import(source, item, name, seen)
            resolver = self.project.tree.resolver
            certain = resolver.is_certain(source.path, source.language, item)
            if found.sure and not (certain and not self._may_be_elsewhere(source, item)):
                found = found._replace(sure=False)
            if seen:  # imports may be circular: a result inside a cycle is incomplete
                return found
            self._imported[key] = found
        return self._imported[key]

    def below(self, space: Module, name: str, seen: frozenset[str] = frozenset()) -> Meaning:
        """Return the meaning of a name in a module: its export, or a submodule."""
        found = self.exported(space.paths, name, seen)
        home = self.project.source(space.home) if space.name else None
        if found.state is State.UNKNOWN and home is not None and home.language == "python":
            inner = f"{space.name}.{name}"
            paths = self.project.resolve(home, Import(inner, (), 0, 0))
            if paths:
                return module(paths[:1], inner, home.path)
        return found

    def renamed(self, source: FileNames) -> dict[str, str]:
        """Return exported → local name where they differ; `=` is a whole CommonJS module."""
        exports = self._exports_of(source)
        return {out: local for out, chain in exports.items() if (local := _plain_name(chain))}

    def _exports_of(self, source: FileNames) -> dict[str, tuple[Part, ...]]:
        """Return exported name → the chain it stands for; empty for anything else."""
        if source.path not in self._exports:
            data = self.project.text(source.path)
            told = b"exports" in data or b"export " in data or b"export{" in data
            scopes = self.project.scopes(source.path) if told else None
            self._exports[source.path] = scopes.exports if scopes else {}
        return self._exports[source.path]

    def starred(self, source: FileNames, name: str, seen: frozenset[str]) -> Meaning:
        """Resolve a name through imports that bind everything: stars, includes, namespaces."""
        if source.origin.family == "c":
            return self._from_headers(source, name)
        found = []
        for star in source.stars:
            paths = self.project.resolve(source, star)
            self.project.load(paths)
            found.append(self.exported(paths, name, seen))
        found = [one for one in found if one.state in (State.DEFINED, State.MODULE)]
        if len(found) > 1:  # one hides the others
            return defined(dict.fromkeys(d for one in found for d in one.definitions))
        return found[0] if found else UNKNOWN

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
        found = self.starred(source, name, seen)
        known = all(self.project.resolve(source, star) for star in source.stars)
        return None if known and found.state is State.UNKNOWN else found

    def _offered(self, source: FileNames, name: str, seen: frozenset[str]) -> Meaning:
        if source.language in ECMA:
            name, chain = self._local_of(source, name)
            if chain or not name:
                return self._reexported(source, name, chain, seen) if chain else UNKNOWN
        found, passed_on = self._own(source, name), self._passed_on(source, name, seen)
        hidden = self.hidden(source, name, seen) if found or passed_on else None
        told = joined(passed_on, found, hidden)
        if told.state is not State.UNKNOWN:
            return told
        if source.language not in STRICT and source.named(name):
            return defined(source.named(name))
        return self.starred(source, name, seen)

    def _reexported(
        self, source: FileNames, name: str, chain: Sequence[Part], seen: frozenset[str]
    ) -> Meaning:
        """Return what `exports.name = a.b` gives: what the chain leads to, else the line itself."""
        found = self._chain(source, chain, seen)
        own = top_symbols(source, name) if found.state in (State.UNKNOWN, State.OUTSIDE) else []
        return defined(own, sure=found.state is State.OUTSIDE) if own else found

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
        found = top_symbols(source, name)
        if source.language not in ECMA:
            return found
        found = [symbol for symbol in found if symbol.exported] or found
        return found or self._of_whole(source, name)

    def _passed_on(self, source: FileNames, name: str, seen: frozenset[str]) -> list[Meaning]:
        """Return what a module imports under a name, and that more may take its place."""
        bound = source.bindings.get(name, ())
        found = [self.imported(source, item, there, seen) for item, there in bound]
        if source.language in ECMA and EXPORTED_MORE in self._exports_of(source):
            found.append(UNKNOWN)
        return found

    def _of_whole(self, source: FileNames, name: str) -> list[Definition]:
        """Return a member of the object or class that a CommonJS module exports as a whole."""
        local = _plain_name(self._exports_of(source).get(EXPORTED_WHOLE, ()))
        owners = top_symbols(source, local) if local else []
        found = [found for owner in owners for found in source.children(owner.ordinal, name)]
        return found or [s for s in source.named(name) if s.qualified == f"{local}.{name}"]

    def _chain(self, source: FileNames, parts: Sequence[Part], seen: frozenset[str]) -> Meaning:
        """Return the meaning of a re-exported `require('./a')` or `require('./a').b`."""
        if not parts[0].load or any(part.called for part in parts[1:]):
            return UNKNOWN
        found = self.loaded(source, parts[0].load, seen)
        for part in parts[1:]:
            found = self.below(found.module, part.name, seen) if found.module else UNKNOWN
        return found

    def loaded(self, source: FileNames, name: str, seen: frozenset[str] = frozenset()) -> Meaning:
        """Return the module that `require('…')` or `import('…')` loads."""
        return self.imported(source, Import(name, (("*", "*"),), 0, 0), "*", seen)

    def _module(self, paths: tuple[str, ...], seen: frozenset[str]) -> Meaning:
        """Return a JavaScript module, with its CommonJS export as a whole if it has one."""
        whole = self.exported(paths, EXPORTED_WHOLE, seen)
        found = module(paths)
        if whole.module is not None:  # `module.exports = require('./a')`
            found = whole
        return found._replace(definitions=whole.definitions)

    def _import(self, source: FileNames, item: Import, name: str, seen: frozenset[str]) -> Meaning:
        if source.language == "python":
            return self._python(source, item, name, seen)
        if source.language in ECMA:
            paths = self.project.resolve(source, item)
            if not paths:
                return UNKNOWN if item.module.startswith(".") else self._outside(source, item)
            return self._module(paths, seen) if name == "*" else self.exported(paths, name, seen)
        paths = self.project.resolve(source, item._replace(names=((name, name),)))
        if not paths:
            return self._outside(source, item) if source.language == "go" else OUTSIDE
        if source.language == "go":
            return module(paths, item.module, source.path)
        found = self.exported(paths, name, seen)
        if found.state is State.DEFINED:
            return found
        return module(paths, item.module, source.path)

    def _python(self, source: FileNames, item: Import, name: str, seen: frozenset[str]) -> Meaning:
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
            told = (p.rpartition("/") for p in self.project.places("__path__"))
            notes["open_packages"] = tuple(f for f, _, name in told if name == "__init__.py")
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


def _plain_name(chain: Sequence[Part]) -> str:
    """Return the name that a chain is; empty for any other."""
    return chain[0].name if len(chain) == 1 and not chain[0].called else ""


def joined(imported: list[Meaning], own: list[Definition], hidden: Meaning | None) -> Meaning:
    """Return what a module binds to a name by its imports, its own definitions, and maybe a star."""
    found = [*imported, *([hidden._replace(sure=False)] if hidden else [])]
    known = [meaning for meaning in found if meaning.state is not State.UNKNOWN]
    others = [d for meaning in known for d in meaning.definitions]
    sure = len(known) == len(found) and all(meaning.sure for meaning in known)
    if own or (others and len(known) > 1):
        return defined(dict.fromkeys([*own, *others]), sure)
    return known[0]._replace(sure=sure) if known else UNKNOWN


def top_symbols(source: FileNames, name: str) -> list[Definition]:
    """Return symbols at module level, no members; an enclosing namespace is ignored."""
    found = source.children(-1, name)
    if source.language in MODELLED:
        own = (name, f"exports.{name}")
        return [s for s in found if s.qualified.removeprefix("module.") in own]
    if found:
        return found
    return [s for s in source.named(name) if _is_grouped(source, s)]


def _is_grouped(source: FileNames, definition: Definition) -> bool:
    outer = source.symbol(definition.parent)
    while outer is not None and outer.kind in SPACES:
        outer = source.symbol(outer.parent)
    return outer is None


class Includes:
    """The includes of one tree."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._includers: dict[str, set[str]] = project.tree.table("includers")

    def reach(self, path: str, header: str) -> bool:
        """Return whether a C file includes another one, directly or indirectly."""
        if header not in self._includers:
            found, todo = {header}, [header]
            while todo:
                new = self._including(todo.pop()) - found
                found |= new
                todo += new
            self._includers[header] = found - {header}
        return path in self._includers[header]

    def _including(self, header: str) -> set[str]:
        """Return the files whose includes resolve to a header.

        Computed once per tree for all headers of one name: there may be hundreds.
        """
        tree = self._project.tree
        known: dict[str, dict[str, set[str]]] = tree.table("including")
        name = header.rpartition("/")[2]
        if name not in known:
            found: dict[str, set[str]] = {}
            for module, paths in self._lines().get(name, {}).items():
                find = tree.resolver.include_finder(module)
                resolved: dict[str, set[str]] = {}  # by folder
                for path in paths:
                    folder, _, file = path.rpartition("/")
                    key = path if file == name else folder  # itself is no edge
                    if key not in resolved:
                        there = find(folder)
                        other = there if there != path else None
                        resolved[key] = found.setdefault(other, set()) if other else set()
                    resolved[key].add(path)
            known[name] = found
        return known[name].get(header, set())

    def _lines(self) -> dict[str, dict[str, list[str]]]:
        """Return all includes of a tree: file name → what is written → the files that have it."""
        notes = self._project.tree.notes
        if "includes" in notes:
            held: dict[str, dict[str, list[str]]] = notes["includes"]
            return held
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
