"""Nests captures by their byte ranges: one pass over sorted ranges, without walking the tree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from gitindex.base.compiled import LIBRARY
from gitindex.base.pattern import compile_later
from gitindex.languages.syntax.events import (
    ACCESS,
    BODY,
    DEF,
    DOC,
    GUARD,
    IMPL,
    LOCAL,
    MARKED,
    NAME,
    OUTER,
    PATH,
    RECEIVER,
    TEXT,
    CapturedRange,
    Event,
    events_of,
    from_rows,
    groups_of,
)
from gitindex.languages.syntax.kinds import FUNCTIONS, LOCALS, SCOPES, TYPES, VALUES

if TYPE_CHECKING:
    from tree_sitter import Node

    from gitindex.languages.syntax.parser import Captures

_NAMES = (NAME, PATH, MARKED, TEXT)
_IDLE = frozenset({LOCAL, GUARD, *_NAMES})
"""Events that have no effect inside a function's body."""

_AROUND = ("function_definition", "class_definition")
_MARKS = "\"'`:="
"""Quotes, and the characters of symbols and assignments, that surround a name."""

_PROTOTYPE = ".prototype"

MAX_KEY_DEPTH = 3
"""Most levels of data keys that become symbols: lock files have tens of thousands."""

MAX_PREFIX = 400
"""Longest prefix of a qualified name; deep nesting can make it as long as the file."""

_LITERAL = compile_later(r'^operator ?"" ?(\w+)')
_CALL_OPERATOR = compile_later(r"^(operator [^(]*?) ?\(.*")
_OPERATOR = compile_later(r"^operator ?(\( ?\)|\[ ?\]|[^\w\s(\[]+)")


class Sweep:
    """The open ranges at one place of the file, and the symbols so far."""

    def __init__(self, data: bytes, attached: dict[int, int]) -> None:
        self.data = data
        self.attached = attached
        self.stack: list[CapturedRange] = []
        self.definitions: list[CapturedRange] = []
        self.module_doc: tuple[int, int] | None = None

    def run(self, events: Iterable[Event]) -> None:
        """Process the events in order; `definitions` then holds the symbols."""
        stack = self.stack
        idle_until = 0
        for start, minus_end, rank, kind in events:
            if start < idle_until and (rank in _IDLE or (rank == DEF and kind in LOCALS)):
                continue
            while stack and stack[-1].end <= start:
                stack.pop()
            self._take(start, -minus_end, rank, kind)
            idle_until = _idle_until(stack[-1], start) if stack and stack[-1].shut else 0

    def _take(self, start: int, end: int, rank: int, kind: str) -> None:
        if OUTER <= rank <= GUARD:
            if not self.stack or not _is_idle(self.stack[-1], start, rank, kind):
                self._open(CapturedRange(rank, kind, start, end))
        elif rank in _NAMES:
            self._name(start, end, rank)
        else:
            self._detail(start, end, rank)

    def _open(self, scope: CapturedRange) -> None:
        """Push a range on the stack, with the properties it inherits from the enclosing one."""
        start, rank, kind = scope.start, scope.rank, scope.kind
        if start in self.attached:
            scope.anchor = self.attached[start]
        if kind == "export":
            scope.exported = True
        if self.stack:
            _inherit(scope, self.stack[-1])
        if rank == LOCAL or (rank == DEF and kind in FUNCTIONS):
            scope.shut = True
        elif rank == IMPL or (rank == DEF and kind in SCOPES):
            scope.shut = False
        self.stack.append(scope)

    def _detail(self, start: int, end: int, rank: int) -> None:
        owner = self.stack[-1].holder() if self.stack else None
        if owner is None:
            if rank == DOC:
                self.module_doc = self.module_doc or (start, end)
        elif rank == BODY:
            if owner.body < 0 and owner.kind not in VALUES:
                owner.body = start
        elif rank == DOC:
            owner.doc = owner.doc or (start, end)
        elif rank == ACCESS:
            owner.access = self._text(start, end)
        else:
            owner.prefix = _received(self._text(start, end), owner.prefix)

    def _name(self, start: int, end: int, rank: int) -> None:
        owner = self.stack[-1].namer() if self.stack else None
        if owner is None or not _takes_names(owner, start):
            return
        text = self._text(start, end)
        if owner.rank == IMPL:
            owner.prefix = owner.prefix or text
            return
        if text == "_":
            return
        if owner.name:
            owner = _twin(owner)
        if rank != NAME:
            text, start, end, prefix, is_member = _odd_name(text, rank, start, end)
            if prefix is not None:
                owner.prefix = prefix
            if is_member:
                owner.kind = "method"
        if text:
            owner.name, owner.name_start, owner.name_end = text, start, end
            self.definitions.append(owner)

    def _text(self, start: int, end: int) -> str:
        return self.data[start:end].decode("utf-8", "replace")


