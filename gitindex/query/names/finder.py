"""Every place that refers to some definitions: by name or alias, through re-exports; semantic first."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from gitindex.base.vocabulary import Tier
from gitindex.languages.facts import Occurrence, Use
from gitindex.query.names.known import KnownReferences
from gitindex.query.names.meanings import ECMA, State
from gitindex.query.names.memory import Memory
from gitindex.query.names.mentions import is_annotation, look
from gitindex.query.names.places import Binder
from gitindex.query.names.project import Project
from gitindex.query.names.sites import Site, make_site
from gitindex.query.names.source import Definition, FileNames, enclosing
from gitindex.view.tree import TreeView

MAX_ALIASES = 20
"""Other names of one definition that are followed."""
MAX_PLACES = 50_000

_CLOSED = frozenset({"python", "ecma", "go", "jvm", "rust", "csharp"})
"""Nothing written in another language names their symbols; keys of data may be named by any."""


class Finder:
    """Finds references in one tree."""

    def __init__(self, view: TreeView, memory: Memory | None = None) -> None:
        self.project = Project(view, memory)
        self.binder = Binder(self.project)
        self.view = view

    def sites(self, targets: Iterable[Definition]) -> list[Site]:
        """References to any of the targets, the surest first; their definitions are not among them."""
        wanted = {(d.path, d.ordinal): d for d in targets}
        if not wanted:
            return []
        known = KnownReferences(self.project, wanted.values())
        found: dict[tuple[str, int, int], Site] = {}
        names = list(dict.fromkeys(d.name for d in wanted.values()))
        names += self._default_names(wanted.values(), names)
        families = self._families(wanted.values())
        for name in names:  # grows while it is walked
            for source, places in self._occurrences(name):
                if families and source.origin.family not in families:
                    continue
                for place in places:
                    site = self._site(source, place, wanted)
                    if site is not None and known.allows(site):
                        found[site[:3]] = site
                names += [n for n in self._aliases(source, name) if n not in names][:MAX_ALIASES]
        for source, place in self._annotations(wanted.values()):
            site = self._site(source, place, wanted)
            if site is not None:
                found.setdefault(site[:3], site)
        for site in known.sites():
            found[site[:3]] = site
        return sorted(found.values(), key=Site.order)

    def mentions(self, name: str) -> list[Site]:
        """Every occurrence of a name that nothing in the tree defines."""
        return [
            make_site(source, place, Tier.NAME, ())
            for source, places in self._occurrences(name)
            for place in places
            if place.use != Use.DEFINITION
        ]

    def _annotations(self, targets: Iterable[Definition]) -> Iterator[tuple[FileNames, Occurrence]]:
        """Python's annotations that are written as strings: types before they are defined."""
        names = {t.name for t in targets if t.path.endswith((".py", ".pyi")) and t.parent < 0}
        for name in sorted(names):
            for file, places in look(self.project, name).places.items():
                for line, column, _ in places if file.language == "python" else ():
                    text = self.project.span(file.path, line, line)
                    if is_annotation(text, column, column + len(name)):
                        source = self.project.source(file.path)
                        around = enclosing(source, line) if source else None
                        scope = around.ordinal if around else -1
                        if source is not None:
                            yield source, Occurrence(name, line, column, Use.TYPE, scope)

    def _occurrences(self, name: str) -> Iterator[tuple[FileNames, list[Occurrence]]]:
        by_path = self.project.places(name)
        self.project.load(by_path)
        self.project.read(path for path in by_path if self._needs_text(by_path[path]))
        left = MAX_PLACES
        for path in sorted(by_path, key=os.fsencode):
            source = self.project.source(path)
            if source is not None and left > 0:
                left -= len(by_path[path])
                yield source, by_path[path]

    @staticmethod
    def _needs_text(places: list[Occurrence]) -> bool:
        return any(place.use not in (Use.DEFINITION, Use.IMPORT) for place in places)

    def _site(
        self, source: FileNames, place: Occurrence, wanted: dict[tuple[str, int], Definition]
    ) -> Site | None:
        if place.use == Use.DEFINITION:
            return None
        meaning = self.binder.meaning(source, place)
        hit = _among(meaning.definitions, wanted)
        if hit:
            own = any(d.path == source.path for d in hit)
            return make_site(source, place, Tier.EXACT if own else Tier.IMPORT, hit)
        if meaning.state is State.DEFINED:
            return None
        maybe = _among(self.binder.candidates(source, meaning, place.name), wanted)
        return make_site(source, place, Tier.NAME, maybe) if maybe else None

    def _families(self, targets: Iterable[Definition]) -> set[str]:
        """The languages that can name the targets; empty where any may."""
        sources = [self.project.source(target.path) for target in targets]
        found = {source.origin.family for source in sources if source is not None}
        return found if found <= _CLOSED else set()

    def _aliases(self, source: FileNames, name: str) -> list[str]:
        """Names that imports and exports of a file give to this one."""
        pairs = [pair for item in source.imports for pair in item.names]
        found = [local for there, local in pairs if there == name and local not in (name, "*")]
        if source.language in ECMA and source.named(name):
            renamed = self.binder.names.modules.renamed(source)
            found += [out for out, local in renamed.items() if local == name and out != "default"]
        return found

    def _default_names(self, targets: Iterable[Definition], names: list[str]) -> list[str]:
        """What importers call a module's default export: any name will do there."""
        found: list[str] = []
        for target in targets:
            source = self.project.source(target.path)
            if source is None or source.language not in ECMA:
                continue
            if self.binder.names.modules.renamed(source).get("default") == target.name:
                found += self._default_locals(target.path)
        return [name for name in dict.fromkeys(found) if name not in names][:MAX_ALIASES]

    def _default_locals(self, path: str) -> list[str]:
        self.view.ensure_facts()
        rows = self.view.rows(
            "SELECT DISTINCT l.path FROM {imports} i JOIN {live} l ON l.blob_id=i.blob_id"
            " WHERE i.names LIKE '%[\"default\",%'"
        )
        importers = [os.fsdecode(row[0]) for row in rows]
        self.project.load(importers)
        return [
            local
            for importer in importers
            if (source := self.project.source(importer)) is not None
            for item in source.imports
            for there, local in item.names
            if there == "default" and path in self.project.resolve(source, item)
        ]


def _among(
    found: Iterable[Definition], wanted: dict[tuple[str, int], Definition]
) -> tuple[Definition, ...]:
    return tuple(d for d in found if (d.path, d.ordinal) in wanted)
