"""`rename`: plans a patch for every place of a symbol, with the proof of each. Writes nothing."""

from __future__ import annotations

import difflib
import keyword
import os
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import path_fields, safe_text
from gitindex.base.vocabulary import Mutation, Tier
from gitindex.edit.by_text import read_as_text
from gitindex.filestate.ambiguity import EditTarget
from gitindex.filestate.mutation_gate import check_mutation_gate
from gitindex.git.interface import blob_id
from gitindex.query.absence import certify
from gitindex.query.names.finder import Finder, Found
from gitindex.query.names.memory import Memory
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition
from gitindex.query.names.targets import find_target
from gitindex.query.references import definition_fields, site_fields
from gitindex.view.tree import TreeView

_IDENTIFIER = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
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


class FileEdit(NamedTuple):
    """One edited file: its expected old bytes and its new bytes."""

    path: str
    old: bytes
    new: bytes

    def fields(self) -> dict[str, Any]:
        """Return the edit as fields of an answer; the hash is git's blob id of the old bytes."""
        return {**path_fields(os.fsencode(self.path)), "blob": blob_id(self.old, 40)}


class RenamePlan(NamedTuple):
    """A whole rename: the envelope that describes it, the edits, and the reasons that block it."""

    answer: dict[str, Any]
    edits: list[FileEdit]
    blocked: list[str]


class _RenamePlace(NamedTuple):
    path: str
    line: int
    column: int
    tier: Tier


def plan_rename(view: TreeView, asked: RenameRequest, memory: Memory | None = None) -> RenamePlan:
    """Return a plan: every place of the symbol, the proof of each, and what blocks the rename."""
    finder = Finder(view, memory)
    target = find_target(finder.binder, asked.symbol)
    chosen = _same_symbol(finder, target.definitions)
    _check_new(asked.new, target.name, chosen)
    family, known = _family(finder, chosen)
    found = finder.find(family)
    certificate = certify(finder.project, target.name, found, family, mentions=True)
    places = _places(finder.project, family, found, target.name)
    edits = _edits(finder.project, places, target.name, asked.new)
    blocked = [] if known else ["a base class is not in the tree: the name may be its member's"]
    blocked += _blocked(finder, family, places, asked)
    blocked += read_as_text(finder, family, certificate.quiet, asked.force)
    if not certificate.complete and not _all_forced(certificate.unexplained, asked.force):
        blocked.append(f"not complete: {certificate.total or 'some'} places are not explained")
    gate = check_mutation_gate(view, [EditTarget(d.path, d.qualified) for d in family])
    if gate["status"] != Mutation.OK and not asked.force:
        blocked.append(f"the mutation gate says {gate['status']}")
    forced = {(s.path, s.line, s.column): s for s in found.sites}
    listed = [
        site_fields(finder.project, site) | {"proof": _PROOFS[site.tier]}
        for place in places
        if (site := forced.get((place.path, place.line, place.column))) is not None
    ]
    answer = view.envelope(
        name=target.name,
        newName=asked.new,
        definitions=[definition_fields(finder.project, d) for d in family],
        places=listed,
        patch="".join(map(_diff, edits)),
        files=[edit.fields() for edit in edits],
        applies=not blocked,
        applied=False,
        blocked=blocked,
        gate=gate["status"],
        **certificate.fields(listing=True),
    )
    return RenamePlan(answer, edits, blocked)


def rename_preview(
    view: TreeView, symbol: str, new: str, memory: Memory | None = None
) -> dict[str, Any]:
    """Return the patch and its proof as an envelope, for MCP `rename_symbol`. Applies nothing."""
    return plan_rename(view, RenameRequest(symbol, new), memory).answer


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


def _check_new(new: str, old: str, chosen: list[Definition]) -> None:
    python = any(d.path.endswith((".py", ".pyi")) for d in chosen)
    if not _IDENTIFIER.fullmatch(new) or (python and keyword.iskeyword(new)):
        raise GitIndexError(f"not a name: {safe_text(new)}", code=Exit.USAGE)
    if new == old:
        raise GitIndexError("the new name is the old one", code=Exit.USAGE)


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


def _places(
    project: Project, family: list[Definition], found: Found, name: str
) -> list[_RenamePlace]:
    """Return definitions and references spelled as the old name: each once, in order."""
    raw = name.encode()
    all_places = [_RenamePlace(d.path, d.line, d.column, Tier.EXACT) for d in family]
    all_places += [_RenamePlace(s.path, s.line, s.column, s.tier) for s in found.sites]
    kept: dict[tuple[str, int, int], _RenamePlace] = {}
    for place in all_places:
        start = project.offset(place.path, place.line, place.column)
        data = project.text(place.path)
        longer = data[start + len(raw) : start + len(raw) + 1]
        if data[start : start + len(raw)] == raw and not (
            longer.isalnum() or longer in (b"_", b"$")
        ):
            kept.setdefault(place[:3], place)
    return sorted(kept.values())


def _blocked(
    finder: Finder, family: list[Definition], places: list[_RenamePlace], asked: RenameRequest
) -> list[str]:
    """Return the blocking reasons that concern single places or names."""
    project = finder.project
    reasons = []
    for place in places:
        where = f"{place.path}:{place.line + 1}"
        if where in asked.force:
            continue
        if place.tier is Tier.NAME:
            reasons.append(f"{where}: only the name is the same")
        elif _is_shorthand(project, place, family[0].name):
            reasons.append(f"{where}: a property and a variable in one")
    taken = project.places(asked.new, {place.path for place in places})
    reasons += [
        f"{path}:{found[0].line + 1}: {asked.new} is used there already"
        for path, found in sorted(taken.items())
        if f"{path}:{found[0].line + 1}" not in asked.force
    ]
    clash = [d for d in project.definitions(asked.new) if _beside(d, family)]
    reasons += [f"{d.path}#{d.qualified} exists already" for d in clash]
    return reasons


def _beside(definition: Definition, family: list[Definition]) -> bool:
    outer = definition.qualified.rpartition(".")[0]
    return any(
        outer == d.qualified.rpartition(".")[0] and d.path == definition.path for d in family
    )


def _is_shorthand(project: Project, place: _RenamePlace, name: str) -> bool:
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


def _all_forced(unexplained: Iterable[Any], force: tuple[str, ...]) -> bool:
    """Has the user forced every unproven place?"""
    open_places = [f"{m.path}:{m.line + 1}" for m in unexplained]
    return bool(open_places) and all(place in force for place in open_places)


def _edits(project: Project, places: list[_RenamePlace], old: str, new: str) -> list[FileEdit]:
    by_path: dict[str, list[int]] = {}
    for place in places:
        offset = project.offset(place.path, place.line, place.column)
        by_path.setdefault(place.path, []).append(offset)
    edits = []
    for path, offsets in sorted(by_path.items()):
        data = project.text(path)
        changed = data
        for offset in sorted(offsets, reverse=True):
            changed = changed[:offset] + new.encode() + changed[offset + len(old.encode()) :]
        edits.append(FileEdit(path, data, changed))
    return edits


def _diff(edit: FileEdit) -> str:
    """Return a patch that `git apply` accepts."""
    old = edit.old.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    new = edit.new.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    path = safe_text(edit.path)
    lines = difflib.unified_diff(old, new, f"a/{path}", f"b/{path}")
    text = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
    return f"diff --git a/{path} b/{path}\n{text}" if text else ""
