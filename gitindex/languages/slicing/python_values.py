"""Python: what its expressions define and use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitindex.languages.slicing.walk import NESTED, NodeContext, Table, ValueRole, Walker, field_of

if TYPE_CHECKING:
    from tree_sitter import Node


def _assignment(walker: Walker, node: Node, context: NodeContext) -> None:
    right, left = field_of(node, "right"), field_of(node, "left")
    if right is not None:  # a bare annotation assigns no value
        walker.push((right, context.load()), (left, context.to(ValueRole.STORE)))


def _augmented(walker: Walker, node: Node, context: NodeContext) -> None:
    right, left = field_of(node, "right"), field_of(node, "left")
    walker.push((right, context.load()), (left, context.to(ValueRole.UPDATE)))


def _walrus(walker: Walker, node: Node, context: NodeContext) -> None:
    target = context._replace(role=ValueRole.STORE, early=True)
    walker.push((field_of(node, "value"), context.load()), (field_of(node, "name"), target))


def _attribute(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.part_of(field_of(node, "object"), context)


def _subscript(walker: Walker, node: Node, context: NodeContext) -> None:
    indexes = node.children_by_field_name("subscript")
    walker.part_of(field_of(node, "value"), context, *indexes)


def _call(walker: Walker, node: Node, context: NodeContext) -> None:
    called = field_of(node, "function")
    walker.push((field_of(node, "arguments"), context.load()))
    if called is not None and called.type == "attribute":
        walker.receive(field_of(called, "object"), field_of(called, "attribute"), context)
    else:
        walker.push((called, context.load()))


def _value_only(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push((field_of(node, "value"), context.load()))


def _default(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push((field_of(node, "value"), context.load()), (field_of(node, "name"), context))


def _comprehension(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit a comprehension, clauses first: they write the names that its body uses."""
    parts = sorted(node.named_children, key=lambda child: child.type != "for_in_clause")
    walker.push(*((child, context.maybe()) for child in parts))


def _clause(walker: Walker, node: Node, context: NodeContext) -> None:
    target = context._replace(role=ValueRole.STORE, early=True)
    sources = node.children_by_field_name("right")
    walker.push(*((s, context.load()) for s in sources), (field_of(node, "left"), target))


def _for(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push(
        (field_of(node, "right"), context.load()),
        (field_of(node, "left"), context.to(ValueRole.STORE)),
        (field_of(node, "body"), context.load()),
        (field_of(node, "alternative"), context.load()),
    )


def _as(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit `with … as x`, `except … as x` and, in a pattern, `… as x`."""
    target = context._replace(role=ValueRole.STORE, early=context.role is not ValueRole.MATCH)
    first = context if context.role is ValueRole.MATCH else context.load()
    children = node.named_children
    walker.push(*((c, first if at == 0 else target) for at, c in enumerate(children)))


def _dotted(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit the first part of a dotted name: bound, or in a pattern with several parts, read."""
    names = node.named_children
    value = context.role is ValueRole.MATCH and len(names) > 1
    walker.push(*((name, context.load() if value else context) for name in names[:1]))


def _class_pattern(walker: Walker, node: Node, context: NodeContext) -> None:
    children = node.named_children
    walker.push(*((c, context.load() if at == 0 else context) for at, c in enumerate(children)))


def _keyword_pattern(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push(*((child, context) for child in node.named_children[1:]))


def _dict_pattern(walker: Walker, node: Node, context: NodeContext) -> None:
    keys = {key.id for key in node.children_by_field_name("key")}
    walker.push(*((c, context.load() if c.id in keys else context) for c in node.named_children))


def _case(walker: Walker, node: Node, context: NodeContext) -> None:
    for child in reversed(node.named_children):
        matched = child.type == "case_pattern"
        walker.push((child, context.to(ValueRole.MATCH) if matched else context.load()))


def _conditional(walker: Walker, node: Node, context: NodeContext) -> None:
    parts = node.named_children
    walker.push(
        *((c, context.load() if at == 1 else context.maybe()) for at, c in enumerate(parts))
    )


def _boolean(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push(
        (field_of(node, "left"), context.load()), (field_of(node, "right"), context.maybe())
    )


def _import(walker: Walker, node: Node, context: NodeContext) -> None:
    for name in node.children_by_field_name("name"):
        walker.push((field_of(name, "alias") or name, context.to(ValueRole.STORE)))


def _delete(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push_children(node, context.to(ValueRole.STORE))


def _function(walker: Walker, node: Node, context: NodeContext) -> None:
    """Visit a nested function: captured outer variables are used, its own names are not."""
    parameters, body = field_of(node, "parameters"), field_of(node, "body")
    walker.push((field_of(node, "name"), context.to(ValueRole.STORE)))
    for parameter in parameters.named_children if parameters is not None else ():
        walker.push((field_of(parameter, "value"), context.load()))
    walker.push((body, NESTED))


def _class(walker: Walker, node: Node, context: NodeContext) -> None:
    walker.push((field_of(node, "name"), context.to(ValueRole.STORE)))
    walker.push((field_of(node, "body"), context.load()))
    walker.push((field_of(node, "superclasses"), context.load()))


_COMPREHENSIONS = (
    "list_comprehension",
    "set_comprehension",
    "dictionary_comprehension",
    "generator_expression",
)

TABLE = Table(
    names=frozenset(("identifier",)),
    skipped=frozenset(
        (
            "type",
            "comment",
            "type_parameter",
            "future_import_statement",
            "global_statement",
            "nonlocal_statement",
        )
    ),
    transparent=frozenset(
        (
            "expression_statement",
            "await",
            "parenthesized_expression",
            "pattern_list",
            "tuple_pattern",
            "list_pattern",
            "tuple",
            "list",
            "expression_list",
            "list_splat_pattern",
            "list_splat",
            "dictionary_splat_pattern",
            "as_pattern_target",
            "parameters",
            "lambda_parameters",
            "typed_parameter",
            "case_pattern",
            "union_pattern",
            "splat_pattern",
            "decorated_definition",
        )
    ),
    raising=frozenset(
        (
            "call",
            "subscript",
            "attribute",
            "binary_operator",
            "comparison_operator",
            "await",
            "yield",
            "raise_statement",
            "import_statement",
            "import_from_statement",
            "assert_statement",
            "delete_statement",
            "augmented_assignment",
            "for_in_clause",
            "pattern_list",
            "tuple_pattern",
            "list_pattern",
            "list_splat",
            "dictionary_splat",
            "with_clause",
            "unary_operator",
        )
    ),
    mutators=frozenset(("pop", "popleft", "popitem", "setdefault", "read", "readline", "send")),
    visitors={
        "assignment": _assignment,
        "augmented_assignment": _augmented,
        "named_expression": _walrus,
        "attribute": _attribute,
        "subscript": _subscript,
        "call": _call,
        "keyword_argument": _value_only,
        "default_parameter": _default,
        "typed_default_parameter": _default,
        **dict.fromkeys(_COMPREHENSIONS, _comprehension),
        "for_in_clause": _clause,
        "for_statement": _for,
        "as_pattern": _as,
        "dotted_name": _dotted,
        "class_pattern": _class_pattern,
        "keyword_pattern": _keyword_pattern,
        "dict_pattern": _dict_pattern,
        "case_clause": _case,
        "conditional_expression": _conditional,
        "boolean_operator": _boolean,
        "import_statement": _import,
        "import_from_statement": _import,
        "delete_statement": _delete,
        "function_definition": _function,
        "lambda": _function,
        "class_definition": _class,
    },
)
