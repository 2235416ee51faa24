"""Uses in Python that facts and text decide: one import is all that binds the name in the file.

Reading the scopes of a file costs more than everything else about it. They are not needed where
every place of a name in the file is an import or a form that binds nothing: then no scope inside
the module can declare it, but for an import, and there is only one. Every identifier of a parsed
file is in its facts.
"""

from __future__ import annotations

from collections.abc import Iterable

from gitindex.base.pattern import compile_later
from gitindex.base.vocabulary import FactsStatus
from gitindex.languages.facts import Occurrence, Use
from gitindex.query.names.meanings import Meaning
from gitindex.query.names.modules import Modules
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition, FileNames

_BINDING_NOTHING = frozenset({Use.CALL, Use.INHERIT, Use.DECORATOR})
"""Uses that are never a target. A parameter of a type is in the facts as a type."""
_MEMBERS = _BINDING_NOTHING | {Use.ATTRIBUTE}
_HOLDER = compile_later(rb"(?:^|[^\w.$\\\x80-\xff])([A-Za-z_]\w*)\.$")
_MAX_LINE = 1_000

Places = dict[str, list[Occurrence]]  # by path


class PlainUses:
    """Decides what names mean in files whose scopes are not read."""

    def __init__(self, project: Project, modules: Modules) -> None:
        self._project = project
        self._modules = modules
        self._places: dict[str, Places] = {}

    def find(self, by_path: Places) -> dict[str, tuple[Definition, ...]]:
        """Return the files whose uses of one name all mean the same, with the definitions."""
        told = {path: self._holders(path, places) for path, places in by_path.items()}
        wanted: dict[str, list[str]] = {}
        for path, holders in told.items():
            for holder in filter(None, holders or ()):
                wanted.setdefault(holder, []).append(path)
        for holder, paths in wanted.items():
            self._places[holder] = self._project.places(holder, paths)
        found = {}
        for path, holders in told.items():
            meant = [self._meant(path, holder, by_path[path]) for holder in holders or ()]
            if meant and all(meant) and len(set(meant)) == 1:
                found[path] = meant[0]
        return found

    def _holders(self, path: str, places: list[Occurrence]) -> set[str] | None:
        """Return the names before the uses, empty for bare ones; None if one cannot be told."""
        source = self._project.source(path)
        parsed = source is not None and source.origin.status == FactsStatus.PARSED
        if source is None or not parsed or source.language != "python" or source.stars:
            return None
        holders: set[str] = set()
        for place in places:
            if place.use == Use.IMPORT:
                continue
            holder = self._holder(path, place)
            if holder is None or place.use not in (_MEMBERS if holder else _BINDING_NOTHING):
                return None
            holders.add(holder)
        return holders

    def _holder(self, path: str, place: Occurrence) -> str | None:
        """Return the only name before a use, on its line; empty if it is bare, None if unknown."""
        if place.column > _MAX_LINE:
            return None
        data, start = self._project.text(path), self._project.offset(path, place.line, 0)
        before = data[start : start + place.column]
        if not before.strip():
            near = data[max(0, start - _MAX_LINE) : start].rstrip()
            last = near.rpartition(b"\n")[2]
            cut = not last or (last == near and start > _MAX_LINE)
            return None if cut or b"#" in last or last.endswith((b".", b"\\")) else ""
        if not before.rstrip().endswith((b".", b"\\")):
            return ""
        match = _HOLDER.search(before)  # the facts tell whether it is a member itself
        return match.group(1).decode() if match else None

    def _meant(
        self, path: str, holder: str, places: Iterable[Occurrence]
    ) -> tuple[Definition, ...]:
        """Return the definitions of the uses with a holder; empty if they cannot be told."""
        source = self._project.source(path)
        name = next(iter(places)).name
        assert source is not None
        if not holder:
            found = self._imported(source, name)
            return found.definitions if found is not None else ()
        own = self._places[holder].get(path, ())
        if not all(place.use == Use.IMPORT or self._is_holder(path, place) for place in own):
            return ()
        found = self._imported(source, holder)
        if found is None or found.module is None:
            return ()
        return self._modules.below(found.module, name).definitions

    def _imported(self, source: FileNames, name: str) -> Meaning | None:
        bound = source.bindings.get(name, ())
        return self._modules.imported(source, *bound[0]) if len(bound) == 1 else None

    def _is_holder(self, path: str, place: Occurrence) -> bool:
        """Return whether a place is the object of a member: it is read there, and not bound."""
        end = self._project.offset(path, place.line, place.column) + len(place.name.encode())
        return place.use == Use.REFERENCE and self._project.text(path)[end : end + 1] == b"."
