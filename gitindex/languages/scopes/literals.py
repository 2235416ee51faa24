"""Go: is the key of a composite literal a struct field or a value? The literal's type decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitindex.languages.scopes.declared import ELEMENTS, named_type

if TYPE_CHECKING:
    from tree_sitter import Node

UNNAMED = "struct{"
"""The type of a struct without a name, which itself declares the field."""
VALUES = "="
"""The type of a map, an array or a slice, whose keys are values."""


def is_unnamed(field: Node) -> bool:
    """Return whether a field is declared in a struct without a name."""
    struct = field
    for _ in range(3):  # its declaration, their list, the struct
        if struct.parent is None:
            return False
        struct = struct.parent
    return struct.type == "struct_type" and (
        struct.parent is None or struct.parent.type != "type_spec"
    )


def _fields(struct: Node) -> set[bytes | None]:
    listed = struct.named_children[0].named_children if struct.named_children else []
    return {name.text for one in listed for name in one.children_by_field_name("name")}


def _literal(key: Node) -> tuple[Node | None, list[str]]:
    """Return what is around the literals that a key is in, and what each of them is in the next."""
    here, node, placed = key, key.parent, list[str]()
    while node is not None and node.type in ("literal_element", "keyed_element", "literal_value"):
        if node.type == "literal_value":
            placed.append("value")
        elif placed and node.child_by_field_name("key") == here and node.type == "keyed_element":
            placed[-1] = "key"
        here, node = node, node.parent
    return node, placed


def _element(kind: Node | None, how: str) -> Node | None:
    """Return the type of an element or a key of a type, or what it points to."""
    if kind is None or kind.type not in ELEMENTS:
        return None
    inner = kind.child_by_field_name(ELEMENTS[kind.type] if how == "value" else "key")
    pointer = inner is not None and inner.type == "pointer_type"
    return next(iter(inner.named_children), None) if inner and pointer else inner


def literal_type(key: Node) -> str | None:
    """Return the named type of the literal around a key.

    VALUES if it has no named type, empty if the type is unknown, None if the node is not a key of a
    composite literal.
    """
    node, placed = _literal(key)
    if node is None or node.type != "composite_literal":
        return None
    kind = node.child_by_field_name("type")
    for how in reversed(placed[:-1]):  # `[]T{{a: 1}}`: the inner literal is a T, or a *T
        kind = _element(kind, how)
    if kind is None:
        return ""
    if kind.type in ELEMENTS:
        return VALUES
    if kind.type == "struct_type":
        return UNNAMED if key.text in _fields(kind) else ""
    return named_type(kind)
