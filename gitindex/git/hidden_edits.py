"""Edits that `git status` does not show.

`assume-unchanged` and `skip-worktree` hide edits from it, and so does resetting a file's times to
the old ones within the second in which git last looked: git compares seconds. Those files are few;
they are hashed. Files that git wrote under other attributes are found by size: `conversions.py`.
"""

from __future__ import annotations

import os

from gitindex.base.light_types import TYPE_CHECKING, NamedTuple
from gitindex.base.pattern import compile_later
from gitindex.base.worktree import Worktree
from gitindex.git.command import run_git, try_git
from gitindex.git.conversions import Converted, converted_paths
from gitindex.git.index_file import (
    SECOND,
    SizedEntry,
    UncheckedEntry,
    Unreadable,
    entries_beyond,
    find_unchecked,
)
from gitindex.git.interface import GITLINK, LINK, blob_id
from gitindex.git.shadow_index import CHECKSUM, index_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitindex.base.confined_read import ConfinedRoot
    from gitindex.git.conversions import Beyond

MAX_BYTES = 4 << 20
"""Larger files are hashed by git."""
PATHS_AT_ONCE = 200
_NUMBER = compile_later(rb"\d+")
"""Of an entry as `git ls-files --debug` prints it: times, device, inode, user, group, size, flags."""
MAX_FILTERED = 2_000
"""Maximum number of files that git is asked to filter; further ones count as edited."""


class IndexLook(NamedTuple):
    """Entries of git's index about which `git status` may be wrong."""

    unchecked: list[UncheckedEntry]
    beyond: Beyond  # entries whose pair of size and id is not a known one
    checksum: bytes
    id_bytes: int
    entries: int  # how many there are in all


