"""Whether a symbol is visible outside its file: one rule per language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gitindex.languages.syntax.scopes import CapturedRange


class Surface(NamedTuple):
    """The exports that a file declares as a whole."""

    names: frozenset[str]  # exported by a list: `__all__`, `export {…}`, `module.exports`
    is_script: bool  # declares no exports, so its whole top level is visible


Rule = Callable[[CapturedRange, Sequence[str], Surface], bool]
"""Takes a symbol, the words before its name, and the file's surface; is the symbol visible?"""


def _python(scope: CapturedRange, _words: Sequence[str], surface: Surface) -> bool:
    name = scope.name
    dunder = name.startswith("__") and name.endswith("__")
    return dunder or not name.startswith("_") or (scope.parent < 0 and name in surface.names)


def _ecma(scope: CapturedRange, words: Sequence[str], surface: Surface) -> bool:
    if scope.parent >= 0:
        return not scope.name.startswith("#") and "private" not in words
    if scope.exported or surface.is_script or scope.name in surface.names:
        return True
    root = scope.qualified.partition(".")[0]
    return root in ("exports", "module") or root in surface.names


def _go(scope: CapturedRange, _words: Sequence[str], _surface: Surface) -> bool:
    return scope.name[:1].isupper() or scope.kind == "package"


def _rust(scope: CapturedRange, words: Sequence[str], _surface: Surface) -> bool:
    if any(word.startswith("pub") for word in words) or "#[macro_export]" in words:
        return True
    outer = scope.outer
    return outer is not None and outer.kind in ("trait", "impl.trait", "enum")


def _c(scope: CapturedRange, words: Sequence[str], _surface: Surface) -> bool:
    if scope.outer is not None and scope.outer.kind == "class":
        return bool(scope.label) and scope.label != "private"
    return "static" not in words or (scope.parent >= 0 and scope.label != "private")


def _unless(*hidden: str) -> Rule:
    """Return a rule: visible unless one of these words precedes the name, or labels it above."""

    def rule(scope: CapturedRange, words: Sequence[str], _surface: Surface) -> bool:
        return scope.label not in hidden and not any(word in words for word in hidden)

    return rule


def _pub(scope: CapturedRange, words: Sequence[str], _surface: Surface) -> bool:
    return "pub" in words or (scope.kind == "field" and scope.parent >= 0)


def _nothing(_scope: CapturedRange, _words: Sequence[str], _surface: Surface) -> bool:
    """Data keys are never part of an interface."""
    return False


def _csharp(scope: CapturedRange, words: Sequence[str], _surface: Surface) -> bool:
    if any(word in words for word in ("public", "protected", "internal")):
        return True
    outer = scope.outer
    member = outer is not None and outer.kind in ("class", "struct")
    return not member and "private" not in words and "file" not in words


def _everything(_scope: CapturedRange, _words: Sequence[str], _surface: Surface) -> bool:
    return True


_RULES: dict[str, Rule] = {
    "python": _python,
    "javascript": _ecma,
    "typescript": _ecma,
    "tsx": _ecma,
    "go": _go,
    "rust": _rust,
    "java": _unless("private"),
    "c": _c,
    "cpp": _c,
    "csharp": _csharp,
    "ruby": _unless("private"),
    "php": _unless("private"),
    "kotlin": _unless("private"),
    "scala": _unless("private"),
    "swift": _unless("private", "fileprivate"),
    "lua": _unless("local"),
    "zig": _pub,
    "json": _nothing,
    "yaml": _nothing,
    "toml": _nothing,
    "elixir": _unless("defp", "defmacrop", "defguardp"),
}


WORDLESS: frozenset[Rule] = frozenset({_python, _go, _everything, _nothing})
"""Rules that ignore the words."""


def rule_for(language: str) -> Rule:
    """Return the rule of a language; without one, everything is visible."""
    return _RULES.get(language, _everything)
