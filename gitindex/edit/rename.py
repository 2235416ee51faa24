"""`rename`: plans a patch for every place of a symbol, with the proof of each. Writes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.vocabulary import Mutation, Tier
from gitindex.edit.by_text import read_as_text
from gitindex.edit.modules import (
    beside,
    find_module,
    loaded_unnamed,
    module_fields,
    module_gate,
    module_name,
    moved,
    named_in_text,
)
from gitindex.edit.new_name import check_new, module_taken, taken
from gitindex.edit.patch import FileEdit, RenamePlace, diff, edits_of, spelled
from gitindex.filestate.ambiguity import EditTarget
from gitindex.filestate.mutation_gate import check_mutation_gate
from gitindex.languages.facts import Use
from gitindex.query.absence import Certificate, certify
from gitindex.query.names.builtins import BUILTINS
from gitindex.query.names.dispatch import linked
from gitindex.query.names.finder import Finder, Found
from gitindex.query.names.memory import Memory
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition, FileNames
from gitindex.query.names.targets import find_target
from gitindex.query.references import definition_fields, site_fields
from gitindex.view.tree import TreeView

_PROOFS = {
    Tier.SEMANTIC: "the semantic layer names the symbol here",
    Tier.EXACT: "the file's own scopes lead to the definition",
    Tier.IMPORT: "imports or declared types lead to the definition",
    Tier.DISPATCH: "overrides, implements, or is overridden by it: renamed together",
    Tier.NAME: "only the name is the same",
}
_SHORTHAND = frozenset({"javascript", "typescript", "tsx"})
MAX_FAMILY = 50
"""Most members that override each other and are renamed together."""


class RenameRequest(NamedTuple):
    """The symbol to rename, its new name, and the unproven places that the user has reviewed."""

    symbol: str
    new: str
    force: tuple[str, ...] = ()  # PATH:LINE of places that are renamed without a proof


class _Proof(NamedTuple):
    """What is known of a rename before the gate is asked."""

    found: Found
    certificate: Certificate
    places: list[RenamePlace]
    edits: list[FileEdit]
    blocked: list[str]


class RenamePlan(NamedTuple):
    """A whole rename: the envelope that describes it, the edits, and the reasons that block it."""

    answer: dict[str, Any]
    edits: list[FileEdit]
    blocked: list[str]


def plan_rename(view: TreeView, asked: RenameRequest, memory: Memory | None = None) -> RenamePlan:
    """Return a plan: every place of the symbol, the proof of each, and what blocks the rename.

    A symbol that is the path of a file is the module there.
    """
    finder = Finder(view, memory)
    home = finder.project.source(asked.symbol)
    if home is not None:
        return _plan_module(finder, home, asked)
    if "/" in asked.symbol and not set("#:") & set(asked.symbol):
        what = f"not in the tree, or without names: {safe_text(asked.symbol)}"
        raise GitIndexError(what, "see `gitindex symbols`", Exit.NO)
    target = find_target(finder.binder, asked.symbol)
    chosen = _same_symbol(finder, target.definitions)
    chosen += [d for d in linked(finder.project, chosen) if d not in chosen]
    home = finder.project.source(chosen[0].path)
    check_new(asked.new, target.name, home.language if home is not None else "")
    family, known = _family(finder, chosen)
    found = finder.find(family)
    certificate = certify(finder.project, target.name, found, family, mentions=True)
    places = [RenamePlace(d.path, d.line, d.column, Tier.EXACT) for d in family]
    places = spelled(finder.project, [*places, *_places(found)], target.name)
    blocked = [] if known else ["a base class is not in the tree: the name may be its member's"]
    blocked += _blocked(finder, family, places, asked)
    blocked += _unforced(taken(finder, family, places, asked.new), asked.force)
    blocked += read_as_text(finder, family, certificate.quiet, asked.force)
    edits = edits_of(finder.project, places, target.name, asked.new)
    gate = check_mutation_gate(view, [EditTarget(d.path, d.qualified) for d in family])["status"]
    told = [definition_fields(finder.project, d) for d in family]
    return _plan(finder, asked, told, gate, _Proof(found, certificate, places, edits, blocked))


def _plan_module(finder: Finder, home: FileNames, asked: RenameRequest) -> RenamePlan:
    """Return the plan that gives a module another name: its file moves, and imports follow it."""
    name = module_name(home)
    new = asked.new.removesuffix(os.path.splitext(home.path)[1])
    asked = asked._replace(new=new)
    check_new(new, name, "python")
    found = find_module(finder, home, name)
    certificate = certify(finder.project, name, found, (), mentions=True)
    places = spelled(finder.project, _places(found), name)
    blocked = [*beside(finder, home, new), *_unproven(finder, places, asked)]
    blocked += _unforced(module_taken(finder, home, places, new), asked.force)
    blocked += loaded_unnamed(finder, home, asked.force)
    blocked += named_in_text(finder.project, name, certificate.quiet, asked.force)
    edits = edits_of(finder.project, places, name, new)
    edits = moved(finder.project, edits, home.path, new)
    told = [module_fields(home, name)]
    gate = module_gate(finder.view, home.path)
    return _plan(finder, asked, told, gate, _Proof(found, certificate, places, edits, blocked))


def _plan(
    finder: Finder,
    asked: RenameRequest,
    definitions: list[dict[str, Any]],
    gate: str,
    proof: _Proof,
) -> RenamePlan:
    """Return the plan as it is answered: with what the certificate and the mutation gate say."""
    found, certificate, places, edits, blocked = proof
    if not certificate.complete and not _all_forced(certificate.unexplained, asked.force):
        blocked.append(f"not complete: {certificate.total or 'some'} places are not explained")
    if sum(certificate.counts.values()) > len(certificate.quiet):
        blocked.append("too many mentions: not all of them were looked at")
    if gate != Mutation.OK and not asked.force:
        blocked.append(f"the mutation gate says {gate}: see `gitindex state --gate FILE:NAME`")
    sites = {site[:3]: site for site in found.sites}
    listed = [
        site_fields(finder.project, site) | {"proof": _PROOFS[site.tier]}
        for place in places
        if (site := sites.get(place[:3])) is not None
    ]
    answer = finder.view.envelope(
        name=definitions[0]["name"],
        newName=asked.new,
        definitions=definitions,
        places=listed,
        patch="".join(map(diff, edits)),
        files=[edit.fields() for edit in edits],
        applies=not blocked,
        applied=False,
        blocked=blocked,
        gate=gate,
        **certificate.fields(listing=True),
    )
    return RenamePlan(answer, edits, blocked)


def _same_symbol(finder: Finder, found: tuple[Definition, ...]) -> list[Definition]:
    """Return all definitions of the matching symbol. GitIndexError unless exactly one matches."""
    symbols = {(d.path, d.qualified) for d in found}
    if len(symbols) != 1:
        what = "no such symbol" if not symbols else f"{len(symbols)} symbols have this name"
        near = ", ".join(f"{path}#{name}" for path, name in sorted(symbols)[:5])
        hint = f"name one: {safe_text(near)}" if near else "see `gitindex symbols`"
        raise GitIndexError(what, hint, Exit.NO)
    [(path, qualified)] = symbols
    source = finder.project.source(path)
    return [s for s in (source.symbols if source else ()) if s.qualified == qualified]


def _family(finder: Finder, chosen: list[Definition]) -> tuple[list[Definition], bool]:
    """Return the symbol with its overrides and bases, and whether all classes are known."""
    family, known = list(chosen), True
    classes = finder.binder.types.classes
    for one in family:  # grows while it is walked
        kin = finder.dispatch.kin(one)
        known = known and kin.known
        family += [d for d in kin.members.values() if d not in family]
        owner = classes.class_of(one)
        if owner is not None:
            known = known and not any(classes.bases(up)[1] for up in classes.ancestors(owner)[0])
        if len(family) > MAX_FAMILY:
            return family, False
    return family, known


def _blocked(
    finder: Finder, family: list[Definition], places: list[RenamePlace], asked: RenameRequest
) -> list[str]:
    """Return the blocking reasons that concern single places or names."""
    project = finder.project
    reasons = _unproven(finder, places, asked)
    for place in places:
        where = f"{place.path}:{place.line + 1}"
        if where not in asked.force and _is_shorthand(project, place, family[0].name):
            reasons.append(f"{where}: a property and a variable in one")
    reasons += _inferred(finder, family, places, asked.force)
    first = family[0]
    source = project.source(first.path)
    built_in = BUILTINS.get(source.language, ()) if source is not None else ()
    if first.name in built_in and not finder.binder.is_member(first):
        reasons.append(f"the language has {first.name}, too: a use may mean that")
    clash = [d for d in project.definitions(asked.new) if _beside(d, family)]
    reasons += [f"{d.path}#{d.qualified} exists already" for d in clash]
    return reasons


def _places(found: Found) -> list[RenamePlace]:
    return [RenamePlace(s.path, s.line, s.column, s.tier) for s in found.sites]


def _unproven(finder: Finder, places: list[RenamePlace], asked: RenameRequest) -> list[str]:
    """Return the places that only have the name, and those that have the new name already."""
    told = [(p.path, p.line, "only the name is the same") for p in places if p.tier is Tier.NAME]
    taken = finder.project.places(asked.new, {place.path for place in places})
    told += [
        (path, found[0].line, f"{asked.new} is used there already")
        for path, found in sorted(taken.items())
    ]
    reasons = ((f"{path}:{line + 1}", why) for path, line, why in told)
    return [f"{where}: {why}" for where, why in reasons if where not in asked.force]


def _inferred(
    finder: Finder, family: list[Definition], places: list[RenamePlace], force: tuple[str, ...]
) -> Iterator[str]:
    """Yield uses of a member whose receiver is inferred, where another class has such a member."""
    binder, name = finder.binder, family[0].name
    others = [d for d in finder.project.definitions(name) if d not in family]
    if not any(map(binder.is_member, others)):
        return
    wanted = {place[:3] for place in places}
    for path, found in finder.project.places(name, {place.path for place in places}).items():
        source = finder.project.source(path)
        for place in found if source is not None else ():
            where = f"{path}:{place.line + 1}"
            use = place.use not in (Use.DEFINITION, Use.IMPORT) and where not in force
            if source is not None and use and (path, place.line, place.column) in wanted:
                meaning = binder.meaning(source, place)
                if not meaning.sure and not meaning.bare:
                    yield f"{where}: only the name is the same, or a type that is not proven"


def _beside(definition: Definition, family: list[Definition]) -> bool:
    outer = definition.qualified.rpartition(".")[0]
    return any(
        outer == d.qualified.rpartition(".")[0] and d.path == definition.path for d in family
    )


def _is_shorthand(project: Project, place: RenamePlace, name: str) -> bool:
    source = project.source(place.path)
    if source is None or source.language not in _SHORTHAND:
        return False
    start = project.offset(place.path, place.line, place.column)
    data = project.text(place.path)
    before = data[max(0, start - 200) : start].rstrip()[-1:]
    after = data[start + len(name.encode()) :][:200].lstrip()[:1]
    if before not in (b"{", b",") or after not in (b"}", b","):
        return False
    line = data[data.rfind(b"\n", 0, start) + 1 : start].lstrip()
    return not line.startswith((b"import", b"export"))


def _unforced(reasons: Iterable[str], force: tuple[str, ...]) -> Iterator[str]:
    """Yield reasons whose place the user has not forced."""
    return (why for why in reasons if why.partition(": ")[0] not in force)


def _all_forced(unexplained: Iterable[Any], force: tuple[str, ...]) -> bool:
    """Has the user forced every unproven place?"""
    open_places = [f"{m.path}:{m.line + 1}" for m in unexplained]
    return bool(open_places) and all(place in force for place in open_places)
