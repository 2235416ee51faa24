"""Parse signatures and parameter lists as text: names, annotations, defaults, results."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitindex.base.pattern import compile_later
from gitindex.languages.scopes.model import NOWHERE, Bound
from gitindex.query.names.chains import MAX_LOOK, closing, split_top

NAMES = compile_later(r"(?<![\w.$])[^\W\d][\w$]*")
_KEY = compile_later(r"[\w$]+\s*:")
_MODIFIERS = compile_later(
    r"^(?:(?:public|private|protected|readonly|override|static|final|const)\s+"
    r"|@[\w.]+\s*(?:\([^()]*\))?\s*)+"
)
_PARAMETER = compile_later(r"^([\w$]+)\s*\??\s*(?::\s*(.*?))?\s*(?:=(?!>)\s*(.*))?$", re.DOTALL)
_TYPE_PARAMETER = compile_later(
    r"^(?:(?:in|out|const)\s+)*([\w$]+)(?:\s+extends\s+(.*?))?\s*(?:(?<![=<>!])=(?![=>])\s*(.*))?$",
    re.DOTALL,
)


def parameters(signature: str) -> list[tuple[str, Bound]]:
    """Return the parameters of a signature, in order."""
    opened = signature.find("(")
    if opened < 0:
        return []
    return list(read_parameters(signature[opened + 1 : closing(signature, opened)]))


def returned(signature: str) -> str:
    """Return the result annotation of a function; empty without one."""
    opened = signature.find("(")
    if opened < 0:
        return ""
    rest = signature[closing(signature, opened) + 1 :].strip()
    return rest[2:].strip() if rest[:2] == "->" else rest[1:].strip() if rest[:1] == ":" else ""


def type_parameters(signature: str, owner: str) -> dict[str, str]:
    """Return the type parameters of a definition, in order, with the bound or default of each."""
    found = {}
    for part in type_arguments(signature, owner):
        if match := _TYPE_PARAMETER.match(part):
            found[match.group(1)] = (match.group(2) or match.group(3) or "").strip()
    return found


def type_arguments(text: str, name: str) -> list[str]:
    """Return the arguments in angle brackets after a name."""
    opened = text.find(f"{name}<") + len(name)
    if opened < len(name):
        return []
    inner = text[opened + 1 : _closing_angle(text, opened)]
    return [part.strip() for part in split_top(inner, ",")]


def _closing_angle(text: str, at: int) -> int:
    """Return where `<` at `at` is closed, ignoring `=>` and `->`."""
    depth = 0
    for here in range(at, min(len(text), at + MAX_LOOK)):
        depth += (text[here] == "<") - (text[here] == ">" and text[here - 1] not in "=-")
        if depth == 0:
            return here
    return len(text)


def read_parameters(text: str) -> Iterator[tuple[str, Bound]]:
    """Yield the parameters of a list given without its brackets."""
    for part in split_top(text, ","):
        item = _MODIFIERS.sub("", part.strip()).lstrip("*.&")
        if item.startswith(("{", "[")):
            inner = item[: closing(item, 0)]
            for name in NAMES.findall(_KEY.sub("", inner)):
                yield name, NOWHERE
        elif match := _PARAMETER.match(item):
            yield match.group(1), Bound(match.group(2) or "", match.group(3) or "")
