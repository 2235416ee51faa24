"""Packages a repository declares, and packages a file imports: the edges between repositories."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable
from typing import Any

from gitindex.base.worktree import Worktree
from gitindex.git.command import read_blobs, try_git
from gitindex.languages.facts import BlobFacts, Import

MAX_FILES = 400
"""Project files that are read: a monorepo of 400 packages is read whole."""
_GO = re.compile(r"^module\s+(\S+)", re.MULTILINE)
_POM = re.compile(
    r"<(parent|dependencies|dependencyManagement|build|profiles|reporting)>.*?</\1>", re.DOTALL
)
"""Parts of a pom.xml that name other artifacts."""
_ARTIFACT = re.compile(r"<artifactId>\s*([\w.-]+)\s*</artifactId>")
PROJECT_FILES = ("pyproject.toml", "package.json", "go.mod", "Cargo.toml", "pom.xml")


def packages_of(worktree: Worktree, commit: str) -> list[list[str]]:
    """Return ecosystem, name and folder of each package that a commit's project files declare."""
    listed = try_git(worktree.root, "ls-tree", "-r", "-z", "--full-tree", commit).output
    oids: dict[str, str] = {}
    for record in filter(None, listed.split(b"\0")):
        meta, _, raw = record.partition(b"\t")
        oids[os.fsdecode(raw)] = meta.split(b" ")[2].decode()

    def read(paths: list[str]) -> dict[str, bytes]:
        contents = read_blobs(worktree.root, [oids[path] for path in paths])
        return {path: contents.get(oids[path], b"") for path in paths}

    return declared_packages(oids, read)


def declared_packages(
    paths: Iterable[str], read: Callable[[list[str]], dict[str, bytes]]
) -> list[list[str]]:
    """Return ecosystem, name and folder of each package that the project files of a tree declare."""
    found: set[tuple[str, str, str]] = set()
    files: list[str] = []
    for path in paths:
        folder, _, name = path.rpartition("/")
        if name in PROJECT_FILES and len(files) < MAX_FILES:
            files.append(path)
        if name == "__init__.py" and folder.count("/") <= 1:
            found.add(("python", folder.rpartition("/")[2], folder))
    for path, data in read(files).items():
        folder, _, name = path.rpartition("/")
        for ecosystem, package in _declared(name, data):
            found.add((ecosystem, package, folder))
    return [list(row) for row in sorted(found) if _is_storable(row)]


def _is_storable(row: tuple[str, str, str]) -> bool:
    return bool(row[1]) and all(text.isprintable() and len(text) < 400 for text in row)


def _declared(file: str, data: bytes) -> list[tuple[str, str]]:
    text = data.decode("utf-8", "replace")
    try:
        if file == "go.mod":
            match = _GO.search(text)
            return [("go", match[1])] if match else []
        if file == "pom.xml":
            match = _ARTIFACT.search(_POM.sub("", text))
            return [("maven", match[1])] if match else []
        if file == "package.json":
            return [("npm", str(_table(json.loads(text)).get("name", "")))]
        tables = tomllib.loads(text)
        if file == "Cargo.toml":
            return [("cargo", str(_table(tables.get("package")).get("name", "")).replace("-", "_"))]
        name = str(_table(tables.get("project")).get("name", ""))
        return [("python", name.lower().replace("-", "_"))]
    except (ValueError, RecursionError):
        return []


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def import_roots(facts: BlobFacts) -> set[str]:
    """Return the package names that the imports of a file may refer to."""
    return {root for row in facts.imports for root in _roots(row, facts.language)}


def may_come_from(facts: BlobFacts, name: str, packages: set[str]) -> bool:
    """May a name in a file come from one of these packages, by its imports and definitions?

    An import that binds the name decides; then a definition in the file; then any import of a
    package.
    """
    binding = [row for row in facts.imports if any(name in pair for pair in row.names)]
    if not binding and any(symbol.name == name for symbol in facts.symbols):
        return False
    return any(_roots(row, facts.language) & packages for row in binding or facts.imports)


def _roots(row: Import, language: str) -> set[str]:
    module = row.module.strip("\"'")
    if row.level or not module or module.startswith("."):
        return set()
    if language == "go":
        parts = module.split("/")
        found = {"/".join(parts[:count]) for count in range(1, len(parts) + 1)}
    elif module.startswith("@"):
        found = {"/".join(module.split("/")[:2])}
    else:
        found = {re.split(r"[./:]", module, maxsplit=1)[0]}
    return {root for root in found if root and len(root) < 400}
