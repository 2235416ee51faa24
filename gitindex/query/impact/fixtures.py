"""Tests that use a fixture of pytest: no call names it, the parameter of a test does."""

from __future__ import annotations

import os
import re

from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.names.dispatch import fixture_decorator
from gitindex.query.names.model import Definition
from gitindex.query.names.project import Project

_NAMED = re.compile(r"\bname\s*=\s*[\"'](\w+)[\"']")
_EVERYWHERE = re.compile(r"\bautouse\s*=\s*True\b")


def is_shared(path: str) -> bool:
    """Return whether pytest offers the fixtures of a file to every test below its folder."""
    return path.rpartition("/")[2] == "conftest.py"


def fixture_users(project: Project, fixture: Definition) -> list[Definition]:
    """Return the tests and fixtures that take a fixture as parameter; all tests if it is autouse."""
    told = fixture_decorator(project, fixture)
    named = _NAMED.search(told)
    name = re.compile(rf"\b{re.escape(named.group(1) if named else fixture.name)}\b")
    sources = [s for s in map(project.source, _paths(project, fixture.path)) if s is not None]
    functions = [s for source in sources for s in source.symbols if s.kind in FUNCTIONS]
    if _EVERYWHERE.search(told):
        return [f for f in functions if f.name.startswith("test")]
    return [f for f in functions if f != fixture and name.search(f.signature.partition("(")[2])]


def tests_below(project: Project, shared: str) -> list[str]:
    """Return the Python files to which a `conftest.py` offers its fixtures."""
    return [path for path in _paths(project, shared) if path != shared]


def _paths(project: Project, path: str) -> list[str]:
    if not is_shared(path):
        return [path]
    folder = os.fsencode(path[: -len("conftest.py")])
    rows = project.view.rows(
        "SELECT path FROM {live} WHERE path>=? AND path<? AND skip IS NULL",
        folder,
        folder + b"\xff",
    )
    found = sorted(os.fsdecode(raw) for (raw,) in rows if raw.endswith(b".py"))
    project.load(found)
    return found
