"""Whether a symbol is seen from outside its file: one rule per language, by its own words."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from gitindex.syntax.sweep import Scope


class Surface(NamedTuple):
    """What a file says about its exports as a whole."""

    names: frozenset[str]  # exported by a list: `__all__`, `export {…}`, `module.exports`
    is_script: bool  # says nothing, so everything at its top level is seen


Rule = Callable[[Scope, Collection[str], Surface], bool]
"""Takes a symbol, the words before its name, and the file's surface."""


def _python(scope: Scope, _words: Collection[str], surface: Surface) -> bool:
    name = scope.name
    dunder = name.startswith("__") and name.endswith("__")
    return dunder or not name.startswith("_") or (scope.parent < 0 and name in surface.names)


def _ecma(scope: Scope, words: Collection[str], surface: Surface) -> bool:
    if scope.parent >= 0:
        return not scope.name.startswith("#") and "private" not in words
    if scope.exported or surface.is_script or scope.name in surface.names:
        return True
    root = scope.qualified.partition(".")[0]
    return root in ("exports", "module") or root in surface.names


def _everything(_scope: Scope, _words: Collection[str], _surface: Surface) -> bool:
    return True


_RULES: dict[str, Rule] = {
    "python": _python,
    "javascript": _ecma,
    "typescript": _ecma,
    "tsx": _ecma,
}


def rule_for(language: str) -> Rule:
    """The rule of a language; everything is seen where it has none."""
    return _RULES.get(language, _everything)
