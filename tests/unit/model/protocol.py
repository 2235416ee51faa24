"""The refresh protocol: every step any process can take next, and what must hold in every state.

git moves HEAD, then the hook: h1 appends to the spool, h2 renames the pre-rendered stale status,
h3 spawns a runner unless one is advertised alive. Some moves fire no hook.
The runner: r0 flock or exit; r1 advertise; r2 queue again what a dead runner left running;
r3 spool -> taken, enqueue HEAD in one transaction; r4 claim; r5 T := HEAD, lexical store, read
back, facts; r6 publish if HEAD is still T; r7 marker; r8 completed, fenced; r9 status fresh,
pre-rendered stale, stale again if the spool has filled; r10 remove taken if nothing is queued;
r11 spool, queue, HEAD and status: nothing left -> hide; r12 release the flock; r13 look again.
"""

from collections.abc import Iterator

from .jobs import FULL, enqueue
from .runner import STEPS, store_lex_nothing
from .state import (
    ALIVE,
    BAD,
    DEAD,
    FAILED,
    FAULTS,
    GEN,
    GHOST,
    HEAD,
    HOOKS,
    LASTING,
    LOCK,
    M_GEN,
    M_TREE,
    MOVES,
    OWED,
    POISON,
    PRE,
    Q_HEAD,
    R_HEAD,
    R_RUN,
    READER,
    SHOWN,
    SIZE,
    SLOTS,
    SPOOL,
    STATUS,
    TAKEN,
    Bounds,
    Pc,
    Protocol,
    Violation,
    says_fresh,
    whole,
)
from .world import hook_step, kill_hook, kill_runner, moves, read, tidy_hooks, tidy_runners

NUMBERS = (0, 0, 1, 2, 3, 3, 3, 4, 5, 5, 5, 5, 6, 7, 8, 9, 9, 9, 10, 11, 11, 12, 13)
NAMES = [name.lower().replace("_", " ") for name in vars(Pc) if name.isupper()]
STEP_NAME = [f"r{number} {name}" for number, name in zip(NUMBERS, NAMES, strict=True)]
ALONE_STEPS, ALONE_RUNS = 100, 2


def successors(s: bytes, p: Protocol, bounds: Bounds) -> Iterator[tuple[str, bytes]]:
    """Every next state with the step that leads to it."""
    if s[BAD]:
        s = s[:BAD] + b"\0"
    for me, at in enumerate(SLOTS, 1):
        pc = s[at]
        if not pc:
            break
        n = bytearray(s)
        STEPS[pc](n, at, me, p)
        tidy_runners(n)
        yield STEP_NAME[pc], bytes(n)
        if s[FAULTS]:
            n = bytearray(s)
            kill_runner(n, at, me)
            tidy_runners(n)
            yield "kill -9 the runner", bytes(n)
            if pc == Pc.STORE_LEX:
                n = bytearray(s)
                store_lex_nothing(n, at, me, p)
                yield "r5 store lex, which stores nothing", bytes(n)
    for at in HOOKS:
        if not s[at]:
            break
        n = bytearray(s)
        label = hook_step(n, at, p)
        if label:
            tidy_hooks(n)
            yield label, bytes(n)
        if s[FAULTS]:
            n = bytearray(s)
            kill_hook(n, at)
            tidy_hooks(n)
            yield "kill -9 the hook", bytes(n)
    if s[MOVES]:
        for label, n in moves(s, p, bounds):
            tidy_hooks(n)
            yield label, bytes(n)
    if s[READER]:
        n = bytearray(s)
        read(n)
        yield "reader", bytes(n)


def violations(s: bytes) -> list[Violation]:
    """What is wrong in this very state."""
    found = [Violation(s[BAD])] if s[BAD] else []
    if s[M_TREE] and s[GEN] <= s[M_GEN]:  # a newer generation has its own marker to come
        if s[GEN] < s[M_GEN] or not whole(s, s[M_TREE] - 1):
            found.append(Violation.MARKER_LIES)
        if says_fresh(s) and not whole(s, s[HEAD]):
            found.append(Violation.FALSE_FRESH)
    if s[GHOST] and not s[SLOTS[0]] and not s[HOOKS[0]]:  # nobody is left at work
        if s[GHOST] & OWED:
            if not says_fresh(s):
                if s[FAILED] != s[HEAD] + 1:
                    found.append(Violation.STUCK)
            elif s[STATUS] != s[HEAD] + 1:
                found.append(Violation.STATUS_STUCK)
        if s[GHOST] & SHOWN and s[STATUS] and s[STATUS] != s[HEAD] + 1:
            found.append(Violation.STATUS_LIES)
    return found


def recovers(lasting: bytes, p: Protocol, how: str) -> bool:
    """Everybody is killed here; then a bare runner, one `run` or one event: fresh and tidy?"""
    s = bytearray(lasting) + bytes(SIZE - LASTING)
    if s[R_HEAD]:
        s[R_RUN] = DEAD
    if how == "run":
        enqueue(s, s[HEAD], FULL, p)
    elif how == "event":
        s[SPOOL] = FULL
        if s[PRE]:
            s[STATUS] = s[PRE] = 0
    if not runs_alone(s, p):
        return False
    proven = says_fresh(s) and whole(s, s[HEAD]) and s[STATUS] == s[HEAD] + 1
    may_fail = how == "bare" or s[POISON] == s[HEAD] + 1
    return proven or (may_fail and s[FAILED] == s[HEAD] + 1)


def runs_alone(s: bytearray, p: Protocol) -> bool:
    """A runner nobody disturbs ends, after few jobs, and leaves nothing lying about."""
    at = SLOTS[0]
    s[at] = Pc.FLOCK
    runs = 0
    for _ in range(ALONE_STEPS):
        if not s[at]:
            break
        runs += s[at] == Pc.DIFF
        STEPS[s[at]](s, at, 1, p)
    left = s[at] or s[BAD] or s[SPOOL] or s[TAKEN] or s[Q_HEAD] or s[R_HEAD] or s[LOCK] or s[ALIVE]
    return not left and runs <= ALONE_RUNS