def look_at_index(worktree: Worktree, digits: int) -> IndexLook:
    """Read git's index once."""
    id_bytes = digits // 2
    try:
        with open(index_of(worktree), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return IndexLook([], lambda _known, _start: [], b"", id_bytes, 0)
    checksum = data[-CHECKSUM:]
    try:
        unchecked = find_unchecked(data, id_bytes)
        # no functools: a prompt would pay 3 ms for it
        return IndexLook(
            unchecked,
            lambda known, start: entries_beyond(data, id_bytes, known, start),
            checksum,
            id_bytes,
            int.from_bytes(data[8:12]),
        )
    except Unreadable:  # split, sparse or of a newer format: git reads it, or reports what is wrong
        records = list(_records(worktree))
        return IndexLook(
            [found for record in records if (found := _unchecked(record))],
            lambda known, start: [
                entry
                for record in records
                if (entry := _sized(record, start)) and entry.key not in known
            ],
            checksum,
            id_bytes,
            len(records),
        )


def hidden_paths(worktree: Worktree, look: IndexLook, shadowed: bool) -> Converted:
    """Return tracked paths that differ although `git status` does not show it."""
    found = converted_paths(worktree, look.beyond, look.checksum, look.id_bytes, shadowed)
    return found._replace(paths=edited_paths(worktree, look.unchecked) + found.paths)


def edited_paths(worktree: Worktree, unchecked: list[UncheckedEntry]) -> list[bytes]:
    """Return paths whose bytes or executable bit on disk differ from the index."""
    if not unchecked:
        return []
    from gitindex.base.confined_read import ConfinedRoot  # lazily: mostly there is nothing to read

    differ: list[UncheckedEntry] = []
    unclear: list[UncheckedEntry] = []
    root = os.fsencode(worktree.root)
    folders: dict[bytes, bool] = {}  # a sparse checkout omits whole ones
    with ConfinedRoot(worktree.root) as disk:
        for entry in unchecked:
            folder = os.path.dirname(entry.path)
            if entry.may_miss and folder not in folders:
                folders[folder] = os.path.isdir(os.path.join(root, folder))
            if entry.mode == GITLINK or (entry.may_miss and not folders[folder]):
                continue
            oid = _oid_on_disk(disk, os.path.join(root, entry.path), entry)
            if oid != entry.oid:
                (unclear if oid else differ).append(entry)
    differ += [entry for entry in unclear if entry.mode == LINK]
    found = [entry.path for entry in differ]
    found += not_filtered(worktree, [(e.path, e.oid) for e in unclear if e.mode != LINK])
    return found + _other_modes(worktree, unchecked)


def _other_modes(worktree: Worktree, unchecked: list[UncheckedEntry]) -> list[bytes]:
    """Return files that git does not check and whose executable bit differs from the index."""
    root = os.fsencode(worktree.root)
    found = []
    for entry in unchecked:
        if entry.covered and entry.mode not in (LINK, GITLINK):
            try:
                now = os.lstat(os.path.join(root, entry.path)).st_mode
            except OSError:
                continue  # missing: compared by its bytes already
            if bool(now & 0o100) != bool(entry.mode & 0o100):
                found.append(entry.path)
    if found:
        told = try_git(worktree.root, "config", "--type=bool", "--get", "core.fileMode")
        return [] if told.output.strip() == b"false" else found
    return found


class _Record(NamedTuple):
    """One entry as `git ls-files` prints it."""

    tag: str
    mode: int
    oid: str
    path: bytes
    told: bytes  # times and size


def _records(worktree: Worktree) -> Iterator[_Record]:
    """Return all entries, as git itself reads its index."""
    output = run_git(worktree.root, "ls-files", "-v", "-s", "--debug", "-z")
    records = output.split(b"\0")
    for number, after in enumerate(records[1:]):
        # The details of an entry precede the next one, in five lines.
        meta, path = records[number].split(b"\n", 5 if number else 0)[-1].split(b"\t", 1)
        tag, mode, oid, _ = meta.decode().split(" ")
        yield _Record(tag, int(mode, 8), oid, path, after)


def _unchecked(record: _Record) -> UncheckedEntry | None:
    times = _time(record.told, b"ctime: "), _time(record.told, b"mtime: ")
    covered = _is_covered(record)
    if not covered and times[0] // SECOND == times[1] // SECOND:
        return None
    return UncheckedEntry(record.path, record.mode, record.oid, times, covered, record.tag in "sS")


def _sized(record: _Record, start: int) -> SizedEntry | None:
    if record.mode >> 12 != 8 or _is_covered(record):
        return None
    numbers = [int(text) & 0xFFFFFFFF for text in _NUMBER.findall(record.told)[:9]]
    *times_and_inode, user, group, size = numbers
    stat = b"".join(n.to_bytes(4) for n in (*times_and_inode, record.mode, user, group, size))
    return SizedEntry(record.path, record.oid, stat[start:] + bytes.fromhex(record.oid), size)


def _is_covered(record: _Record) -> bool:
    return record.tag.islower() or record.tag == "S"


def _time(told: bytes, name: bytes) -> int:
    seconds, nanoseconds = told.split(name, 1)[1].split(b"\n", 1)[0].split(b":")
    return int(seconds) * SECOND + int(nanoseconds)


def _oid_on_disk(disk: ConfinedRoot, name: bytes, entry: UncheckedEntry) -> str | None:
    """Return the id of the raw bytes, or the entry's if git checked it; None: not such a file."""
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
    """Are the times equal in seconds, as git compares them, but not in nanoseconds?"""
    now = found.st_ctime_ns, found.st_mtime_ns
    same = all(a // SECOND == b // SECOND for a, b in zip(now, entry.times, strict=True))
    return same and now != entry.times


def not_filtered(worktree: Worktree, entries: list[tuple[bytes, str]]) -> list[bytes]:
    """Return paths that differ from their blob after git's own filters: line ends, encodings."""
    differ = [path for path, _ in entries[MAX_FILTERED:]]
    for at in range(0, min(len(entries), MAX_FILTERED), PATHS_AT_ONCE):
        part = entries[at : min(at + PATHS_AT_ONCE, MAX_FILTERED)]
        names = [os.fsdecode(path) for path, _ in part]
        told = try_git(worktree.root, "hash-object", "--end-of-options", *names)
        oids = told.output.decode().split()
        oids += [""] * (len(part) - len(oids))  # git stopped at what it could not read
        differ += [path for (path, known), oid in zip(part, oids, strict=True) if known != oid]
    return differ
