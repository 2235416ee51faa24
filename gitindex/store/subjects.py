"""Words of past commit messages by path: which files people describe with a word.

Stored for the published commit of each worktree and updated by the commits that enter and leave its
window. What is stored depends on the window alone, not on how it was reached.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

from gitindex.base.lean import NamedTuple
from gitindex.extract.terms import parts_of, words_of
from gitindex.git.subjects import WINDOW, CommitMessage, list_window, read_commits, read_window
from gitindex.store.blobs import CHUNK
from gitindex.store.connection import Database, marks
from gitindex.store.lexical import stem
from gitindex.store.migrations import statements_of

ALL = ""
"""Stands for all words together: the length of the messages about a path."""
MAX_WORD = 60
CACHED_WORDS = 1 << 14
SUBJECT, BODY = 3, 1
"""The weight of a word in the subject of a commit, and in the rest of its message."""

Counts = dict[str, dict[bytes, int]]
"""By word: its weight in the messages about each path."""


class StoredWindow(NamedTuple):
    """The stored window of a worktree."""

    head: str
    packed: bytes

    @property
    def commits(self) -> list[str]:
        """Return the ids of its commits, newest first."""
        size = len(self.head) // 2
        return [self.packed[at : at + size].hex() for at in range(0, len(self.packed), size)]


class WindowChange(NamedTuple):
    """The change from the stored window to that of another commit."""

    head: str
    commits: Sequence[str]
    counts: Counts  # to be added; some are negative
    anew: bool  # replaces everything stored


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
        length = sign * sum(words.values())
        if not words:
            continue
        for word, count in ((ALL, length), *((w, sign * c) for w, c in words.items())):
            held = counts[word]
            for path in commit.paths:
                held[path] = held.get(path, 0) + count
    return counts


def stored_window(database: Database, worktree_id: int) -> StoredWindow | None:
    """Return the stored window of a worktree; None if there is none, or the store is older."""
    if not _has_tables(database):
        return None
    row = database.row("SELECT head, commits FROM subject_windows WHERE worktree_id=?", worktree_id)
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
    return WindowChange(head, [c.oid for c in commits], count_words(commits), anew=True)


def _next_commit(root: str, stored: StoredWindow, head: str) -> WindowChange | None:
    """The usual case: one commit on top of the stored window. Avoids listing the window."""
    held = stored.commits
    if head in held or not held:
        return None
    read = read_commits(root, [head, held[-1]])
    if read is None or read[0].parents != (stored.head,):
        return None
    full = len(held) >= WINDOW
    if not full and read[1].parents:
        return None  # there may be more history now: the clone is no longer shallow
    commits = (head, *held[: WINDOW - 1])
    counts = count_words(read[1:] if full else (), -1, count_words(read[:1]))
    return WindowChange(head, commits, counts, anew=False)


def _difference(root: str, stored: StoredWindow, head: str) -> WindowChange | None:
    """Return the change by commits that are in only one of the windows; None if too few stay."""
    listed = list_window(root, head)
    if listed is None:
        return None
    before, after = set(stored.commits), set(listed)
    if len(before ^ after) > len(after):
        return None
    added = read_commits(root, sorted(after - before))
    removed = read_commits(root, sorted(before - after))
    if added is None or removed is None:
        return None
    return WindowChange(head, listed, count_words(removed, -1, count_words(added)), anew=False)


def apply_change(
    database: Database,
    worktree_id: int,
    change: WindowChange | None,
    is_policy: Callable[[bytes], bool],
) -> None:
    """Store another window. The caller holds the write transaction."""
    _make_tables(database)
    if change is None or change.anew:
        database.run("DELETE FROM subject_words WHERE worktree_id=?", worktree_id)
        database.run("DELETE FROM subject_windows WHERE worktree_id=?", worktree_id)
    if change is None:
        return
    ids = _path_ids(database, {p for counts in change.counts.values() for p in counts}, is_policy)
    words = sorted(change.counts)
    held = stored_counts(database, worktree_id, words)
    rows = [(w, _merged(held.get(w, {}), change.counts[w], ids)) for w in words]
    database.run_many(
        "INSERT INTO subject_words VALUES (?,?,?) ON CONFLICT DO UPDATE SET places=excluded.places",
        ((worktree_id, word, _packed(counts)) for word, counts in rows if counts),
    )
    database.run_many(
        "DELETE FROM subject_words WHERE worktree_id=? AND word=?",
        ((worktree_id, word) for word, counts in rows if not counts),
    )
    database.run(
        "INSERT INTO subject_windows VALUES (?,?,?)"
        " ON CONFLICT DO UPDATE SET head=excluded.head, commits=excluded.commits",
        worktree_id,
        change.head,
        bytes.fromhex("".join(change.commits)),
    )


def stored_counts(
    database: Database, worktree_id: int, words: Sequence[str]
) -> dict[str, dict[int, int]]:
    """Return the weights of each known word, by path id."""
    found = {}
    for at in range(0, len(words), CHUNK):
        part = words[at : at + CHUNK]
        sql = "SELECT word, places FROM subject_words WHERE worktree_id=? AND word"
        for word, places in database.rows(f"{sql} IN ({marks(part)})", worktree_id, *part):
            numbers = array("I", places)
            found[word] = dict(zip(numbers[::2], numbers[1::2], strict=True))
    return found


def dump_counts(database: Database, worktree_id: int) -> dict[bytes, dict[str, int]]:
    """Return everything stored for a worktree, by path: to compare two stores."""
    if not _has_tables(database):
        return {}
    rows = database.rows("SELECT word FROM subject_words WHERE worktree_id=?", worktree_id)
    held = stored_counts(database, worktree_id, [word for (word,) in rows])
    names = dict(database.rows("SELECT id, path FROM paths"))
    found: dict[bytes, dict[str, int]] = defaultdict(dict)
    for word, counts in held.items():
        for path_id, count in counts.items():
            found[names.get(path_id, b"")][word] = count
    return found


def _merged(
    held: dict[int, int], counts: dict[bytes, int], ids: dict[bytes, int]
) -> dict[int, int]:
    for path, count in counts.items():
        held[ids[path]] = held.get(ids[path], 0) + count
    return {path_id: count for path_id, count in held.items() if count > 0}


def _packed(counts: dict[int, int]) -> bytes:
    return array("I", chain.from_iterable(sorted(counts.items()))).tobytes()


def _path_ids(
    database: Database, paths: set[bytes], is_policy: Callable[[bytes], bool]
) -> dict[bytes, int]:
    """Return the ids of paths; adds those that the store has not seen."""
    listed = sorted(paths)
    found = dict(_known_ids(database, listed))
    new = [path for path in listed if path not in found]
    database.run_many(
        "INSERT INTO paths (path, policy) VALUES (?,?)", ((p, is_policy(p)) for p in new)
    )
    return found | dict(_known_ids(database, new))


def _known_ids(database: Database, paths: Sequence[bytes]) -> Iterator[tuple[bytes, int]]:
    for at in range(0, len(paths), CHUNK):
        part = paths[at : at + CHUNK]
        yield from database.rows(f"SELECT path, id FROM paths WHERE path IN ({marks(part)})", *part)


def _has_tables(database: Database) -> bool:
    sql = "SELECT 1 FROM sqlite_master WHERE name='subject_windows'"
    return database.row(sql) is not None


def _make_tables(database: Database) -> None:
    """Create the tables in an older store."""
    if not _has_tables(database):
        for statement in statements_of("7_subjects.sql"):
            database.run(statement)
