"""Language families and the files that mark their projects: one table."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import NamedTuple

from gitindex.languages.table import language_of


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
