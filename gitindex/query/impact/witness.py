"""The shortest use that an incompatible change breaks: a line of the tree, or one that is generated."""

from __future__ import annotations

import re
from typing import NamedTuple

from gitindex.base.path_kind import is_test
from gitindex.base.vocabulary import Tier
from gitindex.languages.facts import Use
from gitindex.query.impact.arity import CallArguments, Parameter, misfit, read_parameters
from gitindex.query.impact.change import TreeChange
from gitindex.query.impact.surface import EXPORT, SurfaceChange, SurfaceKind
from gitindex.query.names.finder import Finder
from gitindex.query.names.model import ECMA, Definition, Site
from gitindex.query.names.project import Project

MAX_WITNESSES = 50
"""Incompatible changes whose callers are looked for; more of them get a generated use."""
MAX_CALLERS = 5
_SURE = (Tier.SEMANTIC, Tier.EXACT, Tier.IMPORT)


class Caller(NamedTuple):
    """A place that uses what changed. `line` is 1-based."""

    path: str
    line: int
    text: str


class Witness(NamedTuple):
    """A use that fits before the change and not after it, and the uses in the tree."""

    code: str
    callers: list[Caller]  # at most MAX_CALLERS, those outside of tests first
    total: int  # callers in the tree


def witness_of(change: TreeChange, one: SurfaceChange, search: bool = True) -> Witness:
    """Return the witness of an incompatible change; `search`: with its callers before the change."""
    old = _old_definition(change, one)
    sites = _callers(change.before, old) if search and old is not None else []
    shown = [_caller(change.before, site) for site in sites[:MAX_CALLERS]]
    return Witness(_generated(change, one, old or one.definition), shown, len(sites))


def _old_definition(change: TreeChange, one: SurfaceChange) -> Definition | None:
    """Return what changed as it was; for a re-export the definition behind it."""
    if one.definition.kind == EXPORT:
        path, name = one.definition.path, one.definition.name
        found = change.before.binder.names.modules.exported((path,), name).definitions
        return found[0] if found else None
    if one.kind is SurfaceKind.REMOVED:
        return one.definition
    source = change.before.project.source(one.definition.path)
    same = source.named(one.definition.name) if source else []
    return next((d for d in same if d.qualified == one.definition.qualified), None)


def _callers(before: Finder, old: Definition) -> list[Site]:
    """Return the sure uses outside of the definition itself, product code first, short lines first."""
    found: dict[tuple[str, int], Site] = {}
    for site in before.sites([old]):
        inside = site.path == old.path and old.start_line <= site.line <= old.end_line
        if site.tier in _SURE and not inside and site.use != Use.IMPORT:
            found.setdefault((site.path, site.line), site)
    return sorted(
        found.values(), key=lambda s: (is_test(s.path), s.path == old.path, s.path, s.line)
    )


def _caller(before: Finder, site: Site) -> Caller:
    text = before.project.span(site.path, site.line, site.line).strip()
    return Caller(site.path, site.line + 1, text)


def _generated(change: TreeChange, one: SurfaceChange, old: Definition) -> str:
    """Return at most five lines that use the name as it was."""
    made = one.definition
    holder, _, member = made.qualified.rpartition(".")
    holder = "" if holder in ("exports", "module.exports") else holder
    top = (holder or made.name).partition(".")[0]
    lines = [_import(change.before.project, made.path, one.language, top)]
    if one.kind is SurfaceKind.CHANGED and one.language == "python":
        call = _call(change, old, made)
        if call:
            lines.append(f"{holder}().{member}{call}" if holder else f"{made.name}{call}")
    elif holder:
        lines.append(f"{holder}.{member}")
    return "\n".join(filter(None, lines))


def _import(project: Project, path: str, language: str, name: str) -> str:
    """Return the import of a name of a file, as another file of the tree would write it."""
    stem = re.sub(r"(\.d)?\.\w+$", "", path)
    if language == "python":
        return f"from {_module(project, stem)} import {name}"
    if language in ECMA:
        return f"import {{ {name} }} from './{stem.removesuffix('/index')}'"
    if language == "rust":
        inside = re.sub(r"^.*\bsrc/", "", stem).removesuffix("/mod")
        parts = [part for part in inside.split("/") if part not in ("lib", "main")]
        return f"use {'::'.join(['crate', *parts, name])};"
    if language == "go":
        return f"{path.rpartition('/')[0].rpartition('/')[2] or 'main'}.{name}"
    return name


def _module(project: Project, stem: str) -> str:
    """Return the dotted name of a Python file: below the topmost folder that is a package."""
    parts = stem.removesuffix("/__init__").split("/")
    start = len(parts) - 1
    while start > 0 and project.source("/".join([*parts[:start], "__init__.py"])) is not None:
        start -= 1
    return ".".join(parts[start:])


def _call(change: TreeChange, old: Definition, new: Definition) -> str:
    """Return the arguments of the shortest call that fits the old parameters and not the new ones."""
    before, after = (
        read_parameters(_header(finder, symbol))
        for finder, symbol in ((change.before, old), (change.after, new))
    )
    if before is None or after is None:
        return ""
    bound = old.parent >= 0 and [p.name for p in before[:1]] in (["self"], ["cls"])
    fitting = [call for call in _calls(before[bound:]) if misfit(call, before, bound) == ""]
    broken = [call for call in fitting if misfit(call, after, bound)]
    return _written(broken[0], before[bound:]) if broken else ""


def _written(call: CallArguments, parameters: list[Parameter]) -> str:
    names = [p.name for p in parameters if p.by_position and not p.many]
    given = [*names[: call.positional], *(f"{name}={name}" for name in call.keywords)]
    return f"({', '.join(given)})"


def _header(finder: Finder, symbol: Definition) -> str:
    source = finder.project.source(symbol.path)
    whole = "…" in symbol.signature and source is not None
    return finder.binder.names.header(source, symbol) if whole and source else symbol.signature


def _calls(parameters: list[Parameter]) -> list[CallArguments]:
    """Return calls to try: what is required, one more by keyword, then ever more by position."""
    named = [p for p in parameters if not p.many]
    places = [p for p in named if p.by_position]
    required = tuple(p.name for p in named if not p.by_position and not p.optional)
    needed = [p.name for p in places if not p.optional]
    least = len(needed)
    extra = [p.name for p in named if p.by_keyword and p.name not in needed]
    calls = [CallArguments(least, required)]
    calls += [CallArguments(least, tuple(dict.fromkeys((*required, name)))) for name in extra]
    calls.append(CallArguments(0, (*needed, *required)))
    return calls + [CallArguments(n, required) for n in range(least + 1, len(places) + 1)]
