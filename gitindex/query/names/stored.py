"""Functions that code stores as members of something else: `a.name = b.name`."""

from __future__ import annotations

from collections.abc import Iterable

from gitindex.languages.facts import Use
from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.names.project import Project
from gitindex.query.names.sites import Site


def is_stored(project: Project, names: Iterable[str], sites: Iterable[Site]) -> bool:
    """Return whether a function is stored as a member that has one of its names.

    Then what is a member of another class by that name may be the function.
    """
    for site in sites:
        passed = site.use in (Use.REFERENCE, Use.ATTRIBUTE)
        scopes = project.scopes(site.path) if passed else None
        if scopes is None or any(d.kind not in FUNCTIONS for d in site.targets):
            continue
        at = project.offset(site.path, site.line, site.column)
        told = (one for name in names for one in scopes.assigned.get(name, ()))
        if any(one.value[0] <= at < one.value[1] for one in told):
            return True
    return False
