"""Go: is the key of a composite literal a struct field or a value? The literal's type decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

UNNAMED = "struct{"
"""The type of a struct without a name, which itself declares the field."""
VALUES = "="
"""The type of a map, an array or a slice, whose keys are values."""
_ELEMENTS = {
    "map_type": "value",
    "array_type": "element",
    "slice_type": "element",
    "implicit_length_array_type": "element",
}


def element_type(value: Node) -> Node | None:
    """Return the type of a literal of a slice or an array; None for any other value."""
    if value.type == "expression_list" and value.named_child_count == 1:
        value = value.named_children[0]
    kind = value.child_by_field_name("type") if value.type == "composite_literal" else None
    return kind if kind is not None and kind.type in ("slice_type", "array_type") else None


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


def literal_type(key: Node) -> str | None:
    """Return the named type of the literal around a key.

    VALUES if it has no named type, empty if the type is unknown, None if the node is not a key of a
    composite literal.
    """
    node, depth = key.parent, 0
    while node is not None and node.type in ("literal_element", "keyed_element", "literal_value"):
        depth += node.type == "literal_value"
        node = node.parent
    if node is None or node.type != "composite_literal":
        return None
    kind = node.child_by_field_name("type")
    for _ in range(depth - 1):  # `[]T{{a: 1}}`: the inner literal is a T, or a *T
        if kind is None or kind.type not in _ELEMENTS:
            return ""
        kind = kind.child_by_field_name(_ELEMENTS[kind.type])
        if kind is not None and kind.type == "pointer_type":
            kind = kind.named_children[0] if kind.named_children else None
    if kind is None:
        return ""
    if kind.type in _ELEMENTS:
        return VALUES
    if kind.type == "struct_type":
        return UNNAMED if key.text in _fields(kind) else ""
    if kind.type == "generic_type":
        kind = kind.child_by_field_name("type")
    return (kind.text or b"").decode("utf-8", "replace") if kind is not None else ""
