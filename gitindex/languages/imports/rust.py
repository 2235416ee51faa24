"""Rust: `mod` files and `use` paths of this crate and of crates in the same tree."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitindex.base.pattern import compile_later
from gitindex.languages.facts import Import
from gitindex.languages.imports.tree import Tree, parent, under

_NAME = compile_later(rb"^\s*name\s*=\s*\"([^\"]+)\"", re.MULTILINE)
_ROOTS = ("lib.rs", "main.rs", "mod.rs")


def resolve(tree: Tree, path: str, imported: Import) -> Iterator[str]:
    """Return the deepest module of the path that is a file."""
    parts = imported.module.split("::") if imported.module else []
    parts += [
        name for name, _ in imported.names[:1] if name != "*" and not imported.module.endswith(name)
    ]
    start = _start(tree, path, parts)
    if start is None:
        return
    folder, rest = start
    found = _deepest(tree, folder, rest)
    if found:
        yield found


def _start(tree: Tree, path: str, parts: list[str]) -> tuple[str, list[str]] | None:
    """Return the folder of the module where the path starts, and the rest of the path."""
    if not parts:
        return None
    head, rest = parts[0], parts[1:]
    if head == "crate":
        return _crate_folder(tree, path), rest
    if head == "self":
        return _module_folder(path), rest
    if head == "super":
        folder = parent(_module_folder(path))
        while rest[:1] == ["super"]:
            folder, rest = parent(folder), rest[1:]
        return folder, rest
    source = _crates(tree).get(head.replace("-", "_"))
    return (source, rest) if source is not None else None


def _deepest(tree: Tree, folder: str, parts: list[str]) -> str | None:
    for length in range(len(parts), 0, -1):
        inner = under(folder, "/".join(parts[:length]))
        found = tree.first((f"{inner}.rs", f"{inner}/mod.rs"))
        if found:
            return found
    return tree.first([f"{folder}.rs", *(under(folder, name) for name in _ROOTS)])


def _module_folder(path: str) -> str:
    """Return the folder of the child modules of a file's module."""
    name = path.rpartition("/")[2]
    return parent(path) if name in _ROOTS else path.removesuffix(".rs")


def _crate_folder(tree: Tree, path: str) -> str:
    folder = parent(path)
    while folder:
        if tree.first((under(folder, "lib.rs"), under(folder, "main.rs"))):
            return folder
        folder = parent(folder)
    return folder


def _crates(tree: Tree) -> dict[str, str]:
    """Return the source folder of every crate in the tree, by its name in code."""
    known = tree.notes.get("Cargo.toml")
    if known is None:
        found = {}
        for path in tree.by_name.get("Cargo.toml", ()):
            match = _NAME.search(tree.read(path) or b"")
            if match:
                name = match.group(1).decode("utf-8", "replace").replace("-", "_")
                found[name] = under(parent(path), "src")
        known = tree.notes["Cargo.toml"] = found
    assert isinstance(known, dict)
    return known
