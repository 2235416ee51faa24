"""What we do not count of ctags' output, and the listed classes of definitions only we report.

docs/languages.md points here.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Definition(NamedTuple):
    """A definition of either side, and what is needed to explain why it stands alone."""

    name: str
    line: int
    kind: str
    scope: str  # kind of what is around it
    text: str  # its line, or our signature
    partial: bool = False  # the file has syntax errors for us
    inside: bool = False  # a function, or an anonymous class


_FUNCTIONS = frozenset({"function", "method", "getter", "setter", "generator", "singletonMethod"})
_VALUES = frozenset({"variable", "constant", "property", "externvar"})
_ELSEWHERE = re.compile(r"[.:]\s*prototype\b|\w\s*[=:]\s*(async\s*)?(function|\()")
_LUA = r"\bfunction\s+[\w.:]*\b{0}\s*\(|\b{0}\s*=\s*function\s*\("
_PHP_FIELD = re.compile(r"^\s*(public|protected|private|static|var|readonly)\b|^\$")


def is_covered(language: str, item: Definition) -> bool:
    """Whether a tag is a definition of a kind we cover: named, not local, not a lambda."""
    if item.name.startswith(("__anon", "Anonymous", "<lambda>")) or item.name == "_":
        return False
    if item.kind in ("describe", "context"):  # blocks of RSpec
        return False
    if item.kind in _VALUES and item.scope in _FUNCTIONS:
        return False
    rule = _RULES.get(language)
    return rule is None or rule(item)


def _javascript(item: Definition) -> bool:
    """ctags reports the locals of a wrapping function, plain members, and assigned prototypes."""
    if item.kind in ("property", "field"):
        return False
    if item.kind == "class":
        return re.search(r"\.prototype\b|=\s*\{|:\s*\{", item.text) is None
    if item.kind == "function":
        return "prototype[" not in item.text
    return item.kind not in _VALUES or re.match(r"\s+(var|let|const)\b|\s{6}", item.text) is None


def _typescript(item: Definition) -> bool:
    """ctags 5.9 reports locals of callbacks, and gives them no scope."""
    local = item.kind in ("variable", "constant") and item.text.startswith((" ", "\t"))
    return not local


def _kotlin(item: Definition) -> bool:
    """ctags takes a lambda's parameter for a method, and names what has no name."""
    if item.name == "Companion":
        return False
    return item.kind != "method" or re.search(r"\bfun\b", item.text) is not None


def _c(item: Definition) -> bool:
    """`TEST_BEGIN(name) {`: ctags takes the macro for the function's name."""
    if item.kind == "namespace":
        return "::" not in item.text  # ctags names only the first part
    return item.kind not in ("function", "prototype") or not _is_shouted(item.name)


def _is_shouted(name: str) -> bool:
    return re.fullmatch(r"[A-Z][A-Z0-9_]+", name) is not None


def _lua(item: Definition) -> bool:
    """ctags takes any assignment on a line with the word for a function."""
    return re.search(_LUA.format(re.escape(item.name)), item.text) is not None


def _bash(item: Definition) -> bool:
    """ctags takes an empty array for a function."""
    return "=()" not in item.text


def _php(item: Definition) -> bool:
    """ctags reports locals of closures."""
    return item.kind != "variable" or _PHP_FIELD.search(item.text) is not None


_RULES = {
    "bash": _bash,
    "javascript": _javascript,
    "typescript": _typescript,
    "kotlin": _kotlin,
    "c": _c,
    "cpp": _c,
    "lua": _lua,
    "php": _php,
}

_LACKING = {
    "rust": {"constant", "union"},
    "javascript": {"object"},
    "kotlin": {"enumerator", "constructor"},
    "bash": {"variable", "constant", "macro"},
    "lua": {"variable", "constant"},
    "csharp": {"type"},
    "ruby": {"field"},
}


def explain(language: str, item: Definition) -> str:
    """The class of a definition that only we report, or ""."""
    if item.inside:
        return "inside a function or an anonymous class"
    if item.kind in _LACKING.get(language, ()):
        return f"kind ctags does not report: {item.kind}"
    if language == "python" and re.fullmatch(r"\w+: [^=]*", item.text):
        return "annotated, without a value"
    if language == "python" and item.text.startswith("self."):
        return "attribute set in __init__"
    if language == "java" and item.scope == "record":
        return "component of a record"
    if language == "rust" and item.text == item.name:
        return "item in the text of a macro"
    if language == "rust" and item.scope in ("enum", "union"):
        return "field of a variant or a union"
    if language in ("c", "cpp") and re.match(r"[A-Z][A-Z0-9_]+\s*\(", item.text):
        return "function defined by a macro call"
    if language == "csharp" and "?" in item.text:
        return "nullable type in the signature"
    if language == "javascript" and _ELSEWHERE.search(item.text):
        return "member function or prototype that ctags files under its object"
    if language == "typescript":
        return _explain_typescript(item)
    if item.partial:
        return "file with syntax errors"
    return ""


def _explain_typescript(item: Definition) -> str:
    """ctags 5.9 knows no overload signatures, no ambient declarations, no members of type aliases."""
    if item.scope == "type":
        return "member of a type alias"
    if item.kind in ("function", "method"):
        return "overload or ambient signature"
    return "field or constant ctags overlooks" if item.kind in ("field", "constant") else ""
