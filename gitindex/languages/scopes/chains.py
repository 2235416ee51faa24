"""The object of a member access and the value of a name, from the tree, in a worker.

Only forms that name what they give are read: names, members, calls, `new`, literals, conversions
and casts. For any other form the reply is None, and nothing is proven by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from gitindex.languages.scopes.bound import LITERAL
from gitindex.languages.scopes.declared import TYPE_NAMES, named_type

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_PARTS = 12

Row = list[object]  # name, whether it is called, the module or type that the call loads

NAMES = frozenset(
    {
        *("identifier", "type_identifier", "package_identifier", "field_identifier"),
        *("property_identifier", "private_property_identifier", "this", "super", "base", "self"),
        *("simple_identifier", "namespace_identifier", "name", "variable_name", "relative_scope"),
        *("self_expression", "super_expression", "this_expression", "crate", "constant"),
        *("alias", "module_path", "module"),
    }
)
MEMBERS = frozenset(
    {
        *("attribute", "member_expression", "selector_expression", "field_access"),
        *("scoped_identifier", "member_access_expression", "navigation_expression"),
        *("dot_index_expression", "scope_resolution"),
        *("field_expression", "qualified_identifier", "nullsafe_member_access_expression"),
        *("class_constant_access_expression", "scoped_property_access_expression"),
    }
)
"""Member accesses: the object comes first, the name last."""
_INVOCATIONS = frozenset(
    {
        *("method_invocation", "member_call_expression", "scoped_call_expression"),
        "nullsafe_member_call_expression",
    }
)
"""Calls of a member in one node, with its fields `name` and `object` or `scope`."""
CALLS = frozenset({"call", "call_expression", "new_expression", "invocation_expression"})
_MADE = frozenset(
    {
        *("object_creation_expression", "cast_expression", "instance_expression"),
        *("composite_literal", "type_conversion_expression", "type_assertion_expression"),
        *("as_expression", "type_cast_expression", "struct_expression"),
    }
)
"""Expressions that are instances of a type which they name."""
_LITERALS = frozenset(
    {
        *("string", "template_string", "concatenated_string", "list", "dictionary", "set", "array"),
        *("integer", "float", "number", "regex", "object", "list_comprehension", "string_literal"),
        *("interpreted_string_literal", "raw_string_literal", "integer_literal", "real_literal"),
    }
)
_CASTS = ("as_expression", "type_cast_expression")
SAME = frozenset({"parenthesized_expression", "non_null_expression", "try_expression"})
"""Forms that stand for what is inside."""
_ARGUMENTS = ("argument_list", "arguments", "value_arguments", "call_suffix")


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
    if kind in TYPE_NAMES:
        return [[name, False, ""] for name in named_type(node).split(".") if name] or None
    reader = _READERS.get(kind)
    return reader(node, left) if reader is not None else None


def _same(node: Node, left: int) -> list[Row] | None:
    inner = [child for child in node.named_children if child.type != "comment"]
    return _parts(inner[0], left) if len(inner) == 1 else None


def _pointed(node: Node, left: int) -> list[Row] | None:
    """Read Go's and C's `&x` and `*p` as what they point to."""
    operand = node.child_by_field_name("operand") or node.child_by_field_name("argument")
    known = operand is not None and _operator(node) in ("&", "*")
    return _parts(operand, left) if known and operand is not None else None


def _member(node: Node, left: int) -> list[Row] | None:
    owner, member = node.children[0], node.children[-1]
    while member.type in ("navigation_suffix", "generic_name") and member.named_children:
        member = member.named_children[0]
    if owner == member or member.type not in NAMES:
        return None
    front = _parts(owner, left - 1)
    return [*front, [_text(member), False, ""]] if front else None


def _call(node: Node, left: int) -> list[Row] | None:
    if node.child_by_field_name("method") is not None:
        return _invocation(node, left)  # of Ruby
    given = _arguments(node)
    if given is None:
        return None  # a template, a generator
    parts = _parts(node.named_children[0], left)
    if parts is None or parts[-1][1]:  # `f(a)(b)`: what a result gives is not known
        return None
    *front, last = parts
    load = _call_load(node, str(last[0]), given) if not front else ""
    return [*front, [last[0], True, load]] if load is not None else None


def _arguments(node: Node) -> list[Node] | None:
    """Return the arguments of a plain call, also those of `new X`; None for any other call."""
    if node.named_child_count == 1 and node.type == "new_expression":
        return []
    given = node.named_children[-1] if node.named_child_count > 1 else None
    given = node.child_by_field_name("arguments") or given
    if given is None or given.type not in _ARGUMENTS:
        return None
    return [child for child in given.named_children if child.type != "comment"]


def _call_load(node: Node, name: str, given: list[Node]) -> str | None:
    """Return the module or type that a call loads; None where its result is not known."""
    if name == "super" and node.type == "call" and given:
        return None  # the class is given
    if name in ("require", "new") and node.type == "call_expression":
        return (_loaded(given[0], name) if len(given) == 1 else "") or None
    return ""


def _loaded(given: Node, how: str) -> str:
    """Return the module of `require('x')` or the type of Go's `new(T)`; empty if it is not plain."""
    if how == "new":
        return named_type(given)
    inner = given.named_children
    plain = given.type == "string" and len(inner) == 1 and inner[0].type == "string_fragment"
    return _text(inner[0]) if plain else ""


