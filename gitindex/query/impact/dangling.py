"""Find references that a change leaves dangling: to removed or renamed names, to moved modules.

The reference engine lists the references in the old tree. A reference that is still in the new tree
and no longer resolves there is dangling.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from gitindex.base.path_kind import MAIN_NAMES
from gitindex.base.vocabulary import FactsStatus, Tier
from gitindex.languages.facts import Import, Occurrence, Use
from gitindex.languages.syntax.kinds import FUNCTIONS, SPACES
from gitindex.languages.table import TEXT
from gitindex.query.impact.change import TreeChange
from gitindex.query.impact.offers import Offer, exports_of, names_of, offers_of
from gitindex.query.impact.standing import BROKEN, FINE, UNSURE, Judge, Standing
from gitindex.query.names.model import ECMA, STRICT, Definition, FileNames, Site
from gitindex.query.names.project import words_of_file, words_of_import

MAX_LOST = 400
"""Lost names that one change may have; the rest is not examined."""
MAX_POSSIBLE = 50
"""Maximum uncertain references to list."""
_WORD = re.compile(rb"[\w$\x80-\xff]+")
_PASSING = STRICT | {"rust"}
"""Languages whose modules pass on what they import."""
_SURE = (Tier.SEMANTIC, Tier.EXACT, Tier.IMPORT)
_NO_CODE = frozenset({TEXT, "json", "yaml", "toml", "markdown", "html", "css", "rst", "xml"})


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


class DanglingReferences(NamedTuple):
    """Dangling references of a change: certain, and possible."""

    sure: list[Dangling]
    possible: list[Dangling]
    truncated: bool


def find_dangling(change: TreeChange, within: Collection[str] | None = None) -> DanglingReferences:
    """Return every dangling reference, ordered by path and line; `within`: of these files only."""
    return _DanglingSearch(change, within).run()


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
        self._partial: set[str] = set()  # neither side parses as a whole: nothing is sure

    def run(self) -> DanglingReferences:
        if self._within is not None and not self._within:
            return DanglingReferences([], [], False)
        self._load()
        lost: dict[str, list[Definition]] = {}
        for definition in self._lost():
            if self._is_said(definition.name):
                lost.setdefault(definition.name, []).append(definition)
        for name in list(lost)[:MAX_LOST]:
            self._follow(name, lost[name])
            self._unimplemented(lost[name])
        self._imports()
        possible = {p for p in self._possible if not self._is_told(p)}
        cut = len(lost) > MAX_LOST or len(possible) > MAX_POSSIBLE
        shown = sorted(possible, key=Dangling.order)[:MAX_POSSIBLE]
        return DanglingReferences(sorted(self._sure, key=Dangling.order), shown, cut)

    def _load(self) -> None:
        paths = self._looked_at()
        for project in (self._before, self._after):
            project.load(paths)
        self._paths = [path for path in paths if path not in self._change.unread]
        self._partial = {path for path in self._paths if self._is_partial(path)}

    def _is_partial(self, path: str) -> bool:
        new = self._after.source(path)
        return new is not None and new.origin.status == FactsStatus.PARTIAL

    @cached_property
    def _text(self) -> bytes:
        """The text of the files in `within`; a name that it lacks is not referred to."""
        self._after.read(self._within or ())
        return b"\n".join(self._after.text(path) for path in self._within or ())

    def _is_said(self, name: str) -> bool:
        return self._within is None or name.encode("utf-8", "surrogatepass") in self._text

    def _looked_at(self) -> list[str]:
        """Return changed files that may lose a name used in `within`."""
        paths = list(self._change.paths)
        if self._within is None or len(paths) <= len(self._within):
            return paths
        words = set(_WORD.findall(self._text))
        said = [word.decode() for word in words if word.isascii()]
        old = offers_of(self._before, paths, said)
        named = [path for path in paths if not words.isdisjoint(_words(old[path]))]
        new = offers_of(self._after, named, said)
        lost = {path for path in named if not words.isdisjoint(_words(old[path] - new[path]))}
        return [path for path in paths if path in self._gone or path in lost]

    def _is_told(self, found: Dangling) -> bool:
        return any(found[:3] == known[:3] for known in self._sure)

    def _lost(self) -> Iterator[Definition]:
        """Yield definitions that their file no longer has, except members of a removed class."""
        for path in self._paths:
            old, new = self._before.source(path), self._after.source(path)
            if old is None or old.language in _NO_CODE:
                continue
            still = {_identity(new, symbol) for symbol in new.symbols} if new else set()
            gone = [s for s in old.symbols if _identity(old, s) not in still]
            for symbol in gone:
                outer = old.symbol(symbol.parent)
                alone = outer is None or _identity(old, outer) in still or outer.kind in SPACES
                if alone and symbol.kind not in SPACES and not self._is_written(symbol):
                    yield symbol

    def _is_written(self, symbol: Definition) -> bool:
        """Return whether a file that never parsed as a whole still has the line of a definition."""
        if symbol.path not in self._partial:
            return False
        line = self._before.span(symbol.path, symbol.line, symbol.line).strip()
        return line in self._after.text(symbol.path).decode("utf-8", "replace")

    def _follow(self, name: str, lost: list[Definition]) -> None:
        if not self._after.places(name, self._within or ()):
            return
        for site in self._change.before.uses(lost, self._within or ()):
            if self._within is not None and site.path not in self._within:
                continue
            target = next((d for d in site.targets if d in lost), lost[0])
            for place in self._standing(site):
                self._note(site, place, target)

    def _unimplemented(self, lost: list[Definition]) -> None:
        """Find interfaces of Go that the type of a lost method implemented by it."""
        for method in lost:
            if method.path.endswith(".go") and method.kind in FUNCTIONS:
                self._leave_interfaces(method)

    def _leave_interfaces(self, method: Definition) -> None:
        before = self._change.before
        owner = before.binder.types.classes.class_of(method)
        source = self._after.source(owner.path) if owner else None
        types = source.children(-1, owner.name) if source and owner else []
        for member in before.dispatch.kin(method).members.values() if types else ():
            there = self._after.source(member.path)
            if there and any(d.qualified == member.qualified for d in there.named(member.name)):
                at = (types[0].path, types[0].line, types[0].column)
                name = member.qualified  # of the interface
                self._possible.add(Dangling(*at, name, method.path, Tier.DISPATCH))

    def _note(self, site: Site, place: Occurrence, target: Definition) -> None:
        source = self._after.source(site.path)
        assert source is not None
        if source.language in _NO_CODE:
            return
        standing = self._judge.standing(source, place)
        sure = site.tier in _SURE
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
            old, new = self._before.source(lost.path), self._after.source(lost.path)
            assert old is not None
            known = {symbol.qualified for symbol in old.symbols}
            outer = old.symbol(lost.parent)
            maybe = [
                symbol
                for symbol in (new.symbols if new else ())
                if symbol.kind == lost.kind
                and symbol.qualified not in known
                and _signature(new, symbol.parent) == (outer.signature if outer else "")
                and symbol.end_line - symbol.start_line == lost.end_line - lost.start_line
            ]
            was = _without(self._before.span(lost.path, lost.start_line, lost.end_line), lost.name)
            self._renamed[lost] = not self._judge.is_shimmed(lost.path) and any(
                was
                == _without(self._after.span(s.path, s.start_line, s.end_line), s.name, lost.name)
                for s in maybe
            )
        return self._renamed[lost]

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

    def _imports(self) -> None:
        """Find imports of deleted modules, and of names that a module no longer binds."""
        for path in self._paths:
            for name in self._not_passed_on(path):
                if self._is_said(name):
                    self._lost_name(path, name)
        candidates: set[str] = set()
        for path in self._gone:
            candidates |= self._may_import(path)
        if self._within is not None:
            candidates.intersection_update(self._within)
        self._after.load(candidates)
        words = {word for path in self._gone for word in words_of_file(path)}
        for path in candidates:
            source = self._after.source(path)
            for item in source.imports if source else ():
                assert source is not None
                if words.isdisjoint(words_of_import(item)):
                    continue
                was = self._gone.intersection(self._before.resolve(source, item))
                if was:
                    self._lost_modules(source, item, was)

    def _may_import(self, gone: str) -> set[str]:
        """Return files that may import a file: by its name, and its folder's unless relative."""
        source = self._before.source(gone)
        if source is None or source.language in _NO_CODE:
            return set()
        folder, _, name = gone.rpartition("/")
        stem, parent = name.partition(".")[0], folder.rpartition("/")[2]
        needle = parent if stem in MAIN_NAMES and parent else stem
        self._after.view.ensure_facts(words=[needle])
        rows = self._after.view.rows(
            "SELECT DISTINCT l.path, i.module, i.level FROM {imports} i"
            " JOIN {live} l ON l.blob_id=i.blob_id"
            " WHERE instr(i.module, ?) OR instr(i.names, ?)",
            needle,
            needle,
        )
        found = set()
        for raw, module, level in rows:
            near = level or module.startswith(".") or not parent or parent in module
            near = near or source.language == "rust"  # Rust paths start at the file or the crate
            if near or needle == parent:
                found.add(os.fsdecode(raw))
        return found

    def _not_passed_on(self, path: str) -> set[str]:
        """Return the names that a file bound or exported before and no longer does."""
        old, new = self._before.source(path), self._after.source(path)
        if old is None or new is None or old.language not in _PASSING:
            return set()
        lost = _provided(old) - _provided(new)
        if old.language in ECMA:
            lost |= exports_of(self._before, path) - exports_of(self._after, path)
        return lost - {"default", "*"}

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
        own = not defined and self._is_used_inside(old, name)
        return [*paths, module] if own and module not in paths else paths

    def _is_used_inside(self, old: FileNames, name: str) -> bool:
        """Return whether uses of a lost import in its own file are judged: foreign names may be global."""
        if old.language == "python":
            return True
        items = [item for item, _ in old.bindings.get(name, ())]
        return old.language in ECMA and any(item.module.startswith(".") for item in items)

    def _judge_taken(self, source: FileNames, place: Occurrence, module: str, name: str) -> None:
        """Note a place that takes a lost name from a module, or that is in the module itself."""
        taken = source.path == module or self._takes(source, name, module)
        if not taken and not self._judge.takes_from(source, place, module):
            return
        standing = self._judge.standing(source, place)
        if source.path != module and source.language in ECMA and not self._exports(module, name):
            standing = UNSURE if self._judge.may_offer([module], name) else BROKEN
        if standing is BROKEN or (taken and place.use == Use.IMPORT):
            self._add(_at(source.path, place, name, module), standing)

    def _exports(self, module: str, name: str) -> bool:
        """Return whether a module may export a name: it lists it, or hands on what it newly loads whole."""
        pattern = re.compile(rb"(?:module\.exports\s*=\s*[^{\s]|export\s*\*)[^\n]*")
        whole = [set(pattern.findall(p.text(module))) for p in (self._before, self._after)]
        return name in exports_of(self._after, module) or not whole[1] <= whole[0]

    def _takes(self, source: FileNames, name: str, module: str) -> bool:
        """Return whether a file imports a name from a module."""
        for item in source.imports:
            if any(there == name for there, _ in item.names):
                bare = item._replace(names=()) if source.language == "python" else item
                if module in self._after.resolve(source, bare)[:1]:
                    return True
        return False

    def _lost_modules(self, source: FileNames, item: Import, gone: Iterable[str]) -> None:
        now = self._after.resolve(source, item)
        still = {name for module in now for name in _provided(self._after.source(module))}
        still.update(stem for module in now for stem in _stems(module))
        for module in sorted(gone):
            bound = [name for name, _ in item.names if name in _stems(module)]
            if not now or (bound and not still.issuperset(bound)):
                name = item.module or ", ".join(bound)
                text = self._after.span(source.path, item.line, item.line)
                column = len(text) - len(text.lstrip())
                found = Dangling(source.path, item.line, column, name, module, Tier.IMPORT)
                if not self._judge.is_guarded(source, item.line):
                    self._sure.add(found)


