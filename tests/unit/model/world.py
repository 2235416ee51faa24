"""Everything but the runner: git moving HEAD, hooks, kill -9, a reader; changes the given state."""

from collections.abc import Callable, Iterator

from .jobs import FULL, enqueue
from .state import (
    ALIVE,
    BAD,
    DEAD,
    DETOURS,
    FAULTS,
    GEN,
    GHOST,
    HEAD,
    HOOKS,
    LOCK,
    M_GEN,
    M_TREE,
    MOVES,
    OWED,
    PRE,
    R_RUN,
    READER,
    SHOWN,
    SLOTS,
    SPOOL,
    STATUS,
    TAKEN,
    Bounds,
    G,
    Hook,
    Pc,
    Protocol,
    Violation,
    whole,
)

State = bytearray
MAX_TREE = 6  # one bit a blob, one byte a store
LAST = 32  # bit of a hook: no move after its own
SWAP = (0, 2, 1, DEAD)


def tidy_runners(s: State) -> None:
    """One form for states that differ in which runner is called first, or in the generation."""
    a, b = SLOTS
    if s[b] and s[a : a + 4] < s[b : b + 4]:
        s[a : a + 4], s[b : b + 4] = s[b : b + 4], s[a : a + 4]
        s[LOCK], s[ALIVE], s[R_RUN] = SWAP[s[LOCK]], SWAP[s[ALIVE]], SWAP[s[R_RUN]]
    if s[GEN] and not s[a + G] and not s[b + G] and s[READER] < 2 and s[GEN] >= s[M_GEN]:
        s[GEN], s[M_GEN] = s[GEN] > s[M_GEN], 0  # only the order of generations matters


def tidy_hooks(s: State) -> None:
    a, b = HOOKS
    if s[b] and s[a : a + 2] < s[b : b + 2]:
        s[a : a + 2], s[b : b + 2] = s[b : b + 2], s[a : a + 2]


# git


def moves(s: bytes, p: Protocol, bounds: Bounds) -> Iterator[tuple[str, State]]:
    """A commit with its hook; or a detour: HEAD goes back, no hook fires, one fires for nothing."""
    tree, room = s[HEAD], not s[HOOKS[1]]
    if room and tree < MAX_TREE:
        yield "commit", moved(s, tree + 1, Hook.APPEND, p)
        if bounds.calls:
            yield "commit, enqueue_refresh called", moved(s, tree + 1, Hook.CALL_LOOK, p)
    if s[DETOURS]:
        if room and tree:
            yield "checkout", detour(s, tree - 1, Hook.APPEND, p)
        if room:
            yield "event without a move", detour(s, tree, Hook.APPEND, p)
        if tree:
            yield "reset (no hook)", detour(s, tree - 1, Hook.NONE, p)
        if tree < MAX_TREE:
            yield "am (no hook)", detour(s, tree + 1, Hook.NONE, p)


def detour(s: bytes, tree: int, hook: int, p: Protocol) -> State:
    n = moved(s, tree, hook, p)
    n[DETOURS] -= 1
    return n


def moved(s: bytes, tree: int, hook: int, p: Protocol) -> State:
    """With the tree diff a scope decides nothing, so that all scopes are one state."""
    n = State(s)
    scope = FULL if p.tree_diff else 1 << (min(n[HEAD], tree) & 1)
    n[HEAD], n[GHOST] = tree, OWED if hook else 0
    n[MOVES] -= 1
    for at in HOOKS:
        n[at] &= ~LAST
    if hook:
        n[HOOKS[1]] = hook | scope << 3 | LAST
    return n


# the hook


def hook_step(s: State, at: int, p: Protocol) -> str | None:
    """One step of a hook; None while it waits for one of the two runners to exit."""
    pc, scope, last = s[at] & 7, s[at] >> 3 & 3, s[at] & LAST
    if pc == Hook.APPEND:
        s[SPOOL] |= scope
        s[at] = Hook.STALE | last
        return "h1 append to the spool"
    if pc == Hook.STALE:
        show_stale(s, last)
        s[at] = Hook.WAKE | last
        return "h2 rename stale"
    if pc == Hook.CALL_LOOK:
        s[at + 1] = 0 if p.head_in_txn else s[HEAD]
        s[at] = s[at] & ~7 | Hook.CALL_ENQUEUE
        return "call: open, or read HEAD"
    if pc == Hook.CALL_ENQUEUE:
        enqueue(s, s[HEAD] if p.head_in_txn else s[at + 1], scope, p)
        s[at], s[at + 1] = Hook.WAKE | last, 0
        return "call: enqueue"
    if s[ALIVE]:
        s[at] = 0
        return "h3 a runner is alive"
    if s[SLOTS[1]]:
        return None
    s[SLOTS[1]] = Pc.FLOCK
    s[at] = 0
    tidy_runners(s)
    return "h3 spawn a runner"


def show_stale(s: State, last: int) -> None:
    """The world may expect a true status if this hook, or a runner writing fresh, shows stale."""
    writing = (Pc.PRE_RENDER, Pc.SHOW_STALE)
    runner_will = s[SLOTS[0]] in writing or s[SLOTS[1]] in writing
    if last and (s[PRE] or not s[STATUS] or runner_will):
        s[GHOST] |= SHOWN
    if s[PRE]:
        s[STATUS] = s[PRE] = 0


# kill -9


def kill_runner(s: State, at: int, me: int) -> None:
    if s[at] in (Pc.PRE_RENDER, Pc.SHOW_STALE):
        s[GHOST] &= ~SHOWN
    s[at : at + 4] = bytes(4)
    for held in (LOCK, ALIVE):
        if s[held] == me:
            s[held] = 0
    if s[R_RUN] == me:
        s[R_RUN] = DEAD
    excuse(s, last=0)


def kill_hook(s: State, at: int) -> None:
    last = s[at] & LAST
    s[at : at + 2] = bytes(2)
    excuse(s, last)


def excuse(s: State, last: int) -> None:
    """Nothing is owed if the hook of the last move died, or nobody is left who has yet to look."""
    first, second = SLOTS
    looking = s[first] not in (0, Pc.RECHECK) or s[second] not in (0, Pc.RECHECK)
    left = s[HOOKS[0]] or s[HOOKS[1]] or looking
    s[FAULTS] -= 1
    if last or not left:
        s[GHOST] &= ~OWED


# the reader: marker, HEAD and spool, data, marker again


def read_marker(s: State) -> None:
    s[READER] = 2 if s[M_TREE] else 0
    s[READER + 1], s[READER + 2] = s[M_TREE], s[M_GEN]


def read_head(s: State) -> None:
    same = s[HEAD] + 1 == s[READER + 1] and not s[SPOOL] and not s[TAKEN]
    s[READER] = 3 if same else 0


def read_data(s: State) -> None:
    s[READER] = 4 if s[GEN] == s[READER + 2] else 0
    s[READER + 3] = whole(s, s[READER + 1] - 1)


def read_marker_again(s: State) -> None:
    same = s[M_TREE] == s[READER + 1] and s[M_GEN] == s[READER + 2]
    if same and not s[READER + 3]:
        s[BAD] = Violation.FALSE_FRESH
    s[READER] = 0


READ: dict[int, Callable[[State], None]] = {
    1: read_marker,
    2: read_head,
    3: read_data,
    4: read_marker_again,
}


def read(s: State) -> None:
    READ[s[READER]](s)
    if not s[READER]:
        s[READER : READER + 4] = bytes(4)
