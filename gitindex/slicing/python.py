"""Python: what its node types define, use and do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gitindex.slicing.ir import Block, Kind, Statement, Trait
from gitindex.slicing.reader import Grammar, Head, Place, Reader, jump
from gitindex.slicing.scope import Scope
from gitindex.slicing.walk import Context, Role, Table, Walker, field_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


def _assignment(walker: Walker, node: Node, context: Context) -> None:
    right, left = field_of(node, "right"), field_of(node, "left")
    if right is not None:  # a bare annotation gives no value
        walker.push((right, context.load()), (left, context.to(Role.STORE)))


def _augmented(walker: Walker, node: Node, context: Context) -> None:
    right, left = field_of(node, "right"), field_of(node, "left")
    walker.push((right, context.load()), (left, context.to(Role.UPDATE)))


def _walrus(walker: Walker, node: Node, context: Context) -> None:
    """Binds in the function, also from inside a comprehension."""
    target = context._replace(scope=context.scope.function, role=Role.STORE, early=True)
    walker.push((field_of(node, "value"), context.load()), (field_of(node, "name"), target))


def _attribute(walker: Walker, node: Node, context: Context) -> None:
    walker.part_of(field_of(node, "object"), context)


def _subscript(walker: Walker, node: Node, context: Context) -> None:
    indexes = node.children_by_field_name("subscript")
    walker.part_of(field_of(node, "value"), context, *indexes)


def _call(walker: Walker, node: Node, context: Context) -> None:
    called = field_of(node, "function")
    walker.push((field_of(node, "arguments"), context.load()))
    if called is not None and called.type == "attribute":
        walker.receive(field_of(called, "object"), field_of(called, "attribute"), context)
    else:
        walker.push((called, context.load()))


def _value_only(walker: Walker, node: Node, context: Context) -> None:
    walker.push((field_of(node, "value"), context.load()))


def _default(walker: Walker, node: Node, context: Context) -> None:
    walker.push((field_of(node, "value"), context.load()), (field_of(node, "name"), context))


def _comprehension(walker: Walker, node: Node, context: Context) -> None:
    """Its clauses come first: they declare what its body uses."""
    inside = context.maybe()._replace(scope=context.scope.inner())
    parts = sorted(node.named_children, key=lambda child: child.type != "for_in_clause")
    walker.push(*((child, inside) for child in parts))


def _clause(walker: Walker, node: Node, context: Context) -> None:
    target = context._replace(role=Role.DECLARE, early=True)
    sources = node.children_by_field_name("right")
    walker.push(*((s, context.load()) for s in sources), (field_of(node, "left"), target))


def _for(walker: Walker, node: Node, context: Context) -> None:
    walker.push(
        (field_of(node, "right"), context.load()),
        (field_of(node, "left"), context.to(Role.STORE)),
        (field_of(node, "body"), context.load()),
        (field_of(node, "alternative"), context.load()),
    )


def _as(walker: Walker, node: Node, context: Context) -> None:
    """`with … as x`, `except … as x`; and in a pattern, `… as x`."""
    target = context._replace(role=Role.STORE, early=context.role is not Role.MATCH)
    first = context if context.role is Role.MATCH else context.load()
    children = node.named_children
    walker.push(*((c, first if at == 0 else target) for at, c in enumerate(children)))


def _dotted(walker: Walker, node: Node, context: Context) -> None:
    """In a pattern one name is bound, but a dotted one is a value; an import binds the first."""
    names = node.named_children
    value = context.role is Role.MATCH and len(names) > 1
    walker.push(*((name, context.load() if value else context) for name in names[:1]))


def _class_pattern(walker: Walker, node: Node, context: Context) -> None:
    children = node.named_children
    walker.push(*((c, context.load() if at == 0 else context) for at, c in enumerate(children)))


def _keyword_pattern(walker: Walker, node: Node, context: Context) -> None:
    walker.push(*((child, context) for child in node.named_children[1:]))


def _dict_pattern(walker: Walker, node: Node, context: Context) -> None:
    keys = {key.id for key in node.children_by_field_name("key")}
    walker.push(*((c, context.load() if c.id in keys else context) for c in node.named_children))


def _case(walker: Walker, node: Node, context: Context) -> None:
    for child in reversed(node.named_children):
        matched = child.type == "case_pattern"
        walker.push((child, context.to(Role.MATCH) if matched else context.load()))


def _conditional(walker: Walker, node: Node, context: Context) -> None:
    parts = node.named_children
    walker.push(
        *((c, context.load() if at == 1 else context.maybe()) for at, c in enumerate(parts))
    )


def _boolean(walker: Walker, node: Node, context: Context) -> None:
    walker.push(
        (field_of(node, "left"), context.load()), (field_of(node, "right"), context.maybe())
    )


def _import(walker: Walker, node: Node, context: Context) -> None:
    for name in node.children_by_field_name("name"):
        walker.push((field_of(name, "alias") or name, context.to(Role.STORE)))


def _delete(walker: Walker, node: Node, context: Context) -> None:
    walker.push_children(node, context.to(Role.STORE))


def _outer_names(walker: Walker, node: Node, _: Context) -> None:
    walker.unbound.update(map(text_of, node.named_children))


def _function(walker: Walker, node: Node, context: Context) -> None:
    """A nested function: what it takes from outside is used, its own names are not."""
    parameters, body = field_of(node, "parameters"), field_of(node, "body")
    walker.push((field_of(node, "name"), context.to(Role.STORE)))
    for parameter in parameters.named_children if parameters is not None else ():
        walker.push((field_of(parameter, "value"), context.load()))
    if not walker.shallow:
        inside = walker.enter(context)
        inside.scope.declare_all(_bound(walker.table, parameters, body))
        walker.push((body, inside))


def _class(walker: Walker, node: Node, context: Context) -> None:
    body = field_of(node, "body")
    walker.push((field_of(node, "name"), context.to(Role.STORE)))
    if not walker.shallow:
        inside = context.load()._replace(scope=context.scope.class_body())
        inside.scope.declare_all(_bound(walker.table, None, body))
        walker.push((body, inside))
    walker.push((field_of(node, "superclasses"), context.load()))


def _bound(table: Table, parameters: Node | None, body: Node | None) -> set[str]:
    """The names that a nested function or class binds itself."""
    probe = Walker(table, shallow=True)
    scope = Scope()
    parts = [(parameters, Context(scope, Role.DECLARE)), (body, Context(scope))]
    probe.walk((node, context) for node, context in parts if node is not None)
    return probe.bound - probe.unbound


def _read_if(reader: Reader, node: Node, place: Place) -> list[Statement]:
    heads: list[tuple[Head, Block]] = []
    otherwise: Block = ()
    for part in (node, *node.children_by_field_name("alternative")):
        if part.type == "else_clause":
            otherwise = reader.block(field_of(part, "body"), place.below())
        else:
            body = reader.block(field_of(part, "consequence"), place.below())
            heads.append((_test(reader, part, place), body))
    return reader.chain(heads, otherwise)


def _test(reader: Reader, node: Node, place: Place) -> Head:
    condition = field_of(node, "condition")
    if condition is None:
        return reader.keyword(node)
    return reader.head((condition, Context(place.scope)), start=node)


def _read_while(reader: Reader, node: Node, place: Place) -> list[Statement]:
    condition = field_of(node, "condition")
    endless = condition is not None and text_of(condition) in ("True", "1")
    traits = [Trait.ENDLESS] if endless else []
    return [_loop(reader, node, place, _test(reader, node, place), *traits)]


def _read_for(reader: Reader, node: Node, place: Place) -> list[Statement]:
    """The target is written at the start of every round, and not when there is no round."""
    head = reader.head((field_of(node, "right"), Context(place.scope)), start=node)
    head.found.raises = True  # the iterator may
    loop = _loop(reader, node, place, head)
    target = reader.head((field_of(node, "left"), Context(place.scope, Role.STORE)))
    return [replace(loop, body=(reader.make(Kind.SIMPLE, target), *loop.body))]


def _loop(reader: Reader, node: Node, place: Place, head: Head, *traits: Trait) -> Statement:
    otherwise = field_of(node, "alternative")
    return reader.make(
        Kind.LOOP, head, *traits,
        body=reader.block(field_of(node, "body"), place.below()),
        otherwise=reader.block(otherwise and field_of(otherwise, "body"), place.below()),
    )  # fmt: skip


def _read_with(reader: Reader, node: Node, place: Place) -> list[Statement]:
    clauses = [child for child in node.named_children if child.type == "with_clause"]
    head = reader.head(*((clause, Context(place.scope)) for clause in clauses), start=node)
    body = reader.block(field_of(node, "body"), place.below())
    return [reader.make(Kind.SIMPLE, head), *body]


def _read_try(reader: Reader, node: Node, place: Place) -> list[Statement]:
    body = reader.block(field_of(node, "body"), place.below())
    cases: list[Block] = []
    otherwise: Block = ()
    last: Block = ()
    catches_all = False
    for part in node.named_children:
        match part.type:
            case "except_clause" | "except_group_clause":
                cases.append(_read_handler(reader, part, place))
                value = field_of(part, "value")
                catches_all |= value is None or _names_all(value)
            case "else_clause":
                otherwise = reader.block(field_of(part, "body"), place.below())
            case "finally_clause":
                last = reader.sequence(_inside(part), place.below())
    traits = [Trait.COMPLETE] if catches_all else []
    return [
        reader.make(
            Kind.TRY, reader.keyword(node), *traits,
            body=body, otherwise=otherwise, last=last, cases=cases,
        )
    ]  # fmt: skip


def _names_all(value: Node) -> bool:
    caught = value.named_children[0] if value.type == "as_pattern" else value
    return text_of(caught) in ("Exception", "BaseException")


def _read_handler(reader: Reader, node: Node, place: Place) -> Block:
    value = field_of(node, "value")
    context = Context(place.scope)
    head = reader.head((value, context), start=node) if value else reader.keyword(node)
    return (reader.make(Kind.CASE, head), *reader.sequence(_inside(node), place.below()))


def _inside(node: Node) -> list[Node]:
    """The statements of the block in a clause whose block has no field name."""
    blocks = [child for child in node.named_children if child.type == "block"]
    return [statement for block in blocks for statement in block.named_children]


def _read_match(reader: Reader, node: Node, place: Place) -> list[Statement]:
    subjects = node.children_by_field_name("subject")
    head = reader.head(*((s, Context(place.scope)) for s in subjects), start=node)
    body = field_of(node, "body")
    clauses = [c for c in body.named_children if c.type == "case_clause"] if body else []
    cases = [_read_case(reader, clause, place) for clause in clauses]
    traits = [Trait.UNBROKEN] + [Trait.COMPLETE for clause in clauses[-1:] if _fits_all(clause)]
    return [reader.make(Kind.SWITCH, head, *traits, cases=cases)]


def _fits_all(clause: Node) -> bool:
    patterns = [child for child in clause.named_children if child.type == "case_pattern"]
    return (
        field_of(clause, "guard") is None
        and len(patterns) == 1
        and text_of(patterns[0]).isidentifier()
    )


def _read_case(reader: Reader, node: Node, place: Place) -> Block:
    context = Context(place.scope)
    patterns = [
        (c, context.to(Role.MATCH)) for c in node.named_children if c.type == "case_pattern"
    ]
    head = reader.head(*patterns, (field_of(node, "guard"), context), start=node)
    body = reader.block(field_of(node, "consequence"), place.below())
    return (reader.make(Kind.CASE, head), *body)


_COMPREHENSIONS = (
    "list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression",
)  # fmt: skip

TABLE = Table(
    names=frozenset(("identifier",)),
    skipped=frozenset(("type", "comment", "type_parameter", "future_import_statement")),
    transparent=frozenset((
        "expression_statement", "await", "parenthesized_expression", "pattern_list", "tuple_pattern",
        "list_pattern", "tuple", "list", "expression_list", "list_splat_pattern", "list_splat",
        "dictionary_splat_pattern", "as_pattern_target", "parameters", "lambda_parameters",
        "typed_parameter", "case_pattern", "union_pattern", "splat_pattern", "decorated_definition",
    )),
    raising=frozenset((
        "call", "subscript", "attribute", "binary_operator", "comparison_operator", "await", "yield",
        "raise_statement", "import_statement", "import_from_statement", "assert_statement",
        "delete_statement", "augmented_assignment", "for_in_clause", "pattern_list", "tuple_pattern",
        "list_pattern", "list_splat", "dictionary_splat", "with_clause", "unary_operator",
    )),
    blocks=frozenset(),
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
        "global_statement": _outer_names,
        "nonlocal_statement": _outer_names,
        "function_definition": _function,
        "lambda": _function,
        "class_definition": _class,
    },
)  # fmt: skip

GRAMMAR = Grammar(
    table=TABLE,
    statements={
        "if_statement": _read_if,
        "while_statement": _read_while,
        "for_statement": _read_for,
        "with_statement": _read_with,
        "try_statement": _read_try,
        "match_statement": _read_match,
        "return_statement": jump(Kind.RETURN),
        "raise_statement": jump(Kind.RAISE),
        "break_statement": jump(Kind.BREAK),
        "continue_statement": jump(Kind.CONTINUE),
    },
    functions=frozenset(("function_definition", "lambda")),
    named=frozenset(("function_definition",)),
    classes=frozenset(("class_definition",)),
)
