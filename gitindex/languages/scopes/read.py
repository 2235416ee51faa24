"""Reads the scopes of a text from its tree, in a worker."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from gitindex.languages.scopes.comments_and_strings import QUIET, keep_quiet, nested
from gitindex.languages.scopes.expressions import (
    MAX_PARTS,
    VALUES,
    first_choice,
    is_unnamed,
    literal_type,
    names_within,
    read_annotation,
    read_parts,
    read_type,
    type_of,
    visible_from,
)
from gitindex.languages.scopes.heads import read_exports, read_heads
from gitindex.languages.scopes.model import (
    BLOCK,
    COMPREHENSION,
    EACH,
    ECMA,
    EITHER,
    FUNCTION,
    GIVEN,
    KINDS,
    MARKS,
    MOST_GIVEN,
    NOMINAL,
    OFFSETS,
    OUTER,
    WHOLE,
    nest_ranges,
)
from gitindex.languages.scopes.packed import ScopesWriter
from gitindex.languages.syntax.parser import query_matches

if TYPE_CHECKING:
    from tree_sitter import Node

Captures = dict[str, list["Node"]]

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
        "simple_identifier",
        "variable_name",
        "implicit_parameter",
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
    "optional_parameter_declaration": "declarator",
}
_DECLARATORS = frozenset({"pointer_declarator", "reference_declarator", "init_declarator"})
_LISTS = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "expression_list", "tuple"})


_KNOWN_PARTS = _NAMES | _LISTS | _DECLARATORS
"""Patterns whose names take a known part of the value."""


def read_scopes(root: Node, text: bytes, language: str) -> bytes:
    """Return the packed scopes of a parsed text; empty if the language has no scope query."""
    matches = query_matches(root, language, "scopes")
    if matches is None:
        return b""
    seen = _SortedMatches(ScopeReading(text, language))
    for _, captures in matches:
        _sorter(tuple(captures))(seen, captures)
    _join_bodies(seen.ranges)
    seen.reading.nest(seen.ranges)
    for captured, captures in seen.rest:
        if captured.marked:
            _take(seen, captures)
        if captured.binds:
            _bind(seen, captures, captured.binds)
    return _pack(seen, root.has_error)


class _SortedMatches:
    """The matches of one text, sorted by what they say."""

    def __init__(self, reading: ScopeReading) -> None:
        self.reading = reading
        self.ranges: dict[tuple[int, int], int] = {}
        self.quiet: dict[tuple[int, int], str] = {}
        self.receivers: dict[int, Node] = {}
        self.rest: list[tuple[_Captured, Captures]] = []
        self.marks: dict[str, list[Any]] = {mark: [] for mark in MARKS}
        self._chains: dict[int, int] = {}

    def chain(self, node: Node) -> int:
        """Return the number of the chain of a node that many places share."""
        number = self._chains.get(node.id)
        if number is None:
            number = self._chains[node.id] = self.reading.out.chain(read_parts(node))
        return number


class _Captured(NamedTuple):
    """What the captures of a match say, by their names alone."""

    marked: bool
    binds: list[tuple[str, str]]


@cache
def _sorter(names: tuple[str, ...]) -> Callable[[_SortedMatches, Captures], None]:
    """Return what sorts the matches with these captures: there are thousands in a text, of few forms."""
    if "receiver" in names:
        return _keep_receiver
    captured = _Captured(
        not _MARKS.isdisjoint(names),
        [(name, name[5:]) for name in names if name.startswith("bind.")],
    )
    others = [name in _MARKS or name.startswith("bind.") for name in names]
    first = names[: others.index(True)] if True in others else names
    ranges = [(name, KINDS[name[6:]]) for name in first if name.startswith("scope.")]
    quiet = [name for name in first if name in QUIET]
    listed = captured.marked or bool(captured.binds)

    def keep(seen: _SortedMatches, captures: Captures) -> None:
        for name, kind in ranges:
            for node in captures[name]:
                _keep_scope(seen.ranges, node, kind)
        for name in quiet:
            for node in captures[name]:
                keep_quiet(seen.quiet, node, name)
        if listed:
            seen.rest.append((captured, captures))

    return keep


def _keep_receiver(seen: _SortedMatches, captures: Captures) -> None:
    seen.receivers[captures["of"][0].start_byte] = captures["receiver"][0]


def _pack(seen: _SortedMatches, broken: bool) -> bytes:
    """Return the payload: columns in the order in which FileScopes reads them."""
    reading, marks, receivers = seen.reading, seen.marks, seen.receivers
    out = reading.out
    out.add_rows(((start, end - start, kind) for start, end, kind, *_ in reading.ranges[1:]), 3)
    out.add_rows((reading.names[key] for key in sorted(reading.names)), 11)
    out.add_rows(((at, seen.chain(receivers[at])) for at in sorted(receivers)), 2)
    out.add_rows(sorted({row for row in marks["given"] if row[1]}), 2)
    out.add_rows(sorted(marks["taken"]), 2)
    out.add_rows(_apart(nested(seen.quiet), out), 3)
    for mark in OFFSETS:
        out.add_growing(sorted(set(marks[mark])))
    _pack_heads(out, marks)
    exports = [(name, at, out.chain(parts)) for name, at, parts in marks["exports"]]
    return out.finish(int(broken), reading.moved, exports)


def _pack_heads(out: ScopesWriter, marks: dict[str, list[Any]]) -> None:
    """Add bases, decorators, declared types, assigned attributes and defaults."""
    out.add_rows(((at, out.chain(c)) for at, c in sorted(marks["bases"], key=_FIRST)), 2)
    for mark in ("decorators", "literals"):
        out.add_rows(((at, out.word(w)) for at, w in sorted(marks[mark], key=_FIRST)), 2)
    for mark in ("typed", "keyed"):
        typed = sorted(dict(marks[mark]).items())
        out.add_rows(((at, out.type(kind), kind[0] - at if kind else 0) for at, kind in typed), 3)
    assigned = sorted(marks["assigned"], key=_FIRST)
    out.add_rows(
        (
            (at, size, *_near(at, owner, value), *origin)
            for at, size, owner, value, origin in assigned
        ),
        10,
    )
    out.add_rows(([start, end - start] for start, end in sorted(marks["defaults"])), 2)


_FIRST = itemgetter(0)


def _apart(quiet: list[tuple[int, int, str]], out: ScopesWriter) -> Iterator[tuple[int, int, int]]:
    """Yield where ranges start, less the sizes of those before, their sizes and their kinds."""
    skipped = 0
    for start, end, kind in quiet:
        yield start - skipped, end - start, out.word(kind)
        skipped += end - start


def _near(at: int, *spans: tuple[int, int]) -> Iterator[int]:
    """Yield the distance and the size of each span; zeros for one that is empty."""
    for start, end in spans:
        yield start - at if end else 0
        yield end - start


_MARKS = frozenset(
    {
        *("key", "label", "member", "star", "global", "nonlocal", "field"),
        *("taken", "given", "typed", "keyed", "short", "head", "slash", "defaults"),
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


def _keep_scope(ranges: dict[tuple[int, int], int], node: Node, kind: int) -> None:
    """Keep a range; what is read outside and is itself a scope (a lambda as a default) is both."""
    start, end = node.start_byte, -node.end_byte
    other = ranges.setdefault((start, end), kind)
    if other != kind and OUTER in (other, kind):
        ranges[start - 1, end] = OUTER
        ranges[start, end] = kind if other == OUTER else other


def _join_bodies(ranges: dict[tuple[int, int], int]) -> None:
    """Remove blocks that are function bodies: these share a scope with the parameters."""
    ending: dict[int, list[int]] = {}  # where the ranges start, by where they end
    for start, minus_end in sorted(ranges):
        ending.setdefault(minus_end, []).append(start)
    for end, starts in ending.items():
        around = -1  # the last range before this one that is kept; is it a function?
        for start in starts:
            kind = ranges[start, end]
            if kind == BLOCK and around >= 0 and ranges[around, end] == FUNCTION:
                del ranges[start, end]
            else:
                around = start


def _mark(seen: _SortedMatches, captures: Captures) -> None:
    """Record the places of one match: keys, labels, declared types, exports."""
    marks = seen.marks
    for capture, nodes in captures.items():
        if capture in _PLACES:
            marks[_PLACES[capture]] += [node.start_byte for node in nodes]
        elif capture in _MARKERS:
            _MARKERS[capture](seen, captures, nodes)
    if not _HEADS.isdisjoint(captures):
        read_heads(marks, captures)
    if not _EXPORTS.isdisjoint(captures):
        marks["exports"] += read_exports(captures)


def _taken(seen: _SortedMatches, captures: Captures, nodes: list[Node]) -> None:
    chain = seen.chain(captures["holder"][0]) if "holder" in captures else 0
    mark = "taken" if "taken" in captures else "given"
    seen.marks[mark] += [(node.start_byte, chain) for node in nodes]


def _typed_names(seen: _SortedMatches, captures: Captures, nodes: list[Node]) -> None:
    for node in nodes:
        _typed(seen.marks, node, captures["type"][0], seen.reading.language)


def _keyed(seen: _SortedMatches, captures: Captures, nodes: list[Node]) -> None:
    """Record which declared type the keys of a literal are fields of."""
    kind = read_annotation(captures["type"][0])
    seen.marks["keyed"] += [[node.start_byte, kind] for node in nodes]


def _members_within(seen: _SortedMatches, _captures: Captures, nodes: list[Node]) -> None:
    seen.marks["members"] += names_within(nodes)


def _keys(seen: _SortedMatches, _captures: Captures, nodes: list[Node]) -> None:
    for node in nodes:
        kind = literal_type(node) if seen.reading.language == "go" else None
        if kind != VALUES:
            seen.marks["keys"].append(node.start_byte)
            seen.marks["literals"] += [[node.start_byte, kind]] if kind is not None else []


_MARKERS: dict[str, Callable[[_SortedMatches, Captures, list[Node]], None]] = {
    "key": _keys,
    "taken": _taken,
    "given": _taken,
    "typed": _typed_names,
    "keyed": _keyed,
    "with": _members_within,
}


def _typed(marks: dict[str, list[Any]], node: Node, kind: Node, language: str) -> None:
    if node.type == "field_identifier" and is_unnamed(node):
        marks["unnamed"].append(node.start_byte)
    nominal = language in NOMINAL
    row = read_type(_first_type(kind), node) if nominal else read_annotation(kind)
    marks["typed"].append([node.start_byte, row])


def _take(seen: _SortedMatches, captures: Captures) -> None:
    """Record one match other than a scope or a binding: a key, a label, an assigned attribute."""
    _mark(seen, captures)
    reading = seen.reading
    for how in _MOVED.intersection(captures):
        for node in captures[how]:
            name = (node.text or b"").decode("utf-8", "replace")
            reading.moved.append([reading.home(node.start_byte, "var"), name, how])
    if "field" in captures:
        _field(seen, captures)


_MOVED = frozenset({"global", "nonlocal"})


def _bind(seen: _SortedMatches, captures: Captures, binds: list[tuple[str, str]]) -> None:
    """Record the names that one match declares."""
    reading = seen.reading
    bound = _BoundNames(
        captures,
        next((captures[c][0] for c in ("value", "each") if c in captures), None),
        "each" in captures,
        max((node.end_byte for node in captures.get("from", ())), default=-1),
    )
    simple = reading.language not in NOMINAL and not bound.each
    for capture, how in binds:
        for node in captures[capture]:
            if simple and how not in _NEVER_SIMPLE and node.type == "identifier":
                start = bound.visible if bound.visible >= 0 else node.start_byte
                reading.declare(node, how, start, *_value_of(reading, bound, node, WHOLE))
                continue
            if node.type not in _NAMES:
                seen.marks["assigned"] += _set_members(node)
            _bind_pattern(reading, node, how, bound)


_NEVER_SIMPLE = frozenset({"typeparam", "rest"})
"""Kinds of names that are seen before they stand, or take no whole value."""


class _BoundNames(NamedTuple):
    """What a match says of the names that it declares."""

    captures: Captures
    value: Node | None
    each: bool  # they take the elements of the value
    visible: int = -1  # where they begin to be seen; -1 where they stand


Span = tuple[int, int]
ValueOrigin = tuple[int, int, int, int]
"""What of the value is taken, the numbers of its chain and of the declared type, the type's distance."""
_NONE: Span = (0, 0)
_UNKNOWN: ValueOrigin = (WHOLE, 0, 0, 0)


