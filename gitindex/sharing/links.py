"""Links to other local repositories: kept in the store as the user's act, never in the repository.

A reference crosses repositories by package identity: an import in one names a package that the other
declares, and what it names is found in the other's tree.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from gitindex.base.atomic_file import read_small, write_atomic
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import path_fields, safe_text
from gitindex.base.pattern import compile_later
from gitindex.base.worktree import Worktree, check_owner, find_worktree
from gitindex.git.command import try_git
from gitindex.languages.facts import Import, Occurrence, Use
from gitindex.query.impact.standing import imports_at
from gitindex.query.names.finder import Finder
from gitindex.query.names.memory import Memory
from gitindex.query.names.model import ECMA, Definition, FileNames, State
from gitindex.query.references import USES
from gitindex.sharing.packages import PROJECT_FILES, declared_packages
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import TreeView

MAX_LINKS = 32
"""Linked repositories: each is opened for every answer that asks for them."""
MAX_LOCK = 4 << 20
"""Bytes of a lock file that are read."""
FILE = "links.json"
_TOML = compile_later(r'name = "([^"]+)"\r?\nversion = "([\w.+-]+)"')
_LOCKS = {
    "uv.lock": _TOML,
    "poetry.lock": _TOML,
    "Cargo.lock": _TOML,
    "package-lock.json": compile_later(r'"node_modules/([^"]+)": \{\s*"version": "([\w.+-]+)"'),
    "go.mod": compile_later(r"(?m)^[ \t]*(?:require )?(\S+) (v[\w.+-]+)"),
    "requirements.txt": compile_later(r"(?m)^([\w.-]+)==([\w.+-]+)"),
    "pom.xml": compile_later(r"<artifactId>([^<]+)</artifactId>\s*<version>([\w.+-]+)</version>"),
}
"""The lock files of a tree's root, and how each writes a package and its version."""
CALLS = (Use.CALL, Use.DECORATOR)
_ECOSYSTEMS = {"python": "python", "go": "go", "rust": "cargo"} | dict.fromkeys(ECMA, "npm")

UNANSWERED = (GitIndexError, GateClosed, OSError)
"""What keeps one repository from answering: the others still do."""

Row = dict[str, Any]


def why_unanswered(error: BaseException) -> str:
    """Return in one line why a repository has no answer."""
    if isinstance(error, GateClosed):
        return safe_text(error.envelope["message"])
    message = error.message if isinstance(error, GitIndexError) else str(error)
    return safe_text(message)


def read_links(worktree: Worktree) -> list[str]:
    """Return the roots of the linked repositories, as they were added."""
    data = read_small(os.path.join(worktree.store, FILE))
    try:
        roots = json.loads(data) if data else []
    except ValueError:
        roots = None
    if not isinstance(roots, list) or not all(isinstance(root, str) for root in roots):
        hint = "`gitindex link remove --all`, then add them again"
        raise GitIndexError("the list of linked repositories is damaged", hint)
    return roots


def add_link(worktree: Worktree, folder: str) -> str:
    """Link a repository and return its root; refuses this one, and another user's."""
    check_owner(worktree)
    try:
        other = find_worktree(folder)
    except GitIndexError as error:
        raise GitIndexError(error.message, error.hint, Exit.USAGE) from None
    check_owner(other)
    if other.common_dir == worktree.common_dir:
        raise GitIndexError("a repository is not linked to itself", code=Exit.USAGE)
    roots = read_links(worktree)
    if other.root not in roots and len(roots) >= MAX_LINKS:
        raise GitIndexError(f"at most {MAX_LINKS} repositories are linked", code=Exit.USAGE)
    _write(worktree, [*roots, *([other.root] if other.root not in roots else [])])
    return other.root


def remove_link(worktree: Worktree, folder: str) -> str:
    """Remove a link, by its folder or name, and return its root; all without a folder."""
    check_owner(worktree)
    if not folder:
        _write(worktree, [])
        return ""
    roots = read_links(worktree)
    named = [r for r in roots if r == os.path.realpath(folder)]
    named = named or [r for r in roots if os.path.basename(r) == folder]
    if len(named) != 1:
        hint = "see `gitindex link list`"
        raise GitIndexError(f"not linked: {safe_text(folder)}", hint, Exit.USAGE)
    _write(worktree, [root for root in roots if root != named[0]])
    return named[0]


def _write(worktree: Worktree, roots: list[str]) -> None:
    os.makedirs(worktree.store, mode=0o700, exist_ok=True)
    write_atomic(os.path.join(worktree.store, FILE), json.dumps(roots).encode())


class Package(NamedTuple):
    """A package that a repository declares."""

    ecosystem: str
    name: str
    folder: str


class NameOrigin(NamedTuple):
    """A place that takes a name from a module which is not of its own repository."""

    path: str
    place: Occurrence
    language: str
    module: str
    names: list[str]  # in the module: a name, or a class and its member