def _invocation(node: Node, left: int) -> list[Row] | None:
    owner = next(filter(None, map(node.child_by_field_name, ("object", "scope", "receiver"))), None)
    name = node.child_by_field_name("name") or node.child_by_field_name("method")
    if name is None:
        return None
    front = _parts(owner, left - 1) if owner is not None else []
    return [*front, [_text(name), True, ""]] if front is not None else None


def _made(node: Node, _left: int) -> list[Row] | None:
    """Return an instance of the type that `new T(…)`, `(T) x`, `x as T` or Go's `T{…}` name."""
    types = node.children_by_field_name("type") or node.children_by_field_name("right")
    types = types or _types_in(node)
    bodies = any(child.type in ("class_body", "template_body") for child in node.children)
    inner = node.type == "object_creation_expression" and node.children[0].type != "new"
    if len(types) != 1 or bodies or inner:  # `(A & B) x`, `new A() { … }`, `outer.new Inner()`
        return None
    name = named_type(types[0])
    return [["new", True, name]] if name else None


def _types_in(node: Node) -> list[Node]:
    """Return the type that a cast or a call of a constructor names without a field for it."""
    named = [c for c in node.named_children if c.type in TYPE_NAMES or c.type in NAMES]
    return named[-1:] if node.type in _CASTS else named[:1]


def _selected(node: Node, left: int) -> list[Row] | None:
    """Read what stands before a selector of Dart, whose links are siblings."""
    before = node.prev_named_sibling
    if before is None or left <= 0:
        return None
    if before.type not in ("selector", "cascade_section"):
        return _parts(before, left)
    front = _selected(before, left - 1)
    named = next((n for n in before.named_children if n.type.endswith("assignable_selector")), None)
    if front is None or before.type == "cascade_section":
        return None
    if named is not None:
        return [*front, [_text(named.named_children[0]), False, ""]]
    return [*front[:-1], [front[-1][0], True, ""]] if not front[-1][1] else None


def _tokens(node: Node, left: int) -> list[Row] | None:
    """Read what stands before a dot in the tokens of a macro of Rust."""
    before = node.prev_sibling
    called = before is not None and before.type == "token_tree"
    before = before.prev_sibling if before is not None and called else before
    if before is None or before.type not in ("identifier", "self") or left <= 0:
        return None
    link: Row = [_text(before), called, ""]
    dot = before.prev_sibling
    if dot is None or dot.type not in (".", "::"):
        return [link]
    front = _tokens(dot, left - 1)
    return [*front, link] if front is not None else None


def _literal(_node: Node, _left: int) -> list[Row]:
    return [[LITERAL, False, ""]]


_READERS: dict[str, Callable[[Node, int], list[Row] | None]] = {
    **dict.fromkeys(SAME, _same),
    **dict.fromkeys(_LITERALS, _literal),
    **dict.fromkeys((".", "::"), _tokens),
    **dict.fromkeys(MEMBERS, _member),
    **dict.fromkeys(CALLS, _call),
    **dict.fromkeys(_INVOCATIONS, _invocation),
    **dict.fromkeys(_MADE, _made),
    **dict.fromkeys(("unary_expression", "pointer_expression"), _pointed),
    **dict.fromkeys(("selector", "cascade_section"), _selected),
}


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
