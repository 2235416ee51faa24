"""The names that a file exports: `__all__`, `export`, `module.exports`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from gitindex.base.pattern import compile_later
from gitindex.languages.syntax.kinds import SPACES
from gitindex.languages.syntax.scopes import CapturedRange
from gitindex.languages.syntax.visibility import Surface

if TYPE_CHECKING:
    from tree_sitter import Node

    from gitindex.languages.syntax.parser import Captures

_ALL = compile_later(
    rb"__all__\s*(?::[^=\n]+)?(?:\+?=\s*|\.(?:extend|append)\(\s*)([\[(][^\])]*|[\"'][^\"']*)"
)
_LITERAL = compile_later(r"[\"']([^\"'\n]+)[\"']?")
_MEMBER = compile_later(rb"exports\.([\w$]+)\s*=(?!=)")
_WHOLE = compile_later(rb"exports\s*=\s*(?:\{([^{}()]*)\}|([\w$]+)\s*[;\n])")
_KEY = compile_later(r"(?:^|,)\s*([\w$]+)\s*(?::\s*([\w$]+))?")


_GROUPS = frozenset({"namespace", "package"})


class Exports(NamedTuple):
    """Exported names, and the local names behind them."""

    listed: tuple[str, ...]
    surface: Surface
    complete: bool = False  # nothing else is exported


def read_exports(data: bytes, captures: Captures, language: str) -> Exports:
    """Return the exports that a file lists; empty for languages that mark each symbol instead."""
    if language == "python":
        return _python(data)
    if language in ("javascript", "typescript", "tsx"):
        return _ecma(data, captures)
    return Exports((), Surface(frozenset(), is_script=False))


def exported_names(
    exports: Exports, found: Iterable[CapturedRange], exported: list[bool]
) -> list[str]:
    """Return the file's exports: as listed, else its visible symbols at module level."""
    if exports.complete:
        return list(exports.listed)
    names = dict.fromkeys(exports.listed)
    for scope, seen in zip(found, exported, strict=True):
        if seen and _is_top(scope) and scope.name not in exports.surface.names:
            names.setdefault(scope.name)
    return list(names)


def _is_top(scope: CapturedRange) -> bool:
    """Is a symbol at module level? Enclosing namespaces are ignored."""
    if scope.kind in _GROUPS or (scope.prefix and scope.kind not in SPACES):
        return False
    outer = scope.outer
    while outer is not None and outer.kind in _GROUPS:
        outer = outer.outer
    return outer is None


def _python(data: bytes) -> Exports:
    listed: list[str] = []
    at = data.find(b"__all__")
    while at >= 0:
        match = _ALL.match(data, at) if at == 0 or data[at - 1 : at] == b"\n" else None
        if match:
            listed += _LITERAL.findall(match.group(1).decode("utf-8", "replace"))
        at = data.find(b"__all__", match.end() if match else at + 7)
    surface = Surface(frozenset(listed), is_script=False)
    return Exports(tuple(dict.fromkeys(listed)), surface, complete=bool(listed))


def _ecma(data: bytes, captures: Captures) -> Exports:
    names: dict[str, str] = {}  # exported name -> local name
    for node in sorted(captures.get("export.item", ()), key=lambda node: node.start_byte):
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        local = _text(name.text if name else None)
        names[_text(alias.text) if alias else local] = "" if _is_passed_on(node) else local
    if "export.anonymous" in captures:
        names["default"] = "default"
    for node in captures.get("export.default", ()):
        names["default"] = _text(node.text)
    names.update(_common_js(data))
    modular = bool(names) or "export" in captures or "import" in captures
    return Exports(tuple(names), Surface(frozenset(names.values()), is_script=not modular))


def _is_passed_on(specifier: Node) -> bool:
    """Does `export { a } from './b'` name another module's symbol, not one of this file?"""
    statement = specifier.parent.parent if specifier.parent else None
    return statement is not None and statement.child_by_field_name("source") is not None


def _common_js(data: bytes) -> dict[str, str]:
    """Read `exports.a = …`, `module.exports = a` and `module.exports = { a, b: c }`."""
    names: dict[str, str] = {}
    at = data.find(b"exports")
    while at >= 0:
        if data[max(0, at - 7) : at] == b"module." or not _is_name(data[at - 1 : at]):
            _add_assigned(names, data, at)
        at = data.find(b"exports", at + 7)
    return names


def _is_name(char: bytes) -> bool:
    return char.isalnum() or char in (b"_", b"$", b".")


def _add_assigned(names: dict[str, str], data: bytes, at: int) -> None:
    if member := _MEMBER.match(data, at):
        name = _text(member.group(1))
        names[name] = name
    elif whole := _WHOLE.match(data, at):
        if whole.group(2):
            names["default"] = _text(whole.group(2))
        for key, value in _KEY.findall(_text(whole.group(1))):
            names[key] = value or key


def _text(raw: bytes | None) -> str:
    return raw.decode("utf-8", "replace").strip("\"'") if raw else ""
