"""HEAD and what differs from it, also in files that `git status` does not look at.

`assume-unchanged` and `skip-worktree` hide edits from it, and so does a file that was given back its old
times within the second in which git last looked: git compares seconds. Those files are few; they are hashed.
"""

from __future__ import annotations

import os
import struct

from gitindex.base.lean import TYPE_CHECKING, NamedTuple
from gitindex.base.worktree import Worktree
from gitindex.git.command import HeadLook, HeadState, run_git, try_git
from gitindex.git.interface import GITLINK, LINK, blob_id
from gitindex.git.shadow_index import identity_of, index_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitindex.base.confined_read import ConfinedRoot

MAX_BYTES = 4 << 20
"""A larger file is hashed by git."""
PATHS_AT_ONCE = 200
MAX_FILTERED = 2_000
"""Files whose bytes git is asked to filter; more count as edited."""
SECOND = 1_000_000_000

_HEADER = struct.Struct(">4sII")
_GLANCE = struct.Struct(">I4xI48xH")  # seconds of change and modification, flags; the name follows
_ENTRY = struct.Struct(">IIII8xI12x20s")  # both times, mode, id
_MORE = struct.Struct(">H")
_ASSUMED, _EXTENDED, _NAME = 0x8000, 0x4000, 0x0FFF
_SKIPPED = 0x4000  # in the second flags
_CHECKSUM = 20
_WHOLE = frozenset({b"TREE", b"REUC", b"UNTR", b"FSMN", b"EOIE", b"IEOT"})
"""Extensions beside which the entries say everything; a split or sparse index has others."""


class Looked(NamedTuple):
    """One look at HEAD and the work tree."""

    head: HeadState
    steady: bool  # git's index did not change meanwhile


class UncheckedEntry(NamedTuple):
    """An entry of git's index whose file `git status` may not have looked at."""

    path: bytes
    mode: int
    oid: str
    times: tuple[int, int]  # of change and modification, in nanoseconds, when git last looked
    covered: bool  # git was told not to look
    may_miss: bool  # a sparse checkout leaves it out


class TrackedDifference:
    """HEAD's commit and every tracked path that differs from it, whatever git was told: git is at work."""

    def __init__(self, worktree: Worktree, untracked: bool = False) -> None:
        self._worktree = worktree
        self._index = index_of(worktree)
        self._before = identity_of(self._index)
        self._git = HeadLook(worktree, untracked)

    def result(self) -> Looked:
        """What is seen, once git has looked."""
        head = self._git.result()
        doubtful = list(_doubtful(self._worktree, self._index, len(head.commit or "")))
        steady = self._before == identity_of(self._index)
        edited = _edited(self._worktree, doubtful) if doubtful else []
        if edited:
            head = head._replace(dirty=tuple(dict.fromkeys((*head.dirty, *edited))))
        return Looked(head, steady)

    def abandon(self) -> None:
        """End it: nobody wants to know any more."""
        self._git.abandon()


