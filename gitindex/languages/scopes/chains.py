"""The object of a member access and the value of a name, from the tree, in a worker.

Only forms that name what they give are read: names, members, calls, `new`, literals, conversions
and casts. For any other form the reply is None, and nothing is proven by it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gitindex.languages.scopes.declared import TYPE_NAMES, named_type

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_PARTS = 12

Row = list[object]  # name, whether it is called, the module or type that the call loads

NAMES = frozenset(
    {
        "identifier",
        "type_identifier",
        "package_identifier",
        "field_identifier",
        "property_identifier",
        "private_property_identifier",
        "this",
        "super",
    }
)
MEMBERS = {
    "attribute": ("object", "attribute"),
    "member_expression": ("object", "property"),
    "selector_expression": ("operand", "field"),
    "field_access": ("object", "field"),
    "scoped_identifier": ("scope", "name"),
}
"""Member accesses, with the fields of the object and of the name."""
CALLS = {"call": "function", "call_expression": "function", "new_expression": "constructor"}
_MADE = frozenset(
    {
        *("object_creation_expression", "cast_expression"),
        *("composite_literal", "type_conversion_expression", "type_assertion_expression"),
    }
)
"""Java and Go: expressions that are instances of a type which they name."""
SAME = frozenset({"parenthesized_expression", "non_null_expression"})
"""Forms that stand for what is inside."""


def read_parts(node: Node) -> list[Row] | None:
    """Return the links of a chain, the outermost first; None for any other expression."""
    parts = _parts(node, MAX_PARTS)
    return parts if parts is None or len(parts) <= MAX_PARTS else None


def _parts(node: Node, left: int) -> list[Row] | None:
    kind = node.type
    if left <= 0 or node.has_error:
        return None
    if kind in NAMES:
        return [[_text(node), False, ""]]
    if kind in SAME:
        inner = [child for child in node.named_children if child.type != "comment"]
        return _parts(inner[0], left) if len(inner) == 1 else None
    if kind in TYPE_NAMES:
        return [[name, False, ""] for name in named_type(node).split(".") if name] or None
    if kind in MEMBERS:
        return _member(node, *MEMBERS[kind], left)
    if kind in CALLS:
        return _call(node, node.child_by_field_name(CALLS[kind]), left)
    if kind == "method_invocation":
        return _invocation(node, left)
    if kind in _MADE:
        return _made(node)
    if kind == "unary_expression" and node.child(0) is not None:  # Go: `&T{}`, `*p`
        operand = node.child_by_field_name("operand")
        known = operand is not None and _operator(node) in ("&", "*")
        return _parts(operand, left) if known and operand is not None else None
    return None


def _member(node: Node, holder: str, name: str, left: int) -> list[Row] | None:
    owner, member = node.child_by_field_name(holder), node.child_by_field_name(name)
    if owner is None or member is None or member.type not in NAMES:
        return None
    front = _parts(owner, left - 1)
    return [*front, [_text(member), False, ""]] if front else None


def _call(node: Node, function: Node | None, left: int) -> list[Row] | None:
    arguments = node.child_by_field_name("arguments")
    plain = arguments is not None and arguments.type in ("argument_list", "arguments")
    if function is None or not (plain or (node.type == "new_expression" and arguments is None)):
        return None  # a template, a generator
    given = [a for a in arguments.named_children if a.type != "comment"] if arguments else []
    parts = _parts(function, left)
    if parts is None or parts[-1][1]:  # `f(a)(b)`: what a result gives is not known
        return None
    *front, last = parts
    load = ""
    if not front and last[0] == "super" and node.type == "call" and given:
        return None  # the class is given
    if not front and last[0] in ("require", "new") and node.type == "call_expression":
        if len(given) != 1:
            return None
        load = _loaded(given[0], str(last[0]))
        if not load:
            return None
    return [*front, [last[0], True, load]]


def _loaded(given: Node, how: str) -> str:
    """Return the module of `require('x')` or the type of Go's `new(T)`; empty if it is not plain."""
    if how == "new":
        return named_type(given)
    inner = given.named_children
    plain = given.type == "string" and len(inner) == 1 and inner[0].type == "string_fragment"
    return _text(inner[0]) if plain else ""


def _invocation(node: Node, left: int) -> list[Row] | None:
    owner, name = node.child_by_field_name("object"), node.child_by_field_name("name")
    if name is None:
        return None
    front = _parts(owner, left - 1) if owner is not None else []
    return [*front, [_text(name), True, ""]] if front is not None else None


def _made(node: Node) -> list[Row] | None:
    """Return an instance of the type that Java's `new T(…)` and `(T) x` or Go's `T{…}` name."""
    types = node.children_by_field_name("type")
    bodies = any(child.type == "class_body" for child in node.children)
    inner = node.type == "object_creation_expression" and node.children[0].type != "new"
    if len(types) != 1 or bodies or inner:  # `(A & B) x`, `new A() { … }`, `outer.new Inner()`
        return None
    name = named_type(types[0])
    return [["new", True, name]] if name else None


def _operator(node: Node) -> str:
    found = node.child_by_field_name("operator")
    return _text(found) if found is not None else ""


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def names_within(nodes: Iterable[Node]) -> list[int]:
    """Return where the bare names inside of some nodes stand."""
    found, todo = [], list(nodes)
    while todo:
        node = todo.pop()
        if node.type == "identifier":
            found.append(node.start_byte)
        todo += node.named_children
    return found
