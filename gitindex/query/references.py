"""The uses of a symbol, their certainty, and whether any may be missing."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from gitindex.base.escape import path_fields, safe_text, utf16_length
from gitindex.base.vocabulary import Layer, OccurrenceClass, Role, Tier
from gitindex.base.worktree import normalize_rel_path
from gitindex.languages.facts import Use
from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.absence import partition_target, text_line
from gitindex.query.names.dispatch import decorators, is_registered, linked
from gitindex.query.names.finder import MAX_TARGETS, Finder, Found
from gitindex.query.names.memory import Memory
from gitindex.query.names.model import Definition, Site, make_site
from gitindex.query.names.project import Project
from gitindex.query.names.semantic import coverage, kin
from gitindex.query.names.targets import DeclaredPlace, ReferenceTarget, find_target
from gitindex.semantic.coverage import layer_fields
from gitindex.view.tree import TreeView

if TYPE_CHECKING:
    from gitindex.base.answers import ReferencesAnswer

MAX_LIMIT = 1_000

USES = {
    Use.DEFINITION: "definition",
    Use.IMPORT: "import",
    Use.REFERENCE: "reference",
    Use.CALL: "call",
    Use.ATTRIBUTE: "attribute",
    Use.TYPE: "type",
    Use.INHERIT: "inherit",
    Use.DECORATOR: "decorator",
}


class ReferenceQuery(NamedTuple):
    """Options of a reference query; an empty field selects all."""

    target: str  # NAME, A.NAME, PATH#NAME or FILE:LINE:COL
    role: str = ""
    path: str = ""
    limit: int = 100
    mentions: bool = False  # list the places outside of code too
    everything: bool = False  # list the unlikely places too


def find_references(
    view: TreeView, query: ReferenceQuery, memory: Memory | None = None
) -> ReferencesAnswer:
    """Return the references to a target, the surest first, and the partition, as an envelope."""
    finder = Finder(view, memory)
    project = finder.project
    target = find_target(finder.binder, query.target)
    part = partition_target(finder, target, _find(finder, target))
    sites = part.references
    matching = [site for site in sites if _matches(site, query)]
    limit = max(1, min(query.limit, MAX_LIMIT))
    shown = matching[:limit]
    fields = _target_fields(project, target, shown, limit)
    fields |= {"truncated": len(matching) > limit, "totalReferences": len(matching)}
    if handed := _handed_over(project, target, sites):
        fields["handedOver"] = handed
    for name, related in kin(project, target.definitions).items():
        if related:
            fields[name] = [definition_fields(project, d) for d in related[:limit]]
    used = {d.path for d in target.definitions} | {site.path for site in sites}
    used |= {place.path for place in part.possible}
    fields |= layer_fields(coverage(project), map(os.fsencode, used))
    below = partial(_is_below, query)
    fields |= part.fields(project, limit, below, query.everything, query.mentions)
    return cast("ReferencesAnswer", view.envelope(**fields) | {"receipt": project.receipt(query)})


def _target_fields(
    project: Project, target: ReferenceTarget, shown: list[Site], limit: int
) -> dict[str, Any]:
    """Return the fields of the definitions, and of the references that are listed."""
    joined = linked(project, target.definitions)
    defined = list(dict.fromkeys([*target.definitions, *joined]))[:limit]
    paths = sorted({site.path for site in shown} | {d.path for d in defined})
    project.load(paths)
    project.read(paths)
    return {
        "name": target.name,
        "definitions": [definition_fields(project, d) for d in defined]
        or [declared_fields(project, d) for d in target.declared],
        "references": [site_fields(project, site) for site in shown],
    }


class BriefReferences(NamedTuple):
    """The uses of a definition for an answer about more than them: what was not looked at proves nothing."""

    rows: list[dict[str, Any]]
    possible: int
    left: int  # files beyond the budget: their occurrences are possible


def brief_references(finder: Finder, name: str, limit: int) -> BriefReferences:
    """Return the uses of a definition that its name and scopes tell, without a search of texts."""
    project = finder.project
    target = find_target(finder.binder, name)
    result = _find(finder, target)
    beyond = project.places(target.name, result.unbound) if result.unbound else {}
    judged = sum(one.group is OccurrenceClass.POSSIBLE for one in result.judged.values())
    uses = [site for site in result.sites if _role(site.use) == Role.REFERENCE][:limit]
    project.load({site.path for site in uses})
    project.read({site.path for site in uses})
    rows = [site_fields(project, site) for site in uses]
    return BriefReferences(rows, judged + sum(map(len, beyond.values())), len(result.unbound))


def _handed_over(project: Project, target: ReferenceTarget, sites: Iterable[Site]) -> int:
    """Return how often a function goes somewhere as a value: it may be called from there, unnamed.

    A decorator takes it as well.
    """
    functions = [d for d in target.definitions if d.kind in FUNCTIONS]
    if not functions or len(functions) < len(target.definitions) or len(functions) > MAX_TARGETS:
        return 0
    decorated = any(decorators(project, d) for d in functions)
    values = (Use.REFERENCE,) if decorated else (Use.REFERENCE, Use.ATTRIBUTE)  # a property is read
    registered = sum(is_registered(project, d) for d in functions)
    return registered + sum(s.use in values for s in sites)


def site_fields(project: Project, site: Site) -> dict[str, Any]:
    """Return the fields of one reference."""
    fields: dict[str, Any] = {
        **path_fields(os.fsencode(site.path)),
        **span_fields(project, site.path, site.line, site.column, site.end_column),
        "role": str(_role(site.use)),
        "use": USES[site.use],
        "tier": str(site.tier),
        "text": safe_text(text_line(project, site.path, site.line)),
    }
    if site.via:
        fields["via"] = site.via
    if site.enclosing is not None:
        fields["enclosing"] = site.enclosing.qualified
    return fields | {"layer": str(site.layer), "source": project.where(site.path)}


def definition_fields(project: Project, definition: Definition) -> dict[str, Any]:
    """Return the fields of one definition."""
    return {
        **_place_fields(project, definition),
        "qualifiedName": definition.qualified,
        "endLine": definition.end_line + 1,
        "signature": definition.signature,
        "exported": definition.exported,
    }


def declared_fields(project: Project, declared: DeclaredPlace) -> dict[str, Any]:
    """Return the declaration of a name that is not a symbol, with the fields of a definition."""
    return {
        **_place_fields(project, declared),
        "qualifiedName": declared.name,
        "endLine": declared.line + 1,
        "signature": safe_text(text_line(project, declared.path, declared.line)),
        "exported": False,
    }


def _place_fields(project: Project, defined: Definition | DeclaredPlace) -> dict[str, Any]:
    end = defined.column + len(defined.name.encode())
    return {
        "name": defined.name,
        "qualifiedName": "",
        "kind": defined.kind,
        **path_fields(os.fsencode(defined.path)),
        **span_fields(project, defined.path, defined.line, defined.column, end),
        **dict.fromkeys(("endLine", "signature", "exported")),  # in the order of the contract
        "layer": str(Layer.SYNTACTIC),
        "source": project.where(defined.path),
    }


def span_fields(project: Project, path: str, line: int, column: int, end: int) -> dict[str, int]:
    """Return a 1-based place: columns in bytes, and in UTF-16 units as editors count."""
    start = project.offset(path, line, 0)
    text = project.text(path)[start : start + end]
    before = text[:column]
    return {
        "line": line + 1,
        "column": column + 1,
        "endColumn": end + 1,
        "columnUtf16": utf16_length(before) + 1,
        "endColumnUtf16": utf16_length(text) + 1,
    }


def _find(finder: Finder, target: ReferenceTarget) -> Found:
    if target.definitions and not target.local:
        return finder.find(target.definitions)
    if not target.local:
        return finder.mentions(target.name)
    return Found(list(_local_sites(finder, target)), [], {})


def _local_sites(finder: Finder, target: ReferenceTarget) -> Iterable[Site]:
    """Return the sites of a variable of one function, but for its declaration."""
    source = finder.project.source(target.path)
    assert source is not None
    declared = {(d.line, d.column) for d in target.declared}
    uses = (p for p in target.local if (p.line, p.column) not in declared)
    return (make_site(source, place, Tier.EXACT, ()) for place in uses)


def _matches(site: Site, query: ReferenceQuery) -> bool:
    if query.role and _role(site.use) != query.role:
        return False
    return _is_below(query, site.path)


def _is_below(query: ReferenceQuery, path: str) -> bool:
    if not query.path:
        return True
    below = normalize_rel_path(query.path)
    return not below or path == below or path.startswith(f"{below}/")


def _role(use: int) -> Role:
    if use == Use.DEFINITION:
        return Role.DEFINITION
    return Role.IMPORT if use == Use.IMPORT else Role.REFERENCE