def _bind_pattern(reading: ScopeReading, node: Node, how: str, bound: _BoundNames) -> None:
    """Record the names of a pattern, with the part of the value that each takes."""
    part_known = (reading.language in NOMINAL or how != "rest") and node.type in _KNOWN_PARTS
    for target, pick in _targets(node):
        start = bound.visible if bound.visible >= 0 else visible_from(target, how, reading.language)
        if _is_of_each(node, part_known, pick) if bound.each else part_known:
            reading.declare(target, how, start, *_value_of(reading, bound, target, pick))
        else:
            parts = _taken_parts(target, bound.value) if node.type == "object_pattern" else None
            number = reading.out.chain(parts)
            reading.declare(target, how, start, _NONE, (EITHER, number, 0, 0), int(number > 0))


def _is_of_each(node: Node, part_known: bool, pick: int) -> bool:
    """Return whether a name of a loop's pattern is the element: in Go the second of two."""
    listed = node.type == "expression_list"
    return (listed and pick == 1) or (part_known and not listed and pick == WHOLE)


def _taken_parts(target: Node, value: Node | None) -> list[Any] | None:
    """Return the chain that a name of `const { a, b: c } = value` gets; None for any other pattern."""
    key, pattern = target, target.parent
    if pattern is not None and pattern.type == "pair_pattern":
        key, pattern = pattern.child_by_field_name("key") or target, pattern.parent
    outer = pattern.parent if pattern is not None else None
    known = (
        outer is not None and outer.type == "variable_declarator"
    )  # no pattern inside of another
    front = read_parts(value) if known and value is not None else None
    name = (key.text or b"").decode("utf-8", "replace")
    return [*front, [name, False, ""]] if front and len(front) < MAX_PARTS else None


