"""Breadth-first search of every reachable state; the shortest trace to each kind of violation."""

from dataclasses import dataclass, field

from .protocol import recovers, successors, violations
from .state import LASTING, Q_HEAD, Bounds, Protocol, Violation, start


@dataclass(slots=True)
class Found:
    """What a search has seen."""

    states: int = 0
    steps: int = 0
    crash_points: int = 0  # different disks a kill of everybody can leave
    traces: dict[Violation, str] = field(default_factory=dict)


def explore(p: Protocol, bounds: Bounds, until: Violation | None = None) -> Found:
    """Visit every state, or stop at the first one with the violation looked for."""
    found = Found()
    first = start(bounds)
    parents: dict[bytes, bytes] = {first: first}
    disks: set[bytes] = set()
    level = [first]
    while level and until not in found.traces:
        deeper: list[bytes] = []
        for s in level:
            for violation in examine(s, p, disks):
                if violation not in found.traces:
                    found.traces[violation] = trace(s, parents, p, bounds)
            for _, n in successors(s, p, bounds):
                found.steps += 1
                if n not in parents:
                    parents[n] = s
                    deeper.append(n)
        level = deeper
    found.states, found.crash_points = len(parents), len(disks)
    return found


def examine(s: bytes, p: Protocol, disks: set[bytes]) -> list[Violation]:
    """The violations of the state, and of recovery from its disk where that disk is new."""
    found = violations(s)
    disk = s[:LASTING]
    if disk not in disks:
        disks.add(disk)
        if not all(recovers(disk, p, how) for how in ("bare", "run", "event")):
            found.append(Violation.NO_RECOVERY)
    return found


def trace(s: bytes, parents: dict[bytes, bytes], p: Protocol, bounds: Bounds) -> str:
    """The steps from the start to the state, one a line."""
    lines = [describe(s)]
    while parents[s] != s:
        before = parents[s]
        label = next(label for label, n in successors(before, p, bounds) if n == s)
        lines.append(label)
        s = before
    return "\n".join(f"{i:3} {line}" for i, line in enumerate(reversed(lines), 1))


def most_rows(p: Protocol, bounds: Bounds) -> int | None:
    """The most job rows any story creates; None if a story need not end (the graph has a cycle)."""
    graph: dict[bytes, list[tuple[bytes, bool]]] = {}
    entries = {start(bounds): 0}
    todo = list(entries)
    while todo:
        s = todo.pop()
        graph[s] = [(n, creates_row(label, s, n)) for label, n in successors(s, p, bounds)]
        for n, _ in graph[s]:
            if n not in entries:
                entries[n] = 0
                todo.append(n)
            entries[n] += 1
    rows = dict.fromkeys(graph, 0)
    ready, ended = [start(bounds)], 0
    while ready:
        s = ready.pop()
        ended += 1
        for n, created in graph[s]:
            rows[n] = max(rows[n], rows[s] + created)
            entries[n] -= 1
            if not entries[n]:
                ready.append(n)
    return max(rows.values()) if ended == len(graph) else None


def creates_row(label: str, s: bytes, n: bytes) -> bool:
    return "enqueue" in label and n[Q_HEAD] not in (0, s[Q_HEAD])


def describe(s: bytes) -> str:
    return "state: " + " ".join(str(b) for b in s)
