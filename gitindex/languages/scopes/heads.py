"""What the head of a class or a function says: bases, decorators, parameters. Runs in a worker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gitindex.languages.scopes.expressions import read_parts
from gitindex.languages.scopes.model import EXPORTED_MORE, EXPORTED_WHOLE, LITERAL

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


Export = tuple[
    str, int, list[Any] | None
]  # exported name, offset of the name, the chain it stands for


def read_exports(captures: dict[str, list[Node]]) -> Iterator[Export]:
    """Yield the exports of one match of the query."""
    for node in captures.get("export.name", ()):
        yield _row(_text(node), node, captures["value"][0])
    for node in captures.get("export.default", ()):
        yield _row("default", node, node)
    for node in captures.get("export.whole", ()):
        value = _assigned(node)
        yield _row(EXPORTED_WHOLE, value, value)
        if value.type == "object":
            yield from _members(value)
    for node in captures.get("export.open", ()):
        yield EXPORTED_MORE, node.start_byte, None


def _members(node: Node) -> Iterator[Export]:
    """Yield each entry of `{ a, b: c, d() {} }` as a member of the module."""
    for child in node.named_children:
        name, value = child, child
        if child.type == "pair":
            name = child.child_by_field_name("key") or child
            value = child.child_by_field_name("value") or child
        elif child.type == "method_definition":
            name = child.child_by_field_name("name") or child
        elif child.type == "spread_element":
            yield EXPORTED_MORE, child.start_byte, None
            continue
        elif child.type != "shorthand_property_identifier":
            continue
        yield _text(name), name.start_byte, _chain(value)


def _row(name: str, at: Node, value: Node) -> Export:
    return name, at.start_byte, _chain(_assigned(value))


def _assigned(node: Node) -> Node:
    """Return the last value of `a = b = value`."""
    while node.type == "assignment_expression":
        right = node.child_by_field_name("right")
        if right is None:
            break
        node = right
    return node


def _chain(node: Node) -> list[Any] | None:
    """Return a name, or a chain of members and calls; None for anything else."""
    parts = read_parts(node)
    return parts if parts and parts[0][0] != LITERAL else None


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace").strip("\"'")
