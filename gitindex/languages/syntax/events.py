"""Captures as ranges in text order: definitions, names, bodies and other parts."""

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
        found = [(n.start_byte, -n.end_byte, rank, capture) for n in captures.get(capture, ())]
        if rank == LOCAL:  # a named definition is not an anonymous function
            found = [event for event in found if event[:2] not in kinds]
        events += found
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
    found = [capture[4:] for capture in captures if capture.startswith("def.")]
    found.reverse()
    found.sort(key=_strength)
    return found


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
