"""Definitions that are used where they stand: by a decorator, a test runner, a call, a reader of data."""

from __future__ import annotations

import re

from gitindex.base.path_kind import is_test
from gitindex.base.pattern import compile_later
from gitindex.languages.implicit_calls import called_without_name
from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.names.meanings import ECMA
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition

_DATA = frozenset({"key", "section"})
_DECORATOR = compile_later(r"^[ \t]*(?:@|#!?\[|\[)\s*([\w.:]+)", re.MULTILINE)
_PLAIN_NAMES = (
    "staticmethod classmethod property setter getter deleter abstractmethod cached_property cache"
    " lru_cache wraps override overload final contextmanager asynccontextmanager dataclass inline"
    " must_use allow deny expect warn derive cfg cfg_attr doc cold track_caller deprecated Deprecated"
    " Override SuppressWarnings Nullable NonNull NotNull FunctionalInterface SafeVarargs Obsolete"
)
_PLAIN = frozenset(_PLAIN_NAMES.split())
"""Decorators and attributes that hand a definition to nobody. Any other may register it."""
_TEST_NAMES = {
    "go": ("Test", "Benchmark", "Example", "Fuzz"),
    "python": ("test", "Test", "pytest_"),
}
_BEFORE_NAME = compile_later(rb"(?:\b(?:async|function)\b|[\s*])+\Z")

_EXPRESSION = compile_later(rb"(?:[(,=:\[?&|!>]|\b(?:return|yield|await|new))\Z")


def reason_used_unnamed(project: Project, definition: Definition) -> str:
    """Return why a definition may be in use though nothing names it; empty if nothing says so."""
    source = project.source(definition.path)
    language = source.language if source is not None else ""
    if called_without_name(language, definition.name) or is_fixture(project, definition):
        return "syntax or a framework calls it without its name"
    if definition.kind in _DATA:
        return "programs may read it without being in the tree"
    if is_test(definition.path) and definition.name.startswith(_TEST_NAMES.get(language, ("\0",))):
        return "a test runner calls it"
    if is_registered(project, definition):
        return "a decorator or attribute may hand it to a framework"
    if language in ECMA and definition.kind in FUNCTIONS and _is_value(project, definition):
        return "it is a value where it is defined"
    return ""


def decorators(project: Project, definition: Definition) -> list[str]:
    """Return the last names of the decorators or attributes on the lines above a definition."""
    if definition.start_line == definition.line:
        return []
    lines = project.span(definition.path, definition.start_line, definition.line - 1)
    return [re.split(r"[.:]+", found[1])[-1] for found in _DECORATOR.finditer(lines)]


def is_registered(project: Project, definition: Definition) -> bool:
    """Return whether a decorator or attribute may hand a definition to code that calls it."""
    return not _PLAIN.issuperset(decorators(project, definition))


def _is_value(project: Project, definition: Definition) -> bool:
    """Return whether `function name` is an expression, as in `use(function name () {})`."""
    data = project.text(definition.path)
    start = project.starts(definition.path)[definition.line] + definition.column
    keyword = _BEFORE_NAME.search(data, max(0, start - 200), start)
    if keyword is None or b"function" not in keyword.group():
        return False
    return _EXPRESSION.search(data, max(0, keyword.start() - 10), keyword.start()) is not None


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
