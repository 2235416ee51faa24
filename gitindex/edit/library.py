"""What classes outside of the tree may call in a member: those of Python's library are read."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import NamedTuple

from gitindex.query.names.finder import Finder
from gitindex.query.names.model import Definition, FileNames

MAX_STEPS = 8
"""Imports and bases that lead from one module of the library to the next."""
_FOLDER = os.path.dirname(os.__file__)
_FUNCTIONS = {  # called like classes
    "typing.NamedTuple": ("tuple", ("_asdict", "_fields", "_field_defaults", "_make", "_replace")),
    "typing.TypedDict": ("dict", ()),
}


class LibraryClass(NamedTuple):
    """What a class and its bases have or use, and how names begin that it puts together."""

    names: frozenset[str]
    prefixes: tuple[str, ...] = ()

    def reaches(self, name: str) -> bool:
        """May code of the class use a member of this name?"""
        return name in self.names or name.startswith(self.prefixes)


def library_class(dotted: str, steps: int = 0) -> LibraryClass | None:
    """Return a class of the library by its full name; None where it cannot be read."""
    if dotted in _FUNCTIONS:
        base, names = _FUNCTIONS[dotted]
        known = library_class(base)
        return known and LibraryClass(known.names | set(names))
    module, _, name = dotted.rpartition(".")
    if not module or module in sys.builtin_module_names:  # no file is looked for
        found = getattr(import_module(module or "builtins"), name, None)
        return LibraryClass(frozenset(dir(found))) if isinstance(found, type) else None
    tree = _parse(module) if steps < MAX_STEPS else None
    return _in_module(tree, module, name, steps) if tree is not None else None


def _in_module(tree: ast.Module, module: str, name: str, steps: int) -> LibraryClass | None:
    """Return a class that a module of the library defines, imports, or gets by a star."""
    for node in _statements(tree):
        if isinstance(node, ast.ClassDef) and node.name == name:
            return _read(module, tree, node, steps)
    origin = _origin(tree, module, name)
    if origin:
        return library_class(origin, steps + 1)
    stars = (_from(n, module) for n in _statements(tree) if isinstance(n, ast.ImportFrom))
    found = (library_class(f"{one}.{name}", steps + 1) for one in stars if _has(one, name))
    return next(filter(None, found), None)


@lru_cache(maxsize=64)
def _parse(module: str) -> ast.Module | None:
    if module.partition(".")[0] not in sys.stdlib_module_names:
        return None
    for file in _files(module):
        try:
            with open(file, "rb") as source:
                return ast.parse(source.read())
        except (OSError, SyntaxError, ValueError):
            continue
    return None


def _files(module: str) -> tuple[str, str]:
    path = os.path.join(_FOLDER, *module.split("."))
    return os.path.join(path, "__init__.py"), f"{path}.py"


def _from(node: ast.ImportFrom, module: str) -> str:
    """Return the module that a statement imports from."""
    package = module.split(".")
    if not os.path.isfile(_files(module)[0]):
        package = package[:-1]
    above = package[: len(package) - node.level + 1] if node.level else []
    return ".".join([*above, *([node.module] if node.module else [])])


def _has(module: str, name: str) -> bool:
    """Does a module define a class of this name, or import it?"""
    tree = _parse(module)
    return tree is not None and (
        any(isinstance(n, ast.ClassDef) and n.name == name for n in _statements(tree))
        or bool(_origin(tree, module, name))
    )


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements of a module, also those below `if` and `try`."""
    todo: list[ast.stmt] = list(tree.body)
    for node in todo:  # grows while it is walked
        yield node
        if isinstance(node, ast.If | ast.Try):
            todo += [*node.body, *node.orelse]


