"""Bind every occurrence of a name in the facts: a reference to some targets, or the class it is in."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gitindex.base.vocabulary import FactsStatus, OccurrenceClass, Tier
from gitindex.languages.facts import Occurrence, Use
from gitindex.languages.scopes.model import EXPORTED_WHOLE, MODELLED, NOMINAL, TYPED, Part
from gitindex.languages.syntax.kinds import SPACES
from gitindex.query.names.binder import QUALIFIED, Binder
from gitindex.query.names.dispatch import Dispatch, Kin, is_fixture, linked, naming_families
from gitindex.query.names.memory import Memory
from gitindex.query.names.model import (
    ECMA,
    ELSEWHERE,
    KEY,
    NOT_PARSED,
    RECEIVER,
    UNBOUND,
    UNLIKELY,
    At,
    Definition,
    FileNames,
    Meaning,
    PlaceClass,
    Site,
    State,
    make_site,
    place_of,
)
from gitindex.query.names.modules import locals_of
from gitindex.query.names.names import BUILTINS
from gitindex.query.names.project import Project
from gitindex.query.names.semantic import KnownReferences, current_paths
from gitindex.query.names.semantic import kin as semantic_kin
from gitindex.query.names.texts import of_strings
from gitindex.view.tree import TreeView

MAX_ALIASES = 20
"""Aliases of one definition that are followed."""
MAX_TARGETS = 5_000
"""Definitions of a name beyond which none of its places is bound: each would mean any of them."""
MAX_PLACES, MAX_MADE = 50_000, 100
MAX_FILES = 2_000
"""Files with the name whose places one answer binds; the places of others are possible, for `budget`."""

_WHOLE = ("default", EXPORTED_WHOLE)
_NO_KIN = Kin({}, known=False, outside=True)
"""What is known of a member whose relatives were not looked for."""
_SCOPED = frozenset({"c", "rust", "dart"})
"""Languages without scopes of ours where one name of a file has one definition: no overloads."""

_Key = tuple[str, int]  # path and ordinal of a definition


class Found(NamedTuple):
    """References to some targets, and the class of each other place of their names in the facts."""

    sites: list[Site]
    maybe: list[Site]  # possible places in code
    judged: dict[At, PlaceClass]
    defined: frozenset[At] = frozenset()  # where the targets are defined
    unbound: frozenset[str] = frozenset()  # files beyond the budget
    cut: bool = False  # more aliases than are followed
    outside: bool = False  # a target may override a member of a class outside the tree


class _Bound(NamedTuple):
    """What a search has found so far, by place."""

    references: dict[At, Site]
    judged: dict[At, PlaceClass]
    maybe: dict[At, Site]


class _SearchTargets(NamedTuple):
    """The targets of one search, and the members that the same calls may reach."""

    targets: dict[_Key, Definition]
    kin: Kin
    families: set[str]  # the languages of the targets
    members: bool  # all targets are members
    free: bool  # no target is a member
    spaces: bool  # some target is a module or a namespace
    extends: bool  # some target is an extension method of C#
    injected: bool  # some target is a fixture: parameters of its name get its value

    def is_family(self, source: FileNames) -> bool:
        """Return whether the language of a file can name the targets."""
        return not self.families or source.origin.family in self.families


class Finder:
    """Finds references in one tree."""

    def __init__(
        self, view: TreeView, memory: Memory | None = None, files: int = MAX_FILES
    ) -> None:
        self.project = Project(view, memory)
        self._files = files  # whose places are bound; those of others are possible
        self._is_brief = files < MAX_FILES  # neither strings nor the classes of the tree are read
        self.binder = Binder(self.project)
        self.dispatch = Dispatch(self.binder)
        self._results: dict[tuple[tuple[_Key, ...], frozenset[str], int], Found] = {}
        self._unbound: set[str] = set()
        self._following: set[Definition] = set()  # variables whose uses are being found
        self.view = view

    def sites(self, targets: Iterable[Definition], within: Iterable[str] = ()) -> list[Site]:
        """Return references to any of the targets, the surest first, without their definitions.

        `within`: only these files matter; others may be listed too.
        """
        return self.find(targets, within).sites

    def uses(self, targets: Iterable[Definition], within: Iterable[str] = ()) -> list[Site]:
        """Return the references, and after them the places in code that may be some."""
        result = self.find(targets, within)
        return [*result.sites, *result.maybe]

    def find(self, targets: Iterable[Definition], within: Iterable[str] = ()) -> Found:
        """Return references to any of the targets, and the class of other places of their names."""
        chosen = {(d.path, d.ordinal): d for d in targets}
        if not chosen:
            return Found([], [], {})
        key = (tuple(sorted(chosen)), frozenset(within), self._files)
        if key not in self._results:  # all questions about one name share one search
            tree = self.project.tree if not current_paths(self.project) else None
            known: Found | None = tree.searched(key) if tree else None
            if known is None:
                known = self._search(chosen, key[1])
                if tree is not None:  # without a semantic layer, which is not part of the tree
                    tree.keep_search(key, known, len(known.sites) + len(known.judged))
            self._results[key] = known
        return self._results[key]

    def _search(self, chosen: dict[_Key, Definition], within: frozenset[str]) -> Found:
        if len(chosen) > MAX_TARGETS:
            return self._beyond_budget(chosen)
        chosen |= {(d.path, d.ordinal): d for d in linked(self.project, chosen.values())}
        search = self._search_targets(chosen)
        known = KnownReferences(self.project, chosen.values())
        bound = _Bound({}, {}, {})
        self._unbound = set()
        cut = self._bind_all(search, within, known, bound)
        if not self._is_brief:
            self._add_strings(search, within, bound)
        bound.references.update({site[:3]: site for site in known.sites()})
        self._follow(bound, search)
        self._reconcile(known, bound)
        made = [s for d in list(chosen.values())[:MAX_MADE] for s in self._made(d, within)]
        return Found(
            sorted([*bound.references.values(), *made], key=Site.order),
            sorted(bound.maybe.values(), key=Site.order),
            bound.judged,
            frozenset((d.path, d.line, d.column) for d in chosen.values()),
            frozenset(self._unbound),
            cut,
            search.kin.outside,
        )

    def _reconcile(self, known: KnownReferences, bound: _Bound) -> None:
        """Leave each place in one class: the semantic layer excludes, and a reference is only that."""
        for at in [at for at, site in bound.maybe.items() if not known.allows(site)]:
            del bound.maybe[at]
            bound.judged[at] = ELSEWHERE
        for at in bound.references.keys() & bound.judged.keys():
            del bound.judged[at]
            bound.maybe.pop(at, None)

    def _beyond_budget(self, chosen: dict[_Key, Definition]) -> Found:
        """Return every place of names with too many definitions as unbound."""
        self.project.load(d.path for d in chosen.values())
        names = {d.name for d in chosen.values()}
        unbound = frozenset(path for name in names for path in self.project.plain_places(name))
        defined = frozenset((d.path, d.line, d.column) for d in chosen.values())
        return Found([], [], {}, defined, unbound)

    def _bind_all(
        self,
        search: _SearchTargets,
        within: frozenset[str],
        known: KnownReferences,
        bound: _Bound,
    ) -> bool:
        """Bind the places of the targets' names and aliases; True if there are too many aliases."""
        targets = search.targets.values()
        own = list(dict.fromkeys(d.name for d in targets))
        names, homes = list(own), {d.path for d in targets}
        cut = False
        for name in names:  # grows during the loop
            via = "" if name in own else name
            for source, places in self.occurrences(name, within):
                for place in places:
                    self._bind_one(source, place, via, search, known, bound)
                aliases = self._aliases(source, name, homes) if search.is_family(source) else []
                more = [n for n in dict.fromkeys(aliases) if n not in names]
                cut = cut or len(names) + len(more) > MAX_ALIASES
                names += more[: max(0, MAX_ALIASES - len(names))]
        return cut

    def _bind_one(
        self,
        source: FileNames,
        place: Occurrence,
        via: str,
        search: _SearchTargets,
        known: KnownReferences,
        bound: _Bound,
    ) -> None:
        at = (source.path, place.line, place.column)
        foreign = not search.is_family(source)
        bind = self._foreign if foreign else self._bind
        verdict = bind(source, place, search)
        if isinstance(verdict, Site):
            if known.allows(verdict):
                bound.references[at] = verdict._replace(via=via)
            else:
                bound.judged[at] = ELSEWHERE
        elif not via:
            bound.judged[at] = verdict
            bound.maybe.update(self._maybe(source, place, verdict, search))

    def _follow(self, bound: _Bound, search: _SearchTargets) -> None:
        """Add the uses of variables that hold a target, or may: `g = f`, `const { f } = o`."""
        targets = tuple(search.targets.values())
        name = targets[0].name
        passed = {at: True for at, site in bound.references.items() if site.use != Use.CALL}
        passed |= dict.fromkeys(bound.maybe.keys() - bound.references.keys(), False)
        for at, sure in passed.items():
            for holder, site in self._holder_uses(at, name):
                there = site[:3]
                if sure:
                    via = "" if holder == name else holder
                    if all(d.kind == "field" for d in bound.references[at].targets):
                        continue  # the variable holds a value of the field, and is not the field
                    bound.references.setdefault(there, site._replace(targets=targets, via=via))
                elif holder == name and there not in bound.references:
                    bound.judged[there] = RECEIVER
                    bound.maybe[there] = site._replace(targets=targets, tier=Tier.NAME)

    def _holder_uses(self, at: At, name: str) -> Iterator[tuple[str, Site]]:
        """Yield the uses of the variables that get what a name at a place is."""
        source, scopes = self.project.source(at[0]), self.project.scopes(at[0])
        if source is None or scopes is None:
            return
        for holder, offset in scopes.holders(name, self.project.offset(*at)):
            line = self.project.line(source.path, offset)
            column = offset - self.project.offset(source.path, line, 0)
            near = source.symbol_at(line, column)
            sites = self._of_symbols([near]) if near else self._of_local(source, holder, offset)
            yield from ((holder, site) for site in sites)

    def _of_symbols(self, symbols: list[Definition]) -> Iterable[Site]:
        """Return the references to variables; none where these are being found already."""
        if not self._following.isdisjoint(symbols):
            return []
        self._following.update(symbols)
        try:
            return [s for s in self.find(symbols).sites if s.tier is not Tier.DISPATCH]
        finally:
            self._following.difference_update(symbols)

    def _of_local(self, source: FileNames, name: str, offset: int) -> Iterable[Site]:
        """Yield the uses of a variable that is no symbol, declared at an offset."""
        scopes = self.project.scopes(source.path)
        for place in self.project.plain_places(name, [source.path]).get(source.path, []):
            at = self.project.offset(source.path, place.line, place.column)
            if scopes is None or at == offset or scopes.receiver(at) is not None:
                continue
            bound = scopes.resolve(name, at)
            if bound is not None and any(d.offset == offset for d in bound.declarations):
                yield make_site(source, place, Tier.EXACT, ())

    def _maybe(
        self, source: FileNames, place: Occurrence, verdict: PlaceClass, search: _SearchTargets
    ) -> dict[At, Site]:
        """Return the site of a possible place, if the name alone leads to a target."""
        if verdict.group is not OccurrenceClass.POSSIBLE:
            return {}
        state = State.KEY if verdict is KEY else State.UNKNOWN
        maybe = Meaning(state, bare=verdict is UNBOUND)
        chosen = _among(self.binder.candidates(source, maybe, place.name), search.targets)
        at = (source.path, place.line, place.column)
        return {at: make_site(source, place, Tier.NAME, chosen)} if chosen else {}

    def _made(self, target: Definition, within: frozenset[str]) -> list[Site]:
        """Return the places where a class is called, for its constructor of ECMAScript."""
        source = self.project.source(target.path) if target.name == "constructor" else None
        owner = self.binder.types.classes.class_of(target) if source else None
        if source is None or owner is None or source.language not in ECMA:
            return []
        sites = self.find([owner], within).sites
        calls = (s for s in sites if s.use == Use.CALL)
        return [s._replace(targets=(target,), via=s.via or owner.name) for s in calls]

    def implementations(self, targets: Iterable[Definition]) -> tuple[Definition, ...]:
        """Return what overrides or implements some definitions, by place."""
        known = semantic_kin(self.project, targets)["implementedBy"]
        below = {d for target in targets for d in self.dispatch.implementations(target)}
        return tuple(sorted(below.union(known), key=place_of))

    def _add_strings(self, search: _SearchTargets, within: frozenset[str], bound: _Bound) -> None:
        """Add what annotations written as strings, and `__all__`, refer to."""
        for source, place in of_strings(self.project, search.targets.values(), within):
            site = self._bind(source, place, search)
            if isinstance(site, Site):
                bound.references.setdefault(site[:3], site)
            elif place.use == Use.REFERENCE:
                bound.judged.setdefault((source.path, place.line, place.column), site)

    def _search_targets(self, chosen: dict[_Key, Definition]) -> _SearchTargets:
        members: dict[_Key, Definition] = {}
        known, outside = True, False
        for target in chosen.values():
            source = self.project.source(target.path)
            nominal = source is not None and source.language in NOMINAL
            kin = _NO_KIN if self._is_brief else self.dispatch.kin(target, proven=nominal)
            members |= kin.members
            known, outside = known and kin.known, outside or kin.outside
        return _SearchTargets(
            chosen,
            Kin(members, known, outside),
            naming_families(self.project, chosen.values()),
            members=all(map(self.binder.is_member, chosen.values())),
            free=not any(map(self.binder.is_member, chosen.values())),
            spaces=any(d.kind in SPACES for d in chosen.values()),
            extends=any("(this " in d.signature for d in chosen.values()),
            injected=any(is_fixture(self.project, d) for d in chosen.values()),
        )

    def mentions(self, name: str) -> Found:
        """Return every place of a name without a definition in the tree as possible, except locals."""
        maybe: list[Site] = []
        judged: dict[At, PlaceClass] = {}
        self._unbound = set()
        for source, places in self.occurrences(name):
            for place in places:
                at = (source.path, place.line, place.column)
                meaning = self.binder.meaning(source, place)
                local = meaning.state is State.LOCAL and meaning.sure and meaning.variable > 0
                if local or (place.use == Use.DEFINITION and not self._takes(source, place)):
                    judged[at] = ELSEWHERE
                else:
                    judged[at] = _open(place, meaning)
                    maybe.append(make_site(source, place, Tier.NAME, ()))
        return Found([], sorted(maybe, key=Site.order), judged, unbound=frozenset(self._unbound))

    def occurrences(
        self, name: str, within: Iterable[str] = ()
    ) -> Iterator[tuple[FileNames, list[Occurrence]]]:
        """Yield files with their occurrences of a name, as many as one answer binds."""
        by_path = self._nearest(self.project.plain_places(name, within), name)
        self.project.load(by_path)
        needed = [path for path in by_path if self._needs_text(path, by_path[path])]
        self.project.read(needed)
        needed.sort(key=lambda path: not any(map(_may_be_local, by_path[path])))
        self.project.load_scopes(needed)
        for path in sorted(by_path, key=os.fsencode):
            source = self.project.source(path)
            if source is not None:
                yield source, by_path[path]

    def _nearest(
        self, by_path: dict[str, list[Occurrence]], name: str
    ) -> dict[str, list[Occurrence]]:
        """Return as many files as one answer binds, those near a definition first."""
        if len(by_path) <= self._files and sum(map(len, by_path.values())) <= MAX_PLACES:
            return by_path
        folders = {d.path.rpartition("/")[0] for d in self.project.definitions(name)}
        order = sorted(by_path, key=lambda p: (p.rpartition("/")[0] not in folders, os.fsencode(p)))
        left, kept = MAX_PLACES, dict[str, list[Occurrence]]()
        for path in order[: self._files]:
            left -= len(by_path[path])
            if left >= 0:
                kept[path] = by_path[path]
        self._unbound |= by_path.keys() - kept.keys()
        return kept

    def _needs_text(self, path: str, places: list[Occurrence]) -> bool:
        source = self.project.source(path)
        if source is not None and source.language in ECMA:  # a definition may take a member
            return any(place.use != Use.IMPORT for place in places)
        return any(map(_is_use, places))

    def _foreign(self, source: FileNames, place: Occurrence, search: _SearchTargets) -> PlaceClass:
        """Judge a place in a language that cannot name the targets, but through an interface."""
        if "c" in search.families:  # any language declares and calls functions of C
            return UNLIKELY
        if not _is_use(place):
            return ELSEWHERE
        meaning = self.binder.meaning(source, place)
        bound = meaning.state in (State.DEFINED, State.LOCAL) or meaning.sure
        return ELSEWHERE if meaning.bare and bound else UNLIKELY

    def _bind(
        self, source: FileNames, place: Occurrence, search: _SearchTargets
    ) -> Site | PlaceClass:
        """Return the reference at a place, or the class that it is in instead."""
        if (taken := self._taken(source, place, search)) is not None:
            return taken
        if place.use == Use.DEFINITION:
            return self._loaded(source, place, search) or self._defined(source, place)
        meaning = self.binder.meaning(source, place)
        site = self._reached(source, place, meaning, search)
        return site or self._unreached(source, place, meaning, search)

    def _unreached(
        self, source: FileNames, place: Occurrence, meaning: Meaning, search: _SearchTargets
    ) -> PlaceClass:
        if search.injected and meaning.state is State.LOCAL and self._is_given(source, place):
            return KEY
        at = self.project.offset(source.path, place.line, place.column)
        if self.binder.is_short(source, at):
            return KEY  # a variable, and a member
        unread = source.language in MODELLED and self.project.scopes(source.path) is None
        if source.origin.status != FactsStatus.PARSED or (unread and _is_use(place)):
            return NOT_PARSED  # nothing is proven without scopes, nor by those of broken code
        if meaning.bare and search.members and _has_receivers(source, place, meaning, search):
            return ELSEWHERE
        return _class_of(source, place, meaning, search)

    def _is_given(self, source: FileNames, place: Occurrence) -> bool:
        """Return whether a local name may be a parameter, which pytest fills by its name."""
        scopes = self.project.scopes(source.path)
        at = self.project.offset(source.path, place.line, place.column)
        bound = scopes.resolve(place.name, at) if scopes is not None else None
        return bound is None or any(d.kind == "param" for d in bound.declarations)

    def _reached(
        self, source: FileNames, place: Occurrence, meaning: Meaning, search: _SearchTargets
    ) -> Site | None:
        """Return the reference at a place that means a target, or what the same call may reach."""
        hit = _among(meaning.definitions, search.targets)
        if meaning.state is State.UNKNOWN and _is_use(place):
            hit = hit or self._unique(source, place, meaning.bare, search)
        if hit:
            site = _site(source, place, hit)
            either = not meaning.bare and len(hit) < len(meaning.definitions)
            return site._replace(targets=meaning.definitions) if either else site
        if _among(meaning.definitions, search.kin.members):
            return make_site(source, place, Tier.DISPATCH, tuple(search.targets.values()))
        return None

    def _defined(self, source: FileNames, place: Occurrence) -> PlaceClass:
        """Judge a definition of its own: a key of a literal may stand for a member of its type."""
        symbol = source.symbol_at(place.line, place.column)
        holder = source.symbol(symbol.parent) if symbol is not None else None
        literal = holder is not None and holder.kind == "object"
        return KEY if literal and source.language in ECMA else ELSEWHERE

    def _unique(
        self, source: FileNames, place: Occurrence, bare: bool, search: _SearchTargets
    ) -> tuple[Definition, ...]:
        """Return the targets if nothing else of the tree has the name, where files share names.

        Bare names of languages without scopes of ours, and fields of C and C++.
        """
        if source.language in MODELLED or not (bare or source.origin.family == "c"):
            return ()
        definitions = self.project.definitions(place.name)
        self.project.load(d.path for d in definitions)
        near = [d for d in definitions if self.binder.is_near(d, source, bare)]
        hit = _among(near, search.targets)
        fields = all(d.kind == "field" for d in near)
        return hit if (bare or fields) and len(hit) == len(near) else ()

    def _takes(self, source: FileNames, place: Occurrence) -> tuple[Part, ...] | None:
        """Return the chain that a name in a destructuring pattern takes a member of; else None."""
        scopes = self.project.scopes(source.path) if source.language in ECMA else None
        if scopes is None or place.name in source.bindings:
            return None
        return scopes.taken.get(self.project.offset(source.path, place.line, place.column))

    def _taken(
        self, source: FileNames, place: Occurrence, search: _SearchTargets
    ) -> Site | PlaceClass | None:
        """Judge a name in a destructuring pattern as the member that it takes; else None."""
        chain = self._takes(source, place)
        if chain is None:
            return None
        at = self.project.offset(source.path, place.line, place.column)
        meaning = self.binder.member_of(chain, source, place, at)
        hit = _among(meaning.definitions, search.targets)
        if hit:
            return make_site(source, place, Tier.IMPORT, hit)
        if _among(meaning.definitions, search.kin.members):
            return make_site(source, place, Tier.DISPATCH, tuple(search.targets.values()))
        return _class_of(source, place._replace(use=Use.ATTRIBUTE), meaning, search)

    def _loaded(self, source: FileNames, place: Occurrence, search: _SearchTargets) -> Site | None:
        """Return the import site of a definition `const { name } = require('./x')`, else None."""
        if source.language not in ECMA or place.name not in source.bindings:
            return None
        own = self.binder.meaning(source, place).definitions
        for item, there in source.bindings[place.name]:
            if any(d.start_line <= item.line <= d.end_line for d in own):
                definitions = self.binder.names.modules.imported(source, item, there).definitions
                hit = _among(definitions, search.targets)
                if hit:
                    return make_site(source, place._replace(use=Use.IMPORT), Tier.IMPORT, hit)
        return None

    def _aliases(self, source: FileNames, name: str, homes: set[str]) -> list[str]:
        """Return the aliases that a file's imports and exports give to a name."""
        pairs = [pair for item in source.imports for pair in item.names]
        aliases = [local for there, local in pairs if there == name and local not in (name, "*")]
        if source.language not in ECMA:
            return aliases
        passed_on = name in source.bindings or source.path in homes
        outs = ["default"] if "default" in aliases else []
        return aliases + self._exported_as(source, name, outs, passed_on)

    def _exported_as(
        self, source: FileNames, name: str, outs: list[str], passed_on: bool
    ) -> list[str]:
        """Return the names that a module of ECMAScript exports a name under, and its importers use."""
        renamed = {}
        if source.named(name) or name in source.bindings:
            renamed = self.binder.names.modules.renamed(source)
        exported = [out for out, inner in renamed.items() if inner == name != out]
        whole = [out for out in exported if out in _WHOLE and passed_on]
        names = [out for out in exported if out not in _WHOLE]
        for out in dict.fromkeys((*outs, *whole)):
            names += [out] * (out == "default")
            names += locals_of(self.project, source.path, out)
        return names


