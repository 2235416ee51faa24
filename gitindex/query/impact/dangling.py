"""Find what a change breaks: references to lost names and modules, calls that no longer fit.

The reference engine lists the references in the old tree. A reference that is still in the new tree
and no longer resolves there is dangling.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from gitindex.base.escape import path_fields, safe_text
from gitindex.base.vocabulary import FactsStatus, Tier
from gitindex.languages.facts import Import, Occurrence, Use
from gitindex.languages.syntax.kinds import FUNCTIONS, SPACES
from gitindex.query.impact.change import NO_CODE, Difference, TreeChange, counterparts
from gitindex.query.impact.signatures import (
    CallArguments,
    Parameter,
    misfit,
    read_call,
    read_parameters,
)
from gitindex.query.impact.standing import BROKEN, FINE, UNSURE, Judge, Standing
from gitindex.query.names.finder import Finder
from gitindex.query.names.model import ECMA, STRICT, Definition, FileNames, Site
from gitindex.query.names.project import (
    LISTED,
    MAIN,
    Project,
    rows_of,
    words_of_file,
    words_of_import,
)

MAX_LOST = 400
"""Lost names that one change may have: each costs one search of its uses; the rest is not examined."""
MAX_POSSIBLE = 50
"""Uncertain references to list: more than a reader looks at."""
MAX_CALL = 20_000
"""Bytes after a name in which its arguments are read."""
SURE = (Tier.SEMANTIC, Tier.EXACT, Tier.IMPORT)
MAX_HEADER = 60
"""Lines in which a signature ends."""
_PASSING = STRICT | {"rust"}
"""Languages whose modules pass on what they import."""
ESM = re.compile(rb"(?m)^\s*(?:export|import)\b")
_WHOLE = re.compile(rb"(?:module\.exports\s*=\s*[^{\s]|export\s*\*)[^\n]*")
"""An export of all that another module has."""
_PLAIN = re.compile(
    r"@(?:\w+\.)?(?:staticmethod|classmethod|abstractmethod|override|final|lru_cache"
    r"|(?:async)?contextmanager)(?:\(.*)?$"
)
"""Decorators that leave the parameters as they are."""
_ECMA_FILES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
_EXPORTS = f"SELECT l.path, e.name FROM {LISTED} JOIN {{exports}} e ON e.blob_id=l.blob_id"


class Dangling(NamedTuple):
    """A reference in the new tree to a removed definition or module, 0-based."""

    path: str
    line: int
    column: int
    name: str
    missing_from: str
    tier: Tier

    def order(self) -> tuple[bytes, int, int, str]:
        """Sort key: by place."""
        return os.fsencode(self.path), self.line, self.column, self.name

    def fields(self) -> dict[str, Any]:
        """Return the JSON fields."""
        gone = {"missingFrom": safe_text(self.missing_from), "tier": str(self.tier)}
        return _place_fields(self) | gone


class Misfit(NamedTuple):
    """A call that fits the old signature but not the new one, 0-based."""

    path: str
    line: int
    column: int
    name: str
    why: str
    signature: str

    def fields(self) -> dict[str, Any]:
        """Return the JSON fields."""
        return _place_fields(self) | {"why": self.why, "signature": self.signature}


class DanglingReferences(NamedTuple):
    """Dangling references of a change: certain, and possible."""

    sure: list[Dangling]
    possible: list[Dangling]
    truncated: bool  # more names were lost than are examined
    more: int = 0  # possible ones that are not listed


def find_dangling(change: TreeChange, within: Collection[str] | None = None) -> DanglingReferences:
    """Return every dangling reference, ordered by path and line; `within`: of these files only."""
    return _DanglingSearch(change, within).run()


def exports_of(project: Project, path: str) -> frozenset[str]:
    """Return the names that a file lists as exports: `__all__`, `X as X`, `exports.x`, `export {x}`."""
    project.source(path)  # extracts the facts of an edited file
    return frozenset(name for _, name in rows_of(project.view, _EXPORTS, [os.fsencode(path)]))


def exports_nothing(change: TreeChange, path: str) -> bool:
    """Return whether a module of ECMAScript lost its last export: its names read like those of a script."""
    old, new = (finder.project.text(path) for finder in (change.before, change.after))
    return path.endswith(_ECMA_FILES) and bool(
        ESM.search(old) and not ESM.search(new) and b"exports" not in new
    )


def provided(source: FileNames | None) -> set[str]:
    """Return names that other files may import from this one: definitions, and its own imports."""
    if source is None:
        return set()
    names = {symbol.name for symbol in source.symbols if symbol.parent < 0}
    return names | {local for imported in source.imports for _, local in imported.names}


class _DanglingSearch:
    """One search for dangling references."""

    def __init__(self, change: TreeChange, within: Collection[str] | None) -> None:
        self._change = change
        self._within = within
        self._before, self._after = change.before.project, change.after.project
        self._gone = {path for path, what in change.paths.items() if what == "deleted"}
        self._gone -= {path for path in self._gone if _twin(path) in change.paths}
        self._judge = Judge(change.before, change.after)
        self._sure: set[Dangling] = set()
        self._possible: set[Dangling] = set()
        self._renamed: dict[Definition, bool] = {}

    def run(self) -> DanglingReferences:
        if self._within is not None and not self._within:
            return DanglingReferences([], [], False)
        lost: dict[str, list[Definition]] = {}
        for definition in self._lost():
            lost.setdefault(definition.name, []).append(definition)
        for name in list(lost)[:MAX_LOST]:
            self._follow(name, lost[name])
        for path in self._paths:
            for name in filter(self._is_said, self._not_passed_on(path)):
                self._lost_name(path, name)
        self._lost_modules()
        known = {one[:3] for one in self._sure}
        possible = [one for one in self._possible if one[:3] not in known]
        shown = sorted(possible, key=Dangling.order)[:MAX_POSSIBLE]
        sure = sorted(self._sure, key=Dangling.order)
        more = len(possible) - len(shown)
        return DanglingReferences(sure, shown, len(lost) > MAX_LOST, more)

    @cached_property
    def _paths(self) -> list[str]:
        """The changed files that are examined."""
        for project in (self._before, self._after):
            project.load(self._change.paths)
        return [path for path in self._change.paths if path not in self._change.unread]

    @cached_property
    def _partial(self) -> set[str]:
        """Changed files of which neither side parses as a whole: nothing is sure."""
        sources = filter(None, map(self._after.source, self._paths))
        return {s.path for s in sources if s.origin.status == FactsStatus.PARTIAL}

    @cached_property
    def _text(self) -> bytes:
        """The text of the files in `within`; a name that it lacks is not referred to."""
        self._after.read(self._within or ())
        return b"\n".join(self._after.text(path) for path in self._within or ())

    def _is_said(self, name: str) -> bool:
        return self._within is None or name.encode("utf-8", "surrogatepass") in self._text

    def _lost(self) -> Iterator[Definition]:
        """Yield definitions that their file no longer has, except members of a removed class."""
        for path in self._paths:
            old, new = self._before.source(path), self._after.source(path)
            if old is not None and old.language not in NO_CODE:
                for symbol in _outermost_lost(old, new):
                    if self._is_said(symbol.name) and not self._is_written(symbol):
                        yield symbol

    def _is_written(self, symbol: Definition) -> bool:
        """Return whether a file that never parsed as a whole still has the line of a definition."""
        if symbol.path not in self._partial:
            return False
        line = self._before.span(symbol.path, symbol.line, symbol.line).strip()
        text = self._after.text(symbol.path).decode("utf-8", "replace")
        return line in map(str.strip, text.splitlines())

    def _follow(self, name: str, lost: list[Definition]) -> None:
        for method in lost:
            self._leave_interfaces(method)
        if not self._after.places(name, self._within or ()):
            return
        for site in self._change.before.uses(lost, self._within or ()):
            if self._within is not None and site.path not in self._within:
                continue
            target = next((d for d in site.targets if d in lost), lost[0])
            for place in self._standing(site):
                self._note(site, place, target)

    def _leave_interfaces(self, method: Definition) -> None:
        """Find interfaces of Go that the type of a lost method implemented by it."""
        if not method.path.endswith(".go") or method.kind not in FUNCTIONS:
            return
        before = self._change.before
        owner = before.binder.types.classes.class_of(method)
        source = self._after.source(owner.path) if owner else None
        types = source.children(-1, owner.name) if source and owner else []
        for member in before.dispatch.kin(method).members.values() if types else ():
            if counterparts(self._after, member):
                at = (types[0].path, types[0].line, types[0].column)
                name = member.qualified  # of the interface
                self._possible.add(Dangling(*at, name, method.path, Tier.DISPATCH))

    def _note(self, site: Site, place: Occurrence, target: Definition) -> None:
        source = self._after.source(site.path)
        assert source is not None
        if source.language in NO_CODE:
            return
        standing = self._judge.standing(source, place)
        sure = site.tier in SURE
        if standing is UNSURE and sure and self._is_renamed(target):
            # a base or computed name that keeps the old name is unlikely
            standing = BROKEN if not self._judge.may_be_variable(source, place, target) else UNSURE
        tier = site.tier if standing is BROKEN or not sure else Tier.NAME
        found = Dangling(site.path, place.line, place.column, target.name, target.path, tier)
        self._add(found, standing, sure)

    def _add(self, found: Dangling, standing: Standing, sure: bool = True) -> None:
        if standing is FINE:
            return
        blocks = standing is BROKEN and sure and found.missing_from not in self._partial
        (self._sure if blocks else self._possible).add(found)

    def _is_renamed(self, lost: Definition) -> bool:
        """Return whether a lost definition has a new name and otherwise the same text."""
        if lost not in self._renamed:
            shimmed = self._judge.is_shimmed(lost.path)
            was = _without(self._before.span(lost.path, lost.start_line, lost.end_line), lost.name)
            self._renamed[lost] = not shimmed and any(
                was
                == _without(self._after.span(s.path, s.start_line, s.end_line), s.name, lost.name)
                for s in self._new_names(lost)
            )
        return self._renamed[lost]

    def _new_names(self, lost: Definition) -> list[Definition]:
        """Return the symbols of the new tree that may be a lost one under another name."""
        old, new = self._before.source(lost.path), self._after.source(lost.path)
        if old is None or new is None:
            return []
        known = {symbol.qualified for symbol in old.symbols}
        height, around = lost.end_line - lost.start_line, _signature(old, lost.parent)
        return [
            symbol
            for symbol in new.symbols
            if (symbol.kind, symbol.end_line - symbol.start_line) == (lost.kind, height)
            and symbol.qualified not in known
            and _signature(new, symbol.parent) == around
        ]

    def _standing(self, site: Site) -> list[Occurrence]:
        """Return the places of the new tree where an old reference still is."""
        old, new = self._before.source(site.path), self._after.source(site.path)
        if old is None or new is None:
            return []
        start = self._before.offset(site.path, site.line, site.column)
        text = self._before.text(site.path)
        name = text[start : start + site.end_column - site.column].decode("utf-8", "replace")
        scope = site.enclosing.ordinal if site.enclosing else -1
        if site.path not in self._change.paths:
            return [Occurrence(name, site.line, site.column, site.use, scope)]
        line = self._before.span(site.path, site.line, site.line).strip()
        around = site.enclosing.qualified if site.enclosing else ""
        return [
            place
            for place in self._after.places(name, [site.path]).get(site.path, ())
            if place.use == site.use and self._is_same(new, place, line, around)
        ]

    def _is_same(self, new: FileNames, place: Occurrence, line: str, around: str) -> bool:
        if self._after.span(new.path, place.line, place.line).strip() == line:
            return True
        symbol = new.symbol(place.enclosing)
        return symbol is not None and symbol.qualified == around

    def _not_passed_on(self, path: str) -> set[str]:
        """Return the names that a file bound or exported before and no longer does."""
        old, new = self._before.source(path), self._after.source(path)
        if old is None or new is None or old.language not in _PASSING:
            return set()
        lost = provided(old) - provided(new)
        if old.language in ECMA:
            lost |= exports_of(self._before, path) - self._exported(path)
        if "default" in lost:
            self._lost_default(path)
        return lost - {"default", "*"}

    def _exported(self, path: str) -> frozenset[str]:
        """Return the names that a file of the new tree lists as exports."""
        nothing = exports_nothing(self._change, path)
        return frozenset() if nothing else exports_of(self._after, path)

    def _lost_default(self, module: str) -> None:
        """Print the imports of a default that a module lost: a loader may offer the module instead."""
        paths = [p for p in self._after.importing(module) if p in (self._within or (p,))]
        for source in filter(None, map(self._after.source, paths)):
            items = [i for i in source.imports if any(there == "default" for there, _ in i.names)]
            for item in items:
                if module in self._after.resolve(source, item):
                    at = (source.path, item.line, 0)
                    self._possible.add(Dangling(*at, "default", module, Tier.NAME))

    def _lost_name(self, module: str, name: str) -> None:
        """Find uses of a name that a module lost."""
        places = self._after.places(name, self._within or ())
        paths = [path for path in self._takers(module, name) if path in places]
        self._after.load(paths)
        for source in filter(None, map(self._after.source, paths)):
            for place in places[source.path]:
                if place.use != Use.DEFINITION:
                    self._judge_taken(source, place, module, name)

    def _takers(self, module: str, name: str) -> list[str]:
        """Return the files that may take a name from a module; of a lost definition the users are known."""
        old, new = self._before.source(module), self._after.source(module)
        if old is None or new is None:
            return []
        defined, still = bool(old.children(-1, name)), bool(new.children(-1, name))
        paths = self._after.importing(module)
        if defined and not still and old.language not in ECMA:
            return [path for path in paths if path in self._change.paths]
        own = not defined and _is_used_inside(old, name)
        return [*paths, module] if own and module not in paths else paths

    def _judge_taken(self, source: FileNames, place: Occurrence, module: str, name: str) -> None:
        """Note a place that takes a lost name from a module, or that is in the module itself."""
        taken = source.path == module or self._takes(source, name, module)
        if not taken and not self._judge.takes_from(source, place, module):
            return
        standing = self._judge.standing(source, place)
        if source.path != module and source.language in ECMA and not self._exports(module, name):
            standing = UNSURE if self._judge.may_offer([module], name) else BROKEN
        if standing is BROKEN or (taken and place.use == Use.IMPORT):
            found = Dangling(source.path, place.line, place.column, name, module, Tier.IMPORT)
            self._add(found, standing)

    def _exports(self, module: str, name: str) -> bool:
        """Return whether a module may export a name: it lists it, or hands on what it newly loads whole."""
        whole = [set(_WHOLE.findall(p.text(module))) for p in (self._before, self._after)]
        return name in self._exported(module) or not whole[1] <= whole[0]

    def _takes(self, source: FileNames, name: str, module: str) -> bool:
        """Return whether a file imports a name from a module."""
        for item in source.imports:
            if any(there == name for there, _ in item.names):
                bare = item._replace(names=()) if source.language == "python" else item
                if module in self._after.resolve(source, bare)[:1]:
                    return True
        return False

    def _lost_modules(self) -> None:
        """Find imports of deleted files."""
        code = [s for s in map(self._before.source, self._gone) if s and s.language not in NO_CODE]
        candidates = {path for source in code for path in self._after.importing(source.path)}
        if self._within is not None:
            candidates.intersection_update(self._within)
        self._after.load(candidates)
        words = {word for path in self._gone for word in words_of_file(path)}
        for source in filter(None, map(self._after.source, candidates)):
            for item in source.imports:
                if not words.isdisjoint(words_of_import(item)):
                    self._lost_import(source, item)

    def _lost_import(self, source: FileNames, item: Import) -> None:
        """Note an import that reached a deleted file and now reaches nothing with what it names."""
        gone = self._gone.intersection(self._before.resolve(source, item))
        if not gone:
            return
        guarded = self._judge.is_guarded(source, item.line)
        now = self._after.resolve(source, item)
        still = set[str]().union(*(self._offered(module) for module in now))
        text = self._after.span(source.path, item.line, item.line)
        at = (source.path, item.line, len(text) - len(text.lstrip()))
        for module in sorted(gone):
            bound = [name for name, _ in item.names if name in _stems(module)]
            if not now or not still.issuperset(bound):
                name = item.module or ", ".join(bound)
                found = Dangling(*at, name, module, Tier.NAME if guarded else Tier.IMPORT)
                self._add(found, UNSURE if guarded else BROKEN)

    def _offered(self, module: str) -> set[str]:
        return provided(self._after.source(module)) | _stems(module)


def find_misfits(change: TreeChange) -> list[Misfit]:
    """Return the calls that no longer fit a changed signature of Python, ordered by path and line."""
    misfits: set[Misfit] = set()
    for one in change.symbols:
        new = one.definition
        if one.difference is not Difference.INTERFACE or new.kind not in FUNCTIONS:
            continue
        old = counterparts(change.before.project, new)
        if len(old) == 1 and new.path.endswith(".py") and not _is_wrapped(change.after, new):
            misfits.update(_misfits_of(change, old[0], new))
    return sorted(misfits)


def full_signature(finder: Finder, definition: Definition) -> str:
    """Return a signature as it is written, where the index keeps only its start."""
    source = finder.project.source(definition.path)
    if "…" in definition.signature and source is not None:
        last = min(definition.end_line, definition.line + MAX_HEADER)
        return finder.project.span(definition.path, definition.line, last)
    return definition.signature


def _is_wrapped(finder: Finder, definition: Definition) -> bool:
    """Return whether a decorator may change the signature that callers see."""
    text = finder.project.span(definition.path, definition.start_line, definition.line)
    above = [line.strip() for line in text.splitlines()[:-1]]
    return any(line.startswith("@") and not _PLAIN.match(line) for line in above)


def _misfits_of(change: TreeChange, old: Definition, new: Definition) -> Iterator[Misfit]:
    ends = (change.before, old), (change.after, new)
    before, after = (read_parameters(full_signature(*end)) for end in ends)
    if before is None or after is None:
        return
    source = change.after.project.source(new.path)
    owner = source.symbol(new.parent) if source else None
    target = owner if owner is not None and new.name == "__init__" else new
    ways = [(before, after)]
    if owner is not None and change.after.binder.is_member(new):
        ways.insert(0, (before[1:], after[1:]))  # through an instance, or through its class
    signature = " ".join(new.signature.split())
    for site in filter(_is_sure_call, change.after.sites([target])):
        call = read_call(*_arguments(change.after.project, site))
        if why := _new_misfit(call, ways):
            yield Misfit(site.path, site.line, site.column, new.name, why, signature)


def _is_sure_call(site: Site) -> bool:
    return site.use == Use.CALL and site.tier in SURE


def _new_misfit(
    call: CallArguments | None, ways: list[tuple[list[Parameter], list[Parameter]]]
) -> str:
    """Return why a call that fitted in one way no longer fits in any; empty if it does, or is unknown."""
    if call is None or all(misfit(call, before) for before, _ in ways):
        return ""
    reasons = [misfit(call, after) for _, after in ways]
    return reasons[0] if all(reasons) else ""


def _arguments(project: Project, site: Site) -> tuple[str, int]:
    """Return the text after the name of a call, and where its bracket opens; -1 if there is none."""
    end = project.offset(site.path, site.line, site.end_column)
    text = project.text(site.path)[end : end + MAX_CALL].decode("utf-8", "replace")
    opened = len(text) - len(text.lstrip())
    return text, opened if text[opened : opened + 1] == "(" else -1


def _place_fields(found: Dangling | Misfit) -> dict[str, Any]:
    at = {"line": found.line + 1, "column": found.column + 1}
    return path_fields(os.fsencode(found.path)) | at | {"name": found.name}


def _outermost_lost(old: FileNames, new: FileNames | None) -> list[Definition]:
    still = {_identity(new, symbol) for symbol in new.symbols} if new else set()
    named = [s for s in old.symbols if s.kind not in SPACES]
    gone = {s.ordinal for s in named if _identity(old, s) not in still}
    return [s for s in named if s.ordinal in gone and s.parent not in gone]


def _is_used_inside(old: FileNames, name: str) -> bool:
    """Return whether uses of a lost import in its own file are judged: foreign names may be global."""
    if old.language == "python":
        return True
    items = [item for item, _ in old.bindings.get(name, ())]
    return old.language in ECMA and any(item.module.startswith(".") for item in items)


def _identity(source: FileNames, symbol: Definition) -> tuple[str, bool]:
    """Return the key of a symbol in its file; in Rust a field and a method may share a name."""
    return symbol.qualified, source.language == "rust" and symbol.kind in FUNCTIONS


def _signature(source: FileNames, ordinal: int) -> str:
    symbol = source.symbol(ordinal)
    return symbol.signature if symbol else ""


def _twin(path: str) -> str:
    """Return the other possible file of a Rust module: `a.rs` or `a/mod.rs`."""
    if path.endswith("/mod.rs"):
        return path.removesuffix("/mod.rs") + ".rs"
    return path.removesuffix(".rs") + "/mod.rs"


def _without(text: str, *names: str) -> str:
    """Return a text with these names replaced by a placeholder."""
    return re.sub(rf"\b(?:{'|'.join(map(re.escape, names))})\b", "_", text)


def _stems(path: str) -> set[str]:
    """Return the names an import may bind for a file."""
    return words_of_file(path) - {"", *MAIN}
