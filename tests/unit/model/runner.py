"""The runner's steps r0 to r13, one atomic effect each; changes the state it is given."""

from collections.abc import Callable

from .jobs import FULL, back_to_queue, claim, complete, drop, enqueue_taken, fail, look, reap, take
from .state import (
    ALIVE,
    BAD,
    DEAD,
    FACTS,
    FAILED,
    FAULTS,
    GEN,
    HEAD,
    LEX,
    LOCK,
    M_GEN,
    M_TREE,
    MAP_EVEN,
    MAP_ODD,
    MAX_GEN,
    MAX_TURNS,
    NOTE,
    POISON,
    PRE,
    Q_HEAD,
    R_HEAD,
    R_RUN,
    R_SCOPE,
    R_TRIES,
    SPOOL,
    STATUS,
    TAKEN,
    G,
    Pc,
    Protocol,
    T,
    Violation,
    blobs,
    even,
    odd,
)

State = bytearray


def flock(s: State, at: int, me: int, p: Protocol) -> None:
    if s[LOCK] and p.lease:
        s[at] = Pc.NONE
    else:
        s[LOCK], s[at] = me, Pc.ADVERTISE


def advertise(s: State, at: int, me: int, p: Protocol) -> None:
    s[ALIVE], s[at] = me, Pc.REAP


def diff(s: State, at: int, me: int, p: Protocol) -> None:
    if not p.requeue and s[R_HEAD] != s[HEAD] + 1:
        drop(s, at, me)
        return
    s[at + T] = s[HEAD]
    if not p.beside and p.clear:
        s[M_TREE] = s[M_GEN] = 0
    if not p.marker_last:
        s[at], s[at + G] = Pc.MARK, s[GEN] + 1
    else:
        to_extract(s, at, p)


def to_extract(s: State, at: int, p: Protocol) -> None:
    """Nothing to extract if every blob has facts; stores written in place are always written."""
    done = p.beside and not blobs(s[at + T]) & ~s[FACTS]
    s[at] = Pc.PUBLISH if done else Pc.STORE_LEX


def store_lex(s: State, at: int, me: int, p: Protocol) -> None:
    if s[POISON] == s[at + T] + 1:
        fail(s, at, me)
        return
    if p.beside:
        s[LEX] |= blobs(s[at + T]) & ~s[FACTS]
    else:
        s[LEX] = blobs(s[at + T])
    s[at] = Pc.READ_BACK if p.read_back else Pc.STORE_FACTS


def store_lex_nothing(s: State, at: int, me: int, p: Protocol) -> None:
    """A zombie writer: commit() returns and has stored nothing."""
    s[FAULTS] -= 1
    s[at] = Pc.READ_BACK if p.read_back else Pc.STORE_FACTS


def read_back(s: State, at: int, me: int, p: Protocol) -> None:
    missing = blobs(s[at + T]) & ~s[FACTS] & ~s[LEX]
    s[at] = Pc.STORE_LEX if missing else Pc.STORE_FACTS


def store_facts(s: State, at: int, me: int, p: Protocol) -> None:
    if p.beside:
        s[FACTS] |= blobs(s[at + T])
    else:
        s[FACTS] = blobs(s[at + T])
        s[MAP_EVEN], s[MAP_ODD] = even(s[at + T]), odd(s[at + T])
    s[at] = Pc.PUBLISH


def publish(s: State, at: int, me: int, p: Protocol) -> None:
    tree = s[at + T]
    if p.recheck_head and s[HEAD] != tree:
        moved(s, at, me, p)
        return
    scope = FULL if p.tree_diff else s[R_SCOPE]
    if scope & 1:
        s[MAP_EVEN] = even(tree)
    if scope & 2:
        s[MAP_ODD] = odd(tree)
    s[GEN] = min(s[GEN] + 1, MAX_GEN)
    s[at + G], s[at + NOTE] = s[GEN], 0
    after = Pc.MARK if p.completed_last else Pc.COMPLETE
    s[at] = after if p.marker_last else Pc.COMPLETE


