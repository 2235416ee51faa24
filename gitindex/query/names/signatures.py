"""Parse signatures as text: results and type parameters."""

from __future__ import annotations

import re

from gitindex.base.pattern import compile_later
from gitindex.query.names.chains import MAX_LOOK, closing, split_top

_TYPE_PARAMETER = compile_later(
    r"^(?:(?:in|out|const)\s+)*([\w$]+)(?:\s+extends\s+(.*?))?\s*(?:(?<![=<>!])=(?![=>])\s*(.*))?$",
    re.DOTALL,
)


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
