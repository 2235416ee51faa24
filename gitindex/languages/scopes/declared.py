"""Declared types, and names of types, from the tree, in a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitindex.languages.scopes.bound import LISTED, NAMED, OTHER, POINTER, STRUCT

if TYPE_CHECKING:
    from tree_sitter import Node

Row = list[object]  # offset, form, the dotted name or the row of what is inside

_NAMES = frozenset(
    {
        *("type_identifier", "package_identifier", "identifier", "property_identifier", "name"),
        *("simple_identifier", "namespace_identifier"),
    }
)
TYPE_NAMES = frozenset(
    {
        *("qualified_type", "scoped_type_identifier", "generic_type", "user_type", "named_type"),
        *("nested_type_identifier", "nested_identifier", "qualified_name", "generic_name"),
        *("stable_type_identifier", "template_type", "qualified_identifier", "namespace_name"),
        *("struct_specifier", "union_specifier", "enum_specifier"),
    }
)
"""Types with a qualified name or with arguments."""
_AROUND = frozenset(
    {
        *("annotated_type", "parenthesized_type", "nullable_type", "optional_type"),
        *("constructor_invocation", "primary_constructor_base_type", "reference_type"),
        *("dynamic_type", "abstract_type"),
    }
)
_POINTERS = frozenset({b"Box", b"Rc", b"Arc", b"Ref", b"RefMut", b"unique_ptr", b"shared_ptr"})
_POINTING = frozenset({"pointer_type", "generic_type", "template_type"})
_INFERRED = frozenset({"implicit_type", "placeholder_type_specifier", "inferred_type"})
"""Words that stand for a type that is not written."""
ELEMENTS = {
    "map_type": "value",
    "array_type": "element",
    "slice_type": "element",
    "implicit_length_array_type": "element",
}
"""Types with elements, with the field of the element's type."""
_LITERALS = frozenset({"composite_literal", "type_conversion_expression"})


def read_type(node: Node, name: Node | None = None) -> Row | None:
    """Return the type of a declared name; None for `var` and `auto`, which declare none."""
    around = name.parent if name is not None else None
    told = _type(node)
    if node.type in _INFERRED or (node.type == "type_identifier" and told[2] == "var"):
        return None
    if around is not None:
        told = _listed(told, around.child_by_field_name("dimensions"))
        many = around.type.startswith("variadic") or (
            around.parent is not None and around.parent.type == "spread_parameter"
        )
        told = [node.start_byte, LISTED, told] if many else told
    return told


def type_of(captures: dict[str, list[Node]], name: Node, value: Node | None) -> Row | None:
    """Return the declared type of a variable, or that of Go's literal or conversion it gets."""
    if "type" in captures:
        return read_type(captures["type"][0], name)
    if value is not None and value.type == "expression_list" and value.named_child_count == 1:
        value = value.named_children[0]
    made = value is not None and value.type in _LITERALS
    kind = value.child_by_field_name("type") if value is not None and made else None
    return _type(kind) if kind is not None else None


def visible_from(target: Node, how: str, language: str) -> int:
    """Return where a name begins to be seen: a type parameter everywhere, one of Go's in the body."""
    if how == "typeparam":
        return 0
    if language != "go" or how not in ("param", "rest"):
        return target.start_byte
    function = target.parent and target.parent.parent and target.parent.parent.parent
    if function is None:
        return target.start_byte
    body = function.child_by_field_name("body")
    return body.start_byte if body is not None else function.end_byte


def named_type(node: Node | None) -> str:
    """Return the dotted name of a type or of what it points to; empty for any other type."""
    told = _type(node) if node is not None else [0, OTHER, ""]
    while told[1] == POINTER and isinstance(told[2], list):
        told = told[2]
    return str(told[2]) if told[1] == NAMED else ""


def is_plain(struct: Node) -> bool:
    """Return whether every field of a Go struct has a name: none is embedded."""
    listed = struct.named_children[0].named_children if struct.named_children else []
    fields = [child for child in listed if child.type != "comment"]
    named = all(field.child_by_field_name("name") is not None for field in fields)
    return named and not struct.has_error


def _type(node: Node) -> Row:
    kind, at = node.type, node.start_byte
    if node.has_error:
        return [at, OTHER, ""]
    if kind in _POINTING and (pointed := _pointed(node)) is not None:
        return [at, POINTER, _type(pointed)]
    if kind in _NAMES or kind in TYPE_NAMES:
        return [at, NAMED, ".".join(_names(node))]
    if kind in _AROUND:
        return next((_type(c) for c in node.named_children if _is_type(c.type)), [at, OTHER, ""])
    return _unnamed(node)


def _unnamed(node: Node) -> Row:
    """Return a type without a name: an array, a struct, a function."""
    at, inner = node.start_byte, node.child_by_field_name(ELEMENTS.get(node.type, "_"))
    if inner is not None:
        sizes = node.child_by_field_name("dimensions")  # of Java
        return _listed(_type(inner), sizes) if sizes else [at, LISTED, _type(inner)]
    return [at, STRUCT if node.type == "struct_type" and is_plain(node) else OTHER, ""]


def _pointed(node: Node) -> Node | None:
    """Return what a pointer points to, also a smart one of Rust or C++; None for any other type."""
    if node.type == "pointer_type":
        return next(c for c in reversed(node.named_children) if "comment" not in c.type)
    name, *arguments = node.named_children
    inner = arguments[0].named_children if (name.text or b"") in _POINTERS and arguments else []
    if len(inner) != 1:
        return None
    return inner[0].child_by_field_name("type") if inner[0].type == "type_descriptor" else inner[0]


def _is_type(kind: str) -> bool:
    return kind in _NAMES or kind in TYPE_NAMES or kind in _AROUND or kind in ELEMENTS


def _listed(told: Row, sizes: Node | None) -> Row:
    """Return an array of a type of Java, with as many dimensions as there are brackets."""
    for child in sizes.children if sizes is not None else ():
        told = [told[0], LISTED, told] if child.type == "[" else told
    return told


def _names(node: Node) -> list[str]:
    """Return the names of a named type, the outermost first, without its arguments."""
    if node.type in _NAMES:
        return [(node.text or b"").decode("utf-8", "replace")]
    inside = (c for c in node.named_children if c.type in _NAMES or c.type in TYPE_NAMES)
    return [name for child in inside for name in _names(child)]


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
