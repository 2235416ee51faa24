"""Compare the exported surface of two trees: names added, removed, or changed for callers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from gitindex.base.path_kind import file_kinds, is_news
from gitindex.languages.syntax.kinds import FUNCTIONS, SPACES, TYPES
from gitindex.query.impact.arity import incompatibility
from gitindex.query.impact.change import TreeChange
from gitindex.query.names.finder import Finder
from gitindex.query.names.source import Definition, FileNames

_LANGUAGES = """
python javascript typescript tsx go rust java kotlin scala csharp swift php ruby c cpp
"""
_CODE = frozenset(_LANGUAGES.split())
_VERSION_FILES = re.compile(
    r"(^|/)(pyproject\.toml|setup\.(py|cfg)|package\.json|Cargo\.toml|pom\.xml|build\.gradle(\.kts)?"
    r"|gradle\.properties|version\.\w+|VERSION|_?version\.py|__init__\.py|__version__\.py)$"
)
_VERSION = re.compile(
    rb"""(?im)^[ \t]*["']?(?:__version__|version)["']?\s*[:=]\s*["']?\d[\w.+-]*"""
    rb"""|<version>[\w.+-]+<|^\d+(?:\.\w+)+$"""
)


class SurfaceKind(StrEnum):
    """How an exported name differs."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class SurfaceChange(NamedTuple):
    """One exported name that differs."""

    definition: Definition
    language: str
    kind: SurfaceKind
    incompatible: bool
    why: str = ""
    before: str = ""  # the old signature


def find_surface(change: TreeChange) -> list[SurfaceChange]:
    """Return every exported name that differs, ordered by path and line."""
    before, after = change.before, change.after
    for finder in (before, after):
        finder.project.load(change.paths)
    moved = _Names(after)
    modules: dict[tuple[str, str], list[str]] = {}
    for path in change.paths:
        source = after.project.source(path) or before.project.source(path)
        if source and source.language in _CODE and _is_public(path, source.language):
            key = (_module(path, source.language), source.origin.family)
            modules.setdefault(key, []).append(path)
    found = [one for paths in modules.values() for one in _of_module(change, paths, moved)]
    return sorted(found, key=lambda c: (os.fsencode(c.definition.path), c.definition.line))


def is_announced(found: SurfaceChange, news: list[str]) -> bool:
    """Return whether an added line of a changelog names the change."""
    return any(re.search(rf"\b{re.escape(found.definition.name)}\b", line) for line in news)


def added_news(change: TreeChange, changelog: str = "") -> list[str]:
    """Return lines that the change adds to changelogs: to the given one, or to any."""
    lines: list[str] = []
    for raw in {**change.before.view.changed(), **change.after.view.changed()}:
        path = os.fsdecode(raw)
        if path == changelog or (not changelog and is_news(path)):
            old = set(_text(change.before, raw).splitlines())
            lines += [line for line in _text(change.after, raw).splitlines() if line not in old]
    return lines


def is_version_bumped(change: TreeChange, version_file: str = "") -> bool:
    """Return whether the version in a version file differs."""
    for raw in {**change.before.view.changed(), **change.after.view.changed()}:
        path = os.fsdecode(raw)
        if path == version_file or (not version_file and _VERSION_FILES.search(path)):
            texts = [_text(finder, raw) for finder in (change.before, change.after)]
            old, new = ([m.group() for m in _VERSION.finditer(t.encode())] for t in texts)
            if new and old != new:
                return True
    return False


def _text(finder: Finder, raw: bytes) -> str:
    return finder.view.read([raw]).get(raw, b"").decode("utf-8", "replace")


class _Names:
    """Names that modules of the new tree still offer, though they are defined elsewhere."""

    def __init__(self, after: Finder) -> None:
        self._after = after

    def offers(self, path: str, name: str) -> bool:
        source = self._after.project.source(path)
        if source is None:
            return False
        if any(local == name for item in source.imports for _, local in item.names):
            return True
        return bool(source.children(-1, "__getattr__")) and source.language == "python"


def _module(path: str, language: str) -> str:
    """Return what an import names: the same for `a.py` and `a/__init__.py`, for all files of a package."""
    stem = re.sub(r"(\.d)?\.\w+$", "", path)
    if language in ("go", "java", "kotlin"):
        return path.rpartition("/")[0]
    if language == "python":
        return stem.removesuffix("/__init__")
    if language == "rust":
        return stem.removesuffix("/mod")
    if language in ("javascript", "typescript", "tsx"):
        return stem.removesuffix("/index")
    return path


