"""A range of the text that may contain symbols, and the raw form of a symbol."""

from __future__ import annotations

from gitindex.languages.syntax.events import DEF, IMPL, LOCAL
from gitindex.languages.syntax.kinds import FUNCTIONS, SCOPES


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