def sweep(data: bytes, captures: Captures, attached: dict[int, int]) -> list[CapturedRange]:
    """Return the named definitions of a file, outermost first, each with its parent."""
    definitions = _named(data, captures, attached)
    definitions += _attributes(captures, definitions)
    definitions.sort(key=lambda scope: (scope.start, -scope.end, scope.name_start))
    for ordinal, scope in enumerate(definitions):
        scope.ordinal = ordinal
        _place(scope)
    return definitions


def _named(data: bytes, captures: Captures, attached: dict[int, int]) -> list[CapturedRange]:
    if LIBRARY is None or any(capture.startswith("heading.") for capture in captures):
        return python_sweep(data, captures, attached)

    def read_name(rank: int, start: int, end: int, prefix: str | None) -> tuple[object, ...]:
        text = data[start:end].decode("utf-8", "replace")
        if rank == RECEIVER:
            return (_received(text, prefix or ""),)
        return _odd_name(text, rank, start, end)

    groups, kinds = groups_of(captures)
    rows, named = LIBRARY.sweep_ranges(data, groups, attached, read_name)
    made = from_rows(rows, kinds, data)
    return [made[number] for number in named]


def python_sweep(data: bytes, captures: Captures, attached: dict[int, int]) -> list[CapturedRange]:
    """Do what native/sweep.c does, and headings; the ranges in the order of their names."""
    state = Sweep(data, attached)
    state.run(events_of(captures))
    return state.definitions


class _OddName(NamedTuple):
    """A name that is not simply spelled in the text."""

    name: str
    start: int
    end: int
    prefix: str | None  # None: as it was
    is_member: bool


def _odd_name(text: str, rank: int, start: int, end: int) -> _OddName:
    """Read a path, a name in quotes or an operator."""
    if rank == PATH:
        prefix, text = _split_path(text)
        is_member = prefix.endswith(_PROTOTYPE)  # of old JavaScript: a member of the class
        prefix = prefix.removesuffix(_PROTOTYPE)
        return _OddName(text, end - len(text.encode()), end, prefix, is_member)
    if rank == MARKED:
        start += len(text) - len(text.lstrip(_MARKS))
        text = text.strip(_MARKS)
        return _OddName(text, start, start + len(text.encode()), None, False)
    return _OddName(_plain_operator(" ".join(text.split())), start, end, None, False)


def _received(text: str, prefix: str) -> str:
    """Return a prefix with the type of a receiver."""
    return f"{prefix}.{text}" if prefix else text


def _place(scope: CapturedRange) -> None:
    """Set a named scope's parent and qualified name; its parents must be done before."""
    outer, prefix = _holder_of(scope), scope.prefix
    if outer is not None:
        _adapt_kind(scope, outer)
    while outer is not None and outer.ordinal < 0:
        prefix = prefix or outer.prefix
        outer = outer.outer
    if outer is not None:
        scope.parent = outer.ordinal
        prefix = f"{outer.qualified}.{prefix}" if prefix else outer.qualified
    if len(prefix) > MAX_PREFIX:
        prefix = ""
    scope.qualified = f"{prefix}.{scope.name}" if prefix else scope.name
    if scope.kind == "variable" and scope.name.isupper():
        scope.kind = "constant"


def _holder_of(scope: CapturedRange) -> CapturedRange | None:
    """Return the range that holds a symbol, which is not always the one around it."""
    outer = scope.outer
    if scope.kind == "property" and outer is not None:  # a parameter that is a field of the class
        scope.kind, outer = "field", outer.outer
    if outer is not None and outer.kind == "type" and scope.kind in TYPES:
        outer = outer.outer  # a struct named inside a typedef is its sibling
    return outer


def _inherit(scope: CapturedRange, top: CapturedRange) -> None:
    """Give a range the properties of the one around it; those that are as usual are not set."""
    boundary = top.is_boundary()
    outer = top if boundary else top.outer
    if outer is not None:
        scope.outer, scope.depth, scope.label = outer, outer.depth + 1, outer.access
        if outer.hides():
            scope.local = True
    if top.rank == GUARD or (top.guarded and not boundary):
        scope.guarded = True
    scope.shut = top.shut
    scope.owner, scope.named = top.holder(), top.namer()
    if top.rank == OUTER:
        scope.anchor = top.anchor
        scope.exported = scope.exported or top.exported


