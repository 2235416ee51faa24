"""Captures as ranges in the order of the text: what opens, what names, what ends a signature."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitindex.syntax.kinds import WEAK

if TYPE_CHECKING:
    from gitindex.syntax.parser import Captures

BODY, OUTER, DEF, IMPL, LOCAL, GUARD, ACCESS, DOC, RECEIVER, NAME, PATH, MARKED, TEXT = range(13)
"""What a captured range is; of two of the same extent, the lower comes first."""

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

Event = tuple[int, int, int, str]


def events_of(captures: Captures) -> list[Event]:
    """The ranges that decide nesting, outermost first; one definition per range."""
    kinds: dict[tuple[int, int], str] = {}
    events: list[Event] = []
    for capture, nodes in captures.items():
        if capture.startswith("def."):
            kind = capture[4:]
            for node in nodes:
                extent = node.byte_range
                if extent not in kinds or _strength(kinds[extent]) < _strength(kind):
                    kinds[extent] = kind
        elif (rank := _RANKS.get(capture)) is not None:
            events += [(node.start_byte, -node.end_byte, rank, capture) for node in nodes]
    if "local" in captures:
        # What a pattern names is no anonymous function.
        events = [e for e in events if e[2] != LOCAL or (e[0], -e[1]) not in kinds]
    events += [(start, -end, DEF, kind) for (start, end), kind in kinds.items()]
    events += section_events(captures)
    events.sort()
    return events


def _strength(kind: str) -> int:
    return WEAK.get(kind, len(WEAK) + 1)


def section_events(captures: Captures) -> list[Event]:
    """Headings as nested ranges: each lasts until the next one of its level or above."""
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