def _value_of(
    reading: ScopeReading, bound: _BoundNames, name: Node, pick: int
) -> tuple[Span, ValueOrigin, int]:
    """Return the value that a name gets: all of it, each element, or the n-th; and the declared type."""
    captures, value, nominal = bound.captures, bound.value, reading.language in NOMINAL
    if nominal:
        kind = type_of(captures, name, value)
    else:
        kind = read_annotation(captures["type"][0]) if "type" in captures else None
    if bound.each and (kind is None or "type" not in captures):
        pick = EACH
    span, parts = _NONE, None
    if value is not None:
        span, parts, pick = _value_parts(value, pick, nominal)
    elif kind is None and reading.language in ECMA:
        parts, pick = _given_parts(name)
    number = reading.out.chain(parts)
    far = int(kind[0]) - name.start_byte if kind else 0
    known = ("type" in captures) + (span[1] > 0)
    return span, (pick, number, reading.out.type(kind), far), known


def _given_parts(name: Node) -> tuple[list[Any] | None, int]:
    """Return the chain that is called with a callback that has a parameter, and which it is."""
    function, at = _callback_of(name)
    arguments = function.parent if function is not None and function.type in _CALLBACKS else None
    call = arguments.parent if arguments is not None and arguments.type == "arguments" else None
    if function is None or arguments is None or call is None:
        return None, WHOLE
    number = arguments.named_children.index(function)
    called = call.child_by_field_name("function") or call.child_by_field_name("constructor")
    parts = read_parts(called) if called is not None and max(at, number) < MOST_GIVEN else None
    return parts, GIVEN - MOST_GIVEN * number - at if parts else WHOLE