def moved(s: State, at: int, me: int, p: Protocol) -> None:
    """HEAD is not the tree that was read: follow it a few times, then queue the job again."""
    if not p.requeue:
        drop(s, at, me)
    elif s[at + NOTE] + 1 < MAX_TURNS:
        s[at + NOTE] += 1
        s[at] = Pc.DIFF
    else:
        if s[R_RUN] == me or not p.fence:
            back_to_queue(s, s[R_TRIES], p)
        s[at], s[at + T], s[at + NOTE] = Pc.TAKE, 0, 0


def mark(s: State, at: int, me: int, p: Protocol) -> None:
    tree = s[at + T]
    if p.marker_last and blobs(tree) & ~(s[LEX] & s[FACTS]):  # the last read-back
        fail(s, at, me)
        return
    s[M_TREE], s[M_GEN] = tree + 1, s[at + G]
    if p.marker_last:
        s[at] = Pc.COMPLETE
    else:
        to_extract(s, at, p)


def show_fresh(s: State, at: int, me: int, p: Protocol) -> None:
    s[STATUS], s[at], s[at + T] = s[at + T] + 1, Pc.PRE_RENDER, 0


def pre_render(s: State, at: int, me: int, p: Protocol) -> None:
    s[PRE], s[at] = 1, Pc.SHOW_STALE


def show_stale(s: State, at: int, me: int, p: Protocol) -> None:
    if s[SPOOL] and p.stale_again:
        s[STATUS] = s[PRE] = 0
    s[at] = Pc.CLEAN


def clean(s: State, at: int, me: int, p: Protocol) -> None:
    if not s[Q_HEAD]:
        s[TAKEN] = 0
    s[at] = Pc.CHECK


def index_is_heads(s: State) -> bool:
    return s[M_TREE] == s[HEAD] + 1 and s[M_GEN] == s[GEN]


def failed_for_head(s: State) -> bool:
    return s[FAILED] == s[HEAD] + 1


def check(s: State, at: int, me: int, p: Protocol) -> None:
    if s[SPOOL]:
        s[at] = Pc.TAKE
    elif s[Q_HEAD]:
        s[at] = Pc.CLAIM
    elif p.poll_head and not index_is_heads(s) and not (p.give_up and failed_for_head(s)):
        s[at] = Pc.ENQUEUE if p.head_in_txn else Pc.LOOK
    elif p.mend_status and index_is_heads(s) and s[STATUS] != s[HEAD] + 1:
        s[at], s[at + T] = Pc.SHOW_FRESH, s[HEAD]
    else:
        s[at] = Pc.HIDE
        if s[R_HEAD] and s[R_RUN] == DEAD:
            s[BAD] = Violation.ORPHAN
        elif not index_is_heads(s) and not failed_for_head(s):
            s[BAD] = Violation.MISSED_MOVE


def hide(s: State, at: int, me: int, p: Protocol) -> None:
    s[ALIVE], s[at] = 0, Pc.RELEASE


def release(s: State, at: int, me: int, p: Protocol) -> None:
    if s[LOCK] == me:
        s[LOCK] = 0
    s[at] = Pc.RECHECK if p.recheck else Pc.NONE


def recheck(s: State, at: int, me: int, p: Protocol) -> None:
    to_mend = p.mend_status and index_is_heads(s) and s[STATUS] != s[HEAD] + 1
    waiting = s[SPOOL] or (s[Q_HEAD] and p.recheck_queue)
    s[at] = Pc.FLOCK if waiting or to_mend else Pc.NONE


STEPS: dict[int, Callable[[State, int, int, Protocol], None]] = {
    Pc.FLOCK: flock,
    Pc.ADVERTISE: advertise,
    Pc.REAP: reap,
    Pc.TAKE: take,
    Pc.LOOK: look,
    Pc.ENQUEUE: enqueue_taken,
    Pc.CLAIM: claim,
    Pc.DIFF: diff,
    Pc.STORE_LEX: store_lex,
    Pc.READ_BACK: read_back,
    Pc.STORE_FACTS: store_facts,
    Pc.PUBLISH: publish,
    Pc.MARK: mark,
    Pc.COMPLETE: complete,
    Pc.SHOW_FRESH: show_fresh,
    Pc.PRE_RENDER: pre_render,
    Pc.SHOW_STALE: show_stale,
    Pc.CLEAN: clean,
    Pc.CHECK: check,
    Pc.HIDE: hide,
    Pc.RELEASE: release,
    Pc.RECHECK: recheck,
}