def _origin(tree: ast.Module, module: str, name: str) -> str:
    """Return the full name of what a module imports under a name; empty where it does not."""
    for node in _statements(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            home = f"{_from(node, module)}." if isinstance(node, ast.ImportFrom) else ""
            for one in node.names:
                if (one.asname or one.name) == name:
                    return home + one.name
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            targets = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if name in targets:
                return f"{module}.{node.value.id}"
    return ""


def _read(module: str, tree: ast.Module, node: ast.ClassDef, steps: int) -> LibraryClass | None:
    names, prefixes = set(dir(object)), set[str]()
    for base in node.bases:
        known = _base(module, tree, base, steps)
        if known is None:
            return None
        names |= known.names
        prefixes |= set(known.prefixes)
    texts, computed = set[str](), False
    for inner in ast.walk(node):
        names |= set(_named(inner))
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            texts.add(inner.value)
        computed = computed or _is_computed(inner)
    if computed:
        prefixes |= {text for text in texts if text.endswith("_") and text[:1].isalpha()}
    return LibraryClass(frozenset(names), tuple(sorted(prefixes)))


def _base(module: str, tree: ast.Module, base: ast.expr, steps: int) -> LibraryClass | None:
    if isinstance(base, ast.Subscript):
        base = base.value
    chain = ast.unparse(base).split(".")
    if chain[-1] in ("Generic", "Protocol"):
        return LibraryClass(frozenset())
    if any(isinstance(n, ast.ClassDef) and n.name == chain[0] for n in _statements(tree)):
        return library_class(".".join([module, *chain]), steps + 1)
    origin = _origin(tree, module, chain[0]) or ("builtins" if len(chain) == 1 else "")
    rest = chain if origin == "builtins" else chain[1:]
    return library_class(".".join([origin, *rest]), steps + 1) if origin else None


def _named(node: ast.AST) -> Iterator[str]:
    """Yield the names of members that a part of a class defines or uses."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id


def _is_computed(node: ast.AST) -> bool:
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    if not called or not isinstance(node, ast.Call) or len(node.args) < 2:
        return False
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    return name == "getattr" and not isinstance(node.args[1], ast.Constant)


_ROOTS = ("object", "Protocol", "Generic")


def called_by_bases(finder: Finder, family: list[Definition]) -> Iterator[tuple[str, str]]:
    """Yield classes of the members with a base outside of the tree that may use such a member."""
    classes = finder.binder.types.classes
    seen: set[tuple[str, int]] = set()
    for member in family:
        owner = classes.class_of(member)
        below = [owner, *finder.dispatch.descendants(owner)] if owner is not None else []
        for one in (up for low in below for up in classes.ancestors(low)[0]):
            if (one.path, one.ordinal) not in seen and classes.bases(one)[1]:
                for base in _reaching(finder, one, member.name):
                    why = f"{base}, a base of {one.name}, may use {member.name}"
                    yield f"{one.path}:{one.line + 1}", why
            seen.add((one.path, one.ordinal))


def _reaching(finder: Finder, owner: Definition, name: str) -> Iterator[str]:
    """Yield the bases outside of the tree that have or use a member of this name, or may."""
    project = finder.project
    source = project.source(owner.path)
    scopes = project.scopes(owner.path)
    if source is None or source.language != "python" or scopes is None:
        yield "a class outside of the tree"
        return
    known = {base.name for base in finder.binder.types.classes.bases(owner)[0]}
    at = project.offset(owner.path, owner.line, owner.column)
    for chain in scopes.bases.get(at, ()):
        names = [part.name for part in chain]
        if not names or names[-1] in _ROOTS or names[-1] in known:
            continue
        dotted = _full_name(source, names)
        found = library_class(dotted)
        if found is None or found.reaches(name):
            yield dotted


def _full_name(source: FileNames, names: list[str]) -> str:
    """Return the name of what a chain means, from its module on; as written where that is unknown."""
    for item, there in source.bindings.get(names[0], ()):
        if item.level:
            break
        if there != item.module:
            return ".".join([item.module, there, *names[1:]])
        if item.module.partition(".")[0] == names[0]:  # `import http.server`
            return ".".join(names)
        return ".".join([item.module, *names[1:]])
    return ".".join(names)
