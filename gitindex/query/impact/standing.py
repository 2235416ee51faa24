"""Is a place of the new tree broken? It named something before; does it name anything now?"""

from __future__ import annotations

from collections.abc import Iterable

from gitindex.base.vocabulary import FactsStatus
from gitindex.languages.facts import Import, Occurrence, Use
from gitindex.query.names.builtins import BUILTINS
from gitindex.query.names.chains import receiver
from gitindex.query.names.finder import Finder
from gitindex.query.names.meanings import ECMA, STRICT, Meaning, State
from gitindex.query.names.source import Definition, FileNames
from gitindex.query.names.values import ExpressionPlace, Value, ValueKind

_GO_WORDS = """
append cap clear close complex copy delete imag len make max min new panic print println real recover
any bool byte comparable error false float32 float64 int int8 int16 int32 int64 iota nil rune string true
uint uint8 uint16 uint32 uint64 uintptr
"""
_GO_BUILTINS = frozenset(_GO_WORDS.split())
_ARROWS = frozenset({"c", "cpp", "php"})
_DYNAMIC = frozenset({"eval_exec", "monkey_patch", "dynamic_attribute"})
"""Files with these flags may offer names that no text spells out."""
_HOOKS = ("__getattr__", "__getattribute__", "__call", "__get", "method_missing")
"""A class or module with one of these answers for any name."""