def _class_of(
    source: FileNames, place: Occurrence, meaning: Meaning, search: _SearchTargets
) -> PlaceClass:
    """Return the class of a place that does not mean a target, as far as anything is known.

    Scopes and imports exclude a target, and so do declared types; what is inferred makes it unlikely.
    """
    match meaning.state:
        case State.KEY | State.UNKNOWN:
            return _open(place, meaning, source.language == "c" and search.free)
        case State.UNBOUND:
            return ELSEWHERE if place.name in BUILTINS.get(source.language, ()) else UNBOUND
        case State.MODULE if place.use == Use.IMPORT:
            return UNBOUND if search.spaces else ELSEWHERE
    if meaning.bare or place.use == Use.IMPORT:
        return _class_of_bare(source, meaning, search)
    return ELSEWHERE if meaning.sure and not _may_override(source, meaning, search) else UNLIKELY


def _class_of_bare(source: FileNames, meaning: Meaning, search: _SearchTargets) -> PlaceClass:
    """Return the class of a name without a receiver that means something else."""
    own = source.language in _SCOPED and search.free and _is_own(source, meaning)
    return ELSEWHERE if meaning.sure or own else UNBOUND


def _has_receivers(
    source: FileNames, place: Occurrence, meaning: Meaning, search: _SearchTargets
) -> bool:
    """Return whether a member always has a receiver where a name stands: a function of PHP has none."""
    if source.language == "php":
        return place.use == Use.CALL and all(d.kind == "method" for d in search.targets.values())
    if source.language == "rust":  # but for a variant, which a pattern may name; macros have tokens
        variants = any(d.kind == "enumerator" for d in search.targets.values())
        return meaning.state is State.LOCAL and not variants
    return source.language in QUALIFIED