class LinkedTree:
    """One tree, its packages, and the names in it."""

    def __init__(self, view: TreeView, memory: Memory | None = None) -> None:
        self.view = view
        self._memory = memory

    @cached_property
    def finder(self) -> Finder:
        """The names of the tree."""
        return Finder(self.view, self._memory)

    @cached_property
    def packages(self) -> list[Package]:
        """The packages that its project files declare."""
        names = [os.fsencode(name) for name in (*PROJECT_FILES, "__init__.py")]
        where = " OR ".join(["path=? OR substr(path, ?)=?"] * len(names))  # blobs have no GLOB
        given = [part for name in names for part in (name, -len(name) - 1, b"/" + name)]
        rows = self.view.rows(f"SELECT path FROM {{live}} WHERE {where}", *given)
        paths = (os.fsdecode(path) for (path,) in rows)
        return [Package(*row) for row in declared_packages(paths, self._read)]

    @cached_property
    def locked(self) -> dict[str, list[str]]:
        """The versions of other packages that its lock files name, by plain name."""
        found: dict[str, list[str]] = {}
        for raw, data in self.view.read(map(os.fsencode, _LOCKS)).items():
            text = data[:MAX_LOCK].decode("utf-8", "replace")
            for match in _LOCKS[os.fsdecode(raw)].finditer(text):
                found.setdefault(_plain(match[1]), []).append(match[2])
        return found

    def _read(self, paths: list[str]) -> dict[str, bytes]:
        found = self.view.read(map(os.fsencode, paths))
        return {os.fsdecode(raw): data for raw, data in found.items()}

    def may_serve(self, source: FileNames) -> bool:
        """Return whether the imports of a file of another repository may name a package of this one."""
        ecosystem = _ECOSYSTEMS.get(source.language)
        if ecosystem is None or source.language == "rust":  # `package::name` needs no `use`
            return True
        packages = [package for package in self.packages if package.ecosystem == ecosystem]
        return any(_is_of(p, i.module, source.language) for p in packages for i in source.imports)

    def is_imported_by(self, user: LinkedTree) -> bool:
        """Return whether the words of another tree's imports may name a package of this one."""
        words = {package.name.rpartition("/")[2] for package in self.packages}
        words |= {
            w for p in self.packages if p.ecosystem == "maven" for w in re.split(r"[.-]", p.name)
        }
        return bool(user.finder.project.written.files_with(words))

    def declares(self, origin: NameOrigin) -> bool:
        """Return whether an import of another repository may name a package of this one."""
        return origin.language not in _ECOSYSTEMS or bool(self._packages_of(origin))

    def find(self, origin: NameOrigin) -> list[Definition]:
        """Return what an import of another repository names here; empty if that is none of ours."""
        _, _, language, module, names = origin
        for package in self._packages_of(origin):
            home, inside = _inside(package, module, language, self._main(package))
            if definitions := self._find(home, language, inside, names):
                return definitions
        return [] if language in _ECOSYSTEMS else self._find("", language, module, names)

    def _packages_of(self, origin: NameOrigin) -> list[Package]:
        ecosystem = _ECOSYSTEMS.get(origin.language)
        same = (package for package in self.packages if package.ecosystem == ecosystem)
        return [p for p in same if _is_of(p, origin.module, origin.language)]

    def _find(self, home: str, language: str, module: str, names: list[str]) -> list[Definition]:
        """Return the definitions behind `module.name.member`, through re-exports and submodules."""
        binder, project = self.finder.binder, self.finder.project
        for at, name in enumerate(names):
            item = Import(module, ((name, name),) if language == "rust" else (), 0, 0)
            paths = project.tree.resolver.resolve(home, language, item)
            here = binder.names.modules.exported(tuple(paths), name).definitions if paths else ()
            if not here:
                sources = filter(None, map(project.source, paths))
                here = tuple(d for source in sources for d in source.children(-1, name))
            if here:
                found = list(here)
                for member in names[at + 1 :]:
                    members = binder.types.classes.members
                    found = [m for d in found for m in members(d, member, False)[0]]
                return found
            module = f"{module}{'::' if language == 'rust' else '.'}{name}"
        return []

    def _main(self, package: Package) -> str:
        """Return the file that an import of a package of npm reaches."""
        if package.ecosystem != "npm":
            return ""
        raw = os.fsencode(os.path.join(package.folder, "package.json"))
        try:
            fields = json.loads(self.view.read([raw]).get(raw, b"{}"))
            return str(fields.get("source") or fields.get("main") or "index")
        except (ValueError, AttributeError, RecursionError):
            return "index"


def _is_of(package: Package, module: str, language: str) -> bool:
    ends = {"python": ".", "rust": "::"}.get(language, "/")
    return module == package.name or module.startswith(package.name + ends)


def _inside(package: Package, module: str, language: str, main: str) -> tuple[str, str]:
    """Return a file of a package and the import that one would write in it for a module of it."""
    if language == "rust":
        root = os.path.join(package.folder, "src/package.rs")  # a file is never what it imports
        return root, "crate" + module[len(package.name) :]
    if language in ECMA:
        rest = module[len(package.name) + 1 :] or main.removeprefix("./")
        return os.path.join(package.folder, "package.js"), f"./{rest}"
    return "", module