class Judge:
    """Judges places of one tree. True: broken; False: fine; None: cannot be told."""

    def __init__(self, before: Finder, finder: Finder) -> None:
        self._before = before
        self._finder = finder
        self._project = finder.project

    def is_broken(self, source: FileNames, place: Occurrence) -> bool | None:
        """Does the name at a place stand for nothing at all?"""
        meaning = self._finder.binder.meaning(source, place)
        if meaning.state not in (State.UNBOUND, State.UNKNOWN):
            return False
        if place.use == Use.IMPORT:
            return self._import(source, place)
        data = self._project.text(source.path)
        at = self._project.offset(source.path, place.line, place.column)
        chain = receiver(data, at, source.language in _ARROWS)
        if chain is None:
            return self._bare(source, place, meaning)
        where = ExpressionPlace(source, place.enclosing, at)
        return self._member(self._finder.binder.types.chain(chain, where), place.name)

    def offers_anything(self, paths: Iterable[str]) -> bool:
        """May a module have names that nobody can list: by a star from outside, or made at run time?"""
        sources = [self._project.source(path) for path in paths]
        return any(s is None or self._is_open(s) for s in sources)

    def _passes_on(self, paths: Iterable[str], name: str, seen: frozenset[str]) -> bool:
        """May a module have a name: by itself, or from a module that it takes it from?"""
        for path in paths:
            source = self._project.source(path)
            if source is None or self._is_open(source):
                return True
            for item, there in source.bindings.get(name, ()) if path not in seen else ():
                bare = item._replace(names=()) if source.language == "python" else item
                further = self._project.resolve(source, bare)
                if not further and not _is_relative(item) and not self._was_ours(source, item):
                    return True
                if self._passes_on(further[:1], there, seen | {path}):
                    return True
        return False

    def _is_open(self, source: FileNames) -> bool:
        if source.origin.status != FactsStatus.PARSED or _DYNAMIC.intersection(source.origin.flags):
            return True
        if any(source.children(-1, name) for name in _HOOKS):
            return True
        return source.language in STRICT and self._has_foreign_star(source)

    def _was_ours(self, source: FileNames, item: Import) -> bool:
        """Did an import that leads nowhere now lead to a module of the tree before?"""
        return bool(self._before.project.resolve(source, item))

    def _has_foreign_star(self, source: FileNames) -> bool:
        stars = [item for item in source.stars if item.names or source.language in ECMA]
        return any(not self._project.resolve(source, item) for item in stars)

    def _import(self, source: FileNames, place: Occurrence) -> bool | None:
        near = [item for item in source.imports if item.line <= place.line]
        line = max((item.line for item in near), default=-1)
        items = [i for i in near if i.line == line and _binds(i, place.name)]
        if not items or source.language not in STRICT:
            return None
        if self.is_guarded(source, line):
            return False
        names = {there for i in items for there, local in i.names if place.name in (there, local)}
        return self._are_lost(source, [(item, name) for item in items for name in names])

    def _are_lost(self, source: FileNames, items: Iterable[tuple[Import, str]]) -> bool | None:
        """Do all of these imports lead to modules of the tree, none of which offers more than it lists?"""
        for item, name in items:
            bare = item._replace(names=()) if source.language == "python" else item
            paths = self._project.resolve(source, bare)
            if source.language == "python":
                paths = paths[:1]
            if not paths and not _is_relative(item) and not self._was_ours(source, item):
                return None  # perhaps it was never of this tree
            if paths and self._passes_on(paths, name, frozenset()):
                return None
        return True

    def is_guarded(self, source: FileNames, line: int) -> bool:
        """An import under `try:` may fail: what follows expects it."""
        text = self._project.span(source.path, max(0, line - 20), line).splitlines()
        depth = _indent(text[-1]) if text else 0
        for before in reversed(text[:-1]):
            if before.strip() and _indent(before) < depth:
                if before.strip().startswith("try"):
                    return True
                depth = _indent(before)
        return False

    def _member(self, value: Value, name: str) -> bool | None:
        if value.module is not None:
            paths = value.module.paths
            return None if not paths or self.offers_anything(paths) else True
        holder = value.definition
        if holder is None or value.kind not in (
            ValueKind.TYPE,
            ValueKind.OBJECT,
            ValueKind.SUPER,
        ):
            return None
        return self._lacks(holder, name, value.kind is ValueKind.SUPER)

    def _lacks(self, holder: Definition, name: str, above: bool) -> bool | None:
        """Has a class no member of this name, neither of its own nor from any base?"""
        classes = self._finder.binder.types.classes
        found, is_open = classes.members(holder, name, above)
        if found:
            return False
        source = self._project.source(holder.path)
        if is_open or source is None or source.origin.status != FactsStatus.PARSED:
            return None
        if _DYNAMIC.intersection(source.origin.flags) or classes.ancestors(holder)[1]:
            return None
        if any(classes.members(holder, hook, above)[0] for hook in _HOOKS):
            return None
        return True

    def _bare(self, source: FileNames, place: Occurrence, meaning: Meaning) -> bool | None:
        name, language = place.name, source.language
        if name in BUILTINS.get(language, ()) or (language == "go" and name in _GO_BUILTINS):
            return False
        if source.origin.status != FactsStatus.PARSED or "eval_exec" in source.origin.flags:
            return None
        bindings = source.bindings.get(name)
        if bindings:
            if language not in STRICT or any(self.is_guarded(source, i.line) for i, _ in bindings):
                return None
            return self._are_lost(source, bindings)
        if language in STRICT:
            unbound = meaning.state is State.UNBOUND and not self._has_foreign_star(source)
            return True if unbound else None
        return self._nowhere(source, place)

    def _nowhere(self, source: FileNames, place: Occurrence) -> bool | None:
        """Languages where a bare name may come from anywhere: broken if nothing defines it any more."""
        owner = self._finder.binder.types.classes.owner(source, place.enclosing)
        if owner is not None:
            found, is_open = self._finder.binder.types.classes.members(owner, place.name, False)
            if found or (is_open and source.language != "go"):
                return None
        if source.language == "go":
            return True  # a package is a folder, and that was looked through
        others = self._project.definitions(place.name)
        self._project.load(d.path for d in others)
        kin = [s for d in others if (s := self._project.source(d.path)) is not None]
        return None if any(s.origin.family == source.origin.family for s in kin) else True


def _is_relative(item: Import) -> bool:
    return bool(item.level) or item.module.startswith(".")


def _binds(item: Import, name: str) -> bool:
    return any(name in pair for pair in item.names)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
