"""Plans the rename of a symbol or a module: all of its places, and what blocks it. Writes nothing."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.pattern import compile_later
from gitindex.base.tree_edit import FileChange, change_files
from gitindex.base.vocabulary import OccurrenceClass, Tier, Why
from gitindex.base.worktree import Worktree
from gitindex.edit.by_text import built_names
from gitindex.edit.library import called_by_bases
from gitindex.edit.modules import (
    beside,
    find_module,
    loaded_unnamed,
    module_fields,
    module_name,
    moved,
)
from gitindex.edit.new_name import check_new, clashes, module_taken, taken
from gitindex.edit.patch import FileEdit, RenamePlace, diff, edits_of, spelled
from gitindex.languages.implicit_calls import called_without_name
from gitindex.query.absence import FoundPlace, Partition, partition_of
from gitindex.query.names.dispatch import is_fixture, linked
from gitindex.query.names.finder import Finder, Found
from gitindex.query.names.memory import Memory
from gitindex.query.names.model import Definition, FileNames
from gitindex.query.names.names import BUILTINS
from gitindex.query.names.project import Project
from gitindex.query.names.targets import find_target, no_names
from gitindex.query.references import definition_fields, site_fields
from gitindex.view.tree import TreeView

_PROOFS = {
    Tier.SEMANTIC: "the semantic layer names the symbol here",
    Tier.EXACT: "the file's own scopes lead to the definition",
    Tier.IMPORT: "imports or declared types lead to the definition",
    Tier.DISPATCH: "overrides, implements, or is overridden by it: renamed together",
}
_WHY = {
    "receiver": "a member of something of unknown type",
    "unbound": "nothing in reach defines this name",
    "key": "a key or a keyword of this name",
    "string": "a text that may be read as the name",
    "not_parsed": "not parsed, so it may be a use",
    "budget": "more places than one answer examines",
}
_WORD = compile_later(r"\w+")
MAX_FAMILY = 50
"""Most members that override each other and are renamed together."""
MAX_SHOWN = 50
"""Rows of each list of an answer."""


class RenameRequest(NamedTuple):
    """The symbol to rename, its new name, and the possible places that are renamed as well."""

    symbol: str
    new: str
    include: tuple[str, ...] = ()  # PATH:LINE, reviewed by the user
    include_possible: bool = False  # all of them

    def accepts(self, where: str) -> bool:
        """Has the user accepted what stands in the way at a place?"""
        return where in self.include

    def command(self, accepted: Iterable[str]) -> str:
        """Return the command that accepts every possible place, and these, and applies the rename."""
        words = ["gitindex", "rename", self.symbol, self.new, "--include-possible"]
        for where in accepted:
            words += ["--include", where]
        return shlex.join([*words, "--apply"])


class Obstacle(NamedTuple):
    """Why a rename is refused: at a place (`PATH:LINE` or `PATH`), or empty."""

    where: str
    why: str
    acceptable: bool = True  # by the user, with --include-possible

    def text(self) -> str:
        return f"{self.where}: {self.why}" if self.where else self.why


class RenamePlan(NamedTuple):
    """A whole rename: the envelope that describes it, the edits, and the reasons that block it."""

    answer: dict[str, Any]
    edits: list[FileEdit]
    blocked: list[str]


class _Draft(NamedTuple):
    """What is known of a rename before it is answered."""

    definitions: list[dict[str, Any]]
    found: Found
    partition: Partition
    places: list[RenamePlace]
    edits: list[FileEdit]
    obstacles: list[Obstacle]


def plan_rename(view: TreeView, request: RenameRequest, memory: Memory | None = None) -> RenamePlan:
    """Return a plan: every place of the symbol, the proof of each, and what blocks the rename.

    A symbol that is the path of a file is the module there.
    """
    finder = Finder(view, memory)
    home = finder.project.source(request.symbol)
    if home is not None:
        return _answer(finder, request, _draft_module(finder, home, request))
    if "/" in request.symbol and not set("#:") & set(request.symbol):
        raise no_names(finder.project, request.symbol)
    return _answer(finder, request, _draft(finder, request))


def _draft(finder: Finder, request: RenameRequest) -> _Draft:
    target = find_target(finder.binder, request.symbol)
    chosen = _same_symbol(finder, target.definitions, request.symbol)
    chosen += [d for d in linked(finder.project, chosen) if d not in chosen]
    home = finder.project.source(chosen[0].path)
    check_new(request.new, target.name, home.language if home is not None else "")
    family = _family(finder, chosen)
    found = finder.find(family)
    part = partition_of(finder, target.name, found, family)
    defined = [RenamePlace(d.path, d.line, d.column, Tier.EXACT) for d in family]
    places = spelled(finder.project, [*defined, *_places(found)], target.name)
    examples = _examples(finder, family, part)
    obstacles = [
        *_unnamed(finder, family),
        *_shorthands(finder.project, places),
        *_either(found, family),
        *(
            Obstacle(where, why, False)
            for where, why in clashes(finder, family, places, request.new)
        ),
        *(Obstacle(where, why, False) for where, why in taken(finder, family, places, request.new)),
        *(Obstacle(where, why) for where, why in built_names(finder, family)),
    ]
    places = _with_possible(finder, [*places, *examples], part, request)
    edits = edits_of(finder.project, places, target.name, request.new)
    definitions = [definition_fields(finder.project, d) for d in family]
    return _Draft(definitions, found, part, places, edits, obstacles)


def _draft_module(finder: Finder, home: FileNames, request: RenameRequest) -> _Draft:
    """Return the draft that gives a module another name: its file moves, and imports follow it."""
    name = module_name(home)
    new = request.new.removesuffix(os.path.splitext(home.path)[1])
    check_new(new, name, "python")
    found = find_module(finder, home, name)
    part = partition_of(finder, name, found, ())
    places = spelled(finder.project, _places(found), name)
    obstacles = [
        *(Obstacle("", why, False) for why in beside(finder, home, new)),
        *(Obstacle(where, why, False) for where, why in module_taken(finder, home, places, new)),
        *(Obstacle(where, why) for where, why in loaded_unnamed(finder, home)),
    ]
    places = _with_possible(finder, places, part, request)
    edits = edits_of(finder.project, places, name, new)
    edits = moved(finder.project, edits, home.path, new)
    return _Draft([module_fields(home, name)], found, part, places, edits, obstacles)


def _answer(finder: Finder, request: RenameRequest, draft: _Draft) -> RenamePlan:
    """Return the plan as it is answered; a refusal ends with the command that accepts it."""
    project, part = finder.project, draft.partition
    obstacles = [*draft.obstacles, *_possible(project, part)]
    if not part.accounted_for:
        obstacles.append(Obstacle("", "files could not be searched for the name", False))
    blocked = [one for one in obstacles if not _is_accepted(one, request)]
    reasons = list(dict.fromkeys(one.text() for one in blocked))
    others = list(dict.fromkeys(one.where for one in obstacles if not one.acceptable))
    accept = request.command(others) if blocked and all(others) else ""
    answer = finder.view.envelope(
        name=draft.definitions[0]["name"],
        newName=request.new,
        definitions=draft.definitions,
        places=_proofs(project, draft),
        changes=len(draft.places),
        patch="".join(map(diff, draft.edits)),
        files=[edit.fields() for edit in draft.edits],
        applies=not blocked,
        applied=False,
        blocked=reasons,
        accept=accept,
        **part.fields(project, MAX_SHOWN, everything=True, mentions=True),
    )
    return RenamePlan(answer, draft.edits, reasons)


def _proofs(project: Project, draft: _Draft) -> list[dict[str, Any]]:
    """Return the references that are renamed, each with the proof that it is one."""
    sites = {site[:3]: site for site in draft.found.sites}
    found = (sites[place[:3]] for place in draft.places if place[:3] in sites)
    return [site_fields(project, site) | {"proof": _PROOFS[site.tier]} for site in found]


def _is_accepted(one: Obstacle, request: RenameRequest) -> bool:
    return request.accepts(one.where) or (one.acceptable and request.include_possible)


def _possible(project: Project, part: Partition) -> Iterator[Obstacle]:
    """Yield the places that may be uses, each with the reason and its line."""
    for place in part.possible:
        line = part.line_of(project, place)
        why = f"{_WHY[place.why]}: {line[:80]}" if line else _WHY[place.why]
        yield Obstacle(_where(place), why)


def _where(place: FoundPlace) -> str:
    return f"{place.path}:{place.line + 1}"


def _with_possible(
    finder: Finder, places: list[RenamePlace], part: Partition, request: RenameRequest
) -> list[RenamePlace]:
    """Return the places with the possible ones that the user wants to be renamed as well."""
    more = [p for p in part.possible if request.include_possible or request.accepts(_where(p))]
    added = [RenamePlace(p.path, p.line, p.column, Tier.NAME) for p in more]
    return spelled(finder.project, [*places, *added], part.name)


def _same_symbol(finder: Finder, found: tuple[Definition, ...], symbol: str) -> list[Definition]:
    """Return all definitions of the matching symbol. GitIndexError unless exactly one matches."""
    symbols = {(d.path, d.qualified) for d in found}
    if len(symbols) != 1:
        many = f"{len(symbols)} symbols have this name"
        what = many if symbols else f"no symbol {safe_text(symbol)}"
        near = ", ".join(f"{path}#{name}" for path, name in sorted(symbols)[:5])
        hint = f"name one: {safe_text(near)}" if near else "see `gitindex symbols`"
        raise GitIndexError(what, hint, Exit.NO)
    [(path, qualified)] = symbols
    source = finder.project.source(path)
    return [s for s in (source.symbols if source else ()) if s.qualified == qualified]


def _family(finder: Finder, chosen: list[Definition]) -> list[Definition]:
    """Return the symbol with its overrides and bases; GitIndexError where there are too many."""
    family = list(chosen)
    for one in family:  # grows while it is walked
        family += [d for d in finder.dispatch.kin(one).members.values() if d not in family]
        if len(family) > MAX_FAMILY:
            what = f"more than {MAX_FAMILY} members override each other"
            raise GitIndexError(what, "rename them by hand", Exit.NO)
    return family


def _unnamed(finder: Finder, family: list[Definition]) -> Iterator[Obstacle]:
    """Yield what may use the symbol without a place that could be renamed."""
    project = finder.project
    for d in family:
        source = project.source(d.path)
        language = source.language if source is not None else ""
        where = f"{d.path}:{d.line + 1}"
        if finder.binder.is_member(d) and called_without_name(language, d.name):
            yield Obstacle(where, f"{d.name} is called by {language} itself", False)
        if is_fixture(project, d):
            yield Obstacle(where, "pytest gives a fixture to parameters of its name")
        if d.name in BUILTINS.get(language, ()) and not finder.binder.is_member(d):
            yield Obstacle(where, f"the language has {d.name}, too: a use may mean that")
    for where, why in called_by_bases(finder, family):
        yield Obstacle(where, why)


def _examples(finder: Finder, family: list[Definition], part: Partition) -> list[RenamePlace]:
    """Return the examples of doctest that use the symbol; those that cannot are possible no more."""
    lines = dict(_doctests(finder, part))
    importing = {place.path for place, line in lines.items() if " import " in line}
    judged = {place: _is_seen(finder, place, family) for place in lines}
    ours = [place for place, seen in judged.items() if seen]
    gone = {p for p, seen in judged.items() if seen is None and p.path not in importing}
    left = [place for place in part.possible if place not in gone.union(ours)]
    part.places[OccurrenceClass.POSSIBLE][:] = left
    return [RenamePlace(*place[:3], Tier.IMPORT) for place in ours]


def _doctests(finder: Finder, part: Partition) -> Iterator[tuple[FoundPlace, str]]:
    """Yield the possible places in examples of Python, each with its line."""
    for place in part.possible:
        source = finder.project.source(place.path)
        if source is not None and source.language == "python" and place.why == Why.STRING:
            line = finder.project.span(place.path, place.line, place.line).lstrip()
            if line.startswith((">>> ", "... ")):
                yield place, line


def _is_seen(finder: Finder, place: FoundPlace, family: list[Definition]) -> bool | None:
    """Does the name mean the symbol in its module, or after a package around it? None if nothing there."""
    before = finder.project.text(place.path)[max(0, place.start - 100) : place.start]
    if before.endswith(b"."):
        package = set(_WORD.findall(before.decode("utf-8", "replace"))[-1:])
        return all(package & set(d.path.split("/")[:-1]) and d.parent < 0 for d in family)
    source = finder.project.source(place.path)
    assert source is not None
    bound = source.bindings.get(family[0].name, ())
    seen = list(source.children(-1, family[0].name))
    for item, there in bound:
        seen += finder.binder.names.modules.imported(source, item, there).definitions
    ours = {(d.path, d.ordinal) for d in family}
    if not seen and not bound and not source.stars:
        return None
    return bool(seen) and all((d.path, d.ordinal) in ours for d in seen)


def _either(found: Found, family: list[Definition]) -> Iterator[Obstacle]:
    """Yield the references that may also mean a symbol which keeps its name."""
    ours = {(d.path, d.ordinal) for d in family}
    for site in found.sites:
        other = next((d for d in site.targets if (d.path, d.ordinal) not in ours), None)
        if other is not None:
            yield Obstacle(f"{site.path}:{site.line + 1}", f"may mean {other.qualified}, too")


def _places(found: Found) -> list[RenamePlace]:
    return [RenamePlace(s.path, s.line, s.column, s.tier) for s in found.sites]


def _shorthands(project: Project, places: Iterable[RenamePlace]) -> Iterator[Obstacle]:
    """Yield places of JavaScript where one word is a property and a variable: `{ name }`."""
    for place in places:
        scopes = project.scopes(place.path)
        at = project.offset(place.path, place.line, place.column)
        if scopes is not None and at in scopes.shorthands:
            yield Obstacle(f"{place.path}:{place.line + 1}", "a property and a variable in one")


def apply_plan(view: TreeView, plan: RenamePlan) -> dict[str, Any]:
    """Write a plan that nothing blocks; returns its answer, which says whether it was applied."""
    if plan.blocked:
        return plan.answer
    apply_edits(view.worktree, plan.edits)
    return plan.answer | {"applied": True}


def apply_edits(worktree: Worktree, edits: list[FileEdit]) -> None:
    """Write all edits, or leave every file as it was. `.git` is never touched."""
    change_files(worktree, [FileChange(*edit) for edit in edits])