def _may_override(source: FileNames, meaning: Meaning, search: _SearchTargets) -> bool:
    """Return whether a member of a declared type may be a target after all: bases are not known."""
    if source.language in NOMINAL and search.members and not search.kin.known:
        return True
    if source.language in TYPED and (not search.members or search.extends):
        return True  # where no member fits, a function that extends the type does
    return meaning.state is State.OUTSIDE and meaning.typed and search.kin.outside


def _open(place: Occurrence, meaning: Meaning, separate: bool = False) -> PlaceClass:
    """Return why a place that nothing is known of is possible; `separate`: members are not."""
    if meaning.state is State.KEY:
        return KEY
    if meaning.bare or place.use == Use.IMPORT:
        return UNBOUND
    return ELSEWHERE if separate else RECEIVER


def _is_own(source: FileNames, meaning: Meaning) -> bool:
    """Return whether a name means what its own file defines, or the one thing that it imports."""
    return bool(meaning.definitions) and all(
        d.path == source.path or len(source.bindings.get(d.name, ())) == 1
        for d in meaning.definitions
    )


def _site(source: FileNames, place: Occurrence, hit: tuple[Definition, ...]) -> Site:
    own = any(d.path == source.path for d in hit)
    return make_site(source, place, Tier.EXACT if own else Tier.IMPORT, hit)


def _is_use(place: Occurrence) -> bool:
    return place.use not in (Use.DEFINITION, Use.IMPORT)


def _may_be_local(place: Occurrence) -> bool:
    """Return whether a place may name a variable; a call of one is rare where calls are many."""
    return place.use == Use.REFERENCE


def _among(
    definitions: Iterable[Definition], targets: dict[_Key, Definition]
) -> tuple[Definition, ...]:
    return tuple(d for d in definitions if (d.path, d.ordinal) in targets)
