"""Compare the exported surface of two trees: names added, removed, or changed for callers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from gitindex.base.path_kind import file_kinds, is_news
from gitindex.languages.facts import Import, Use
from gitindex.languages.syntax.kinds import FUNCTIONS, SPACES, TYPES
from gitindex.query.impact.arity import incompatibility
from gitindex.query.impact.change import TreeChange
from gitindex.query.impact.offers import exports_of
from gitindex.query.impact.standing import Judge
from gitindex.query.names.finder import Finder
from gitindex.query.names.model import ECMA, Definition, FileNames
from gitindex.query.names.project import Project

_LANGUAGES = """
python javascript typescript tsx go rust java kotlin scala csharp swift php ruby c cpp
"""
_CODE = frozenset(_LANGUAGES.split())
_VERSION_FILES = re.compile(
    r"(^|/)(pyproject\.toml|setup\.(py|cfg)|package\.json|Cargo\.toml|pom\.xml|build\.gradle(\.kts)?"
    r"|gradle\.properties|version\.\w+|VERSION|_?version\.py|__init__\.py|__version__\.py)$"
)
_VERSION = re.compile(
    r"""(?im)^[ \t]*["']?(?:__version__|version)["']?\s*[:=]\s*["']?v?(\d[\w.+-]*)"""
    r"""|<version>(\d[\w.+-]*)<|^(\d+(?:\.\w+)+)$"""
)
_PLAIN_NAME = re.compile(r"[a-z]+")
"""A name that may also be a word of a sentence."""


EXPORT = "export"
"""The kind of an exported name that its file does not define: a re-export."""


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
    modules: dict[tuple[str, str], list[str]] = {}
    for path in change.paths:
        source = after.project.source(path) or before.project.source(path)
        if source and source.language in _CODE and _is_public(path, source.language):
            key = (_module(path, source.language), source.origin.family)
            modules.setdefault(key, []).append(path)
    found = [one for paths in modules.values() for one in _ModulePair(change, paths).differences()]
    return sorted(found, key=lambda c: (os.fsencode(c.definition.path), c.definition.line))


def is_announced(found: SurfaceChange, news: list[str]) -> bool:
    """Return whether an added line of a changelog names the change; a plain word only as code."""
    name = re.escape(found.definition.name)
    as_code = rf"[`'\"*.:#]{name}\b|\b{name}[`'\"*(=]"
    word = as_code if _PLAIN_NAME.fullmatch(found.definition.name) else rf"\b{name}\b"
    return any(re.search(word, line) for line in news)


def added_news(change: TreeChange, changelog: str = "") -> list[str]:
    """Return lines that the change adds to changelogs: to the given one, or to any."""
    lines: list[str] = []
    for raw in {**change.before.view.changed(), **change.after.view.changed()}:
        path = os.fsdecode(raw)
        if path == changelog or (not changelog and is_news(path)):
            old = set(_text(change.before, raw).splitlines())
            lines += [line for line in _text(change.after, raw).splitlines() if line not in old]
    return lines


def allows_breaks(change: TreeChange, version_file: str = "") -> bool:
    """Return whether the version is raised for incompatible changes: in its first number (or 0.y)."""
    for raw in {**change.before.view.changed(), **change.after.view.changed()}:
        path = os.fsdecode(raw)
        if path == version_file or (not version_file and _VERSION_FILES.search(path)):
            old, new = (_versions(_text(f, raw)) for f in (change.before, change.after))
            if any(_is_major(was, now) for was, now in zip(old, new, strict=False)):
                return True
    return False


def _versions(text: str) -> list[list[int]]:
    """Return the versions of a file, each as its first two numbers."""
    found = ["".join(match.groups("")) for match in _VERSION.finditer(text)]
    return [[int(n) for n in re.findall(r"\d+", one)[:2]] for one in found]


def _is_major(old: list[int], new: list[int]) -> bool:
    count = 2 if old[:1] == [0] else 1
    return new[:count] > old[:count]


def _text(finder: Finder, raw: bytes) -> str:
    return finder.view.read([raw]).get(raw, b"").decode("utf-8", "replace")


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


class _ModulePair:
    """The exported names of one module in both trees."""

    def __init__(self, change: TreeChange, paths: list[str]) -> None:
        self._before, self._after, self._paths = change.before, change.after, paths
        self._was: dict[str, Definition] = {}
        self._now: dict[str, Definition] = {}
        self._languages: dict[str, str] = {}
        self._new_files = set()
        for path in paths:
            old, new = self._before.project.source(path), self._after.project.source(path)
            one = new or old
            self._languages[path] = one.language if one else ""
            if old and new and new.origin.status != old.origin.status:
                continue  # one side was not fully parsed: not comparable
            had = _surface(self._before, old)
            self._was |= had
            self._now |= _surface(self._after, new)
            if not had:
                self._new_files.add(path)

    def differences(self) -> Iterator[SurfaceChange]:
        """Yield each exported name that differs."""
        for name, symbol in self._was.items():
            if name not in self._now:
                if not self._is_kept(name, symbol):
                    language = self._languages[symbol.path]
                    yield SurfaceChange(symbol, language, SurfaceKind.REMOVED, True, "removed")
            elif (found := self._changed(symbol, self._now[name])) is not None:
                yield found
        for name, symbol in self._now.items():
            outer = name.rpartition(".")[0]
            alone = outer in self._was or not outer or symbol.path in self._new_files
            if name not in self._was and alone:
                language = self._languages[symbol.path]
                yield SurfaceChange(symbol, language, SurfaceKind.ADDED, False)

    def _changed(self, old: Definition, new: Definition) -> SurfaceChange | None:
        language = self._languages[new.path]
        if self._languages[old.path] != language:
            return None  # JavaScript became TypeScript: signatures are not comparable
        mine, theirs = _signature(self._before, old), _signature(self._after, new)
        if mine == theirs or EXPORT in (old.kind, new.kind):
            return None
        why = _difference(old, new, mine, theirs, language)
        return SurfaceChange(new, language, SurfaceKind.CHANGED, bool(why), why, old.signature)

    def _is_kept(self, name: str, symbol: Definition) -> bool:
        """Return whether a name that is not listed any more is offered otherwise, or told with its class."""
        outer = name.rpartition(".")[0]
        if outer:
            gone = outer in self._was and outer not in self._now
            owner = self._now.get(outer)
            inherited = symbol.kind in FUNCTIONS and owner and _inherits(self._after, owner, symbol)
            return gone or bool(inherited)
        return any(self._offers(path, name) for path in self._paths)

    def _offers(self, path: str, name: str) -> bool:
        """Return whether a file of the new tree still passes a name on, or may."""
        source = self._after.project.source(path)
        if source is None:
            return False
        if source.language in ECMA:
            stars = [item for item in source.imports if ("*", "*") in item.names]
            return any(f"export * from '{s.module}'" in _code(self._after, path) for s in stars)
        if any(local == name for item in source.imports for _, local in item.names):
            return True
        return source.language == "python" and Judge(self._before, self._after).serves(source, name)


def _code(finder: Finder, path: str) -> str:
    return finder.project.text(path).decode("utf-8", "replace").replace('"', "'")


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
    for name, line in _passed_on(finder, source) if source else ():
        assert source is not None
        bare = Definition(source.path, -1, name, name, EXPORT, line, 0, line, line, "", -1, True)
        found.setdefault(name, bare)
    return found


def _passed_on(finder: Finder, source: FileNames) -> Iterator[tuple[str, int]]:
    """Yield names that a file exports without defining them, and their lines."""
    if source.language == "rust":
        yield from _public_uses(finder.project, source)
        return
    lines = {local: item.line for item in source.imports for _, local in item.names}
    own = {symbol.name for symbol in source.symbols if symbol.parent < 0}
    listed = exports_of(finder.project, source.path) - own
    if not listed and "__all__" not in own and source.path.endswith("__init__.py"):
        listed = _unused_imports(finder.project, source)
    any_name = source.language != "python" or source.stars
    for name in sorted(listed):
        if not name.startswith("_") and (any_name or name in lines):
            yield name, lines.get(name, 0)


def _public_uses(project: Project, source: FileNames) -> Iterator[tuple[str, int]]:
    for item in source.imports:
        if _line(project, source, item).startswith("pub use "):
            yield from ((local, item.line) for _, local in item.names if local != "*")


def _unused_imports(project: Project, source: FileNames) -> frozenset[str]:
    """Return what a package imports from its modules and does not use: it passes it on."""
    near = [item for item in source.imports if item.level == 1]
    names = {local for item in near for there, local in item.names if there != "*"}
    used = {place.name for place in project.places_in(source.path) if place.use != Use.IMPORT}
    return frozenset(names - used)


def _line(project: Project, source: FileNames, item: Import) -> str:
    return project.span(source.path, item.line, item.line).strip()


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
