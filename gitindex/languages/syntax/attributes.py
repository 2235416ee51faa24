"""Fields that Python's `__init__` assigns to its object. Found among captures, at no query cost."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitindex.languages.syntax.events import DEF
from gitindex.languages.syntax.kinds import FUNCTIONS, TYPES
from gitindex.languages.syntax.scopes import CapturedRange

if TYPE_CHECKING:
    from tree_sitter import Node

    from gitindex.languages.syntax.parser import Captures

_INNER = FUNCTIONS | TYPES


def attributes(captures: Captures, found: list[CapturedRange]) -> list[CapturedRange]:
    """Return a field for each `self.name = …` in an `__init__`, unless its class has the name."""
    makers = [scope for scope in found if scope.name == "__init__" and _is_method(scope)]
    if not makers:
        return []
    targets = [node for node in captures.get("flag.patched", ()) if node.text == b"self"]
    targets.sort(key=_start)
    taken = {(scope.outer, scope.name) for scope in found}
    inner = _inner_ranges(found)
    fields: list[CapturedRange] = []
    for maker in makers:
        first = bisect_left(targets, maker.start, key=_start)
        last = bisect_left(targets, maker.end, key=_start)
        for field in _fields(maker, targets[first:last], inner.get(maker, [])):
            if (field.outer, field.name) not in taken:
                taken.add((field.outer, field.name))
                fields.append(field)
    return fields


def _inner_ranges(
    found: list[CapturedRange],
) -> dict[CapturedRange | None, list[CapturedRange]]:
    """Return functions and classes by the range around them."""
    inner: dict[CapturedRange | None, list[CapturedRange]] = {}
    for scope in found:
        if scope.kind in _INNER:
            inner.setdefault(scope.outer, []).append(scope)
    return inner


def _start(node: Node) -> int:
    return node.start_byte


def _fields(
    maker: CapturedRange, targets: list[Node], inner: list[CapturedRange]
) -> Iterator[CapturedRange]:
    """Yield what a method assigns to its object, without the functions and classes in it."""
    for node in targets:
        at = node.start_byte
        field = None if any(s.start <= at < s.end for s in inner) else _field(maker, node)
        if field is not None:
            yield field


def _is_method(scope: CapturedRange) -> bool:
    return scope.outer is not None and scope.outer.kind in TYPES


def _field(maker: CapturedRange, node: Node) -> CapturedRange | None:
    """Return the field that `self.name: type = …` at a node makes; its range ends before the value."""
    access = node.parent
    name = access.child_by_field_name("attribute") if access is not None else None
    if access is None or name is None:
        return None
    annotation = access.parent.child_by_field_name("type") if access.parent is not None else None
    end = (annotation or access).end_byte
    scope = CapturedRange(DEF, "field", access.start_byte, end)
    scope.outer = maker.outer
    scope.name = (name.text or b"").decode("utf-8", "replace")
    scope.name_start, scope.name_end = name.byte_range
    return scope