def _callback_of(name: Node) -> tuple[Node | None, int]:
    """Return the node whose parameter a name may be, and the number of the parameter."""
    own = name.parent if name.parent and name.parent.type == "required_parameter" else name
    listed = own.parent
    if listed is not None and listed.type == "formal_parameters":
        return listed.parent, listed.named_children.index(own)
    return listed, 0


_CALLBACKS = frozenset({"arrow_function", "function_expression"})


def _field(seen: _SortedMatches, captures: Captures) -> None:
    owner = captures["object"][0] if "object" in captures else None
    said = (owner.start_byte, owner.end_byte) if owner is not None else _NONE
    bound = _BoundNames(captures, captures["value"][0] if "value" in captures else None, False)
    for node in captures["field"]:
        value, origin, _ = _value_of(seen.reading, bound, node, WHOLE)
        size = node.end_byte - node.start_byte
        seen.marks["assigned"].append([node.start_byte, size, said, value, origin])


def _set_members(pattern: Node) -> Iterator[list[Any]]:
    """Yield the attributes of Python that a pattern assigns to, in the form of `_field`."""
    stack = [pattern]
    while stack:
        here = stack.pop()
        owner, name = here.child_by_field_name("object"), here.child_by_field_name("attribute")
        if here.type == "attribute" and owner is not None and name is not None:
            size = name.end_byte - name.start_byte
            said = (owner.start_byte, owner.end_byte)
            yield [name.start_byte, size, said, _NONE, _UNKNOWN]
        elif here.type not in _OPAQUE or here.type == "parenthesized_expression":
            stack += here.named_children


