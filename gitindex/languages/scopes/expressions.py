"""Expressions and declared types from the tree, in a worker.

Only forms that name what they give are read: names, members, calls, `new`, literals, conversions
and casts. For any other form the reply is None, and nothing is proven by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from gitindex.languages.scopes.model import (
    LISTED,
    LITERAL,
    MEMBERLESS,
    NAMED,
    NOTHING,
    OTHER,
    POINTER,
    STRUCT,
    UNION,
)
from gitindex.languages.syntax.parser import parse_tree

if TYPE_CHECKING:
    from tree_sitter import Node


Row = list[
    Any
]  # a type: offset, form, dotted name, rows inside of it; or a link: name, called, load

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
    row = _type(node)
    if node.type in _INFERRED or (node.type == "type_identifier" and row[2] == "var"):
        return None
    if around is not None:
        row = _listed(row, around.child_by_field_name("dimensions"))
        many = around.type.startswith("variadic") or (
            around.parent is not None and around.parent.type == "spread_parameter"
        )
        row = [node.start_byte, LISTED, "", row] if many else row
    return row


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
    row: Row = _type(node) if node is not None else [0, OTHER, ""]
    while row[1] == POINTER:
        row = row[3]
    return str(row[2]) if row[1] == NAMED else ""


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
        return [at, POINTER, "", _type(pointed)]
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
        return _listed(_type(inner), sizes) if sizes else [at, LISTED, "", _type(inner)]
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


def _listed(row: Row, sizes: Node | None) -> Row:
    """Return an array of a type of Java, with as many dimensions as there are brackets."""
    for child in sizes.children if sizes is not None else ():
        row = [row[0], LISTED, "", row] if child.type == "[" else row
    return row


def _names(node: Node) -> list[str]:
    """Return the names of a named type, the outermost first, without its arguments."""
    if node.type in _NAMES:
        return [(node.text or b"").decode("utf-8", "replace")]
    inside = (c for c in node.named_children if c.type in _NAMES or c.type in TYPE_NAMES)
    return [name for child in inside for name in _names(child)]


_ANNOTATED = frozenset({"type", "type_annotation", "readonly_type", "parenthesized_type"})
"""Nodes of Python and TypeScript around a type."""
_ALTERNATIVES = frozenset({"union_type", "binary_operator", "tuple"})
"""Types of which a value has one; a tuple of classes is what `except` names."""
_NO_MEMBERS = frozenset(
    {
        *("none", "literal_type", "object_type", "template_literal_type"),
        *("predefined_type", "constructor_type"),
    }
)
"""Literals, functions and what has no members."""
_GENERIC = frozenset({"generic_type", "subscript", "tuple_type"})
_MEMBERLESS_WORDS = {
    **dict.fromkeys((b"None", b"null", b"undefined", b"void"), NOTHING),
    **dict.fromkeys((b"any", b"unknown", b"object"), OTHER),
}


def read_annotation(node: Node, depth: int = 0) -> Row:
    """Return a type of Python or TypeScript; one in a string stands where the string does."""
    inner = [child for child in node.named_children if child.type != "comment"]
    if node.has_error or depth > MAX_PARTS:
        return [node.start_byte, OTHER, ""]
    return _ANNOTATIONS.get(node.type, _named_annotation)(node, inner, depth)


def _inside_annotation(node: Node, inner: list[Node], depth: int) -> Row:
    return read_annotation(inner[0], depth) if inner else [node.start_byte, OTHER, ""]


def _union(node: Node, inner: list[Node], depth: int) -> Row:
    return [node.start_byte, UNION, "", *(read_annotation(one, depth + 1) for one in inner)]


def _memberless(node: Node, _inner: list[Node], _depth: int) -> Row:
    return [node.start_byte, _MEMBERLESS_WORDS.get(node.text or b"", MEMBERLESS), ""]


def _function(node: Node, inner: list[Node], depth: int) -> Row:
    """Return a function, which has no members of ours, with the types of its parameters."""
    listed = [c for c in inner if c.type == "formal_parameters"]
    parameters = listed[0].named_children if listed else []
    names = [(p.child_by_field_name("pattern"), p.child_by_field_name("type")) for p in parameters]
    types = [kind or name for name, kind in names if name is not None and name.type != "this"]
    return [node.start_byte, MEMBERLESS, "", *(read_annotation(one, depth + 1) for one in types)]


def _array(node: Node, inner: list[Node], depth: int) -> Row:
    return [node.start_byte, LISTED, "", read_annotation(inner[0], depth + 1)]


def _named_annotation(node: Node, _inner: list[Node], _depth: int) -> Row:
    parts = _parts(node, MAX_PARTS) if node.type != "this_type" else [["this", False, ""]]
    plain = parts is not None and not any(called for _, called, _ in parts)
    name = ".".join(str(part[0]) for part in parts) if parts is not None and plain else ""
    return [node.start_byte, NAMED if name else OTHER, name]


def _generic(node: Node, inner: list[Node], depth: int) -> Row:
    """Return a type with arguments: `List[T]`, `Promise<T>`, `[A, B]`."""
    if node.type == "tuple_type":
        row, given = [node.start_byte, NAMED, "tuple"], inner
    else:
        row, given = read_annotation(inner[0], depth + 1), inner[1:]
    if given and given[0].type in ("type_parameter", "type_arguments"):
        given = given[0].named_children
    return [*row[:3], *(read_annotation(one, depth + 1) for one in given)]


def _quoted(node: Node, _inner: list[Node], depth: int) -> Row:
    """Return the type that an annotation of Python names in a string."""
    texts = [child.text or b"" for child in node.named_children if child.type == "string_content"]
    tree = parse_tree(texts[0], "python") if len(texts) == 1 else None
    inner = tree.named_children[0].named_children if tree and tree.named_child_count == 1 else []
    row = read_annotation(inner[0], depth + 1) if inner else [0, OTHER, ""]
    return _placed(row, node.start_byte)


def _placed(row: Row, at: int) -> Row:
    """Return a type, and what is inside of it, at one place."""
    _, form, name, *inner = row
    return [at, form, name, *(_placed(one, at) for one in inner)]


_ANNOTATIONS: dict[str, Callable[[Node, list[Node], int], Row]] = {
    **dict.fromkeys(_ANNOTATED, _inside_annotation),
    **dict.fromkeys(_ALTERNATIVES, _union),
    **dict.fromkeys(_NO_MEMBERS, _memberless),
    **dict.fromkeys(_GENERIC, _generic),
    "array_type": _array,
    "function_type": _function,
    "string": _quoted,
}


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


MAX_PARTS = 12


NAMES = frozenset(
    {
        *("identifier", "type_identifier", "package_identifier", "field_identifier"),
        *("property_identifier", "private_property_identifier", "this", "super", "base", "self"),
        *("simple_identifier", "namespace_identifier", "name", "variable_name", "relative_scope"),
        *("self_expression", "super_expression", "this_expression", "crate", "constant"),
        *("alias", "module_path", "module", "shorthand_property_identifier", "import"),
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
_LITERAL_FORMS = frozenset(
    {
        *("string", "template_string", "concatenated_string", "list", "dictionary", "set", "array"),
        *("integer", "float", "number", "regex", "object", "list_comprehension", "string_literal"),
        *("interpreted_string_literal", "raw_string_literal", "integer_literal", "real_literal"),
    }
)
_CASTS = ("as_expression", "type_cast_expression")
SAME = frozenset(
    {
        *("parenthesized_expression", "non_null_expression", "try_expression"),
        *("await", "await_expression"),
    }
)
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


_CHOICES = frozenset({"boolean_operator", "conditional_expression", "binary_expression"})


def first_choice(node: Node) -> Node | None:
    """Return the first value that `a or b`, `a if b else c` or `a ?? b` may have; None for others."""
    operator = node.child_by_field_name("operator")
    known = operator is None or operator.type in ("or", "and", "||", "&&", "??")
    return node.named_children[0] if node.type in _CHOICES and known else None


def _same(node: Node, left: int) -> list[Row] | None:
    inner = [child for child in node.named_children if child.type != "comment"]
    return _parts(inner[0], left) if len(inner) == 1 else None


def _dereferenced(node: Node, left: int) -> list[Row] | None:
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
    if name in ("require", "import", "new") and node.type == "call_expression":
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


def _of_literal(_node: Node, _left: int) -> list[Row]:
    return [[LITERAL, False, ""]]


_READERS: dict[str, Callable[[Node, int], list[Row] | None]] = {
    **dict.fromkeys(SAME, _same),
    **dict.fromkeys(_LITERAL_FORMS, _of_literal),
    **dict.fromkeys((".", "::"), _tokens),
    **dict.fromkeys(MEMBERS, _member),
    **dict.fromkeys(CALLS, _call),
    **dict.fromkeys(_INVOCATIONS, _invocation),
    **dict.fromkeys(_MADE, _made),
    **dict.fromkeys(("unary_expression", "pointer_expression"), _dereferenced),
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
