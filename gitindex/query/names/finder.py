"""Find every reference to some definitions: by name, alias or re-export; semantic layer first."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gitindex.base.vocabulary import Tier, Unexplained
from gitindex.languages.facts import Occurrence, Use
from gitindex.languages.scopes.model import EXPORTED_WHOLE, MODELLED
from gitindex.query.names.builtins import BUILTINS
from gitindex.query.names.defaults import default_names, locals_of
from gitindex.query.names.dispatch import Dispatch, Kin, linked, naming_families
from gitindex.query.names.known import KnownReferences, current_paths
from gitindex.query.names.meanings import ECMA, Meaning, State
from gitindex.query.names.memory import Memory
from gitindex.query.names.own_self import OwnSelf
from gitindex.query.names.places import QUALIFIED, Binder
from gitindex.query.names.plain import PlainUses
from gitindex.query.names.project import Project
from gitindex.query.names.sites import Site, make_site
from gitindex.query.names.source import Definition, FileNames
from gitindex.query.names.stored import is_stored, is_variable
from gitindex.query.names.strings import of_annotations, of_exports
from gitindex.view.tree import TreeView

MAX_ALIASES = 20
"""Aliases of one definition that are followed."""
MAX_PLACES, MAX_MADE = 50_000, 100
MAX_FILES = 2_000
"""Files with the name that one answer examines; with more, the answer is marked incomplete."""

_UNBOUND = str(Unexplained.UNBOUND)
PROVEN = ""
"""Reason for a place not listed: scopes, imports or the semantic layer prove another meaning."""

At = tuple[str, int, int]  # path, line, column
_Told = dict[str, tuple[Definition, ...]]  # by path: what all uses in a file refer to


class Found(NamedTuple):
    """References to some targets, and why each other place of their names is not one."""

    sites: list[Site]
    excluded: dict[At, str]  # PROVEN, or a value of Unexplained
    cut: bool  # more places than one answer examines
    defined: frozenset[At] = frozenset()  # where the targets are defined


class _SearchTargets(NamedTuple):
    """The targets of one search, and the members that the same calls may reach."""

    targets: dict[tuple[str, int], Definition]
    kin: Kin
    members: bool  # all targets are members
    fields: bool  # some target is a field
    uncalled: bool  # no call can mean a target: fields of Java, but for those of records


class Finder:
    """Finds references in one tree."""

    def __init__(self, view: TreeView, memory: Memory | None = None) -> None:
        self.project = Project(view, memory)
        self.binder = Binder(self.project)
        self.dispatch = Dispatch(self.binder)
        self._own_self = OwnSelf(self.binder, self.dispatch)
        self._plain = PlainUses(self.project, self.binder.names.modules)
        self.cut = False
        self._found: dict[tuple[tuple[tuple[str, int], ...], frozenset[str]], Found] = {}
        self.view = view

    def sites(self, targets: Iterable[Definition], within: Iterable[str] = ()) -> list[Site]:
        """Return references to any of the targets, the surest first, without their definitions.

        `within`: only these files matter; others may be listed too.
        """
        return self.find(targets, within).sites

    def find(self, targets: Iterable[Definition], within: Iterable[str] = ()) -> Found:
        """Return references to any of the targets, and why other places of their names are not."""
        chosen = {(d.path, d.ordinal): d for d in targets}
        if not chosen:
            return Found([], {}, False)
        asked = (tuple(sorted(chosen)), frozenset(within))
        if asked not in self._found:  # `refs`, `callers` and their certificates share one search
            tree = self.project.tree if not current_paths(self.project) else None
            known: Found | None = tree.searched(asked) if tree else None
            if known is None:
                known = self._search(chosen, asked[1])
                if tree is not None:  # without a semantic layer, which is not part of the tree
                    tree.keep_search(asked, known, len(known.sites) + len(known.excluded))
            self._found[asked] = known
        return self._found[asked]

    def _search(self, chosen: dict[tuple[str, int], Definition], within: frozenset[str]) -> Found:
        chosen |= {(d.path, d.ordinal): d for d in linked(self.project, chosen.values())}
        wanted = self._wanted(chosen)
        known = KnownReferences(self.project, chosen.values())
        found: dict[At, Site] = {}
        excluded, uses = dict[At, str](), list[tuple[At, FileNames, Occurrence]]()
        names = list(dict.fromkeys(d.name for d in chosen.values()))
        names += default_names(self.binder.names.modules, chosen.values(), names)[:MAX_ALIASES]
        families = naming_families(self.project, chosen.values())
        self.cut = False
        self._own_self.start(chosen.values())
        for name in names:  # grows during the loop
            told = _Told()
            for source, places in self.occurrences(name, within, wanted, told):
                foreign = families and source.origin.family not in families
                for place in places:
                    at = (source.path, place.line, place.column)
                    site: Site | str = PROVEN if place.name == name else _UNBOUND
                    if site == PROVEN and not foreign:  # it is not spelled otherwise
                        site = self._judge(source, place, wanted, told)
                    if isinstance(site, str):
                        excluded[at] = site if foreign else self._provable(source, place, site)
                        if not foreign and _is_use(place):
                            uses.append((at, source, place))
                    elif known.allows(site):
                        found[at] = site
                    else:
                        excluded[at] = PROVEN
                aliases = [] if foreign else self._aliases(source, name)
                more = [n for n in dict.fromkeys(aliases) if n not in names]
                self.cut = self.cut or len(names) + len(more) > MAX_ALIASES
                names += more[: max(0, MAX_ALIASES - len(names))]
        self._add_strings(chosen.values(), wanted, within, found, excluded)
        found |= {site[:3]: site for site in known.sites()}
        used = [(at, s, p) for at, s, p in uses if excluded.get(at) == PROVEN]
        proven = [at for at, s, p in used if not is_variable(self.project, s, p)]
        if proven and is_stored(self.project, chosen.values(), names, found.values()):
            excluded |= dict.fromkeys(proven, str(Unexplained.BOUND_ELSEWHERE))
        for at in found.keys() & excluded.keys():
            del excluded[at]
        defined, cut = frozenset((d.path, d.line, d.column) for d in chosen.values()), self.cut
        made = [s for d in list(chosen.values())[:MAX_MADE] for s in self._made(d, within)]
        sites = sorted([*found.values(), *made], key=Site.order)
        return Found(sites, excluded, cut, defined)

    def _made(self, target: Definition, within: frozenset[str]) -> list[Site]:
        """Return the places where a class is called, for its constructor of ECMAScript."""
        source = self.project.source(target.path) if target.name == "constructor" else None
        owner = self.binder.types.classes.class_of(target) if source else None
        if source is None or owner is None or source.language not in ECMA:
            return []
        sites = self.find([owner], within).sites
        return [s._replace(targets=(target,)) for s in sites if s.use == Use.CALL]

    def _add_strings(
        self,
        targets: Iterable[Definition],
        wanted: _SearchTargets,
        within: frozenset[str],
        found: dict[At, Site],
        excluded: dict[At, str],
    ) -> None:
        """Add what annotations written as strings, and `__all__`, refer to."""
        for source, place in of_annotations(
            self.project, targets, within, found.keys() | excluded.keys()
        ):
            site = self._judge(source, place, wanted)
            if isinstance(site, Site):
                found.setdefault(site[:3], site)
        for source, place in of_exports(self.project, targets, within):
            site = self._judge(source, place, wanted)
            if isinstance(site, Site):
                found.setdefault(site[:3], site)
            else:
                excluded.setdefault((source.path, place.line, place.column), site)

    def _provable(self, source: FileNames, place: Occurrence, why: str) -> str:
        """Return the reason; no use is proven without scopes, nor by `self` that may be another."""
        if why != PROVEN or source.language not in MODELLED:
            return why
        if _is_use(place) and self.project.scopes(source.path) is None:
            return str(Unexplained.NO_FACTS)
        types = self.binder.types
        own = all(map(self._own_self.is_own, list(dict.fromkeys(types.relied))))
        own = own and all(map(self._own_self.is_made, list(dict.fromkeys(types.made))))
        return why if own else str(Unexplained.BOUND_ELSEWHERE)

    def _wanted(self, chosen: dict[tuple[str, int], Definition]) -> _SearchTargets:
        members: dict[tuple[str, int], Definition] = {}
        known, outside = True, False
        for target in chosen.values():
            kin = self.dispatch.kin(target)
            members |= kin.members
            known, outside = known and kin.known, outside or kin.outside
        flags = [self.binder.is_member(d) for d in chosen.values()]
        fields = any(d.kind in ("field", "property") for d in chosen.values())
        uncalled = all(map(self._is_uncalled, chosen.values()))
        return _SearchTargets(chosen, Kin(members, known, outside), all(flags), fields, uncalled)

    def _is_uncalled(self, target: Definition) -> bool:
        owner = self.binder.types.classes.class_of(target)
        field = owner is not None and target.kind in ("field", "enumerator")
        return field and owner is not None and not re.search(r"\brecord\b", owner.signature)

    def mentions(self, name: str) -> Found:
        """Return every occurrence of a name without a definition in the tree, except locals."""
        sites: list[Site] = []
        excluded: dict[At, str] = {}
        self.cut = False
        for source, places in self.occurrences(name):
            for place in places:
                if place.use == Use.DEFINITION or self._is_local(source, place):
                    why = PROVEN if place.name == name else _UNBOUND
                    excluded[source.path, place.line, place.column] = why
                else:
                    sites.append(make_site(source, place, Tier.NAME, ()))
        return Found(sites, excluded, self.cut)

    def _is_local(self, source: FileNames, place: Occurrence) -> bool:
        meaning = self.binder.meaning(source, place)
        return meaning.state is State.LOCAL and meaning.sure and meaning.variable > 0

    def occurrences(
        self,
        name: str,
        within: Iterable[str] = (),
        wanted: _SearchTargets | None = None,
        told: _Told | None = None,
    ) -> Iterator[tuple[FileNames, list[Occurrence]]]:
        """Yield files with their occurrences of a name; `cut` is set where there are too many.

        `told` gets the files where facts alone tell that all uses refer to what is wanted."""
        by_path = self.project.places(name, within)
        if len(by_path) > MAX_FILES:
            self.cut = True
            by_path = self._nearest(by_path, name)
        self.project.load(by_path)
        needed = [path for path in by_path if self._needs_text(path, by_path[path])]
        self.project.read(needed)
        self.project.load_locals([p for p in needed if any(map(_may_be_local, by_path[p]))])
        if wanted is not None and told is not None:
            plain = self._plain.find({path: by_path[path] for path in needed})
            told |= {p: hit for p, found in plain.items() if (hit := _among(found, wanted.targets))}
        self.project.load_scopes(path for path in needed if not told or path not in told)
        left = MAX_PLACES
        for path in sorted(by_path, key=os.fsencode):
            source = self.project.source(path)
            if left <= 0:
                self.cut = True
                return
            if source is not None:
                left -= len(by_path[path])
                yield source, by_path[path]

    def _nearest(
        self, by_path: dict[str, list[Occurrence]], name: str
    ) -> dict[str, list[Occurrence]]:
        """Return as many files as one answer examines, those near a definition first."""
        folders = {d.path.rpartition("/")[0] for d in self.project.definitions(name)}
        order = sorted(by_path, key=lambda p: (p.rpartition("/")[0] not in folders, os.fsencode(p)))
        return {path: by_path[path] for path in order[:MAX_FILES]}

    def _needs_text(self, path: str, places: list[Occurrence]) -> bool:
        source = self.project.source(path)
        if source is not None and source.language in ECMA:  # a definition may take a member
            return any(place.use != Use.IMPORT for place in places)
        return any(map(_is_use, places))

    def _judge(
        self,
        source: FileNames,
        place: Occurrence,
        wanted: _SearchTargets,
        told: _Told | None = None,
    ) -> Site | str:
        """Return the reference at a place, or why it is none: PROVEN or an Unexplained value."""
        del self.binder.types.relied[:], self.binder.types.made[:]
        if told and source.path in told and _is_use(place):
            return _site(source, place, told[source.path])
        taken = self._taken(source, place, wanted) if source.language in ECMA else None
        if taken is not None:
            return taken
        if place.use == Use.DEFINITION:
            return self._loaded(source, place, wanted) or PROVEN
        if source.language == "java" and wanted.uncalled and place.use == Use.CALL:
            return PROVEN  # methods have names of their own
        meaning = self.binder.meaning(source, place)
        hit = _among(meaning.definitions, wanted.targets)
        if hit:
            return _site(source, place, hit)
        related = _among(meaning.definitions, wanted.kin.members)
        if related:
            return make_site(source, place, Tier.DISPATCH, tuple(wanted.targets.values()))
        if wanted.members and self._is_shorthand(source, place):
            meaning = Meaning(State.KEY)  # a variable, and a member
        if meaning.state is not State.DEFINED:
            maybe = self.binder.candidates(source, meaning, place.name)
            chosen = _among(maybe, wanted.targets)
            if chosen:
                return make_site(source, place, Tier.NAME, chosen)
        return self._why(source, place.name, meaning, wanted)

    def _is_shorthand(self, source: FileNames, place: Occurrence) -> bool:
        scopes = self.project.scopes(source.path) if source.language in ECMA else None
        at = self.project.offset(source.path, place.line, place.column) if scopes else -1
        return scopes is not None and at in scopes.shorthands

    def _taken(
        self, source: FileNames, place: Occurrence, wanted: _SearchTargets
    ) -> Site | str | None:
        """Judge a name in a destructuring pattern as the member that it takes; else None."""
        scopes = self.project.scopes(source.path)
        at = self.project.offset(source.path, place.line, place.column)
        if scopes is None or at not in scopes.taken or place.name in source.bindings:
            return None
        meaning = self.binder.member_of(scopes.taken[at], source, place, at)
        hit = _among(meaning.definitions, wanted.targets)
        if hit:
            return make_site(source, place, Tier.IMPORT, hit)
        if _among(meaning.definitions, wanted.kin.members):
            return make_site(source, place, Tier.DISPATCH, tuple(wanted.targets.values()))
        if meaning.state is State.DEFINED and meaning.sure:
            return PROVEN
        maybe = self.binder.candidates(source, Meaning(State.KEY), place.name)
        chosen = _among(maybe, wanted.targets)
        if chosen:
            return make_site(source, place, Tier.NAME, chosen)
        return str(Unexplained.BOUND_ELSEWHERE)

    def _loaded(self, source: FileNames, place: Occurrence, wanted: _SearchTargets) -> Site | None:
        """Return the import site of a definition `const { name } = require('./x')`, else None."""
        if source.language not in ECMA or place.name not in source.bindings:
            return None
        own = self.binder.meaning(source, place).definitions
        for item, there in source.bindings[place.name]:
            if any(d.start_line <= item.line <= d.end_line for d in own):
                found = self.binder.names.modules.imported(source, item, there).definitions
                hit = _among(found, wanted.targets)
                if hit:
                    return make_site(source, place._replace(use=Use.IMPORT), Tier.IMPORT, hit)
        return None

    def _why(self, source: FileNames, name: str, meaning: Meaning, wanted: _SearchTargets) -> str:
        """Return PROVEN if a name certainly is not a reference to the targets, else the reason."""
        if meaning.bare and wanted.members and source.language in QUALIFIED:
            return PROVEN  # a member always has a receiver in these languages
        match meaning.state:
            case State.DEFINED:
                alone = meaning.bare and source.language in QUALIFIED
                proven = meaning.sure and (alone or not wanted.members or wanted.kin.known)
            case State.KEY:
                objects = source.language in ECMA or source.language == "java"
                proven = not wanted.fields and not (wanted.members and objects)
            case State.UNBOUND:
                proven = name in BUILTINS.get(source.language, ())
            case State.UNKNOWN:
                proven = False
            case State.OUTSIDE if meaning.typed and wanted.kin.outside:
                proven = False
            case _:
                proven = meaning.sure
        if proven and source.language in MODELLED:
            return PROVEN
        unbound = meaning.state in (State.UNBOUND, State.UNKNOWN)
        return str(Unexplained.UNBOUND if unbound else Unexplained.BOUND_ELSEWHERE)

    def _aliases(self, source: FileNames, name: str) -> list[str]:
        """Return the aliases that a file's imports and exports give to a name."""
        pairs = [pair for item in source.imports for pair in item.names]
        found = [local for there, local in pairs if there == name and local not in (name, "*")]
        if "default" in found and source.language in ECMA:
            found += locals_of(self.project, source.path, "default")
        if source.language in ECMA and (source.named(name) or name in source.bindings):
            renamed = self.binder.names.modules.renamed(source)
            outs = [out for out, local in renamed.items() if local == name and out != name]
            found += [out for out in outs if out not in ("default", EXPORTED_WHOLE)]
            if name in source.bindings:
                whole = [out for out in outs if out in ("default", EXPORTED_WHOLE)]
                found += [n for out in whole for n in locals_of(self.project, source.path, out)]
        return found


def _site(source: FileNames, place: Occurrence, hit: tuple[Definition, ...]) -> Site:
    own = any(d.path == source.path for d in hit)
    return make_site(source, place, Tier.EXACT if own else Tier.IMPORT, hit)


def _is_use(place: Occurrence) -> bool:
    return place.use not in (Use.DEFINITION, Use.IMPORT)


def _may_be_local(place: Occurrence) -> bool:
    """Return whether a place may name a variable; a call of one is rare where calls are many."""
    return place.use == Use.REFERENCE


def _among(
    found: Iterable[Definition], wanted: dict[tuple[str, int], Definition]
) -> tuple[Definition, ...]:
    return tuple(d for d in found if (d.path, d.ordinal) in wanted)