def _first_type(node: Node) -> Node:
    """Return the type of the first result of a Go function; any other type as it is."""
    results = node.named_children if node.type == "parameter_list" else []
    first = next((child for child in results if child.type != "comment"), None)
    return (first.child_by_field_name("type") or node) if first is not None else node


def _value_parts(node: Node, pick: int, nominal: bool) -> tuple[Span, list[Any] | None, int]:
    """Return the extent of a value, its chain, None for any other value, and what of it is taken."""
    node, pick = _listed_value(node, pick)
    size = node.end_byte - node.start_byte
    span = (node.start_byte, node.end_byte) if size <= MAX_VALUE else _NONE
    if pick >= 0 and nominal:
        return span, None, pick
    parts = read_parts(node)
    if node.parent is not None and node.parent.type == "as_pattern":
        return span, parts and [*parts, [_entered(node), True, ""]], pick
    first = first_choice(node) if parts is None and pick == WHOLE and not nominal else None
    return (span, read_parts(first), EITHER) if first is not None else (span, parts, pick)


def _entered(node: Node) -> str:
    """Return the method whose result `with a as b` binds."""
    here: Node | None = node
    while here is not None and here.type != "with_statement":
        here = here.parent
    awaited = here is not None and here.children[0].type == "async"
    return "__aenter__" if awaited else "__enter__"


def _listed_value(node: Node, pick: int) -> tuple[Node, int]:
    """Return the value that the n-th name gets of `a, b := f(), g()`, and what of it is taken."""
    while node.type == "assignment" and (inner := node.child_by_field_name("right")) is not None:
        node = inner
    if node.type != "expression_list" or pick == EACH:
        return node, pick
    values = [child for child in node.named_children if child.type != "comment"]
    at = 0 if pick == WHOLE and len(values) == 1 else pick
    return (values[at], WHOLE) if 0 <= at < len(values) else (node, pick)