def _identity(source: FileNames, symbol: Definition) -> tuple[str, bool]:
    """Return the key of a symbol in its file; in Rust a field and a method may share a name."""
    return symbol.qualified, source.language == "rust" and symbol.kind in FUNCTIONS


def _signature(source: FileNames | None, ordinal: int) -> str:
    found = source.symbol(ordinal) if source else None
    return found.signature if found else ""


def _twin(path: str) -> str:
    """Return the other possible file of a Rust module: `a.rs` or `a/mod.rs`."""
    if path.endswith("/mod.rs"):
        return path.removesuffix("/mod.rs") + ".rs"
    return path.removesuffix(".rs") + "/mod.rs"


def _without(text: str, *names: str) -> str:
    """Return a text with these names replaced by a placeholder."""
    return re.sub(rf"\b(?:{'|'.join(map(re.escape, names))})\b", "_", text)


def _at(path: str, place: Occurrence, name: str, module: str) -> Dangling:
    return Dangling(path, place.line, place.column, name, module, Tier.IMPORT)


def _provided(source: FileNames | None) -> set[str]:
    """Return names that other files may import from this one: definitions, and its own imports."""
    if source is None:
        return set()
    names = {symbol.name for symbol in source.symbols if symbol.parent < 0}
    return names | {local for imported in source.imports for _, local in imported.names}


def _words(offers: Iterable[Offer]) -> set[bytes]:
    return set(_WORD.findall(" ".join(names_of(offers)).encode("utf-8", "surrogatepass")))


def _stems(path: str) -> set[str]:
    """Return the names an import may use for a file: with and without suffix, and its folder's."""
    folder, _, name = path.rpartition("/")
    stems = {name, name.partition(".")[0], folder.rpartition("/")[2]}
    return stems - {"", "__init__", "index", "mod"}
