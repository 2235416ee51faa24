"""Reads the scopes of a text from its tree, in a worker. Replies with one JSON payload."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gitindex.languages.scopes.bound import EACH, WHOLE
from gitindex.languages.scopes.chains import names_within, read_parts
from gitindex.languages.scopes.declared import read_type, type_of, visible_from
from gitindex.languages.scopes.exports import read_exports
from gitindex.languages.scopes.heads import read_heads
from gitindex.languages.scopes.literals import VALUES, is_unnamed, literal_type
from gitindex.languages.scopes.model import (
    BLOCK,
    FUNCTION,
    KINDS,
    MARKS,
    NOMINAL,
    OUTER,
)
from gitindex.languages.scopes.packed import packed, to_json
from gitindex.languages.scopes.reading import ScopeReading
from gitindex.languages.scopes.strings import QUIET, keep_quiet, nested
from gitindex.languages.syntax.extract import MAX_BYTES, MAX_NESTING, nesting
from gitindex.languages.syntax.parser import parse_matches
from gitindex.languages.syntax.source import read_source

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_VALUE = 2_000
"""Longer annotations and values are treated as data and not read."""

_NAMES = frozenset(
    {
        "identifier",
        "type_identifier",
        "shorthand_property_identifier_pattern",
        "package_identifier",
        "property_identifier",
        "field_identifier",
    }
)
_OPAQUE = frozenset(
    {
        "attribute",
        "subscript",
        "member_expression",
        "subscript_expression",
        "selector_expression",
        "index_expression",
        "call",
        "call_expression",
        "parenthesized_expression",
        "unary_expression",
    }
)
"""Targets that are parts of an object: they declare no name."""
_FIELDS = {
    "pair_pattern": "value",
    "assignment_pattern": "left",
    "object_assignment_pattern": "left",
    "assignment": "left",
    "generic_type": "type",
    "variable_declarator": "name",
    "init_declarator": "declarator",
    "array_declarator": "declarator",
    "pointer_declarator": "declarator",
    "function_declarator": "declarator",
}
_LISTS = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "expression_list", "tuple"})


def read_scopes(data: bytes, language: str) -> bytes:
    """Return the payload of a text; empty if the language has no scope query."""
    text = read_source(data).data
    if len(text) > MAX_BYTES or nesting(text) > MAX_NESTING:
        return b""
    parsed = parse_matches(text, language, "scopes")
    if parsed is None:
        return b""
    matches, broken = parsed
    reading = ScopeReading(len(text), language)
    found: dict[tuple[int, int], int] = {}
    rest: list[dict[str, list[Node]]] = []
    marks: dict[str, list[Any]] = {mark: [] for mark in MARKS}
    quiet: dict[tuple[int, int], str] = {}
    for _, captures in matches:
        for capture, nodes in captures.items():
            if capture.startswith("scope."):
                kind = KINDS[capture[6:]]
                for node in nodes:
                    _keep_scope(found, node, kind)
            elif capture in QUIET:
                for node in nodes:
                    keep_quiet(quiet, node, capture)
            elif capture.startswith("bind.") or capture in _MARKS:
                rest.append(captures)
                break
    _join_bodies(found)
    reading.nest(found)
    for captures in rest:
        _take(reading, marks, captures)
    told = {
        "partial": broken,
        "ranges": reading.ranges,
        "moved": reading.moved,
        "quiet": list(zip(*nested(quiet), strict=True)),
        **marks,
        **packed(reading.names.values(), marks),
    }
    return to_json(told).encode()


_MARKS = frozenset(
    {
        *("key", "label", "member", "star", "global", "nonlocal", "field", "set", "receiver"),
        *("taken", "given", "typed", "short", "head", "slash", "defaults"),
        *("export.name", "export.default", "export.whole", "export.open", "with"),
    }
)


_PLACES = {
    "member": "members",
    "label": "labels",
    "star": "stars",
    "short": "shorthands",
}
"""Captures of which only the place is kept."""
_HEADS = frozenset({"head", "slash", "defaults"})
_EXPORTS = frozenset({"export.name", "export.default", "export.whole", "export.open"})


def _keep_scope(found: dict[tuple[int, int], int], node: Node, kind: int) -> None:
    """Keep a range; what is read outside and is itself a scope (a lambda as a default) is both."""
    start, end = node.start_byte, -node.end_byte
    other = found.setdefault((start, end), kind)
    if other != kind and OUTER in (other, kind):
        found[start - 1, end] = OUTER
        found[start, end] = kind if other == OUTER else other


def _join_bodies(found: dict[tuple[int, int], int]) -> None:
    """Remove blocks that are function bodies: these share a scope with the parameters."""
    functions = {-end for (_, end), kind in found.items() if kind == FUNCTION}
    starts = sorted((start, -end) for (start, end), kind in found.items() if kind == FUNCTION)
    blocks = [key for key, kind in found.items() if kind == BLOCK and -key[1] in functions]
    ends: dict[int, list[int]] = {}
    for start, end in starts:
        ends.setdefault(end, []).append(start)
    for start, minus_end in sorted(blocks):
        around = [s for s in ends.get(-minus_end, ()) if s < start]
        if around and found.get((start, minus_end)) == BLOCK:
            inner = max(around)
            taken = [s for s, e in found if e == minus_end and inner < s < start and s != start]
            if not taken:
                del found[start, minus_end]


def _mark(marks: dict[str, list[Any]], captures: dict[str, list[Node]]) -> None:
    """Record the places of one match: keys, labels, receivers, declared types, exports."""
    for capture, nodes in captures.items():
        if capture == "receiver":  # most matches are one
            for node in nodes:
                marks["receivers"].append([captures["of"][0].start_byte, read_parts(node)])
        elif capture in _PLACES:
            marks[_PLACES[capture]] += [node.start_byte for node in nodes]
        elif capture == "key":
            _keys(marks, nodes)
        elif capture == "set":
            for target, _ in (t for n in nodes if n.type not in _OPAQUE for t in _targets(n)):
                text = (target.text or b"").decode("utf-8", "replace")
                marks["sets"].append([text, target.start_byte])
        elif capture in ("taken", "given"):
            holder = captures.get("holder")
            for node in nodes:
                chain = read_parts(holder[0]) if holder else None
                marks[capture].append([node.start_byte, chain])
        elif capture == "typed":
            for node in nodes:
                _typed(marks, node, captures["type"][0])
        elif capture == "with":
            marks["members"] += names_within(nodes)
    if not _HEADS.isdisjoint(captures):
        read_heads(marks, captures)
    if not _EXPORTS.isdisjoint(captures):
        marks["exports"] += read_exports(captures)


def _keys(marks: dict[str, list[Any]], nodes: list[Node]) -> None:
    for node in nodes:
        kind = literal_type(node)
        if kind != VALUES:
            marks["keys"].append(node.start_byte)
            marks["literals"] += [[node.start_byte, kind]] if kind is not None else []


def _typed(marks: dict[str, list[Any]], node: Node, kind: Node) -> None:
    if node.type == "field_identifier" and is_unnamed(node):
        marks["unnamed"].append(node.start_byte)
    marks["typed"].append([node.start_byte, read_type(_first_type(kind), node)])


def _take(
    reading: ScopeReading, marks: dict[str, list[Any]], captures: dict[str, list[Node]]
) -> None:
    """Record one match other than a scope: a binding, a key, a label, an assigned attribute."""
    if not _MARKS.isdisjoint(captures):
        _mark(marks, captures)
        for how in ("global", "nonlocal"):
            for node in captures.get(how, ()):
                name = (node.text or b"").decode("utf-8", "replace")
                reading.moved.append([reading.home(node.start_byte, "var"), name, how])
        if "field" in captures:
            _field(marks, captures, _spans(captures))
    if any(capture.startswith("bind.") for capture in captures):
        _bind(reading, marks, captures)


def _bind(
    reading: ScopeReading, marks: dict[str, list[Any]], captures: dict[str, list[Node]]
) -> None:
    """Record the names that one match declares."""
    spans = _spans(captures)
    value = next((captures[c][0] for c in ("value", "each") if c in captures), None)
    nominal = reading.language in NOMINAL
    each = "each" in captures
    ends = [node.end_byte for node in captures.get("from", ())]
    for capture, nodes in captures.items():
        if not capture.startswith("bind."):
            continue
        how = capture[5:]
        for node in nodes:
            marks["assigned"] += _set_members(node) if node.type not in _NAMES else ()
            told = (nominal or how != "rest") and (node.type in _NAMES or node.type in _LISTS)
            for target, pick in _targets(node):
                start = max(ends) if ends else visible_from(target, how, reading.language)
                listed = node.type == "expression_list"  # Go: the second is the element
                if (each and listed and pick == 1) or (
                    told and not (each and (listed or pick != WHOLE))
                ):
                    kind = type_of(captures, target, value) if nominal else None
                    part = EACH if each and (kind is None or "type" not in captures) else pick
                    known = value if nominal or not each else None
                    chain = _value_parts(known, WHOLE if each else pick) if known else None
                    reading.declare(target, how, start, spans, part, chain, kind)
                else:
                    reading.declare(target, how, start, _NONE, WHOLE)


_NONE = ((0, 0), (0, 0))


def _field(
    marks: dict[str, list[Any]], captures: dict[str, list[Node]], spans: tuple[Any, ...]
) -> None:
    owner = captures["object"][0].text if "object" in captures else b"this"
    for node in captures["field"]:
        name = (node.text or b"").decode("utf-8", "replace")
        told = (owner or b"")[:100].decode("utf-8", "replace")
        marks["assigned"].append([name, node.start_byte, told, *spans])


def _set_members(pattern: Node) -> Iterator[list[Any]]:
    """Yield the attributes of Python that a pattern assigns to, in the form of `_field`."""
    stack = [pattern]
    while stack:
        here = stack.pop()
        owner, name = here.child_by_field_name("object"), here.child_by_field_name("attribute")
        if here.type == "attribute" and owner is not None and name is not None:
            told = ((one.text or b"")[:100].decode("utf-8", "replace") for one in (name, owner))
            yield [next(told), name.start_byte, next(told), *_NONE]
        elif here.type not in _OPAQUE or here.type == "parenthesized_expression":
            stack += here.named_children


def _spans(captures: dict[str, list[Node]]) -> tuple[tuple[int, int], tuple[int, int]]:
    return _span(captures.get("type")), _span(captures.get("value") or captures.get("each"))


def _span(nodes: list[Node] | None) -> tuple[int, int]:
    """Return the extent of a type or value; of a chain of assignments, the last value."""
    if not nodes:
        return 0, 0
    node = nodes[0]
    while node.type == "assignment" and (inner := node.child_by_field_name("right")) is not None:
        node = inner
    start, end = node.start_byte, node.end_byte
    return (start, end) if end - start <= MAX_VALUE else (0, 0)


def _first_type(node: Node) -> Node:
    """Return the type of the first result of a Go function; any other type as it is."""
    results = node.named_children if node.type == "parameter_list" else []
    first = next((child for child in results if child.type != "comment"), None)
    return (first.child_by_field_name("type") or node) if first is not None else node


def _value_parts(node: Node, pick: int) -> list[Any] | None:
    """Return the chain that a name gets as its value; None for any other value."""
    while node.type == "assignment" and (inner := node.child_by_field_name("right")) is not None:
        node = inner
    if node.parent is not None and node.parent.type == "as_pattern":
        return None  # `with a as b`: what `a.__enter__` gives
    if node.type == "expression_list":  # Go: `a, b := f(), g()` and `a, err := f()`
        values = [child for child in node.named_children if child.type != "comment"]
        if len(values) == 1:
            return read_parts(values[0]) if pick in (WHOLE, 0) else None
        return read_parts(values[pick]) if 0 <= pick < len(values) else None
    return read_parts(node) if pick == WHOLE else None


def _number(name: Node) -> int:
    """Return which of several names of Go's `var a, b = f()` one is; WHOLE for any other name."""
    spec = name.parent if name.parent is not None and name.parent.type == "var_spec" else None
    names = spec.children_by_field_name("name") if spec is not None else []
    return names.index(name) if len(names) > 1 and name in names else WHOLE


def _targets(node: Node) -> Iterator[tuple[Node, int]]:
    """Yield the names that a pattern binds, with the part of the value that each takes."""
    if node.type in _LISTS:
        names = [child for child in node.named_children if child.type != "comment"]
        for at, child in enumerate(names):
            pick = at if child.type in _NAMES and len(names) > 1 else WHOLE
            single = len(names) == 1 and node.type == "expression_list"
            for name, _ in _targets(child):
                yield name, pick if pick != WHOLE or single else at
        return
    stack = [node]
    while stack:
        here = stack.pop()
        if here.type in _NAMES:
            yield here, _number(here)
        elif here.type in _FIELDS:
            inner = here.child_by_field_name(_FIELDS[here.type])
            stack += [inner] if inner is not None else here.named_children[:1]
        elif here.type not in _OPAQUE and here.type != "comment":
            stack += reversed(here.named_children)
