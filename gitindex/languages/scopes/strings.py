"""Comments and strings of a text, and which strings code reads by name. Runs in a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tree_sitter import Node

_READ = frozenset({"dynamic", "exported", "evaluated"})
"""Strings that code reads."""
_WHOLE = _READ | {"docstring", "annotation", "named"}
"""What is told of a string, and holds for all parts of it."""
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


def nested(quiet: dict[tuple[int, int], str]) -> list[list[Any]]:
    """Return sorted ranges with their container; a string in a dynamic range is dynamic too."""
    rows: list[list[Any]] = []
    stack: list[int] = []
    for (start, minus_end), kind in sorted(quiet.items()):
        while stack and rows[stack[-1]][1] <= start:
            stack.pop()
        around = rows[stack[-1]][2] if stack else ""
        if kind == "string" and around in _WHOLE:
            kind = around
        rows.append([start, -minus_end, kind, stack[-1] if stack else -1])
        stack.append(len(rows) - 1)
    return rows
