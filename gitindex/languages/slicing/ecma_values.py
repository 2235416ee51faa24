"""JavaScript, TypeScript and TSX: what their expressions define and use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitindex.languages.slicing import braces
from gitindex.languages.slicing.walk import NESTED, NodeContext, Table, ValueRole, Walker, field_of

if TYPE_CHECKING:
    from tree_sitter import Node

FUNCTIONS = frozenset(
    (
        "function_declaration",
        "generator_function_declaration",
        "function_expression",
        "generator_function",
        "arrow_function",
        "method_definition",
        "class_static_block",
    )
)
DECLARED = frozenset(("function_declaration", "generator_function_declaration"))
CLASSES = frozenset(("class_declaration", "abstract_class_declaration", "class"))
LEXICAL = ("lexical_declaration", "using_declaration")
_PATTERNS = frozenset(
    (
        "array_pattern",
        "object_pattern",
        "rest_pattern",
        "pair_pattern",
        "assignment_pattern",
        "object_assignment_pattern",
    )
)
_NAMES = frozenset(
    (
        "identifier",
        "shorthand_property_identifier",
        "shorthand_property_identifier_pattern",
        "this",
    )
)


def _declaration(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit a declaration: `var` without a value does nothing."""
    valued = node.type in LEXICAL
    each = [child for child in node.named_children if child.type == "variable_declarator"]
    walker.push(*((c, context) for c in each if valued or field_of(c, "value") is not None))


def _for_in(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push(
        (field_of(node, "right"), context.load()),
        (field_of(node, "left"), context.to(ValueRole.STORE)),
        (field_of(node, "body"), context.load()),
    )


def _catch(walker: Walker, node: Node, context: NodeContext) -> None:
    parameter = field_of(node, "parameter")
    walker.push((parameter, context.to(ValueRole.STORE)), (field_of(node, "body"), context.load()))


def _member(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.part_of(field_of(node, "object"), context, field_of(node, "index"))


def _call(walker: Walker, node: Node, context: NodeContext) -> None:
    called = field_of(node, "function")
    walker.push((field_of(node, "arguments"), context.load()))
    if called is not None and called.type == "member_expression":
        walker.receive(field_of(called, "object"), field_of(called, "property"), context)
    else:
        walker.push((called, context.load()))


def _pair_pattern(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push((field_of(node, "key"), context.load()), (field_of(node, "value"), context))


def _with_default(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push((field_of(node, "right"), context.maybe()), (field_of(node, "left"), context))


def _parameter(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push((field_of(node, "value"), context.maybe()), (field_of(node, "pattern"), context))


def _function(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit a nested function: captured outer variables are used, its own names are not."""
    if node.type in DECLARED:
        walker.push((field_of(node, "name"), context.to(ValueRole.STORE)))
    walker.push((field_of(node, "body"), NESTED))
    for each in ("parameters", "parameter"):
        walker.push((field_of(node, each), NESTED.to(ValueRole.STORE)))


def _class(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push((field_of(node, "body"), NESTED))
    heritage = [child for child in node.named_children if child.type == "class_heritage"]
    walker.push(*((child, context.load()) for child in heritage))
    name = field_of(node, "name")
    if name is not None and node.type != "class":
        walker.name(name, context.to(ValueRole.STORE))


def _enum(walker: Walker, node: Node, context: NodeContext) -> None:
    name = field_of(node, "name")
    walker.push((name, context.to(ValueRole.STORE)), (field_of(node, "body"), context.load()))


def _import_specifier(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push((field_of(node, "alias") or field_of(node, "name"), context))


def _import(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push_children(node, context.to(ValueRole.STORE))


def _export_specifier(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push((field_of(node, "name"), context.load()))


def _augmented(walker: Walker, node: Node, context: NodeContext) -> None:
    right, left = field_of(node, "right"), field_of(node, "left")
    walker.push((right, context.load()), (left, context.to(ValueRole.UPDATE)))


_TYPES = (
    "type_annotation",
    "type_arguments",
    "type_parameters",
    "implements_clause",
    "type_predicate",
    "interface_declaration",
    "type_alias_declaration",
    "nested_type_identifier",
    "type_query",
    "accessibility_modifier",
    "asserts_annotation",
    "type_predicate_annotation",
    "object_type",
    "generic_type",
    "union_type",
    "function_type",
    "ambient_declaration",
    "function_signature",
)

TABLE = Table(
    names=_NAMES,
    skipped=frozenset((*_TYPES, "comment", "hash_bang_line", "empty_statement")),
    transparent=_PATTERNS
    | frozenset(
        (
            "expression_statement",
            "parenthesized_expression",
            "await_expression",
            "formal_parameters",
            "non_null_expression",
            "as_expression",
            "satisfies_expression",
            "sequence_expression",
            "import_clause",
            "named_imports",
            "namespace_import",
        )
    ),
    raising=frozenset(
        (
            "call_expression",
            "new_expression",
            "member_expression",
            "subscript_expression",
            "await_expression",
            "yield_expression",
            "throw_statement",
            "object_pattern",
            "array_pattern",
            "import_statement",
        )
    ),
    mutators=frozenset(("pop", "shift", "push", "unshift", "splice", "sort", "reverse", "next")),
    visitors={
        "lexical_declaration": _declaration,
        "using_declaration": _declaration,
        "variable_declaration": _declaration,
        "variable_declarator": braces.declarator,
        "assignment_expression": braces.assign,
        "augmented_assignment_expression": _augmented,
        "update_expression": braces.update,
        "member_expression": _member,
        "subscript_expression": _member,
        "call_expression": _call,
        "pair_pattern": _pair_pattern,
        "assignment_pattern": _with_default,
        "object_assignment_pattern": _with_default,
        "required_parameter": _parameter,
        "optional_parameter": _parameter,
        "binary_expression": braces.binary,
        "ternary_expression": braces.ternary,
        "for_in_statement": _for_in,
        "catch_clause": _catch,
        **dict.fromkeys(FUNCTIONS, _function),
        **dict.fromkeys(CLASSES, _class),
        "enum_declaration": _enum,
        "import_statement": _import,
        "import_specifier": _import_specifier,
        "export_specifier": _export_specifier,
    },
)
