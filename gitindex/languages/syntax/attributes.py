"""Fields that Python's `__init__` assigns to its object. Found among captures, at no query cost."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from gitindex.base.pattern import compile_later
from gitindex.languages.syntax.events import DEF
from gitindex.languages.syntax.kinds import FUNCTIONS, TYPES
from gitindex.languages.syntax.scopes import CapturedRange

if TYPE_CHECKING:
    from gitindex.languages.syntax.parser import Captures

_FIELD = compile_later(rb"self\s*\.\s*([\w\x80-\xff]+)(?:\s*:[^=\n#]*[^=\n#\s])?")
_INNER = FUNCTIONS | TYPES


def attributes(data: bytes, captures: Captures, found: list[CapturedRange]) -> list[CapturedRange]:
    """Return a field for each `self.name = …` in an `__init__`, unless its class has the name."""
    makers = [scope for scope in found if scope.name == "__init__" and _is_method(scope)]
    if not makers:
        return []
    targets = sorted(node.start_byte for node in captures.get("flag.patched", ()))
    taken = {(scope.outer, scope.name) for scope in found}
    inner: dict[CapturedRange | None, list[CapturedRange]] = {}
    for scope in found:
        if scope.kind in _INNER:
            inner.setdefault(scope.outer, []).append(scope)
    fields: list[CapturedRange] = []
    for maker in makers:
        for at in targets[bisect_left(targets, maker.start) : bisect_left(targets, maker.end)]:
            match = _FIELD.match(data, at)
            if match and not any(s.start <= at < s.end for s in inner.get(maker, ())):
                field = _field(maker, match)
                if (field.outer, field.name) not in taken:
                    taken.add((field.outer, field.name))
                    fields.append(field)
    return fields


def _is_method(scope: CapturedRange) -> bool:
    return scope.outer is not None and scope.outer.kind in TYPES


def _field(maker: CapturedRange, match: re.Match[bytes]) -> CapturedRange:
    scope = CapturedRange(DEF, "field", match.start(), match.end())
    scope.outer = maker.outer
    scope.name = match.group(1).decode("utf-8", "replace")
    scope.name_start, scope.name_end = match.span(1)
    return scope
