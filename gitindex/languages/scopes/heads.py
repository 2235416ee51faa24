"""What the head of a class or a function says: bases, decorators, parameters. Runs in a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gitindex.languages.scopes.chains import read_parts

if TYPE_CHECKING:
    from tree_sitter import Node

_NO_BASES = frozenset({"keyword_argument", "comment", "access_specifier", "arguments"})


def read_heads(marks: dict[str, list[Any]], captures: dict[str, list[Node]]) -> None:
    """Record the bases and decorators of a class or a function, under the offset of its name."""
    head = captures["head"][0].start_byte if "head" in captures else 0
    for node in captures.get("base", ()):
        if node.type not in _NO_BASES:
            marks["bases"].append([head, read_parts(_without_arguments(node))])
    for node in captures.get("alias", ()):
        marks["bases"] += [[head, read_parts(_without_arguments(one))] for one in _either(node)]
    for node in captures.get("decorator", ()):
        parts = read_parts(node)
        marks["decorators"].append([head, parts[-1][0] if parts else ""])
    for node in captures.get("slash", ()):
        marks["slashes"].append(node.start_byte)
    for node in captures.get("defaults", ()):
        marks["defaults"].append([node.start_byte, node.end_byte])


def _without_arguments(node: Node) -> Node:
    """Return the class of Python's `Base[T]` and of Kotlin's `Base()`; any other base as it is."""
    if node.type in ("constructor_invocation", "explicit_delegation") and node.named_children:
        return node.named_children[0]
    inner = node.child_by_field_name("value") if node.type == "subscript" else None
    return inner if inner is not None else node


def _either(node: Node) -> list[Node]:
    """Return the types of a union or an intersection."""
    if node.type not in ("union_type", "intersection_type"):
        return [node]
    return [found for child in node.named_children for found in _either(child)]
