"""Captures as ranges in text order: definitions, names, bodies and other parts; and what becomes of one."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from gitindex.languages.syntax.kinds import FUNCTIONS, LOCALS, SCOPES, VALUES, WEAK

if TYPE_CHECKING:
    from tree_sitter import Node

    from gitindex.languages.syntax.parser import Captures

BODY, OUTER, DEF, IMPL, LOCAL, GUARD, ACCESS, DOC, RECEIVER, NAME, PATH, MARKED, TEXT = range(13)
"""The role of a captured range; of two with the same extent, the lower comes first."""

_RANKS = {
    "outer": OUTER,
    "export": OUTER,
    "impl": IMPL,
    "impl.trait": IMPL,
    "access": ACCESS,
    "local": LOCAL,
    "guard": GUARD,
    "doc": DOC,
    "body": BODY,
    "receiver": RECEIVER,
    "name": NAME,
    "name.path": PATH,
    "name.marked": MARKED,
    "name.text": TEXT,
}
END_OF_FILE = 1 << 40
EXPORT = 1 << 5
"""A kind of range for the compiled sweep: after those of definitions, see `_flags`."""

Extent = tuple[int, int]
"""Start and negated end of a range: sorted, outer ranges come first."""
Event = tuple[int, int, int, str]


def events_of(captures: Captures) -> list[Event]:
    """Return the ranges that decide nesting, outermost first; one definition per range."""
    kinds = _kinds(captures)
    events: list[Event] = [(start, end, DEF, kind) for (start, end), kind in kinds.items()]
    for capture, rank in _RANKS.items():
        # Reading two plain numbers costs half as much as `byte_range`.
        ranges = [(n.start_byte, -n.end_byte, rank, capture) for n in captures.get(capture, ())]
        if rank == LOCAL:  # a named definition is not an anonymous function
            ranges = [event for event in ranges if event[:2] not in kinds]
        events += ranges
    events += section_events(captures)
    events.sort()
    return events


Group = tuple[int, int, int, list["Node"]]
"""For the compiled sweep: rank, order among equal places, what the kind is, and its nodes."""


def groups_of(captures: Captures) -> tuple[tuple[Group, ...], list[str]]:
    """Return the same as groups, and the kind of each; there are no headings."""
    kinds = _by_strength(captures)
    groups = [(DEF, n, _flags(kind), captures["def." + kind]) for n, kind in enumerate(kinds)]
    for capture, rank in _RANKS.items():
        if capture in captures:
            order = capture in ("outer", "impl.trait")  # after the other one of their rank
            groups.append((rank, order, EXPORT * (capture == "export"), captures[capture]))
            kinds.append(capture)
    return tuple(groups), kinds


@cache
def _flags(kind: str) -> int:
    """Return what native/sweep.c must know of a kind."""
    classes = (FUNCTIONS, SCOPES, VALUES, LOCALS, ("key",))
    return sum(1 << bit for bit, members in enumerate(classes) if kind in members)


def _by_strength(captures: Captures) -> list[str]:
    """Return the kinds of definitions, from weakest to strongest; of equal ones the first is last."""
    kinds = [capture[4:] for capture in captures if capture.startswith("def.")]
    kinds.reverse()
    kinds.sort(key=_strength)
    return kinds


def _kinds(captures: Captures) -> dict[Extent, str]:
    """Return the kind of definition in each range: the strongest, and of equal ones the first."""
    kinds: dict[Extent, str] = {}
    for kind in _by_strength(captures):  # the last one wins
        nodes = captures["def." + kind]
        kinds.update(dict.fromkeys([(n.start_byte, -n.end_byte) for n in nodes], kind))
    return kinds


def _strength(kind: str) -> int:
    return WEAK.get(kind, len(WEAK) + 1)


def section_events(captures: Captures) -> list[Event]:
    """Return headings as nested ranges: each ends at the next one of its level or above."""
    headings = sorted(
        (node.start_byte, int(capture[8:]), node.end_byte)
        for capture, nodes in captures.items()
        if capture.startswith("heading.")
        for node in nodes
    )
    events: list[Event] = []
    ends: dict[int, int] = {}
    for start, level, head_end in reversed(headings):
        end = min((at for upto, at in ends.items() if upto <= level), default=END_OF_FILE)
        ends[level] = start
        events += [(start, -end, DEF, "section"), (head_end, -head_end, BODY, "body")]
    return events


class CapturedRange:  # not a dataclass: the import slows a cold worker down
    """One captured range while it is open; later the raw form of a symbol."""

    # Defaults are the class's: most ranges keep them, and a file has thousands of ranges.
    ordinal = parent = -1  # of its own symbol, and of the enclosing one
    name = qualified = ""
    name_start = name_end = -1
    body = -1  # where its body starts
    doc: tuple[int, int] | None = None
    prefix = ""  # receiver or implemented type
    exported = False  # is in an export statement
    local = False  # inside a function
    guarded = False  # inside a condition
    shut = False  # values in it are visible to one function only
    outer: CapturedRange | None = None  # the nearest enclosing range that can be a parent
    owner: CapturedRange | None = None  # the nearest enclosing definition
    named: CapturedRange | None = None  # the same, but not across an anonymous function
    depth = 0  # number of enclosing ranges that can be a parent
    access = ""  # the last access label seen in it
    label = ""  # the access label that applies to it

    def __init__(self, rank: int, kind: str, start: int, end: int) -> None:
        self.rank = rank
        self.kind = kind
        self.start = self.anchor = start  # anchor: of its decorators, attributes or export keyword
        self.end = end

    def is_boundary(self) -> bool:
        return self.rank in (IMPL, LOCAL) or (self.rank == DEF and self.kind in SCOPES)

    # A scope never refers to itself: without cycles it is freed at once, not by the collector.
    def holder(self) -> CapturedRange | None:
        return self if self.rank in (DEF, IMPL) else self.owner

    def namer(self) -> CapturedRange | None:
        if self.rank in (DEF, IMPL):
            return self
        return self.named if self.rank != LOCAL else None

    def hides(self) -> bool:
        return self.local or self.rank == LOCAL or self.kind in FUNCTIONS


Row = tuple[int, int, int, int, int, int, int, int, int, str, int, int, str, int, int, int]
"""A range as the compiled sweep returns it."""


def from_rows(rows: list[Row], kinds: list[str], data: bytes) -> list[CapturedRange]:
    """Return ranges of the compiled sweep: named ones and those around them, outer ones first."""
    made: list[CapturedRange] = []
    for row in rows:
        rank, kind, start, end, outer, anchor, body, doc, doc_end = row[:9]
        name, name_start, name_end, prefix, bits, label, label_end = row[9:]
        scope = CapturedRange(rank, kinds[kind] if kind >= 0 else "method", start, end)
        if outer >= 0:
            scope.outer = made[outer]
        scope.anchor, scope.body, scope.prefix = anchor, body, prefix
        scope.name, scope.name_start, scope.name_end = name, name_start, name_end
        if doc >= 0:
            scope.doc = doc, doc_end
        if bits:
            scope.exported, scope.local = bool(bits & 1), bool(bits & 2)
            scope.guarded = bool(bits & 4)
        if label >= 0:
            scope.label = data[label:label_end].decode("utf-8", "replace")
        made.append(scope)
    return made
