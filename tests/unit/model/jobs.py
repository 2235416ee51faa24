"""The job rows: what r2, r3, r4 and r8 do to them; the database itself refuses a second of a kind."""

from .state import (
    BAD,
    FAILED,
    HEAD,
    M_GEN,
    M_TREE,
    MAX_TRIES,
    NOTE,
    Q_HEAD,
    Q_SCOPE,
    Q_TRIES,
    R_HEAD,
    R_RUN,
    R_SCOPE,
    R_TRIES,
    SPOOL,
    TAKEN,
    G,
    Pc,
    Protocol,
    T,
    Violation,
)

State = bytearray
FULL = 3  # a scope of every file


def enqueue(s: State, head: int, scope: int, p: Protocol) -> None:
    """The transaction: widen the queued row, or supersede it, or create one."""
    if not p.follow_up and s[R_HEAD]:
        return
    if s[Q_HEAD] == head + 1 or (s[Q_HEAD] and p.union):
        scope |= s[Q_SCOPE]
    if s[Q_HEAD] != head + 1:
        s[Q_TRIES] = 0
    s[Q_HEAD], s[Q_SCOPE], s[FAILED] = head + 1, scope, 0


def end_running(s: State) -> None:
    s[R_HEAD] = s[R_SCOPE] = s[R_TRIES] = s[R_RUN] = 0


def back_to_queue(s: State, tries: int, p: Protocol) -> None:
    """The running row is queued again, in the queued row if there is one; or failed."""
    if tries < MAX_TRIES:
        if s[Q_HEAD] and not p.merge:
            s[BAD] = Violation.TWO_QUEUED
        s[Q_HEAD] = s[Q_HEAD] or s[R_HEAD]
        s[Q_SCOPE] |= s[R_SCOPE]
        s[Q_TRIES] = max(s[Q_TRIES], tries)
    else:
        s[FAILED] = s[R_HEAD]
    end_running(s)


def reap(s: State, at: int, me: int, p: Protocol) -> None:
    if s[R_HEAD] and p.reaper:
        back_to_queue(s, s[R_TRIES] + 1, p)
    s[at] = Pc.TAKE


def take(s: State, at: int, me: int, p: Protocol) -> None:
    s[at] = Pc.CLAIM
    if s[SPOOL]:
        s[TAKEN], s[SPOOL] = s[SPOOL], 0
        s[at] = Pc.ENQUEUE if p.head_in_txn else Pc.LOOK


def look(s: State, at: int, me: int, p: Protocol) -> None:
    s[at], s[at + NOTE] = Pc.ENQUEUE, s[HEAD]


def enqueue_taken(s: State, at: int, me: int, p: Protocol) -> None:
    enqueue(s, s[HEAD] if p.head_in_txn else s[at + NOTE], s[TAKEN] or FULL, p)
    s[at], s[at + NOTE] = Pc.CLAIM, 0


def claim(s: State, at: int, me: int, p: Protocol) -> None:
    if not s[Q_HEAD] or s[R_HEAD]:  # the database refuses a second running row
        s[at] = Pc.CLEAN
        return
    s[R_HEAD], s[R_SCOPE], s[R_TRIES], s[R_RUN] = s[Q_HEAD], s[Q_SCOPE], s[Q_TRIES], me
    s[Q_HEAD] = s[Q_SCOPE] = s[Q_TRIES] = 0
    s[at] = Pc.DIFF


def complete(s: State, at: int, me: int, p: Protocol) -> None:
    if s[R_RUN] == me or not p.fence:
        end_running(s)
        s[FAILED] = 0
        if not s[M_TREE] or s[M_GEN] < s[at + G]:
            s[BAD] = Violation.COMPLETED_WITHOUT_MARKER
        s[at], s[at + G] = Pc.SHOW_FRESH, 0
    else:
        s[at], s[at + T], s[at + G] = Pc.CLEAN, 0, 0


def fail(s: State, at: int, me: int) -> None:
    s[FAILED] = s[at + T] + 1
    drop(s, at, me)


def drop(s: State, at: int, me: int) -> None:
    if s[R_RUN] == me:
        end_running(s)
    s[at], s[at + T], s[at + G], s[at + NOTE] = Pc.CLEAN, 0, 0, 0
