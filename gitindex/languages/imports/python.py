"""Python: packages, relative imports, source folders of any name."""

from __future__ import annotations

from collections.abc import Iterator

from gitindex.languages.facts import Import
from gitindex.languages.imports.tree import Tree, parent, under

_SUFFIXES = (".py", "/__init__.py", ".pyi", "/__init__.pyi", ".pyx")


def resolve(tree: Tree, path: str, imported: Import) -> Iterator[str]:
    """Return the module itself, and those imported names that are modules below it."""
    base = _base(tree, path, imported)
    if base is None:
        return
    module = tree.first(base + suffix for suffix in _SUFFIXES) if base else None
    if module:
        yield module
    for name, _ in imported.names:
        if name != "*" and "." not in name and name != imported.module:
            found = tree.first(under(base, name) + suffix for suffix in _SUFFIXES)
            if found:
                yield found


def _base(tree: Tree, path: str, imported: Import) -> str | None:
    """Return the path of the module without its suffix."""
    inner = imported.module.replace(".", "/")
    if imported.level:
        folder = parent(path)
        for _ in range(imported.level - 1):
            if not folder:
                return None
            folder = parent(folder)
        return under(folder, inner) if inner else folder
    if not inner:
        return None
    key = parent(path), inner
    if key not in tree.modules:
        tree.modules[key] = _absolute(tree, path, inner)
    return tree.modules[key]


def _absolute(tree: Tree, path: str, inner: str) -> str | None:
    """Resolve an absolute import, which starts at a folder that is not itself a package."""
    for suffix in _SUFFIXES:
        for found in tree.ending(inner + suffix, path):
            base = found.removesuffix(suffix)
            root = base.removesuffix(inner).rstrip("/")
            if not _is_package(tree, root):
                return base
    return _namespace(tree, inner)


def roots(tree: Tree, module: str) -> set[str]:
    """Return the folders from which an absolute import finds a module; several make it a guess."""
    inner = module.replace(".", "/")
    found = {
        path.removesuffix(suffix).removesuffix(inner).rstrip("/")
        for suffix in _SUFFIXES
        for path in tree.ending(inner + suffix, "")
    }
    return {root for root in found if not _is_package(tree, root)}


def _namespace(tree: Tree, inner: str) -> str | None:
    """Return a folder that holds modules without an `__init__.py`."""
    tail = f"/{inner}"
    named = tree.folders_by_name.get(inner.rpartition("/")[2], ())
    found = [f for f in named if f == inner or f.endswith(tail)]
    return min(found, key=lambda folder: (folder.count("/"), folder), default=None)


def _is_package(tree: Tree, folder: str) -> bool:
    return bool(folder) and under(folder, "__init__.py") in tree.paths
