"""Which files an import means, by the rules of each language but JavaScript and TypeScript."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gitindex.base.pattern import compile_later
from gitindex.languages.facts import Import
from gitindex.languages.imports.tree import Tree, join, parent, under

_PYTHON = (".py", "/__init__.py", ".pyi", "/__init__.pyi", ".pyx")
_TYPES = (".java", ".kt", ".scala", ".kts")
_CRATE_ROOTS = ("lib.rs", "main.rs", "mod.rs")
_CRATE = compile_later(rb"^\s*name\s*=\s*\"([^\"]+)\"", re.MULTILINE)
_MODULE = compile_later(rb"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)
_REPLACED = compile_later(
    rb"^[ \t]*(?:replace[ \t]+)?([^\s()]+)(?:[ \t]+v\S+)?[ \t]*=>", re.MULTILINE
)
"""The module on the left of a `replace` of Go."""


def resolve_python(tree: Tree, path: str, imported: Import) -> Iterator[str]:
    """Return the module itself, and those imported names that are modules below it."""
    base = _base(tree, path, imported)
    if base is None:
        return
    module = tree.first(base + suffix for suffix in _PYTHON) if base else None
    if module:
        yield module
    for name, _ in imported.names:
        if name != "*" and "." not in name and name != imported.module:
            module_below = tree.first(under(base, name) + suffix for suffix in _PYTHON)
            if module_below:
                yield module_below


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
    return tree.note(("module", parent(path), inner), lambda: _absolute(tree, path, inner))


def _absolute(tree: Tree, path: str, inner: str) -> str | None:
    """Resolve an absolute import, which starts at a folder that is not itself a package."""
    for suffix in _PYTHON:
        for file in tree.ending(inner + suffix, path):
            base = file.removesuffix(suffix)
            root = base.removesuffix(inner).rstrip("/")
            if not _is_package(tree, root):
                return base
    return _namespace(tree, inner)


def python_roots(tree: Tree, module: str) -> set[str]:
    """Return the folders from which an absolute import finds a module; several make it a guess."""
    inner = module.replace(".", "/")
    folders = {
        path.removesuffix(suffix).removesuffix(inner).rstrip("/")
        for suffix in _PYTHON
        for path in tree.ending(inner + suffix, "")
    }
    return {root for root in folders if not _is_package(tree, root)}


def _namespace(tree: Tree, inner: str) -> str | None:
    """Return a folder that holds modules without an `__init__.py`."""
    tail = f"/{inner}"
    named = tree.folders_by_name.get(inner.rpartition("/")[2], ())
    folders = [f for f in named if f == inner or f.endswith(tail)]
    return min(folders, key=lambda folder: (folder.count("/"), folder), default=None)


def _is_package(tree: Tree, folder: str) -> bool:
    return bool(folder) and under(folder, "__init__.py") in tree.paths


def resolve_go(tree: Tree, _path: str, imported: Import) -> Iterator[str]:
    """Return all files of the imported package, without its tests."""
    for module, folder in _go_modules(tree):
        if imported.module == module or imported.module.startswith(module + "/"):
            inner = imported.module[len(module) + 1 :]
            package = under(folder, inner) if inner else folder
            for path in tree.folders.get(package, ()):
                if path.endswith(".go") and not path.endswith("_test.go"):
                    yield path
            return


def is_outside_go(tree: Tree, path: str) -> bool:
    """Is a package certainly not in the tree? Only a tree with modules tells; `C` is its C code."""
    inside = [module for module, _ in _go_modules(tree)]
    for name in ("go.mod", "go.work"):
        for file in tree.by_name.get(name, ()):
            inside += [
                m.decode("utf-8", "replace") for m in _REPLACED.findall(tree.read(file) or b"")
            ]
    vendored = any(f"/{folder}".endswith(f"/vendor/{path}") for folder in tree.folders)
    below = any(path == module or path.startswith(f"{module}/") for module in inside)
    return bool(_go_modules(tree)) and path != "C" and not vendored and not below


def _go_modules(tree: Tree) -> list[tuple[str, str]]:
    """Return module paths with their folders, the longest first: nested modules win."""
    return tree.note("go.mod", lambda: _read_go_modules(tree))


def _read_go_modules(tree: Tree) -> list[tuple[str, str]]:
    modules = []
    for path in tree.by_name.get("go.mod", ()):
        if match := _MODULE.search(tree.read(path) or b""):
            modules.append((match.group(1).decode("utf-8", "replace"), parent(path)))
    return sorted(modules, key=lambda item: (-len(item[0]), item))


def resolve_rust(tree: Tree, path: str, imported: Import) -> Iterator[str]:
    """Return the deepest module of the path that is a file."""
    parts = imported.module.split("::") if imported.module else []
    parts += [
        name for name, _ in imported.names[:1] if name != "*" and not imported.module.endswith(name)
    ]
    start = _crate_start(tree, path, parts)
    if start is None:
        return
    folder, rest = start
    file = _deepest(tree, folder, rest, path)
    if file:
        yield file


def _crate_start(tree: Tree, path: str, parts: list[str]) -> tuple[str, list[str]] | None:
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


def _deepest(tree: Tree, folder: str, parts: list[str], path: str) -> str | None:
    for length in range(len(parts), 0, -1):
        inner = under(folder, "/".join(parts[:length]))
        file = tree.first((f"{inner}.rs", f"{inner}/mod.rs"))
        if file:
            return file
    if folder == _module_folder(path):  # `main.rs` beside `lib.rs`: each is its own root
        return path
    return tree.first([f"{folder}.rs", *(under(folder, name) for name in _CRATE_ROOTS)])


def _module_folder(path: str) -> str:
    """Return the folder of the child modules of a file's module."""
    name = path.rpartition("/")[2]
    return parent(path) if name in _CRATE_ROOTS else path.removesuffix(".rs")


