"""Languages whose imports name types in packages: Java, Kotlin, Scala, C#, PHP."""

from __future__ import annotations

from collections.abc import Iterator

from gitindex.languages.facts import Import
from gitindex.languages.imports.tree import Tree

_TYPE_SUFFIXES = (".java", ".kt", ".scala", ".kts")


def resolve_type(tree: Tree, path: str, imported: Import) -> Iterator[str]:
    """Return the file of an imported type, or all files of an imported package."""
    names = [name for name, _ in imported.names]
    if "*" in names:
        yield from _package(tree, imported.module)
        return
    inner = imported.module.replace(".", "/")
    found = _type_file(tree, inner, path)
    for name in [] if found else names:
        found = found or _type_file(tree, f"{inner}/{name}", path)
    outer = inner
    while not found and "/" in outer:  # a nested type
        outer = outer.rpartition("/")[0]
        found = _type_file(tree, outer, path)
    if found:
        yield found


def resolve_namespace(tree: Tree, _path: str, imported: Import) -> Iterator[str]:
    """Return C# files in folders named like the namespace; its root often has no folder."""
    parts = imported.module.split(".")
    for start in range(len(parts)):
        found = [p for p in _package(tree, ".".join(parts[start:])) if p.endswith(".cs")]
        if found:
            yield from found
            return


def resolve_php(tree: Tree, path: str, imported: Import) -> Iterator[str]:
    """Return a PHP class by its namespace, minus any autoloader prefix, or an included file."""
    if imported.module.endswith((".php", ".inc")):
        yield from tree.ending(imported.module, path)[:1]
        return
    parts = imported.module.split("\\")
    for start in range(len(parts)):
        found = tree.ending("/".join(parts[start:]) + ".php", path)
        if found:
            yield found[0]
            return


def _type_file(tree: Tree, inner: str, near: str) -> str | None:
    for suffix in _TYPE_SUFFIXES:
        found = tree.ending(inner + suffix, near)
        if found:
            return found[0]
    return None


def homes(tree: Tree, module: str) -> set[str]:
    """Return the files that may define an imported type; with more than one, it is a guess."""
    inner = module.replace(".", "/")
    return {path for suffix in _TYPE_SUFFIXES for path in tree.ending(inner + suffix, "")}


def _package(tree: Tree, name: str) -> Iterator[str]:
    inner = name.replace(".", "/")
    for folder, paths in tree.folders.items():
        if folder == inner or folder.endswith(f"/{inner}"):
            yield from paths
