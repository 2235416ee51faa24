"""Go: import paths below the module paths of the tree's go.mod files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitindex.base.pattern import compile_later
from gitindex.languages.facts import Import
from gitindex.languages.imports.tree import Tree, parent, under

_MODULE = compile_later(rb"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)

_REPLACED = compile_later(
    rb"^[ \t]*(?:replace[ \t]+)?([^\s()]+)(?:[ \t]+v\S+)?[ \t]*=>", re.MULTILINE
)
"""The module on the left of a `replace`."""


def resolve(tree: Tree, _path: str, imported: Import) -> Iterator[str]:
    """Return all files of the imported package, without its tests."""
    for module, folder in _modules(tree):
        if imported.module == module or imported.module.startswith(module + "/"):
            inner = imported.module[len(module) + 1 :]
            package = under(folder, inner) if inner else folder
            for path in tree.folders.get(package, ()):
                if path.endswith(".go") and not path.endswith("_test.go"):
                    yield path
            return


def is_outside(tree: Tree, path: str) -> bool:
    """Is a package certainly not in the tree? Only a tree with modules tells; `C` is its C code."""
    inside = [module for module, _ in _modules(tree)]
    for name in ("go.mod", "go.work"):
        for file in tree.by_name.get(name, ()):
            inside += [
                m.decode("utf-8", "replace") for m in _REPLACED.findall(tree.read(file) or b"")
            ]
    vendored = any(f"/{folder}".endswith(f"/vendor/{path}") for folder in tree.folders)
    below = any(path == module or path.startswith(f"{module}/") for module in inside)
    return bool(_modules(tree)) and path != "C" and not vendored and not below


def _modules(tree: Tree) -> list[tuple[str, str]]:
    """Return module paths with their folders, the longest first: nested modules win."""
    known = tree.notes.get("go.mod")
    if known is None:
        found = []
        for path in tree.by_name.get("go.mod", ()):
            match = _MODULE.search(tree.read(path) or b"")
            if match:
                found.append((match.group(1).decode("utf-8", "replace"), parent(path)))
        known = tree.notes["go.mod"] = sorted(found, key=lambda item: (-len(item[0]), item))
    assert isinstance(known, list)
    return known