def _number(name: Node) -> int:
    """Return which of several names of Go's `var a, b = f()` one is; WHOLE for any other name."""
    spec = name.parent if name.parent is not None and name.parent.type == "var_spec" else None
    names = spec.children_by_field_name("name") if spec is not None else []
    return names.index(name) if len(names) > 1 and name in names else WHOLE


def _targets(node: Node) -> Iterator[tuple[Node, int]]:
    """Yield the names that a pattern binds, with the part of the value that each takes."""
    if node.type in _LISTS:
        yield from _listed_targets(node)
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


def _listed_targets(node: Node) -> Iterator[tuple[Node, int]]:
    """Yield the names of `a, b`, each with its number."""
    names = [child for child in node.named_children if child.type != "comment"]
    single = len(names) == 1 and node.type == "expression_list"
    for at, child in enumerate(names):
        plain = child.type in _NAMES and len(names) > 1
        for name, _ in _targets(child):
            yield name, WHOLE if single and not plain else at


_AROUND = frozenset({"function", "class", "type", "enum"})
"""Their name is inside the scope they open, but belongs to the surrounding one."""


class ScopeReading:
    """The ranges of one text, and the declarations found in them."""

    def __init__(self, text: bytes, language: str) -> None:
        self.language = language
        self.size = len(text)
        self.out = ScopesWriter()
        self.ranges: list[list[int]] = []
        self.names: dict[tuple[int, int], tuple[int, ...]] = {}
        self._known: dict[tuple[int, int], int] = {}  # how much of each is known: a type, a value
        self.moved: list[list[Any]] = []

    def nest(self, kinds: dict[tuple[int, int], int]) -> None:
        """Sort the ranges and record which range contains which."""
        ranges = [(start, -minus_end, kind) for (start, minus_end), kind in sorted(kinds.items())]
        self.ranges = nest_ranges(self.size, ranges)
        self._starts = [row[0] for row in self.ranges]

    def at(self, offset: int) -> int:
        """Return the innermost range around an offset."""
        low = max(bisect_right(self._starts, offset) - 1, 0)
        while low > 0 and self.ranges[low][1] <= offset:
            low = self.ranges[low][3]
        return low

    def home(self, offset: int, how: str) -> int:
        """Return the scope that a declaration at an offset belongs to."""
        return self._home(self.at(offset), how)

    def _home(self, scope: int, how: str) -> int:
        ranges = self.ranges
        while ranges[scope][2] == OUTER:
            scope = ranges[scope][5] if how in ("param", "rest") else ranges[scope][4]
        if how in _AROUND:
            return max(ranges[scope][4], 0)
        if how == "hoist":
            while scope > 0 and ranges[scope][2] in (BLOCK, COMPREHENSION, OUTER):
                scope = ranges[scope][4]
        return scope

    def declare(
        self, node: Node, how: str, start: int, value: Span, origin: ValueOrigin, known: int = 0
    ) -> None:
        """Add a declaration; for the same name and place, keep the one with more information."""
        at, end = node.start_byte, node.end_byte
        inner = self.at(at)
        scope = self._home(inner, how)
        rest = (start - at, value[0] - end if value[1] else 0, value[1] - value[0], *origin)
        kind = self.out.word("var" if how == "hoist" else how)
        self._keep((at, end - at, inner - scope, kind, *rest), scope, known)
        if how == "function" and self.ranges[scope][2] == BLOCK:
            # in sloppy JavaScript, and only there, also in the enclosing function
            while scope > 0 and self.ranges[scope][2] == BLOCK:
                scope = self.ranges[scope][4]
            kind = self.out.word("hoisted")
            self._keep((at, end - at, inner - scope, kind, *rest), scope, known)

    def _keep(self, row: tuple[int, ...], scope: int, known: int) -> None:
        key = (row[0], scope)
        if known > self._known.get(key, -1):
            self.names[key], self._known[key] = row, known
