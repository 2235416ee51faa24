"""Languages that import files by path: C and C++ includes, Ruby, Lua, shell, CSS, Dart, Zig."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gitindex.languages.facts import Import
from gitindex.languages.imports.tree import Tree, join, parent


def resolve_include(tree: Tree, path: str, imported: Import) -> Iterator[str]:
    """Look beside the including file, then anywhere in the tree, the nearest first."""
    found = include_finder(tree, imported.module)(parent(path))
    if found is not None:
        yield found


def include_finder(tree: Tree, module: str) -> Callable[[str], str | None]:
    """Return what tells the file that an include means in the files of a folder."""
    clean = join(module.lstrip("/"))
    best = tree.best_below(clean) if clean else {}
    paths, anywhere, alone = tree.paths, best.get(""), len(best) < 2

    def find(folder: str) -> str | None:
        beside = join(folder, module)
        if beside in paths:
            return beside
        at = -1 if alone else len(folder)
        while at > 0:
            if (found := best.get(f"{folder[:at]}/")) is not None:
                return found
            at = folder.rfind("/", 0, at)
        return anywhere

    return find


def resolve_ruby(tree: Tree, path: str, imported: Import) -> Iterator[str]:
    """Resolve `require_relative` beside the file, and `require` below any `lib`."""
    name = imported.module if imported.module.endswith(".rb") else f"{imported.module}.rb"
    beside = join(parent(path), name)
    if beside in tree.paths and beside is not None:
        yield beside
        return
    clean = join(name)
    for found in tree.ending(clean, path) if clean else ():
        root = found.removesuffix(clean or "").rstrip("/")
        if root == "" or root.rpartition("/")[2] in ("lib", "app", "test", "spec"):
            yield found
            return


def resolve_lua(tree: Tree, path: str, imported: Import) -> Iterator[str]:
    """Resolve `require "a.b"` to a/b.lua or a/b/init.lua."""
    inner = imported.module.replace(".", "/")
    found = [*tree.ending(f"{inner}.lua", path), *tree.ending(f"{inner}/init.lua", path)]
    yield from found[:1]


def resolve_beside(tree: Tree, path: str, imported: Import) -> Iterator[str]:
    """Resolve a path relative to the file, or to the root."""
    name = imported.module.removeprefix("package:")
    for candidate in (join(parent(path), name), join(name.lstrip("/"))):
        if candidate is not None and candidate in tree.paths:
            yield candidate
            return
