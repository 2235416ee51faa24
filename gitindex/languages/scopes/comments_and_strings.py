"""Comments and strings of a text, and which strings code reads by name. Runs in a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


_READ = frozenset({"dynamic", "exported", "evaluated"})
"""Strings that code reads."""
_WHOLE = _READ | {"docstring", "annotation", "named"}
"""Kinds of a string that hold for all parts of it."""
QUIET = _WHOLE | {"comment", "string", "code"}


def keep_quiet(quiet: dict[tuple[int, int], str], node: Node, kind: str) -> None:
    """Keep the range of a comment or a string; what reads a string counts more than that it is one."""
    key = (node.start_byte, -node.end_byte)
    if kind in _WHOLE:
        stack = [node]
        while stack:
            here = stack.pop()
            if "string" in here.type:
                quiet.setdefault((here.start_byte, -here.end_byte), kind)
                if kind in _READ:
                    quiet[here.start_byte, -here.end_byte] = kind
            stack += here.named_children
    elif quiet.get(key) not in _READ:
        quiet[key] = kind


def nested(quiet: dict[tuple[int, int], str]) -> list[tuple[int, int, str]]:
    """Return sorted ranges: start, end and kind; a string in a dynamic range is dynamic too."""
    rows: list[tuple[int, int, str]] = []
    stack: list[tuple[int, str]] = []  # ends and kinds of those around
    for (start, minus_end), kind in sorted(quiet.items()):
        while stack and stack[-1][0] <= start:
            stack.pop()
        if kind == "string" and stack and stack[-1][1] in _WHOLE:
            kind = stack[-1][1]
        rows.append((start, -minus_end, kind))
        stack.append((-minus_end, kind))
    return rows
