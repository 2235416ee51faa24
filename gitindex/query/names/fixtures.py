"""Functions that pytest gives to parameters of their name: no place that uses one refers to it."""

from __future__ import annotations

import re

from gitindex.base.pattern import compile_later
from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition

_FIXTURE = compile_later(r"@[\w.]*\bfixture\b(\(.*?\))?", re.DOTALL)


def fixture_decorator(project: Project, definition: Definition) -> str:
    """Return the decorator that makes a function a fixture; empty if there is none."""
    source = project.source(definition.path)
    if definition.kind not in FUNCTIONS or source is None or source.language != "python":
        return ""
    found = _FIXTURE.search(project.span(definition.path, definition.start_line, definition.line))
    return found.group() if found else ""


def is_fixture(project: Project, definition: Definition) -> bool:
    """Return whether a function is decorated as a fixture."""
    return bool(fixture_decorator(project, definition))
