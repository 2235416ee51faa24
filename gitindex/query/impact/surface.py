"""Compare the exported surface of two trees: what changed for callers, and the shortest use that breaks."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

from gitindex.base.path_kind import file_kinds, is_news, is_test
from gitindex.languages.facts import Import, Use
from gitindex.languages.syntax.kinds import FUNCTIONS, SPACES, TYPES
from gitindex.query.impact.change import TreeChange
from gitindex.query.impact.dangling import ESM, SURE, exports_nothing, exports_of, full_signature
from gitindex.query.impact.signatures import Incompatibility, incompatibility, python_header
from gitindex.query.impact.standing import Judge
from gitindex.query.names.finder import Finder
from gitindex.query.names.model import ECMA, Definition, FileNames, Site, State
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
MAX_WITNESSES = 50
"""Incompatible changes whose callers are listed: each costs one search of its uses."""
MAX_CALLERS = 5
"""Callers that are shown of one change: a report names some, and how many there are."""
_PLAIN_NAME = re.compile(r"[a-z]+")
"""A name that may also be a word of a sentence."""


_PASSING = ECMA | {"python"}
"""Languages whose public files pass on what private ones define."""
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
    call: str = ""  # the arguments of a call that no longer fits
    old: Definition | None = None  # what the name was, unless it was added
    module: str = ""  # the public file that offers it, where a private one defines it


def find_surface(change: TreeChange) -> list[SurfaceChange]:
    """Return every exported name that differs, ordered by path and line."""
    before, after = change.before, change.after
    for finder in (before, after):
        finder.project.load(change.paths)
    modules: dict[tuple[str, str], list[str]] = {}
    private = list(filter(_is_private, change.paths))
    passing = _passing_on(before.project, private) | _passing_on(after.project, private)
    for path in sorted({*change.paths, *passing}):
        source = after.project.source(path) or before.project.source(path)
        if source and source.language in _CODE and _is_public(path, source.language):
            key = (_module(path, source.language), source.origin.family)
            modules.setdefault(key, []).append(path)
    found = [one for paths in modules.values() for one in _ModulePair(change, paths).differences()]
    found.sort(key=lambda c: (os.fsencode(c.definition.path), c.definition.line, len(c.module)))
    first: dict[tuple[Definition, SurfaceKind], SurfaceChange] = {}
    for one in found:  # more than one module may pass a definition on
        first.setdefault((one.definition, one.kind), one)
    return list(first.values())


def is_announced(found: SurfaceChange, news: list[str]) -> bool:
    """Return whether an added line of a changelog names the change; a plain word only as code."""
    name = re.escape(found.definition.name)
    as_code = rf"[`'\"*.:#]{name}\b|\b{name}[`'\"*(=]"
    word = as_code if _PLAIN_NAME.fullmatch(found.definition.name) else rf"\b{name}\b"
    return any(re.search(word, line) for line in news)


def added_news(change: TreeChange, changelog: str = "") -> list[str]:
    """Return lines that the change adds to changelogs: to the given one, or to any."""
    texts = _changed_texts(change, changelog, is_news)
    pairs = ((set(old.splitlines()), new.splitlines()) for old, new in texts)
    return [line for known, lines in pairs for line in lines if line not in known]


def allows_breaks(change: TreeChange, version_file: str = "") -> bool:
    """Return whether the version is raised for incompatible changes: in its first number (or 0.y)."""
    texts = _changed_texts(change, version_file, _VERSION_FILES.search)
    pairs = (zip(*map(_versions, pair), strict=False) for pair in texts)
    return any(_is_major(was, now) for pair in pairs for was, now in pair)


def _changed_texts(
    change: TreeChange, name: str, chosen: Callable[[str], object]
) -> Iterator[list[str]]:
    """Yield both texts of changed files: of the named one, else of those that are chosen."""
    for raw in {**change.before.view.changed(), **change.after.view.changed()}:
        path = os.fsdecode(raw)
        if path == name or (not name and chosen(path)):
            yield [_text(finder, raw) for finder in (change.before, change.after)]


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
    if language in ("go", "java", "kotlin"):
        return path.rpartition("/")[0]
    ends = {"python": "/__init__", "rust": "/mod"} | dict.fromkeys(ECMA, "/index")
    return (
        re.sub(r"(\.d)?\.\w+$", "", path).removesuffix(ends[language]) if language in ends else path
    )


class _ModulePair:
    """The exported names of one module in both trees."""

    def __init__(self, change: TreeChange, paths: list[str]) -> None:
        self._before, self._after, self._paths = change.before, change.after, paths
        self._changed_files = change.paths
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
            self._now |= {} if exports_nothing(change, path) else _surface(self._after, new)
            if not had:
                self._new_files.add(path)
        self._bound: dict[str, tuple[Definition, Definition]] = {}
        for name in sorted(self._was.keys() & self._now.keys()):
            if EXPORT in (self._was[name].kind, self._now[name].kind):
                self._bind(name)

    def _bind(self, name: str) -> None:
        """Look at what a passed-on name stands for, if a private file defines or defined it."""
        ends = (self._before, self._was), (self._after, self._now)
        old, new = (_behind(finder, names[name]) for finder, names in ends)
        if old is None or new is None or not (_is_private(old.path) or _is_private(new.path)):
            return
        if self._changed_files.keys().isdisjoint((old.path, new.path)):
            return
        source, other = self._before.project.source(old.path), self._after.project.source(new.path)
        if source is None or other is None or source.origin.status != other.origin.status:
            return
        self._languages |= {old.path: source.language, new.path: other.language}
        self._bound[name] = old, new
        for (finder, names), one, file in zip(ends, (old, new), (source, other), strict=True):
            for full, member in _defined(finder, file, one).items():
                names.setdefault(name + full.removeprefix(one.qualified), member)

    def differences(self) -> Iterator[SurfaceChange]:
        """Yield each exported name that differs."""
        for name, symbol in self._was.items():
            if name not in self._now:
                if not self._is_kept(name, symbol):
                    language = self._languages[symbol.path]
                    told = (True, "removed", "", "", symbol, self._offering(name))
                    yield SurfaceChange(_shown(symbol, name), language, SurfaceKind.REMOVED, *told)
            elif (found := self._changed(name)) is not None:
                yield found
        for name, symbol in self._now.items():
            outer = name.rpartition(".")[0]
            alone = outer in self._was or not outer or symbol.path in self._new_files
            if name not in self._was and alone:
                language = self._languages[symbol.path]
                yield SurfaceChange(_shown(symbol, name), language, SurfaceKind.ADDED, False)

    def _offering(self, name: str) -> str:
        """Return the public file that offers a name of a private one; empty for any other."""
        top = name.partition(".")[0]
        return self._was[top].path if top in self._bound else ""

    def _changed(self, name: str) -> SurfaceChange | None:
        old, new = self._bound.get(name, (self._was[name], self._now[name]))
        language = self._languages[new.path]
        if self._languages[old.path] != language:
            return None  # JavaScript became TypeScript: signatures are not comparable
        mine, theirs = _signature(self._before, old), _signature(self._after, new)
        if mine.split() == theirs.split() or EXPORT in (old.kind, new.kind):
            return None
        callable_both = old.kind in FUNCTIONS and new.kind in FUNCTIONS
        found = incompatibility(mine, theirs, language) if callable_both else None
        why, call = found or Incompatibility("")
        seen, module = _shown(new, name), self._offering(name)
        told = (bool(why), why, old.signature, call, old, module)
        return SurfaceChange(seen, language, SurfaceKind.CHANGED, *told)

    def _is_kept(self, name: str, symbol: Definition) -> bool:
        """Return whether a name that is not listed any more is offered otherwise, or goes with its class."""
        outer = name.rpartition(".")[0]
        if outer:
            gone = outer in self._was and outer not in self._now
            owner = self._bound[outer][1] if outer in self._bound else self._now.get(outer)
            if gone or not owner or symbol.kind not in FUNCTIONS:
                return gone
            # from a base, possibly from one outside
            return any(self._after.binder.types.classes.members(owner, symbol.name, False))
        return any(self._offers(path, name) for path in self._paths)

    def _offers(self, path: str, name: str) -> bool:
        """Return whether a file of the new tree still passes a name on, or may."""
        source = self._after.project.source(path)
        if source is None:
            return False
        if source.language in ECMA:
            return bool(_stars(self._after.project, source))
        if any(local == name for item in source.imports for _, local in item.names):
            return True
        return source.language == "python" and Judge(self._before, self._after).serves(source, name)


def _signature(finder: Finder, symbol: Definition) -> str:
    """Return the complete signature as it is written."""
    if symbol.kind not in FUNCTIONS:
        return symbol.signature if symbol.kind in TYPES else ""
    text = full_signature(finder, symbol)
    return python_header(text) if symbol.path.endswith((".py", ".pyi")) else text


def _shown(symbol: Definition, name: str) -> Definition:
    """Return a definition under the name that callers know."""
    if symbol.kind == EXPORT or symbol.qualified == name:
        return symbol
    return symbol._replace(name=name.rpartition(".")[2], qualified=name)


def _behind(finder: Finder, symbol: Definition) -> Definition | None:
    """Return the definition that a passed-on name stands for; None if it may be another."""
    if symbol.kind != EXPORT:
        return symbol
    found = finder.binder.names.modules.exported((symbol.path,), symbol.name)
    if found.state is not State.DEFINED or len({one.path for one in found.definitions}) != 1:
        return None
    one_way = len(found.definitions) == 1 and _is_bound_once(finder.project, symbol)
    return list(found.definitions)[-1] if found.sure or one_way else None


def _is_bound_once(project: Project, symbol: Definition) -> bool:
    """Return whether one import, or stars of this tree alone, bind a passed-on name."""
    source = project.source(symbol.path)
    imports = source.bindings.get(symbol.name, ()) if source else ()
    stars = source.stars if source else []
    return len(imports) <= 1 and all(project.resolve(source, star) for star in stars if source)


def _passing_on(project: Project, private: list[str]) -> set[str]:
    """Return the public modules that may pass on names of private files, directly or by others."""
    found: set[str] = set()
    todo, seen = list(private), set(private)
    while todo:
        path = todo.pop()
        near = [one for one in project.importing(path) if one not in seen and _is_product(one)]
        project.load(near)
        for source in filter(None, map(project.source, near)):
            if source.language not in _PASSING or not _imports(project, source, path):
                continue
            seen.add(source.path)
            public = not _is_private(source.path)
            if public:
                found.add(source.path)
            if not public or _passed_on(project, source):
                todo.append(source.path)
    return found


def _imports(project: Project, source: FileNames, path: str) -> bool:
    return any(path in project.resolve(source, item) for item in source.imports)


def _is_public(path: str, language: str) -> bool:
    if language == "go":
        return _is_product(path) and "internal" not in path.split("/")
    return _is_product(path) and not _is_private(path)


def _is_private(path: str) -> bool:
    """Return whether the name of a file or of its folder says that it is not for others."""
    parts = path.removesuffix(".py").split("/")
    return any(p.startswith("_") and not p.startswith("__") for p in parts)


def _is_product(path: str) -> bool:
    kinds = file_kinds(path)
    internal = (kinds.test, kinds.example, kinds.foreign, kinds.hidden, kinds.benchmark, kinds.tool)
    parts = path.removesuffix(".py").split("/")
    scripts = ("setup", "conftest", "noxfile", "__main__")
    return not (any(internal) or kinds.docs or parts[-1] in scripts)


def _surface(finder: Finder, source: FileNames | None) -> dict[str, Definition]:
    """Return exported names by qualified name: module level, and members of exported types."""
    if source is None:
        return {}
    names = _defined(finder, source)
    for name, line in _passed_on(finder.project, source).items():
        bare = Definition(source.path, -1, name, name, EXPORT, line, 0, line, line, "", -1, True)
        names.setdefault(name, bare)
    return names


def _defined(
    finder: Finder, source: FileNames, root: Definition | None = None
) -> dict[str, Definition]:
    """Return what a file defines for others by qualified name; `root`: it and what is in it."""
    names: dict[str, Definition] = {root.qualified: root} if root else {}
    for symbol in source.symbols:
        outer = _holder(source, symbol)
        held = outer is not None and outer.kind in TYPES and outer.qualified in names
        if not (held or (outer is None and root is None)):
            continue
        if symbol.kind in SPACES or not _is_exported(symbol, outer, source.language):
            continue
        if symbol.qualified in names and _is_setter(finder, source, symbol):
            continue  # readers of the property are not affected
        names[symbol.qualified] = symbol
    return names


def _holder(source: FileNames, symbol: Definition) -> Definition | None:
    """Return the class or function that a symbol is in, namespaces apart."""
    outer = source.symbol(symbol.parent)
    while outer is not None and outer.kind in SPACES:
        outer = source.symbol(outer.parent)
    return outer


def _passed_on(project: Project, source: FileNames) -> dict[str, int]:
    """Return the names that a file exports without defining them, and their lines."""
    rust = source.language == "rust"
    items = [i for i in source.imports if not rust or _is_public_use(project, source, i)]
    lines = {local: item.line for item in items for _, local in item.names if local != "*"}
    listed = set(lines) if rust else _exported_imports(project, source)
    if source.language == "python" and not source.stars:
        listed = listed.intersection(lines)
    return {name: lines.get(name, 0) for name in sorted(listed)}


def _exported_imports(project: Project, source: FileNames) -> set[str]:
    """Return the names that a file lists as exports, or a package passes on, and does not define."""
    own = {symbol.name for symbol in source.symbols if symbol.parent < 0}
    listed = exports_of(project, source.path) - own
    if not listed and "__all__" not in own and source.path.endswith("__init__.py"):
        listed = _unused_imports(project, source)
    if source.language in _PASSING and "__all__" not in own:
        listed = listed | (_starred(project, source, frozenset({source.path})) - own)
    return {name for name in listed if not name.startswith("_")}


def _starred(project: Project, source: FileNames, seen: frozenset[str]) -> set[str]:
    """Return the names that a module passes on as a whole from private files."""
    names = set[str]()
    for star in _stars(project, source):
        for path in project.resolve(source, star)[:1]:
            inner = project.source(path) if _is_private(path) and path not in seen else None
            if inner is not None:
                names |= exports_of(project, path)
                if not inner.children(-1, "__all__"):
                    names |= _starred(project, inner, seen | {path})
    return names


def _stars(project: Project, source: FileNames) -> list[Import]:
    """Return the imports by which a module passes on all that another one has."""
    if source.language not in ECMA:
        return source.stars
    text = project.text(source.path).decode("utf-8", "replace").replace('"', "'")
    return [star for star in source.stars if f"export * from '{star.module}'" in text]


def _is_public_use(project: Project, source: FileNames, item: Import) -> bool:
    return project.span(source.path, item.line, item.line).strip().startswith("pub use ")


def _unused_imports(project: Project, source: FileNames) -> frozenset[str]:
    """Return what a package imports from its modules and does not use: it passes it on."""
    near = [item for item in source.imports if item.level == 1]
    names = {local for item in near for there, local in item.names if there != "*"}
    used = {place.name for place in project.places_in(source.path) if place.use != Use.IMPORT}
    return frozenset(names - used)


def _is_setter(finder: Finder, source: FileNames, symbol: Definition) -> bool:
    """Return whether a symbol is the setter or deleter of a Python property."""
    if source.language != "python":
        return False
    above = finder.project.span(source.path, max(0, symbol.line - 3), symbol.line)
    return re.search(rf"@{re.escape(symbol.name)}\.(?:setter|deleter)\b", above) is not None


def _is_exported(symbol: Definition, outer: Definition | None, language: str) -> bool:
    name, signature = symbol.name, symbol.signature
    reachable = outer is not None or symbol.exported
    match language:
        case "python" if name == "__getattr__" and outer is None:
            return True  # it serves names of the module
        case "python":
            return reachable and (not name.startswith("_") or name in ("__init__", "__call__"))
        case "go":
            return name[:1].isupper()
        case "java" | "kotlin" | "csharp" | "scala" | "swift" | "php":
            return not re.search(r"\b(private|protected|internal)\b", signature)
        case "rust" if signature.startswith("pub "):
            return True
        case "javascript" | "typescript" | "tsx":
            return reachable and not re.search(r"^#|\bprivate\b", f"{name} {signature}")
    return symbol.exported


class Caller(NamedTuple):
    """A place that uses what changed. `line` is 1-based."""

    path: str
    line: int
    text: str


class Witness(NamedTuple):
    """A use that fits before the change and not after it, and the uses in the tree."""

    code: str
    callers: list[Caller]  # at most MAX_CALLERS, those outside of tests first
    total: int  # callers in the tree


def witness_of(change: TreeChange, one: SurfaceChange, search: bool = True) -> Witness:
    """Return the witness of an incompatible change; `search`: with its callers before the change."""
    old = _old_definition(change, one)
    sites = _callers(change.before, old) if search and old is not None else []
    shown = [_caller(change.before, site) for site in sites[:MAX_CALLERS]]
    return Witness(_generated(change.before.project, one), shown, len(sites))


def _old_definition(change: TreeChange, one: SurfaceChange) -> Definition | None:
    """Return what changed as it was; for a re-export the definition behind it."""
    if one.definition.kind == EXPORT:
        path, name = one.definition.path, one.definition.name
        found = change.before.binder.names.modules.exported((path,), name).definitions
        return found[0] if found else None
    return one.old


def _callers(before: Finder, old: Definition) -> list[Site]:
    """Return the sure uses outside of the definition itself, product code first, short lines first."""
    found: dict[tuple[str, int], Site] = {}
    for site in before.sites([old]):
        inside = site.path == old.path and old.start_line <= site.line <= old.end_line
        if site.tier in SURE and not inside and site.use != Use.IMPORT:
            found.setdefault((site.path, site.line), site)
    return sorted(
        found.values(), key=lambda s: (is_test(s.path), s.path == old.path, s.path, s.line)
    )


def _caller(before: Finder, site: Site) -> Caller:
    text = before.project.span(site.path, site.line, site.line).strip()
    return Caller(site.path, site.line + 1, text)


def _generated(before: Project, one: SurfaceChange) -> str:
    """Return at most five lines that use the name as it was."""
    path, qualified = one.module or one.definition.path, one.definition.qualified
    if one.language in ECMA and not ESM.search(before.text(path)):
        return f"require('./{_ecma_name(path)}').{qualified.removeprefix('module.').removeprefix('exports.')}"
    holder, _, member = qualified.rpartition(".")
    top = (holder or one.definition.name).partition(".")[0]
    lines = [_import(before, path, one.language, top)]
    if one.call:
        lines.append(f"{holder}().{member}{one.call}" if holder else f"{member}{one.call}")
    elif holder and (one.kind is not SurfaceKind.CHANGED or one.language != "python"):
        lines.append(f"{holder}.{member}")
    return "\n".join(filter(None, lines))


def _import(project: Project, path: str, language: str, name: str) -> str:
    """Return the import of a name of a file, as another file of the tree would write it."""
    stem = re.sub(r"\.\w+$", "", path)
    if language == "python":
        return f"from {_module_name(project, stem)} import {name}"
    if language in ECMA:
        return f"import {{ {name} }} from './{_ecma_name(path)}'"
    if language == "rust":
        inside = re.sub(r"^.*\bsrc/", "", stem).removesuffix("/mod")
        parts = [part for part in inside.split("/") if part not in ("lib", "main")]
        return f"use {'::'.join(['crate', *parts, name])};"
    if language == "go":
        return f"{path.rpartition('/')[0].rpartition('/')[2] or 'main'}.{name}"
    return name


def _ecma_name(path: str) -> str:
    """Return a path as an import of ECMAScript names it."""
    return re.sub(r"(\.d)?\.\w+$", "", path).removesuffix("/index")


def _module_name(project: Project, stem: str) -> str:
    """Return the dotted name of a Python file: below the topmost folder that is a package."""
    parts = stem.removesuffix("/__init__").split("/")
    start = len(parts) - 1
    while start > 0 and project.source("/".join([*parts[:start], "__init__.py"])) is not None:
        start -= 1
    return ".".join(parts[start:])
