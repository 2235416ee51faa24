"""Discovery: the contexts of one tree, from its paths and the content of its marker files. Pure.

A package file makes its folder a context of its family. A workspace or lock file fences its folder:
a workspace above the fence has no effect below it. A workspace decides which packages below it are
members; a package that it omits has no context, and its files have no owner. Files outside all
projects belong to the ambient context at the root. No folder is excluded by name: every tracked
file counts.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from gitindex.base.escape import safe_text
from gitindex.base.vocabulary import ContextKind
from gitindex.languages.imports.tree import parent, under
from gitindex.languages.table import language_of
from gitindex.semantic.contexts.workspaces import (
    WorkspaceMembers,
    WorkspaceSurroundings,
    is_virtual,
    read_members,
)

Read = Callable[[str], bytes | None]


class Context(NamedTuple):
    """One project of one family."""

    family: str
    root: str  # its folder; empty for the repository's root
    kind: ContextKind
    markers: tuple[str, ...]  # the files that create it, and those that configure it
    workspace: str | None  # folder of the workspace it is a member of
    config_hash: str  # hash of all files that configure it

    @property
    def name(self) -> str:
        """Return the context's name in commands and jobs."""
        return f"{self.family}:{safe_text(self.root) or '.'}"


class UnownedProject(NamedTuple):
    """A project that the surrounding workspace does not list: its files have no owner."""

    family: str
    root: str
    workspace: str


class Discovery(NamedTuple):
    """The contexts and left-out projects that a tree's marker files define."""

    contexts: tuple[Context, ...]  # by family and folder
    left_out: tuple[UnownedProject, ...]


def discover(tree: Mapping[str, str], read: Read) -> Discovery:
    """Return the contexts of a tree of paths and blob ids; `read` gives a file's content."""
    marks = _collect(tree)
    folders = _folders_of_families(tree)
    contexts: list[Context] = []
    left_out: list[UnownedProject] = []
    for family in FAMILIES:
        found = _OfFamily(family, marks.get(family.name, _Marks()), read)
        left_out += found.left_out
        kept = dict(found.projects())
        contexts += [found.context(root, kind, tree) for root, kind in kept.items()]
        holes = {hole.root for hole in found.left_out}
        here = folders.get(family.name, ())
        if not all(_is_owned(folder, kept.keys() | holes) for folder in here):
            contexts.append(found.context("", ContextKind.AMBIENT, tree))
    return Discovery(tuple(sorted(contexts)), tuple(sorted(left_out)))


def folders_up(folder: str) -> Iterator[str]:
    """Yield a folder and all its ancestors, up to the root."""
    while folder:
        yield folder
        folder = parent(folder)
    yield ""


class _Marks(NamedTuple):
    """Names of marker files by tier and folder."""

    packages: Mapping[str, set[str]] = {}
    workspaces: Mapping[str, set[str]] = {}
    locks: Mapping[str, set[str]] = {}
    config: Mapping[str, set[str]] = {}

    def of(self, folder: str) -> list[str]:
        """Return all marker files of one folder."""
        return sorted(under(folder, n) for tier in self for n in tier.get(folder, ()))


class _OfFamily:
    """The projects of one family in one tree."""

    def __init__(self, family: Family, marks: _Marks, read: Read) -> None:
        self._family = family
        self._marks = marks
        self._workspaces = self._read_workspaces(read)
        self._fences = {*marks.workspaces, *marks.locks, *self._workspaces}
        self._packages = {folder for folder in marks.packages if self._is_package(folder, read)}
        self.left_out = [
            UnownedProject(family.name, folder, workspace)
            for folder in sorted(self._packages)
            if (workspace := self._workspace_above(folder)) is not None
            and folder not in self._workspaces[workspace]
        ]

    def projects(self) -> Iterator[tuple[str, ContextKind]]:
        """Yield the folders of contexts; a fence without a package owns the files of no member."""
        holes = {hole.root for hole in self.left_out}
        for folder in sorted(self._packages - holes):
            if not self._is_part(folder):
                yield folder, ContextKind.PACKAGE
        for folder in sorted(self._fences - self._packages):
            yield folder, ContextKind.WORKSPACE

    def context(self, root: str, kind: ContextKind, tree: Mapping[str, str]) -> Context:
        workspace = self._workspace_above(root) if kind is ContextKind.PACKAGE else None
        own = self._marks.of(root)
        above = self._fence_files(root)
        digest = hashlib.sha256()
        for path in sorted({*own, *above}):
            digest.update(f"{path}\0{tree[path]}\0".encode("utf-8", "surrogateescape"))
        name = self._family.name
        return Context(name, root, kind, tuple(own), workspace, digest.hexdigest()[:32])

    def _read_workspaces(self, read: Read) -> dict[str, WorkspaceMembers]:
        folders = {*self._marks.workspaces, *self._marks.packages}
        project = WorkspaceSurroundings(self._marks.packages, read)
        found = {}
        for folder in sorted(folders):
            names = self._marks.workspaces.get(folder, set()) | self._marks.packages.get(
                folder, set()
            )
            members = read_members(self._family.name, folder, names, project)
            if members is not None:
                found[folder] = members
        return found

    def _is_package(self, folder: str, read: Read) -> bool:
        virtual = self._family.name == "rust" and folder in self._workspaces
        return not (virtual and is_virtual(read(under(folder, "Cargo.toml"))))

    def _workspace_above(self, folder: str) -> str | None:
        """Return the workspace that decides on a project: the closest with no fence in between."""
        if folder == "" or folder in self._fences:
            return None
        for above in folders_up(parent(folder)):
            if above in self._workspaces:
                return above
            if above in self._fences:
                return None
        return None

    def _is_part(self, folder: str) -> bool:
        """Is this package part of one above it, in a family where nested packages are parts?"""
        if not self._family.outermost or folder == "" or folder in self._fences:
            return False
        for above in folders_up(parent(folder)):
            if above in self._packages:
                return True
            if above in self._fences:
                return False
        return False

    def _fence_files(self, folder: str) -> list[str]:
        """Return the workspace and lock files of the closest fence around a folder."""
        for above in folders_up(folder):
            if above in self._fences:
                tiers = [self._marks.workspaces, self._marks.locks]
                if above in self._workspaces:
                    tiers.append(self._marks.packages)
                return [under(above, name) for tier in tiers for name in tier.get(above, ())]
        return []


