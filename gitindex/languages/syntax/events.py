"""Captures as ranges in the order of the text: what opens, what names, what ends a signature."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitindex.languages.syntax.kinds import WEAK

if TYPE_CHECKING:
    from gitindex.languages.syntax.parser import Captures

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

Extent = tuple[int, int]
"""Where a range starts, and minus where it ends: sorted, the outer one comes first."""
Event = tuple[int, int, int, str]


def events_of(captures: Captures) -> list[Event]:
    """The ranges that decide nesting, outermost first; one definition per range."""
    kinds = _kinds(captures)
    events: list[Event] = [(start, end, DEF, kind) for (start, end), kind in kinds.items()]
    for capture, rank in _RANKS.items():
        # Two plain numbers cost half of `byte_range`.
        found = [(n.start_byte, -n.end_byte, rank, capture) for n in captures.get(capture, ())]
        if rank == LOCAL:  # what a pattern names is no anonymous function
            found = [event for event in found if event[:2] not in kinds]
        events += found
    events += section_events(captures)
    events.sort()
    return events


def _kinds(captures: Captures) -> dict[Extent, str]:
    """What is defined in each range: of several kinds the strongest, of equals the first."""
    found = [capture[4:] for capture in captures if capture.startswith("def.")]
    found.reverse()
    found.sort(key=_strength)
    kinds: dict[Extent, str] = {}
    for kind in found:  # the last to say wins
        nodes = captures["def." + kind]
        kinds.update(dict.fromkeys([(n.start_byte, -n.end_byte) for n in nodes], kind))
    return kinds


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