def _takes_names(owner: CapturedRange, start: int) -> bool:
    """Can a name at a place be that of a range? Not in its body, nor of a local value or a deep key."""
    if 0 <= owner.body <= start or _is_local(owner):
        return False
    return owner.kind != "key" or owner.depth <= MAX_KEY_DEPTH


def _twin(owner: CapturedRange) -> CapturedRange:
    """Return another symbol with the same range, for a second name (`a, b = 1, 2`)."""
    twin = CapturedRange(DEF, owner.kind, owner.start, owner.end)
    twin.anchor, twin.body = owner.anchor, owner.body
    twin.exported, twin.local, twin.guarded = owner.exported, owner.local, owner.guarded
    twin.outer, twin.label = owner.outer, owner.label
    return twin


def _is_idle(top: CapturedRange, start: int, rank: int, kind: str) -> bool:
    """Has a range in a function's body no effect? True for local values, conditions and lambdas."""
    if not _idle_until(top, start):
        return False
    return kind in LOCALS if rank == DEF else rank in _IDLE


def _idle_until(top: CapturedRange, start: int) -> int:
    """Return the end of the function whose body contains a place; 0 if there is none."""
    if not top.shut:
        return 0
    owner = top.holder()
    return min(top.end, owner.end) if owner is not None and 0 <= owner.body <= start else 0


def _is_local(scope: CapturedRange) -> bool:
    """Is a value visible to one function only? A field of a local class is not local."""
    if scope.kind not in LOCALS or not scope.local or scope.outer is None:
        return False
    return scope.outer.kind in FUNCTIONS or scope.outer.rank == LOCAL


def _adapt_kind(scope: CapturedRange, outer: CapturedRange) -> None:
    if outer.kind in TYPES or outer.rank == IMPL:
        if scope.kind == "function" or scope.kind == "prototype":
            scope.kind = "method"
        elif scope.kind in VALUES:
            scope.kind = "field"


def _plain_operator(text: str) -> str:
    """Return a C++ operator's or destructor's name without blanks, parameters or result."""
    if text[:1] == "~":
        return text.replace(" ", "")
    if match := _LITERAL.match(text):
        return f'operator""{match.group(1)}'
    if match := _OPERATOR.match(text):
        return "operator" + match.group(1).replace(" ", "")
    return _CALL_OPERATOR.sub(r"\1", text)


def _split_path(text: str) -> tuple[str, str]:
    """Split `A::B.c` into its prefix `A.B` and its last name `c`."""
    parts = [part.strip() for part in text.replace("::", ".").replace(":", ".").split(".")]
    return ".".join(part for part in parts[:-1] if part), parts[-1]


def _attributes(captures: Captures, definitions: list[CapturedRange]) -> list[CapturedRange]:
    """Return a field for each `self.name = …` in an `__init__`, unless its class has the name."""
    makers = {s.start: s for s in definitions if s.name == "__init__" and _is_method(s)}
    if not makers:
        return []
    targets = [node for node in captures.get("flag.patched", ()) if node.text == b"self"]
    targets.sort(key=lambda node: -node.start_byte)  # of two with one name, the first counts
    fields = filter(None, (_field(makers, node) for node in targets))
    named = {(field.outer, field.name): field for field in fields}
    for scope in definitions:
        named.pop((scope.outer, scope.name), None)
    return list(named.values())


def _function_around(node: Node | None) -> int:
    """Return the start of the function or class around a node; -1 if there is none."""
    while node is not None and node.type not in _AROUND:
        node = node.parent
    return node.start_byte if node is not None else -1


def _is_method(scope: CapturedRange) -> bool:
    return scope.outer is not None and scope.outer.kind in TYPES


def _field(makers: dict[int, CapturedRange], node: Node) -> CapturedRange | None:
    """Return the field that `self.name: type = …` at a node makes; its range ends before the value."""
    at = node.start_byte
    inside = any(maker.start < at < maker.end for maker in makers.values())
    maker = makers.get(_function_around(node)) if inside else None
    access = node.parent if maker is not None else None
    name = access.child_by_field_name("attribute") if access is not None else None
    if access is None or name is None or maker is None:
        return None
    annotation = access.parent.child_by_field_name("type") if access.parent is not None else None
    end = (annotation or access).end_byte
    scope = CapturedRange(DEF, "field", access.start_byte, end)
    scope.outer = maker.outer
    scope.name = (name.text or b"").decode("utf-8", "replace")
    scope.name_start, scope.name_end = name.byte_range
    return scope
