"""Go: import paths below the module paths of the tree's go.mod files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitindex.languages.facts import Import
from gitindex.languages.imports.tree import Tree, parent, under

_MODULE = re.compile(rb"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)


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