def _collect(tree: Mapping[str, str]) -> dict[str, _Marks]:
    found: dict[str, _Marks] = {}
    for path in tree:
        folder, _, name = path.rpartition("/")
        for family, tier in marks_of(name):
            if family not in found:
                found[family] = _Marks(*(defaultdict(set) for _ in range(4)))
            getattr(found[family], tier)[folder].add(name)
    return found


def _folders_of_families(tree: Mapping[str, str]) -> dict[str, set[str]]:
    """Return the folders in which each family has files."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in tree:
        family = family_of(path)
        if family is not None:
            found[family].add(parent(path))
    return found


def _is_owned(folder: str, owners: set[str]) -> bool:
    return any(above in owners for above in folders_up(folder))


class Family(NamedTuple):
    """One row. File names are exact, or `*` followed by a suffix."""

    name: str
    languages: str
    packages: str = ""  # tier 2: such a file makes its folder a project
    workspaces: str = ""  # tier 1: fences its folder, and may list the projects below it
    locks: str = ""  # tier 1: fences its folder
    config: str = ""  # affects an indexer's output, but does not create a project
    outermost: bool = False  # a package file below another one is part of the same project


FAMILIES = (
    Family(
        "javascript",
        "javascript typescript tsx",
        "package.json",
        "pnpm-workspace.yaml lerna.json",
        "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock",
        "tsconfig.json tsconfig.base.json jsconfig.json",
    ),
    Family(
        "python",
        "python",
        "pyproject.toml setup.py Pipfile",
        "",
        "uv.lock poetry.lock Pipfile.lock pdm.lock",
        "setup.cfg requirements.txt pyrightconfig.json .python-version",
    ),
    Family("go", "go", "go.mod", "go.work", "", "go.sum"),
    Family("rust", "rust", "Cargo.toml", "", "Cargo.lock", "rust-toolchain rust-toolchain.toml"),
    Family(
        "jvm",
        "java kotlin scala",
        "pom.xml build.gradle build.gradle.kts build.sbt",
        "settings.gradle settings.gradle.kts",
        "gradle.lockfile",
        "gradle.properties",
    ),
    Family(
        "dotnet",
        "csharp",
        "*.csproj *.fsproj *.vbproj",
        "*.sln *.slnx",
        "packages.lock.json",
        "Directory.Build.props global.json",
    ),
    Family("ruby", "ruby", "Gemfile *.gemspec", "", "Gemfile.lock", ".ruby-version"),
    Family("php", "php", "composer.json", "", "composer.lock"),
    Family("swift", "swift", "Package.swift", "", "Package.resolved"),
    Family("elixir", "elixir", "mix.exs", "", "mix.lock"),
    Family(
        "haskell",
        "haskell",
        "*.cabal package.yaml",
        "cabal.project stack.yaml",
        "stack.yaml.lock cabal.project.freeze",
    ),
    Family(
        "cpp",
        "c cpp",
        "CMakeLists.txt meson.build configure.ac",
        "",
        "compile_commands.json",
        ".clangd",
        outermost=True,
    ),
    Family("shell", "bash"),
    Family("lua", "lua"),
    Family("dart", "dart"),
    Family("julia", "julia"),
    Family("ocaml", "ocaml ocaml_interface"),
    Family("zig", "zig"),
    Family("sql", "sql"),
    Family("terraform", "hcl"),
    Family("web", "html css"),
    Family("data", "json yaml toml"),
    Family("prose", "markdown"),
)
"""Families without marker files are syntactic only: no supported indexer reads them."""

BY_NAME = {family.name: family for family in FAMILIES}
_BY_LANGUAGE = {name: row.name for row in FAMILIES for name in row.languages.split()}
TIERS = ("packages", "workspaces", "locks", "config")


class Mark(NamedTuple):
    """What a file name means to one family."""

    family: str
    tier: str  # one of TIERS


def family_of(path: str) -> str | None:
    """Return the family of a file, by its name alone."""
    return _BY_LANGUAGE.get(language_of(os.fsencode(path), b""))


def is_marker(path: str) -> bool:
    """Can a change of this file change the owner of other files?"""
    return any(mark.tier != "config" for mark in marks_of(path.rpartition("/")[2]))


@lru_cache(maxsize=4096)
def marks_of(name: str) -> tuple[Mark, ...]:
    """Return the marks of a file name, for every family that uses it."""
    dot = name.rfind(".")
    ending = f"*{name[dot:]}" if dot > 0 else ""
    return _MARKS.get(name, ()) + _MARKS.get(ending, ())


def _marks() -> dict[str, tuple[Mark, ...]]:
    found: dict[str, tuple[Mark, ...]] = {}
    for row in FAMILIES:
        for tier in TIERS:
            for name in getattr(row, tier).split():
                found[name] = (*found.get(name, ()), Mark(row.name, tier))
    return found


_MARKS = _marks()