def _crate_folder(tree: Tree, path: str) -> str:
    folder = parent(path)
    while folder:
        if tree.first((under(folder, "lib.rs"), under(folder, "main.rs"))):
            return folder
        folder = parent(folder)
    return folder


def _crates(tree: Tree) -> dict[str, str]:
    """Return the source folder of every crate in the tree, by its name in code."""
    return tree.note("Cargo.toml", lambda: _read_crates(tree))


def _read_crates(tree: Tree) -> dict[str, str]:
    crates = {}
    for path in tree.by_name.get("Cargo.toml", ()):
        if match := _CRATE.search(tree.read(path) or b""):
            name = match.group(1).decode("utf-8", "replace").replace("-", "_")
            crates[name] = under(parent(path), "src")
    return crates


def resolve_type(tree: Tree, path: str, imported: Import) -> Iterator[str]:
    """Return the file of an imported type, or all files of an imported package."""
    names = [name for name, _ in imported.names]
    if "*" in names:
        yield from _package(tree, imported.module)
        return
    inner = imported.module.replace(".", "/")
    file = _type_file(tree, inner, path)
    for name in [] if file else names:
        file = file or _type_file(tree, f"{inner}/{name}", path)
    outer = inner
    while not file and "/" in outer:  # a nested type
        outer = outer.rpartition("/")[0]
        file = _type_file(tree, outer, path)
    if file:
        yield file


def resolve_namespace(tree: Tree, _path: str, imported: Import) -> Iterator[str]:
    """Return C# files in folders named like the namespace; its root often has no folder."""
    parts = imported.module.split(".")
    for start in range(len(parts)):
        files = [p for p in _package(tree, ".".join(parts[start:])) if p.endswith(".cs")]
        if files:
            yield from files
            return


def resolve_php(tree: Tree, path: str, imported: Import) -> Iterator[str]:
    """Return a PHP class by its namespace, minus any autoloader prefix, or an included file."""
    if imported.module.endswith((".php", ".inc")):
        yield from tree.ending(imported.module, path)[:1]
        return
    parts = imported.module.split("\\")
    for start in range(len(parts)):
        files = tree.ending("/".join(parts[start:]) + ".php", path)
        if files:
            yield files[0]
            return


def _type_file(tree: Tree, inner: str, near: str) -> str | None:
    for suffix in _TYPES:
        files = tree.ending(inner + suffix, near)
        if files:
            return files[0]
    return None


def _package(tree: Tree, name: str) -> Iterator[str]:
    inner = name.replace(".", "/")
    for folder, paths in tree.folders.items():
        if folder == inner or folder.endswith(f"/{inner}"):
            yield from paths


def resolve_include(tree: Tree, path: str, imported: Import) -> Iterator[str]:
    """Look beside the including file, then anywhere in the tree, the nearest first."""
    file = include_finder(tree, imported.module)(parent(path))
    if file is not None:
        yield file


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
            if (below := best.get(f"{folder[:at]}/")) is not None:
                return below
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
    for file in tree.ending(clean, path) if clean else ():
        root = file.removesuffix(clean or "").rstrip("/")
        if root == "" or root.rpartition("/")[2] in ("lib", "app", "test", "spec"):
            yield file
            return


def resolve_lua(tree: Tree, path: str, imported: Import) -> Iterator[str]:
    """Resolve `require "a.b"` to a/b.lua or a/b/init.lua."""
    inner = imported.module.replace(".", "/")
    files = [*tree.ending(f"{inner}.lua", path), *tree.ending(f"{inner}/init.lua", path)]
    yield from files[:1]


def resolve_beside(tree: Tree, path: str, imported: Import) -> Iterator[str]:
    """Resolve a path relative to the file, or to the root."""
    name = imported.module.removeprefix("package:")
    for candidate in (join(parent(path), name), join(name.lstrip("/"))):
        if candidate is not None and candidate in tree.paths:
            yield candidate
            return
