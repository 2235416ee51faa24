"""Signatures and parameter lists as text: names, annotations, defaults, results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gitindex.binding.chains import closing, split_top

NAMES = re.compile(r"(?<![\w.$])[^\W\d][\w$]*")
_KEY = re.compile(r"[\w$]+\s*:")
_MODIFIERS = re.compile(
    r"^(?:(?:public|private|protected|readonly|override|static|final|const)\s+"
    r"|@[\w.]+\s*(?:\([^()]*\))?\s*)+"
)
_PARAMETER = re.compile(r"^([\w$]+)\s*\??\s*(?::\s*(.*?))?\s*(?:=(?!>)\s*(.*))?$", re.DOTALL)

WHOLE, EACH = -1, -2


class Bound(NamedTuple):
    """How a name gets its value: by annotation, or from an expression or a part of it."""

    annotation: str = ""
    value: str = ""
    pick: int = WHOLE  # or each element, or the n-th of a tuple


NOWHERE = Bound()


def parameters(signature: str) -> list[tuple[str, Bound]]:
    """The parameters of a signature, in order."""
    opened = signature.find("(")
    if opened < 0:
        return []
    return list(read_parameters(signature[opened + 1 : closing(signature, opened)]))


def returned(signature: str) -> str:
    """The annotation of what a function gives back; empty without one."""
    opened = signature.find("(")
    if opened < 0:
        return ""
    rest = signature[closing(signature, opened) + 1 :].strip()
    return rest[2:].strip() if rest[:2] == "->" else rest[1:].strip() if rest[:1] == ":" else ""


def read_parameters(text: str) -> Iterator[tuple[str, Bound]]:
    """The parameters of a list, without its brackets."""
    for part in split_top(text, ","):
        item = _MODIFIERS.sub("", part.strip()).lstrip("*.&")
        if item.startswith(("{", "[")):
            inner = item[: closing(item, 0)]
            for name in NAMES.findall(_KEY.sub("", inner)):
                yield name, NOWHERE
        elif match := _PARAMETER.match(item):
            yield match.group(1), Bound(match.group(2) or "", match.group(3) or "")
