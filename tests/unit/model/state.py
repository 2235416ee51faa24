"""The state of the modelled world, packed in bytes; knows the layout and no step.

Tree t is made of two files: blob t and blob t+1, the even blob in one file and the odd blob in the
other. So the trees 0, 1, 2... lie on a line, each move of HEAD changes one file, and a mapping that
is no tree (one file old, one new) can be told from one that is.
"""

from dataclasses import dataclass
from enum import IntEnum

# What outlives a kill: git, the spool, the status file, the database, the stores, the marker.
HEAD = 0
SPOOL, TAKEN = 1, 2  # scope of the events in it, one bit a file; 0 is an empty or missing file
STATUS, PRE = 3, 4  # 0 stale, t+1 fresh for t; the pre-rendered stale file exists
Q_HEAD, Q_SCOPE, Q_TRIES = 5, 6, 7  # the queued row; head is t+1, 0 for no row
R_HEAD, R_SCOPE, R_TRIES = 8, 9, 10  # the running row
LEX, FACTS = 11, 12  # blobs in the lexical store and in the facts, one bit a blob
MAP_EVEN, MAP_ODD, GEN = 13, 14, 15  # the published mapping and its generation
M_TREE, M_GEN = 16, 17  # the marker; tree is t+1, 0 for no marker
FAILED, POISON = 18, 19  # t+1: the last job failed for t; a tree whose extraction always fails
LASTING = 20

# What does not: who holds what (0 nobody, 1 and 2 the runners, DEAD a killed one), and processes.
R_RUN, LOCK, ALIVE = 20, 21, 22
SLOTS = (23, 27)  # a runner: program counter, tree T, generation it published, note
T, G, NOTE = 1, 2, 3
HOOKS = (31, 33)  # a hook: program counter, scope and age in one byte, then the HEAD it read
READER = 35  # a reader: program counter, marker tree, marker generation, data was right
MOVES, FAULTS, DETOURS = 39, 40, 41  # budgets left
GHOST, BAD = 42, 43  # what the world is owed; the violation a step has seen
SIZE = 44

DEAD = 3
OWED, SHOWN = 1, 2  # bits of GHOST, see world.py
MAX_TRIES = 2  # 3 in the product; 2 here, so that two kills reach it
MAX_GEN = 99  # only a mutant gets there: generations are renumbered where nobody holds one
MAX_TURNS = 2  # how often a run follows a moving HEAD before it goes back to the queue


class Pc:
    """What a runner does next; r-numbers are those of the protocol in protocol.py."""

    NONE = 0
    FLOCK = 1
    ADVERTISE = 2
    REAP = 3
    TAKE = 4
    LOOK = 5
    ENQUEUE = 6
    CLAIM = 7
    DIFF = 8
    STORE_LEX = 9
    READ_BACK = 10
    STORE_FACTS = 11
    PUBLISH = 12
    MARK = 13
    COMPLETE = 14
    SHOW_FRESH = 15
    PRE_RENDER = 16
    SHOW_STALE = 17
    CLEAN = 18
    CHECK = 19
    HIDE = 20
    RELEASE = 21
    RECHECK = 22


class Hook:
    """What a hook (or a caller of enqueue_refresh) does next."""

    NONE = 0
    APPEND = 1
    STALE = 2
    WAKE = 3
    CALL_LOOK = 4
    CALL_ENQUEUE = 5


class Violation(IntEnum):
    """What must never be seen."""

    FALSE_FRESH = 1
    MARKER_LIES = 2
    COMPLETED_WITHOUT_MARKER = 3
    TWO_QUEUED = 4
    ORPHAN = 5
    MISSED_MOVE = 6
    STUCK = 7
    STATUS_LIES = 8
    STATUS_STUCK = 9
    NO_RECOVERY = 10


@dataclass(frozen=True, slots=True)
class Protocol:
    """The safeguards; each can be taken away to make a mutant."""

    lease: bool = True  # r0 a runner without the flock exits
    reaper: bool = True  # r2 rows of a dead runner go back to the queue
    merge: bool = True  # r2 ... into the queued row, if there is one
    head_in_txn: bool = True  # r3 HEAD is read inside the enqueuing transaction
    union: bool = True  # r3 a superseding job carries the union of the scopes
    follow_up: bool = True  # r3 a running job is never coverage
    tree_diff: bool = True  # r5 what to do is diff(mapping, tree), not the scope of the events
    beside: bool = True  # r5 facts are added beside the old ones, keyed by blob
    clear: bool = True  # r5 stores written in place clear the marker first
    read_back: bool = True  # r5 the lexical commit is read back before the facts are committed
    recheck_head: bool = True  # r6 the publishing transaction reads HEAD again
    requeue: bool = True  # r6 a run whose HEAD has moved follows it; without, the job is dropped
    marker_last: bool = True  # r7 the marker is written after the publish
    completed_last: bool = True  # r8 the job is completed after the marker
    fence: bool = True  # r8 only the run that owns the row completes it
    stale_again: bool = True  # r9 the spool is looked at after fresh was written
    poll_head: bool = True  # r11 a HEAD that is not the marker's tree is work left
    give_up: bool = True  # r11 ... but not if the last job failed for that very tree
    mend_status: bool = True  # r11, r13 a status that is not fresh for a fresh index is work left
    recheck: bool = True  # r13 spool and queue are looked at after the lock was given up
    recheck_queue: bool = True  # r13 ... the queue too, not only the spool


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much may happen."""

    moves: int
    faults: int  # kill -9 of a runner or hook, or a lexical commit that stores nothing
    detours: int = 0  # how many of the moves may be other than a commit with its hook
    calls: bool = False  # a move may be announced by enqueue_refresh instead of a hook
    poison: bool = False  # tree 1 can never be extracted
    reader: bool = False  # one reader, step by step, beside the readers of every instant


def blobs(tree: int) -> int:
    """The set of the tree's blobs."""
    return 3 << tree


def even(tree: int) -> int:
    return tree + (tree & 1)


def odd(tree: int) -> int:
    return tree | 1


def whole(s: bytes | bytearray, tree: int) -> bool:
    """Both stores hold every blob of the tree, and the mapping is the tree."""
    need = 3 << tree
    return (
        s[LEX] & s[FACTS] & need == need
        and s[MAP_EVEN] == tree + (tree & 1)
        and s[MAP_ODD] == tree | 1
    )


def says_fresh(s: bytes | bytearray) -> bool:
    """What a reader that sees all of this state at once answers.

    That marker and data are of one generation is known to readers by the stamp, which names a run
    before r6 and no other after r7 (tests/repo/freshness/test_unfinished.py).
    """
    return s[M_TREE] == s[HEAD] + 1 and s[M_GEN] == s[GEN] and not s[SPOOL] and not s[TAKEN]


def start(bounds: Bounds) -> bytes:
    """Tree 0 indexed, published, marked and shown."""
    s = bytearray(SIZE)
    s[STATUS], s[PRE] = 1, 1
    s[LEX] = s[FACTS] = blobs(0)
    s[MAP_EVEN], s[MAP_ODD] = even(0), odd(0)
    s[M_TREE] = 1
    s[MOVES], s[FAULTS], s[DETOURS] = bounds.moves, bounds.faults, bounds.detours
    s[GHOST] = OWED
    s[POISON] = 2 if bounds.poison else 0
    if bounds.reader:
        s[READER] = 1
    return bytes(s)
