"""Reads how some words of a text are used from its tree, in a worker."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gitindex.languages.scopes import uses
from gitindex.languages.scopes.chains import CALLS, MEMBERS, NAMES, SAME, read_parts
from gitindex.languages.syntax.extract import MAX_BYTES, MAX_NESTING, nesting
from gitindex.languages.syntax.parser import parse_tree
from gitindex.languages.syntax.source import read_source

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_TREES = 40
"""Trees that a worker keeps: about ten times the bytes of their texts."""
MAX_KEYS = 200
"""Words of one statement that are told."""

_WORDS = NAMES | {"shorthand_property_identifier", "shorthand_property_identifier_pattern"}
_AROUND = SAME | {"as_expression", "satisfies_expression"}
_ITEMS = {"subscript": "value", "subscript_expression": "object"}
_ARGUMENTS = frozenset({"argument_list", "arguments"})
_SPREAD = frozenset({"list_splat", "dictionary_splat", "spread_element"})
_LISTS = frozenset({"tuple", "list", "expression_list", "array"})
_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern"})
_TARGETS = {
    "assignment": "left",
    "augmented_assignment": "left",
    "named_expression": "name",
    "for_statement": "left",
    "for_in_clause": "left",
    "assignment_expression": "left",
    "augmented_assignment_expression": "left",
    "for_in_statement": "left",
}
"""What assigns to its field."""
_SET = _PATTERNS | {"as_pattern_target", "delete_statement", "array_pattern"}
"""What assigns to all of its parts."""
_TESTS = frozenset({"isinstance", "issubclass", "super"})
_BASES = NAMES | {"attribute", "subscript"}
_CLAUSES = frozenset({"except_clause", "except_group_clause", "raise_statement", "class_pattern"})
_SAME_OBJECT = frozenset({"is", "is not"})
_EQUAL = _SAME_OBJECT | {"==", "!=", "in", "not in"}
_PLAIN = {
    "decorator": uses.DECORATOR,
    "type": uses.TYPE,
    "generic_type": uses.TYPE,
    "interpolation": uses.SHOWN,
    "keyword_pattern": uses.PATTERN,
    "import_statement": uses.IMPORTED,
    "import_from_statement": uses.IMPORTED,
    "aliased_import": uses.IMPORTED,
    "global_statement": uses.GLOBAL,
    "parameters": uses.DEFINED,
    "lambda_parameters": uses.DEFINED,
    "typed_parameter": uses.DEFINED,
}
_NAMED = frozenset(
    {
        *("function_definition", "class_definition", "default_parameter"),
        *("typed_default_parameter", "class_declaration", "method_definition"),
    }
)
_KEYED = {"keyword_argument": "name", "pair": "key", "field_definition": "property"}
_KEYED |= {"public_field_definition": "name"}
_CONTENTS = frozenset({"string_content", "string_fragment"})
_BODIES = frozenset({"block", "module", "program", "statement_block", "class_body", "switch_body"})


def read_uses(data: bytes, language: str, asked: bytes) -> bytes:
    """Return the uses of the requested words in code; empty if the text cannot be read."""
    text = read_source(data).data
    root = _tree(text, language) if len(text) <= MAX_BYTES else None
    if root is None:
        return b""
    words = b"|".join(re.escape(word.encode()) for word in json.loads(asked))
    rows = []
    for found in re.finditer(rb"(?<![\w$])(?:%s)(?![\w$])" % words, text):
        node = root.named_descendant_for_byte_range(*found.span())
        if node is not None and node.type in _WORDS and node.byte_range == found.span():
            rows.append(_row(node, root.has_error))
    return json.dumps(rows, separators=(",", ":")).encode()


@lru_cache(maxsize=MAX_TREES)
def _tree(text: bytes, language: str) -> Node | None:
    """Return the root of a tree; questions about other words of the same text follow."""
    return parse_tree(text, language) if nesting(text) <= MAX_NESTING else None


def _row(name: Node, broken: bool) -> list[Any]:
    whole, receiver = _expression(name)
    kind, of = _kind(whole) if not broken or _is_read(whole) else (uses.UNKNOWN, "")
    given, result, taken, again = list[Any](), "", "", list[Any]()
    outer = whole.parent
    if outer is not None and kind in (uses.CALLED, uses.ITEM, uses.MEMBER):
        given = _given(outer) if kind == uses.CALLED else []
        outer = _brackets(outer)
        result, taken = _kind(outer)
        if result == uses.CALLED and outer.parent is not None:
            again = _given(outer.parent)
    around = list(_callees(whole))
    keys = sorted(_keys(whole, name))[:MAX_KEYS] if kind in (uses.VALUE, uses.ARGUMENT) else []
    told = [_text(name), name.start_byte, kind, of, receiver, given, result, taken, again, around]
    return [*told, _position(whole), keys]


def _is_read(node: Node) -> bool:
    """Return whether the grammar understands what is around a place."""
    here: Node | None = node
    while here is not None and here.type != "ERROR":
        here = here.parent
    return here is None


def _expression(name: Node) -> tuple[Node, Any]:
    """Return the expression that ends in a name, with its brackets, and its receiver."""
    around, receiver = name.parent, None
    whole = name
    if around is not None and around.type in MEMBERS:
        holder, member = MEMBERS[around.type]
        if around.child_by_field_name(member) == name:
            owner = around.child_by_field_name(holder)
            receiver = (read_parts(owner) if owner is not None else None) or []
            whole = around
    elif around is not None and around.type == "dotted_name" and around.named_children[-1] == name:
        receiver = [[_text(one), False, ""] for one in around.named_children[:-1]] or None
        whole = around
    return _brackets(whole), receiver


def _brackets(node: Node) -> Node:
    while node.parent is not None and node.parent.type in _AROUND:
        node = node.parent
    return node


def _kind(node: Node) -> tuple[str, str]:
    """Return the kind of the use of an expression, and the member or function that it is about."""
    around = node.parent
    if around is None:
        return uses.VALUE, ""
    kind = around.type
    if kind in MEMBERS:
        member = around.child_by_field_name(MEMBERS[kind][1])
        return uses.MEMBER, _text(member) if member is not None else ""
    if kind in CALLS and around.child_by_field_name(CALLS[kind]) == node:
        return uses.CALLED, ""
    if kind in _ITEMS and around.child_by_field_name(_ITEMS[kind]) == node:
        return uses.ITEM, ""
    if kind in _PLAIN:
        return _PLAIN[kind], ""
    if kind in _NAMED and around.child_by_field_name("name") == node:
        return uses.DEFINED, ""
    if kind == "keyword_argument" and around.child_by_field_name("name") == node:
        return uses.KEYWORD, ""
    if _is_target(node):
        return uses.TARGET, ""
    if kind == "comparison_operator":
        operators = {child.type for child in around.children if not child.is_named}
        if operators <= _EQUAL:
            return uses.COMPARED, "is" if operators <= _SAME_OBJECT else "=="
    return _passed(node)


def _is_target(node: Node) -> bool:
    """Return whether something is assigned to an expression, alone or with others."""
    around = node.parent
    while around is not None and (around.type in _LISTS or around.type in _AROUND):
        node, around = around, around.parent
    if around is None:
        return False
    field = _TARGETS.get(around.type)
    return around.type in _SET or (field is not None and around.child_by_field_name(field) == node)


def _passed(node: Node) -> tuple[str, str]:
    """Return what gets the value of an expression, alone or as an item of a tuple or a union."""
    around, alone = node.parent, True
    while around is not None and (
        around.type in ("tuple", "binary_operator", "as_pattern") or around.type in _AROUND
    ):
        alone = alone and around.type in _AROUND
        node, around = around, around.parent
    if around is None:
        return uses.VALUE, ""
    if around.type == "type":
        return uses.TYPE, ""
    if around.type in _CLAUSES:
        return uses.TESTED, ""
    if around.type == "keyword_argument":
        node, around = around, around.parent or around
    outer = around.parent
    if around.type not in _ARGUMENTS or outer is None:
        return uses.VALUE, ""
    if outer.type not in CALLS:
        return (uses.BASE if alone and node.type in _BASES else uses.VALUE), ""
    called = outer.child_by_field_name(CALLS[outer.type])
    name = _last(called)
    if name in _TESTS and called is not None and called.type == "identifier":
        return uses.TESTED, name
    return (uses.ARGUMENT, name) if alone else (uses.VALUE, "")


def _position(node: Node) -> int:
    """Return the number of an argument; -1 for what is none, or has a keyword."""
    around = node.parent
    if around is None or around.type not in _ARGUMENTS:
        return -1
    return [one for one in around.named_children if one.type != "comment"].index(node)


def _callees(node: Node) -> Iterator[str]:
    """Yield the functions that get what an expression is part of, the innermost first."""
    while node.parent is not None and node.parent.type not in _BODIES:
        around = node.parent
        if node.type in _ARGUMENTS and around.type in CALLS:
            yield _last(around.child_by_field_name(CALLS[around.type]))
        node = around


def _keys(node: Node, name: Node) -> set[str]:
    """Return the words that a value may be stored under: those of its statement, bodies apart."""
    while node.parent is not None and node.parent.type not in _BODIES:
        node = node.parent
    found: set[str] = set()
    stack = [node]
    while stack:
        here = stack.pop()
        field = _KEYED.get(here.type)
        key = here.child_by_field_name(field) if field is not None else None
        if here.type in ("string", "template_string"):
            found.update(_text(one) for one in here.named_children if one.type in _CONTENTS)
        elif here.type in MEMBERS and _is_target(here):
            found.add(_last(here))
        elif key is not None and key != name:
            found.add(_text(key))
        stack += [child for child in here.named_children if child.type not in _BODIES]
    return found


def _given(call: Node) -> list[Any]:
    """Return the arguments of a call: keyword, chain, and the chains of a tuple or a list."""
    listed = call.child_by_field_name("arguments")
    if listed is None:
        return []
    if listed.type not in _ARGUMENTS:  # a generator, a template
        return [["", None, None]]
    return [_argument(one) for one in listed.named_children if one.type != "comment"]


def _argument(node: Node) -> list[Any]:
    name = ""
    if node.type in _SPREAD:
        return ["*", None, None]
    if node.type == "keyword_argument":
        key, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        name, node = _text(key) if key is not None else "", value if value is not None else node
    inner = node
    while inner.type in SAME and inner.named_child_count == 1:
        inner = inner.named_children[0]
    if inner.type not in _LISTS:
        return [name, read_parts(node), None]
    items = [one for one in inner.named_children if one.type != "comment"]
    return [name, None, [read_parts(one) for one in items]]


def _last(node: Node | None) -> str:
    """Return the last name of an expression; empty if it does not end in one."""
    while node is not None and node.type in SAME and node.named_child_count == 1:
        node = node.named_children[0]
    if node is not None and node.type in MEMBERS:
        node = node.child_by_field_name(MEMBERS[node.type][1])
    return _text(node) if node is not None and node.type in NAMES else ""


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
