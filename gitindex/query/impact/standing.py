"""Decide whether a reference of the new tree is broken: does its name still resolve?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum

from gitindex.base.path_kind import is_test
from gitindex.base.vocabulary import FactsStatus
from gitindex.languages.facts import Import, Occurrence, Use
from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.names.finder import Finder
from gitindex.query.names.model import (
    ECMA,
    STRICT,
    UNKNOWN,
    Definition,
    ExpressionPlace,
    FileNames,
    Meaning,
    State,
    Value,
    ValueKind,
)
from gitindex.query.names.names import BUILTINS
from gitindex.query.names.project import Project

_GO_WORDS = """
append cap clear close complex copy delete imag len make max min new panic print println real recover
any bool byte comparable error false float32 float64 int int8 int16 int32 int64 iota nil rune string true
uint uint8 uint16 uint32 uint64 uintptr
"""
_BUILTINS = BUILTINS | {"go": frozenset(_GO_WORDS.split())}
_COMPUTED = "dynamic_attribute"
"""The flag of files that access names dynamically; only some of them create names."""
_MAKES_NAMES = {
    "python": re.compile(
        rb"\b(?:globals|vars|locals)\s*\(|\bsys\.modules\b|(?<!self\.)(?<!cls\.)\b__dict__\b"
    ),
    "ecma": re.compile(rb"\bexports\s*\[|\bdefineProper|\bObject\.assign\b|\bProxy\b"),
}
"""Code that gives a module names which are not in its text, or reaches any of them."""
_LOOKS_UP = re.compile(
    rb"\b(?:globals|vars|locals)\s*\(\s*\)\s*(?:\[[^\]\n]*\](?!\s*(?:[-+*/|&]?=[^=]|[\],:\"']))|\.get\b)"
    rb"|\bin\s+sys\.modules\b|\bsys\.modules\[[\"']__main__[\"']\]"
)
"""Code that only reaches such a name: it gives none."""
_MAKES_MEMBERS = {
    "python": re.compile(rb"\bsetattr\s*\(|\b__dict__\b|\btype\s*\([^()]*,"),
    "ecma": re.compile(rb"\]\s*=[^=>]|\bdefineProper|\bObject\.assign\b|\bProxy\b"),
}
"""Code that gives a class members which are not in its text."""
_FIELDS = frozenset({"field", "property"})
_HOOKS = ("__getattr__", "__getattribute__", "__call", "__get", "method_missing")
"""A class or module with one of these accepts any name."""


class Standing(Enum):
    """Does a reference of the new tree still resolve?"""

    FINE = "fine"
    BROKEN = "broken"
    KEPT = "kept"  # its declared type lost the member, a subclass of it has one
    UNSURE = "unsure"


FINE, BROKEN, KEPT, UNSURE = Standing


class Judge:
    """Judges places of one tree."""

    def __init__(self, before: Finder, finder: Finder) -> None:
        self._before = before
        self._finder = finder
        self._project = finder.project

    def standing(self, source: FileNames, place: Occurrence) -> Standing:
        """Return how the name at a place stands."""
        meaning = self._finder.binder.meaning(source, place)
        if source.language == "rust" and _misses(meaning, place):
            meaning = UNKNOWN
        if source.language == "java" and not self._declares(source, meaning, place.name):
            meaning = UNKNOWN
        if meaning.state is State.KEY and not meaning.definitions:
            return UNSURE  # a field in the old tree: of a literal of its type
        if meaning.state not in (State.UNBOUND, State.UNKNOWN):
            return FINE
        if place.use == Use.IMPORT:
            return self._import(source, place)
        value = self._receiver(source, place)
        return self._member(source, place, value) if value else self._bare(source, place, meaning)

    def takes_from(self, source: FileNames, place: Occurrence, module: str) -> bool:
        """Return whether a place is a member of a module: `module.name`."""
        value = self._receiver(source, place)
        return value is not None and value.module is not None and module in value.module.paths

    def _receiver(self, source: FileNames, place: Occurrence) -> Value | None:
        """Return the value before the dot; None for a bare name."""
        at = self._project.offset(source.path, place.line, place.column)
        chain = self._finder.binder.receiver(source, at)
        where = ExpressionPlace(source, place.enclosing, at)
        return None if chain is None else self._finder.binder.types.chain(chain, where)

    def may_offer(self, paths: Iterable[str], name: str) -> bool:
        """Return whether a module may have an unlisted name: by a foreign star or at run time."""
        sources = [self._project.source(path) for path in paths]
        return any(s is None or self._is_open(s, name) for s in sources)

    def serves(self, source: FileNames, name: str) -> bool:
        """Return whether `__getattr__` of a module may answer for a name: it is new, or names it."""
        old = self._before.project.source(source.path)
        for hook in [d for known in _HOOKS for d in source.children(-1, known)]:
            span = self._project.span(source.path, hook.start_line, hook.end_line)
            same = old.children(-1, hook.name) if old else []
            spans = [self._before.project.span(d.path, d.start_line, d.end_line) for d in same]
            quoted = re.compile(rb"[\"']%s[\"']" % re.escape(name.encode()))
            if span not in spans or quoted.search(self._project.text(source.path)):
                return True
        return False

    def may_be_variable(self, source: FileNames, place: Occurrence, lost: Definition) -> bool:
        """Return whether a bare Rust name that is also a field probably is a variable."""
        if source.language != "rust" or lost.kind not in _FIELDS:
            return False
        at = self._project.offset(source.path, place.line, place.column)
        return self._project.text(source.path)[at - 1 : at] != b"."

    def _declares(self, source: FileNames, meaning: Meaning, name: str) -> bool:
        """Return whether the file that a Java import reaches, or reached, defines the class of that name."""
        if meaning.state is State.OUTSIDE:  # so is a class of ours whose file lost all of them
            bound = source.bindings.get(name, ())
            return not any(self._was_ours(source, item) for item, _ in bound)
        paths = meaning.module.paths if meaning.module else ()
        sources = [self._project.source(path) for path in paths]
        return not paths or any(source is None or source.named(name) for source in sources)

    def is_shimmed(self, path: str) -> bool:
        """Return whether a file handles names that it does not define, as `__getattr__` does."""
        source = self._project.source(path)
        return source is not None and any(source.named(name) for name in _HOOKS)

    def _passes_on(self, paths: Iterable[str], name: str, seen: frozenset[str]) -> bool:
        """Return whether a module may have a name: its own, or re-exported from another module."""
        for path in paths:
            source = self._project.source(path)
            if source is None or self._is_open(source, name):
                return True
            for item, there in source.bindings.get(name, ()) if path not in seen else ():
                bare = item._replace(names=()) if source.language == "python" else item
                further = self._project.resolve(source, bare)
                if not further and not _is_relative(item) and not self._was_ours(source, item):
                    return True
                if self._passes_on(further[:1], there, seen | {path}):
                    return True
        return False

    def _is_open(self, source: FileNames, name: str) -> bool:
        if source.origin.status != FactsStatus.PARSED:
            return True
        if _computes(self._project, source, _MAKES_NAMES, _LOOKS_UP):
            return True
        if self.serves(source, name):
            return True
        return source.language in STRICT and self._has_foreign_star(source)

    def _was_ours(self, source: FileNames, item: Import) -> bool:
        """Return whether an import that no longer resolves resolved in the old tree."""
        return bool(self._before.project.resolve(source, item))

    def _has_foreign_star(self, source: FileNames) -> bool:
        stars = [item for item in source.stars if item.names or source.language in ECMA]
        return any(not self._project.resolve(source, item) for item in stars)

    def _import(self, source: FileNames, place: Occurrence) -> Standing:
        items = imports_at(source, place)
        if source.language == "rust" and items:
            return self._rust(source, place, [(item, place.name) for item, _ in items])
        if not items or source.language not in STRICT:
            return UNSURE
        guarded = self.is_guarded(source, items[0][0].line)
        return FINE if guarded else self._are_lost(source, items)

    def _are_lost(self, source: FileNames, items: Iterable[tuple[Import, str]]) -> Standing:
        """Return BROKEN if all imports lead to modules of the tree that lack the name, else UNSURE."""
        for item, name in items:
            bare = item._replace(names=()) if source.language == "python" else item
            paths = self._project.resolve(source, bare)
            if source.language == "python":
                paths = paths[:1]
            if not paths and not _is_relative(item) and not self._was_ours(source, item):
                return UNSURE  # possibly it was never part of this tree
            if paths and self._passes_on(paths, name, frozenset()):
                return UNSURE
        return BROKEN

    def is_guarded(self, source: FileNames, line: int) -> bool:
        """Return whether an import is under `try:`, so its failure is expected."""
        text = self._project.span(source.path, max(0, line - 20), line).splitlines()
        depth = _indent(text[-1]) if text else 0
        for before in reversed(text[:-1]):
            if before.strip() and _indent(before) < depth:
                if before.strip().startswith("try"):
                    return True
                depth = _indent(before)
        return False

    def _member(self, source: FileNames, place: Occurrence, value: Value) -> Standing:
        if value.module is not None:
            paths = value.module.paths
            return UNSURE if not paths or self.may_offer(paths, place.name) else BROKEN
        holder = value.definition
        if holder is None or value.kind not in (
            ValueKind.TYPE,
            ValueKind.OBJECT,
            ValueKind.SUPER,
        ):
            return UNSURE
        name, above = place.name, value.kind is ValueKind.SUPER
        found, is_open = self._finder.binder.types.classes.members(holder, name, above)
        if source.language == "rust":  # a field and a method may share a name
            found = [d for d in found if (d.kind in FUNCTIONS) == (place.use == Use.CALL)]
        if found:
            return FINE
        if self._is_below(holder, name, is_test(source.path)):
            return KEPT
        return UNSURE if is_open else self._lacks(holder, above)

    def _lacks(self, holder: Definition, above: bool) -> Standing:
        """Return BROKEN if a class without some member has no other way to offer it."""
        classes = self._finder.binder.types.classes
        source = self._project.source(holder.path)
        if source is None or source.origin.status != FactsStatus.PARSED:
            return UNSURE
        patched = "monkey_patch" in source.origin.flags
        if (
            patched
            or _computes(self._project, source, _MAKES_MEMBERS)
            or classes.ancestors(holder)[1]
        ):
            return UNSURE
        if any(classes.members(holder, hook, above)[0] for hook in _HOOKS):
            return UNSURE
        return BROKEN

    def _is_below(self, holder: Definition, name: str, tests: bool) -> bool:
        """Return whether a subclass has the member: the object may be one. `tests`: doubles count."""
        classes = self._finder.binder.types.classes
        others = [d for d in self._project.definitions(name) if tests or not is_test(d.path)]
        owners = [classes.class_of(other) for other in others]
        return any(one is not None and holder in classes.ancestors(one)[0] for one in owners)

    def _bare(self, source: FileNames, place: Occurrence, meaning: Meaning) -> Standing:
        name, language = place.name, source.language
        if name in _BUILTINS.get(language, ()):
            return FINE
        if source.origin.status != FactsStatus.PARSED or "eval_exec" in source.origin.flags:
            return UNSURE
        bindings = source.bindings.get(name, [])
        if language == "rust":
            return self._rust(source, place, bindings)
        if language not in STRICT:
            return UNSURE if bindings else self._nowhere(source, place)
        if bindings:
            guarded = any(self.is_guarded(source, item.line) for item, _ in bindings)
            return UNSURE if guarded else self._are_lost(source, bindings)
        unbound = meaning.state is State.UNBOUND and not self._has_foreign_star(source)
        return BROKEN if unbound else UNSURE

    def _rust(
        self, source: FileNames, place: Occurrence, bindings: list[tuple[Import, str]]
    ) -> Standing:
        """Judge a bare Rust name: from its file, or from a `use`; a macro may create it."""
        text = self._project.text(source.path)
        if _may_be_rust_variable(place, text):
            return UNSURE
        stars = [(item, place.name) for item in source.stars if ("*", "*") in item.names]
        if any(self._rust_use_may_have(source, *one) for one in (*bindings, *stars)):
            return UNSURE
        macro = re.compile(rb"!\s*[({\[][^;{}]*\b" + re.escape(place.name.encode()) + rb"\b")
        after = self._project.offset(source.path, place.line, place.column) + len(place.name)
        if text[after : after + 1] == b"!" or (not bindings and macro.search(text)):
            return self._nowhere(source, place)
        return BROKEN

    def _rust_use_may_have(self, source: FileNames, item: Import, name: str) -> bool:
        """Return whether a `use` may still bind a name: its file has it, passes it on, or is foreign."""
        paths = self._project.resolve(source, item)
        if not paths:
            return item.module.partition("::")[0] not in ("self", "super", "crate")
        for target in map(self._project.source, paths):
            if target is None or target.origin.status != FactsStatus.PARSED or target.named(name):
                return True
            passed = any(i is not item for i, _ in target.bindings.get(name, ()))
            if target is not source and (
                passed or any(("*", "*") in i.names for i in target.stars)
            ):
                return True
        return False

    def _nowhere(self, source: FileNames, place: Occurrence) -> Standing:
        """Judge a name in languages where it may come from anywhere: broken if it is undefined."""
        owner = self._finder.binder.types.classes.owner(source, place.enclosing)
        if owner is not None:
            found, is_open = self._finder.binder.types.classes.members(owner, place.name, False)
            if found or (is_open and source.language != "go"):
                return UNSURE
        if source.language == "go":
            return BROKEN  # a package is a folder, which was searched
        others = self._project.definitions(place.name)
        self._project.load(d.path for d in others)
        kin = [s for d in others if (s := self._project.source(d.path)) is not None]
        return UNSURE if any(s.origin.family == source.origin.family for s in kin) else BROKEN


def makes_names(project: Project, source: FileNames) -> bool:
    """Return whether a file may create or reach names of its module that are not in its text."""
    return _computes(project, source, _MAKES_NAMES)


def _computes(
    project: Project,
    source: FileNames,
    makes: dict[str, re.Pattern[bytes]],
    harmless: re.Pattern[bytes] | None = None,
) -> bool:
    flags = source.origin.flags
    if "eval_exec" in flags:
        return True
    if _COMPUTED not in flags:
        return False
    pattern, text = makes.get(source.origin.family), project.text(source.path)
    text = harmless.sub(b"", text) if harmless else text
    return pattern is None or pattern.search(text) is not None


def imports_at(source: FileNames, place: Occurrence) -> list[tuple[Import, str]]:
    """Return the imports of a statement that bind or take the name at a place, and what they take."""
    line = max((item.line for item in source.imports if item.line <= place.line), default=-1)
    items = [item for item in source.imports if item.line == line]
    return [(item, pair[0]) for item in items for pair in item.names if place.name in pair]


def _misses(meaning: Meaning, place: Occurrence) -> bool:
    """Return whether a call resolves to a field, or a `use` only to the file that had the name."""
    if meaning.state is State.MODULE:
        paths = meaning.module.paths if meaning.module else ()
        stems = {part for path in paths for part in path.removesuffix(".rs").split("/")[-2:]}
        return bool(paths) and place.name not in stems
    called = place.use == Use.CALL
    members = [d for d in meaning.definitions if d.parent >= 0 and d.kind in FUNCTIONS | _FIELDS]
    return bool(members) and all((d.kind in FUNCTIONS) != called for d in members)


def _may_be_rust_variable(place: Occurrence, text: bytes) -> bool:
    """Return whether a name may be a variable: those of Rust are not modelled."""
    if place.name[:1].isupper():
        return False
    name = re.escape(place.name.encode())
    variable = re.compile(rb"(?:\blet\s+(?:mut\s+)?|[|,(&]\s*)%s\s*[:=|,)]" % name)
    return place.use not in (Use.CALL, Use.IMPORT) or variable.search(text) is not None


def _is_relative(item: Import) -> bool:
    return bool(item.level) or item.module.startswith(".")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
