"""What classes outside of the tree may call in a member; those of Python's library are looked at."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from types import CodeType, ModuleType
from typing import NamedTuple

from gitindex.query.names.finder import Finder
from gitindex.query.names.model import Definition, FileNames

_FOLDER = os.path.dirname(os.__file__)
_PROGRAMS = ("antigravity", "idlelib", "test", "this", "turtledemo")
"""What does something when it is imported."""
_WRAPPED = ("__wrapped__", "__func__", "fget", "fset", "fdel")
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


@lru_cache(maxsize=64)
def library_class(dotted: str) -> LibraryClass | None:
    """Return a class of the library by its full name; None where there is none."""
    if dotted in _FUNCTIONS:
        base, names = _FUNCTIONS[dotted]
        known = library_class(base)
        return known and LibraryClass(known.names | set(names))
    module, _, name = dotted.rpartition(".")
    found = getattr(_library_module(module or "builtins"), name, None)
    return _read(found) if isinstance(found, type) else None


def _library_module(name: str) -> ModuleType | None:
    """Import a module of the library; None for a file that is not of it, or that does more than define."""
    parts = name.split(".")
    if parts[0] not in sys.stdlib_module_names or parts[0] in _PROGRAMS or "__main__" in parts:
        return None
    try:
        spec = find_spec(parts[0])
        if spec is None or not (spec.origin or "").startswith((_FOLDER, "built-in", "frozen")):
            return None
        return import_module(name)
    except (ImportError, ValueError):
        return None


def _read(found: type) -> LibraryClass:
    names, prefixes = set[str](), set[str]()
    for base in found.__mro__:
        own, texts = set(vars(base)), set[str]()
        for code in _codes(vars(base).values()):
            own.update(code.co_names)
            texts.update(one for one in code.co_consts if isinstance(one, str))
        names |= own
        if "getattr" in own:
            prefixes |= {text for text in texts if text.endswith("_") and text[:1].isalpha()}
    return LibraryClass(frozenset(names), tuple(sorted(prefixes)))


def _codes(values: Iterable[object]) -> Iterator[CodeType]:
    """Yield the code of methods and properties, and what is defined in it."""
    for value in values:
        for part in (value, *(getattr(value, name, None) for name in _WRAPPED)):
            code = part if isinstance(part, CodeType) else getattr(part, "__code__", None)
            if isinstance(code, CodeType):
                yield code
                yield from _codes(one for one in code.co_consts if isinstance(one, CodeType))


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
