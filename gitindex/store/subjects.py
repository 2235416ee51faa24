"""Words of past commit messages by path: which files people describe with a word.

Stored for the published commit of each worktree, shared by those of one commit, and updated by the commits
that enter and leave its window. What is stored depends on the window alone, not on how it was reached.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain

from gitindex.base.light_types import NamedTuple
from gitindex.extract.terms import parts_of, words_of
from gitindex.git.subjects import (
    WINDOW,
    CommitMessage,
    list_window,
    read_commits,
    read_window,
)
from gitindex.store.connection import Database
from gitindex.store.lexical import stem
from gitindex.store.mapping import ids_of_paths

ALL = ""
"""Stands for all words together: the length of the messages about a path."""
MAX_WORD = 60  # characters: no name is longer, base64 in a message is
CACHED_WORDS = 1 << 14  # the messages of a window repeat their words
PLACES_PER_CHANGE = 100
"""Bytes of stored weights for each changed one from which they are changed in place."""
SUBJECT, BODY = 3, 1
"""The weight of a word in the subject of a commit, and in the rest of its message."""

Counts = dict[str, dict[bytes, int]]
"""By word: its weight in the messages about each path."""


class StoredWindow(NamedTuple):
    """A stored window."""

    id: int
    head: str
    packed: bytes

    @property
    def size(self) -> int:
        """Bytes of one id."""
        return len(self.head) // 2


class WindowChange(NamedTuple):
    """The change from a stored window to that of a commit."""

    base: int  # the stored window; 0: everything is counted anew
    head: str
    commits: bytes  # ids of its commits, raw, newest first
    counts: Counts  # to be added; some are negative


def message_words(commit: CommitMessage) -> dict[str, int]:
    """Return the words of a message as they are stored and looked up, with their weights."""
    body = dict.fromkeys(_stems(commit.body), BODY)
    return body | dict.fromkeys(_stems(commit.subject), SUBJECT)


def _stems(text: str) -> set[str]:
    """Return stems of the smallest words of a text."""
    return set(chain.from_iterable(map(_stems_of_word, words_of(text))))


@lru_cache(CACHED_WORDS)
def _stems_of_word(word: str) -> tuple[str, ...]:
    return tuple(stem(part)[:MAX_WORD] for part in parts_of(word))


def count_words(
    commits: Iterable[CommitMessage], sign: int = 1, into: Counts | None = None
) -> Counts:
    """Count the words of messages for the paths that the commits changed."""
    counts: Counts = defaultdict(dict) if into is None else into
    for commit in commits:
        words = message_words(commit) if commit.paths else {}
        if not words:
            continue
        words[ALL] = sum(words.values())
        for word, weight in words.items():
            weights, count = counts[word], sign * weight
            for path in commit.paths:
                weights[path] = weights.get(path, 0) + count
    return counts


def stored_window(database: Database, worktree_id: int, head: str = "") -> StoredWindow | None:
    """Return the stored window of `head`, else that of a worktree; None if there is neither."""
    row = database.row(
        "SELECT w.id, w.head, w.commits FROM subject_windows w LEFT JOIN subject_users u"
        " ON u.window_id=w.id AND u.worktree_id=? WHERE u.worktree_id IS NOT NULL OR w.head=?"
        " ORDER BY w.head=? DESC, w.id LIMIT 1",
        worktree_id,
        head,
        head,
    )
    return None if row is None else StoredWindow(*row)


def window_change(root: str, stored: StoredWindow | None, head: str) -> WindowChange | None:
    """Return the change from the stored window to that of `head`; None if git cannot list it."""
    if stored is not None:
        change = _next_commit(root, stored, head) or _difference(root, stored, head)
        if change is not None:
            return change
    commits = read_window(root, head)
    if commits is None:
        return None
    return WindowChange(0, head, _ids(c.oid for c in commits), count_words(commits))


def _next_commit(root: str, stored: StoredWindow, head: str) -> WindowChange | None:
    """The usual case: one commit on top of the stored window. Avoids listing the window."""
    size, packed = stored.size, stored.packed
    if not packed or head == stored.head:
        return None
    full = len(packed) >= WINDOW * size
    read = read_commits(root, [head, packed[-size:].hex()])
    if read is None or read[0].parents != (stored.head,):
        return None  # of a commit in the window the parent is not the window's head
    if not full and read[1].parents:
        return None  # there may be more history now: the clone is no longer shallow
    commits = bytes.fromhex(head) + packed[: (WINDOW - 1) * size]
    counts = count_words(read[1:] if full else (), -1, count_words(read[:1]))
    return WindowChange(stored.id, head, commits, counts)


def _difference(root: str, stored: StoredWindow, head: str) -> WindowChange | None:
    """Return the change by commits that are in only one of the windows; None if too few stay."""
    listed = list_window(root, head)
    if listed is None:
        return None
    packed = _ids(listed)
    before, after = set(_apart(stored.packed, stored.size)), set(_apart(packed, stored.size))
    if len(before ^ after) > len(after):
        return None
    added = read_commits(root, sorted(oid.hex() for oid in after - before))
    removed = read_commits(root, sorted(oid.hex() for oid in before - after))
    if added is None or removed is None:
        return None
    counts = count_words(removed, -1, count_words(added))
    return WindowChange(stored.id, head, packed, counts)


def _apart(packed: bytes, size: int) -> list[bytes]:
    return [packed[at : at + size] for at in range(0, len(packed), size)]


def _ids(commits: Iterable[str]) -> bytes:
    return bytes.fromhex("".join(commits))


def apply_change(
    database: Database,
    worktree_id: int,
    change: WindowChange | None,
    is_policy: Callable[[bytes], bool],
) -> None:
    """Store another window. The caller holds the write transaction."""
    window = 0 if change is None else _window_for(database, worktree_id, change)
    database.run("DELETE FROM subject_users WHERE worktree_id=?", worktree_id)
    if change is not None:
        database.run("INSERT INTO subject_users VALUES (?,?)", worktree_id, window)
        _add_counts(database, window, change.counts, is_policy)
    database.run(
        "DELETE FROM subject_windows WHERE id NOT IN (SELECT window_id FROM subject_users)"
    )


def _window_for(database: Database, worktree_id: int, change: WindowChange) -> int:
    """Return the window that the counts are added to. What other worktrees use stays as it is."""
    window, shared = change.base, False
    if window:
        shared = bool(
            database.row(
                "SELECT 1 FROM subject_users u JOIN subject_windows w ON w.id=u.window_id"
                " WHERE u.window_id=? AND u.worktree_id<>? AND w.head<>?",
                window,
                worktree_id,
                change.head,
            )
        )
    if not window or shared:
        window = database.insert("INSERT INTO subject_windows (head, commits) VALUES ('', X'')")
    if shared:
        database.run(
            "INSERT INTO subject_words SELECT ?, word, places FROM subject_words WHERE window_id=?",
            window,
            change.base,
        )
    sql = "UPDATE subject_windows SET head=?, commits=? WHERE id=?"
    database.run(sql, change.head, change.commits, window)
    return window


def _add_counts(
    database: Database, window: int, added: Counts, is_policy: Callable[[bytes], bool]
) -> None:
    ids = ids_of_paths(database, sorted({p for n in added.values() for p in n}), is_policy)
    words = sorted(added)
    stored = _places_of(database, window, words)
    rows = [
        (word, add_to_places(stored.get(word, b""), {ids[p]: n for p, n in added[word].items()}))
        for word in words
    ]
    database.run_many(
        "INSERT INTO subject_words VALUES (?,?,?) ON CONFLICT DO UPDATE SET places=excluded.places",
        ((window, word, places) for word, places in rows if places),
    )
    database.run_many(
        "DELETE FROM subject_words WHERE window_id=? AND word=?",
        ((window, word) for word, places in rows if not places),
    )


def stored_counts(
    database: Database, worktree_id: int, words: Sequence[str]
) -> dict[str, dict[int, int]]:
    """Return the weights of each known word for a worktree, by path id."""
    sql = "SELECT window_id FROM subject_users WHERE worktree_id=?"
    row = database.row(sql, worktree_id)
    stored = _places_of(database, row[0], words) if row else {}
    return {word: _unpacked(places) for word, places in stored.items()}


def _places_of(database: Database, window: int, words: Sequence[str]) -> dict[str, bytes]:
    """Return the weights of words as they are stored: path ids in order, each before its weight."""
    sql = "SELECT word, places FROM subject_words WHERE window_id=? AND word IN ({marks})"
    return dict(database.rows_among(sql, words, window))


def _unpacked(places: bytes) -> dict[int, int]:
    numbers = array("I", places)
    return dict(zip(numbers[::2], numbers[1::2], strict=True))


def dump_counts(database: Database, worktree_id: int) -> dict[bytes, dict[str, int]]:
    """Return everything stored for a worktree, by path: to compare two stores."""
    rows = database.rows(
        "SELECT word FROM subject_words WHERE window_id=(SELECT window_id FROM subject_users"
        " WHERE worktree_id=?)",
        worktree_id,
    )
    weights = stored_counts(database, worktree_id, [word for (word,) in rows])
    names = dict(database.rows("SELECT id, path FROM paths"))
    found: dict[bytes, dict[str, int]] = defaultdict(dict)
    for word, counts in weights.items():
        for path_id, count in counts.items():
            found[names.get(path_id, b"")][word] = count
    return found


def add_to_places(places: bytes, added: dict[int, int]) -> bytes:
    """Add weights to stored ones; a path without a weight is left out.

    A commit changes a few of the thousands of paths that a common word has: only those are looked at.
    """
    if not places and (not added or min(added.values()) > 0):
        return array("I", chain.from_iterable(sorted(added.items()))).tobytes()  # a new window
    if len(added) * PLACES_PER_CHANGE > len(places):
        return _add_to_all(places, added)
    numbers = array("I", places)
    ids = numbers[::2]
    for path_id, count in added.items():
        at = bisect_left(ids, path_id)
        is_there = at < len(ids) and ids[at] == path_id
        count += numbers[2 * at + 1] if is_there else 0
        new = array("I", (path_id, count) if count > 0 else ())
        numbers[2 * at : 2 * at + (2 if is_there else 0)] = new
        ids[at : at + is_there] = new[:1]
    return numbers.tobytes()


def _add_to_all(places: bytes, added: dict[int, int]) -> bytes:
    counts = _unpacked(places)
    for path_id, count in added.items():
        counts[path_id] = counts.get(path_id, 0) + count
    kept = {path_id: count for path_id, count in counts.items() if count > 0}
    return array("I", chain.from_iterable(sorted(kept.items()))).tobytes()