class Crossing(NamedTuple):
    """A place in one repository that uses a definition of another."""

    path: str
    place: Occurrence
    definition: Definition


def origins(user: LinkedTree, name: str, definer: LinkedTree | None = None) -> Iterator[NameOrigin]:
    """Yield the places of a tree, under any alias, that take a name from another repository, or this one."""
    project = user.finder.project
    places = dict(project.places(name))
    for source in project.importing_name(name):
        aliases = {local for i in source.imports for there, local in i.names if there == name}
        for alias in aliases - {name}:
            more = project.places(alias, [source.path]).get(source.path, [])
            places[source.path] = [*places.get(source.path, ()), *more]
    project.load(places)
    for source in filter(None, map(project.source, places)):
        if definer is not None and not definer.may_serve(source):
            continue
        for place in places[source.path]:
            if origin := _origin(user.finder, source, place):
                yield NameOrigin(source.path, place, source.language, *origin)


def crossings(places: Iterable[NameOrigin], definer: LinkedTree, name: str) -> Iterator[Crossing]:
    """Yield the definitions of a name in another tree that some places use."""
    for origin in places:
        for definition in definer.find(origin) if definer.declares(origin) else ():
            if definition.name == name:
                yield Crossing(origin.path, origin.place, definition)


def _origin(user: Finder, source: FileNames, place: Occurrence) -> tuple[str, list[str]] | None:
    """Return the module of another repository that a place takes a name from, and the names in it."""
    if place.use == Use.IMPORT:
        return next((_from(source, *one) for one in imports_at(source, place)), None)
    at = user.project.offset(source.path, place.line, place.column)
    chain = user.binder.receiver(source, at) or ()
    if any(part.called for part in chain) or _is_ours(user, source, place, bool(chain)):
        return None
    first, *rest = (*(part.name for part in chain), place.name)
    return _bound(source, first, rest)


def _bound(source: FileNames, first: str, rest: list[str]) -> tuple[str, list[str]] | None:
    """Return the module of another repository that the first name of a chain is of, and the names in it."""
    for item, there in source.bindings.get(first, ()):
        if not item.level and not item.module.startswith("."):
            module, names = _from(source, item, there, first)
            return module, [*names, *rest]
    if source.language == "rust" and rest and first not in source.bindings:
        return first, rest  # `package::name` needs no `use`
    return None


def _is_ours(user: Finder, source: FileNames, place: Occurrence, member: bool) -> bool:
    """Return whether a place means something of its own tree, not what an import of its file binds."""
    meaning = user.binder.meaning(source, place)
    here = place.use == Use.DEFINITION or meaning.state in (State.LOCAL, State.KEY, State.MODULE)
    return here or any(d.path != source.path or member for d in meaning.definitions)


def _from(source: FileNames, item: Import, there: str, local: str = "") -> tuple[str, list[str]]:
    """Return the module of an import, and the name that it takes from it, if it takes one."""
    if source.language == "java":
        return item.module, [item.module.rpartition(".")[2]]
    if there == item.module and local == item.module.partition(".")[0]:
        return local, []  # `import a.b` binds `a`
    whole = there in ("*", item.module) or source.language == "go"
    return item.module, [] if whole else [there]


def crossing_rows(user: LinkedTree, found: Iterable[Crossing]) -> list[Row]:
    """Return places in another repository, by path and line, with their code."""
    rows = {}
    for one in found:
        text = user.finder.project.span(one.path, one.place.line, one.place.line).strip()
        rows[one.path, one.place.line, one.place.column] = {
            **path_fields(os.fsencode(one.path)),
            "line": one.place.line + 1,
            "column": one.place.column + 1,
            "use": USES[one.place.use],
            "text": safe_text(text[:240]),
            "tier": "package",
            "of": f"{safe_text(one.definition.path)}:{one.definition.line + 1}",
        }
    return [rows[key] for key in sorted(rows)]


def definition_row(definition: Definition) -> Row:
    """Return a definition in another repository that is used here."""
    return {
        **path_fields(os.fsencode(definition.path)),
        "line": definition.line + 1,
        "kind": definition.kind,
        "qualifiedName": definition.qualified,
        "signature": definition.signature,
    }


def locked_tag(home: LinkedTree, other: LinkedTree) -> str:
    """Return the tag of another repository whose version a lock file here names; empty if there is none."""
    names = dict.fromkeys(p.name for p in other.packages if p.folder.count("/") < 2)
    found = [version for name in names for version in home.locked.get(_plain(name), ())]
    tags = {
        tag: f"refs/tags/{tag}"
        for version in found
        for tag in (version, f"v{version.removeprefix('v')}", *(f"{n}-{version}" for n in names))
    }
    if not tags:
        return ""
    form = ("for-each-ref", "--format=%(refname)", "--")
    output = try_git(other.view.worktree.root, *form, *tags.values()).output.decode(
        "utf-8", "replace"
    )
    known = set(output.splitlines())
    return next((tag for tag, ref in tags.items() if ref in known), "")


def _plain(package: str) -> str:
    """Return the name of a package as all ways to write it are compared."""
    return package.lower().replace("_", "-")