def _of_module(change: TreeChange, paths: list[str], names: _Names) -> Iterator[SurfaceChange]:
    before, after = change.before, change.after
    was: dict[str, Definition] = {}
    now: dict[str, Definition] = {}
    languages: dict[str, str] = {}
    new_files = set()
    for path in paths:
        old, new = before.project.source(path), after.project.source(path)
        languages[path] = (new or old).language if new or old else ""  # type: ignore[union-attr]
        if old and new and new.origin.status != old.origin.status:
            continue  # one side was not fully parsed: not comparable
        had = _surface(before, old)
        was, now = was | had, now | _surface(after, new)
        if not had:
            new_files.add(path)
    for name, symbol in was.items():
        if name not in now:
            outer = name.rpartition(".")[0]
            if outer in was and outer not in now:
                continue  # reported with its class
            if "." not in name and any(names.offers(path, name) for path in paths):
                continue
            if symbol.kind in FUNCTIONS and outer in now and _inherits(after, now[outer], symbol):
                continue
            language = languages[symbol.path]
            yield SurfaceChange(symbol, language, SurfaceKind.REMOVED, True, "removed")
        elif languages[symbol.path] != (language := languages[now[name].path]):
            continue  # JavaScript became TypeScript: signatures are not comparable
        elif (mine := _signature(before, symbol)) != (theirs := _signature(after, now[name])):
            why = _difference(symbol, now[name], mine, theirs, language)
            yield SurfaceChange(
                now[name], language, SurfaceKind.CHANGED, bool(why), why, symbol.signature
            )
    for name, symbol in now.items():
        alone = name.rpartition(".")[0] in was or "." not in name or symbol.path in new_files
        if name not in was and alone:
            yield SurfaceChange(symbol, languages[symbol.path], SurfaceKind.ADDED, False)


def _difference(old: Definition, new: Definition, mine: str, theirs: str, language: str) -> str:
    if old.kind in FUNCTIONS and new.kind in FUNCTIONS:
        return incompatibility(mine, theirs, language)
    return ""


def _inherits(after: Finder, owner: Definition, symbol: Definition) -> bool:
    """Return whether a class still has the member from a base, or possibly from one outside."""
    found, is_open = after.binder.types.classes.members(owner, symbol.name, False)
    return bool(found) or is_open


def _signature(finder: Finder, symbol: Definition) -> str:
    """Return the complete signature on one line."""
    text = symbol.signature
    if symbol.kind not in FUNCTIONS:
        return text if symbol.kind in TYPES else ""
    if "…" in text:
        source = finder.project.source(symbol.path)
        text = finder.binder.names.header(source, symbol) if source else text
    return " ".join(text.split())


def _is_public(path: str, language: str) -> bool:
    kinds = file_kinds(path)
    if (
        kinds.test
        or kinds.example
        or kinds.foreign
        or kinds.hidden
        or kinds.benchmark
        or kinds.tool
    ):
        return False
    parts = path.removesuffix(".py").split("/")
    if kinds.docs or parts[-1] in ("setup", "conftest", "noxfile", "__main__"):
        return False
    if language == "go":
        return "internal" not in parts
    return not any(p.startswith("_") and not p.startswith("__") for p in parts)


def _surface(finder: Finder, source: FileNames | None) -> dict[str, Definition]:
    """Return exported names by qualified name: module level, and members of exported types."""
    found: dict[str, Definition] = {}
    for symbol in source.symbols if source else ():
        assert source is not None
        outer = source.symbol(symbol.parent)
        while outer is not None and outer.kind in SPACES:
            outer = source.symbol(outer.parent)
        if outer is not None and (outer.kind not in TYPES or outer.qualified not in found):
            continue
        if symbol.qualified in found and _is_setter(finder, source, symbol):
            continue  # readers of the property are not affected
        if _is_exported(symbol, outer, source.language):
            found[symbol.qualified] = symbol
    return found


def _is_setter(finder: Finder, source: FileNames, symbol: Definition) -> bool:
    """Return whether a symbol is the setter or deleter of a Python property."""
    if source.language != "python":
        return False
    above = finder.project.span(source.path, max(0, symbol.line - 3), symbol.line)
    return re.search(rf"@{re.escape(symbol.name)}\.(?:setter|deleter)\b", above) is not None


def _is_exported(symbol: Definition, outer: Definition | None, language: str) -> bool:
    if symbol.kind in SPACES:
        return False
    if language == "python":
        if symbol.name == "__getattr__" and outer is None:
            return True  # it serves names of the module
        private = symbol.name.startswith("_") and symbol.name != "__init__"
        return not private and (outer is not None or symbol.exported)
    if language == "go":
        return symbol.name[:1].isupper()
    if language in ("java", "kotlin", "csharp", "scala", "swift", "php"):
        return not re.search(r"\b(private|protected|internal)\b", symbol.signature)
    if language == "rust":
        return symbol.signature.startswith("pub ") or symbol.exported
    if language in ("javascript", "typescript", "tsx"):
        hidden = re.search(r"\bprivate\b", symbol.signature) or symbol.name.startswith("#")
        return not hidden and (outer is not None or symbol.exported)
    return symbol.exported
