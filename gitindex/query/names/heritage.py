"""Declarations in a definition's signature: base classes, annotation, value. Text only."""

from __future__ import annotations

import re

from gitindex.base.pattern import compile_later
from gitindex.languages.scopes.bound import Bound
from gitindex.query.names.chains import split_top
from gitindex.query.names.source import Definition

_HERITAGE = compile_later(
    r"\b(?:extends|implements|with)\s+(.*?)(?=\b(?:extends|implements|with)\b|\{|$)"
)
_VALUE = compile_later(
    r"^(?:[\w@]+\s+)*?[\"'\w$#]+[?!]?\s*(?::\s*(?!=)(.*?))?\s*(?:(?<![=!<>])=(?![=>])\s*(.*))?$",
    re.DOTALL,
)
_ALIAS = compile_later(r"^type\s+[\w$]+(?:<.*?>)?\s*=\s*([^{]+)$")


def declared(definition: Definition) -> Bound:
    """Return the annotation and value of a variable, from its signature."""
    match = _VALUE.match(definition.signature)
    return Bound(match.group(1) or "", match.group(2) or "") if match else Bound()


def heritage(signature: str, language: str) -> list[str]:
    """Return the base classes in a signature, without their type arguments."""
    cut = (
        re.split(r"[\[<({]", item, maxsplit=1)[0] for item in heritage_items(signature, language)
    )
    return [item.rpartition(" ")[2] for item in cut if item.strip()]


def heritage_items(signature: str, language: str) -> list[str]:
    """Return the base classes as they are written."""
    if match := _ALIAS.match(signature):
        found = re.split(r"[|&]", match.group(1))
    else:
        lists = _HERITAGE.findall(signature)
        if not lists and language in ("kotlin", "swift", "csharp", "cpp", "c"):
            lists = [signature.partition(":")[2]]
        if language == "ruby":
            lists = [signature.partition("<")[2]]
        found = [item for text in lists for item in split_top(text, ",")]
    return [item.strip() for item in found]