def _doubtful(worktree: Worktree, index: str, digits: int) -> Iterator[UncheckedEntry]:
    try:
        with open(index, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return iter(())
    try:
        found = _walk(data) if digits == 40 else None
    except (struct.error, ValueError):
        found = None  # git says what is wrong with it
    return iter(found) if found is not None else _listed(worktree)


def _walk(data: bytes) -> list[UncheckedEntry] | None:
    """The doubtful entries; None where only git can tell. A fifth of what a process costs."""
    kind, version, count = _HEADER.unpack_from(data)
    if kind != b"DIRC" or version not in (2, 3):
        return None
    found = []
    at, glance, fixed = _HEADER.size, _GLANCE.unpack_from, _GLANCE.size
    for _ in range(count):
        changed, modified, flags = glance(data, at)
        size = fixed + (flags & _NAME)
        if flags > _NAME or changed != modified or size == fixed + _NAME:
            start = at + fixed + (2 if flags & _EXTENDED else 0)
            end = data.index(b"\0", start)
            skipped = bool(flags & _EXTENDED and _MORE.unpack_from(data, start - 2)[0] & _SKIPPED)
            covered = skipped or bool(flags & _ASSUMED)
            if covered or changed != modified:
                found.append(_entry(data, at, data[start:end], covered, skipped))
            size = end - at
        at += (size + 8) & ~7
    return found if _is_whole(data, at) else None


def _entry(data: bytes, at: int, path: bytes, covered: bool, skipped: bool) -> UncheckedEntry:
    changed, changed_ns, modified, modified_ns, mode, oid = _ENTRY.unpack_from(data, at)
    times = changed * SECOND + changed_ns, modified * SECOND + modified_ns
    return UncheckedEntry(path, mode, oid.hex(), times, covered, skipped)


def _is_whole(data: bytes, at: int) -> bool:
    while at < len(data) - _CHECKSUM:
        if data[at : at + 4] not in _WHOLE:
            return False
        at += 8 + int.from_bytes(data[at + 4 : at + 8], "big")
    return at == len(data) - _CHECKSUM


def _listed(worktree: Worktree) -> Iterator[UncheckedEntry]:
    """The same by git's own reading of its index."""
    output = run_git(worktree.root, "ls-files", "-v", "-s", "--debug", "-z")
    records = output.split(b"\0")
    for number, after in enumerate(records[1:]):
        # What is told of an entry stands before the next one, in five lines.
        meta, path = records[number].split(b"\n", 5 if number else 0)[-1].split(b"\t", 1)
        tag, mode, oid, _ = meta.decode().split(" ")
        times = _time(after, b"ctime: "), _time(after, b"mtime: ")
        covered = tag.islower() or tag == "S"
        if covered or times[0] // SECOND != times[1] // SECOND:
            yield UncheckedEntry(path, int(mode, 8), oid, times, covered, tag in "sS")


def _time(told: bytes, name: bytes) -> int:
    seconds, nanoseconds = told.split(name, 1)[1].split(b"\n", 1)[0].split(b":")
    return int(seconds) * SECOND + int(nanoseconds)


def _edited(worktree: Worktree, doubtful: list[UncheckedEntry]) -> list[bytes]:
    """Those whose bytes on disk are not the index's."""
    from gitindex.base.confined_read import ConfinedRoot  # lazily: mostly nothing is doubtful

    differ: list[UncheckedEntry] = []
    unclear: list[UncheckedEntry] = []
    root = os.fsencode(worktree.root)
    folders: dict[bytes, bool] = {}  # a sparse checkout leaves out whole ones
    with ConfinedRoot(worktree.root) as disk:
        for entry in doubtful:
            folder = os.path.dirname(entry.path)
            if entry.may_miss and folder not in folders:
                folders[folder] = os.path.isdir(os.path.join(root, folder))
            if entry.mode == GITLINK or (entry.may_miss and not folders[folder]):
                continue
            oid = _oid_on_disk(disk, os.path.join(root, entry.path), entry)
            if oid != entry.oid:
                (unclear if oid else differ).append(entry)
    differ += [entry for entry in unclear if entry.mode == LINK]
    differ += _not_filtered(worktree, [entry for entry in unclear if entry.mode != LINK])
    return [entry.path for entry in differ]


def _oid_on_disk(disk: ConfinedRoot, name: bytes, entry: UncheckedEntry) -> str | None:
    """The id of the bare bytes, or the entry's where git has looked; None: not such a file."""
    try:
        found = os.lstat(name)
    except OSError:
        return entry.oid if entry.may_miss or not entry.covered else None
    if not entry.covered and not _is_within_a_second(found, entry):
        return entry.oid
    try:
        if entry.mode == LINK:
            return blob_id(os.readlink(name), len(entry.oid))
        file = disk.read(entry.path, MAX_BYTES)
    except OSError:
        return None
    return blob_id(file.data, len(entry.oid)) if file else None


def _is_within_a_second(found: os.stat_result, entry: UncheckedEntry) -> bool:
    """Are its times the same for git, but not to the nanosecond?"""
    now = found.st_ctime_ns, found.st_mtime_ns
    same = all(a // SECOND == b // SECOND for a, b in zip(now, entry.times, strict=True))
    return same and now != entry.times


def _not_filtered(worktree: Worktree, entries: list[UncheckedEntry]) -> list[UncheckedEntry]:
    """Those that differ also after git's own filters: line ends, encodings."""
    differ = entries[MAX_FILTERED:]
    for at in range(0, min(len(entries), MAX_FILTERED), PATHS_AT_ONCE):
        part = entries[at : min(at + PATHS_AT_ONCE, MAX_FILTERED)]
        names = [os.fsdecode(entry.path) for entry in part]
        told = try_git(worktree.root, "hash-object", "--end-of-options", *names)
        oids = told.output.decode().split()
        oids += [""] * (len(part) - len(oids))  # git stopped at what it could not read
        differ += [entry for entry, oid in zip(part, oids, strict=True) if entry.oid != oid]
    return differ
