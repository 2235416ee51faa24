"""A range of the text that may contain symbols, and the raw form of a symbol."""

from __future__ import annotations

from gitindex.languages.syntax.events import DEF, IMPL, LOCAL
from gitindex.languages.syntax.kinds import FUNCTIONS, SCOPES


class CapturedRange:  # not a dataclass: the import slows a cold worker down
    """One captured range while it is open; later the raw form of a symbol."""

    __slots__ = (
        "access",
        "anchor",
        "body",
        "depth",
        "doc",
        "end",
        "exported",
        "guarded",
        "kind",
        "label",
        "local",
        "name",
        "name_end",
        "name_start",
        "named",
        "ordinal",
        "outer",
        "owner",
        "parent",
        "prefix",
        "qualified",
        "rank",
        "shut",
        "start",
    )

    def __init__(self, rank: int, kind: str, start: int, end: int) -> None:
        self.rank = rank
        self.kind = kind
        self.start = start
        self.end = end
        self.ordinal = self.parent = -1  # of its own symbol, and of the enclosing one
        self.name = self.qualified = ""
        self.name_start = self.name_end = -1
        self.anchor = start  # where its decorators, attributes or export keyword start
        self.body = -1  # where its body starts
        self.doc: tuple[int, int] | None = None
        self.prefix = ""  # receiver or implemented type
        self.exported = False  # is in an export statement
        self.local = False  # inside a function
        self.guarded = False  # inside a condition
        self.shut = False  # values in it are visible to one function only
        self.outer: CapturedRange | None = None  # the nearest enclosing range that can be a parent
        self.owner: CapturedRange | None = None  # the nearest enclosing definition
        self.named: CapturedRange | None = None  # the same, but not across an anonymous function
        self.depth = 0  # number of enclosing ranges that can be a parent
        self.access = ""  # the last access label seen in it
        self.label = ""  # the access label that applies to it

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
