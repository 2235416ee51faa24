"""Edits that `git status` does not show.

`assume-unchanged` and `skip-worktree` hide edits from it, and so does a file that was given back its old
times within the second in which git last looked: git compares seconds. Those files are few; they are hashed.
"""

from __future__ import annotations

import os

from gitindex.base.lean import TYPE_CHECKING
from gitindex.base.worktree import Worktree
from gitindex.git.command import run_git, try_git
from gitindex.git.index_file import SECOND, UncheckedEntry, Unreadable, find_unchecked
from gitindex.git.interface import GITLINK, LINK, blob_id
from gitindex.git.shadow_index import index_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitindex.base.confined_read import ConfinedRoot

MAX_BYTES = 4 << 20
"""A larger file is hashed by git."""
PATHS_AT_ONCE = 200
MAX_FILTERED = 2_000
"""Files whose bytes git is asked to filter; more count as edited."""


def unchecked_entries(worktree: Worktree, digits: int) -> list[UncheckedEntry]:
    """The entries of git's index whose files `git status` may not have looked at."""
    try:
        with open(index_of(worktree), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return []
    try:
        return find_unchecked(data, digits // 2)
    except Unreadable:  # split, sparse or of a newer format: git reads it, or says what is wrong
        return list(_listed(worktree))


def edited_paths(worktree: Worktree, unchecked: list[UncheckedEntry]) -> list[bytes]:
    """The paths of those whose bytes or executable bit on disk are not the index's."""
    if not unchecked:
        return []
    from gitindex.base.confined_read import ConfinedRoot  # lazily: mostly there is nothing to read

    differ: list[UncheckedEntry] = []
    unclear: list[UncheckedEntry] = []
    root = os.fsencode(worktree.root)
    folders: dict[bytes, bool] = {}  # a sparse checkout leaves out whole ones
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
    differ += _not_filtered(worktree, [entry for entry in unclear if entry.mode != LINK])
    return [entry.path for entry in differ] + _other_modes(worktree, unchecked)


def _other_modes(worktree: Worktree, unchecked: list[UncheckedEntry]) -> list[bytes]:
    """Files that git was told not to check and whose executable bit is not the index's."""
    root = os.fsencode(worktree.root)
    found = []
    for entry in unchecked:
        if entry.covered and entry.mode not in (LINK, GITLINK):
            try:
                now = os.lstat(os.path.join(root, entry.path)).st_mode
            except OSError:
                continue  # missing: its bytes have told
            if bool(now & 0o100) != bool(entry.mode & 0o100):
                found.append(entry.path)
    if found:
        told = try_git(worktree.root, "config", "--type=bool", "--get", "core.fileMode")
        return [] if told.output.strip() == b"false" else found
    return found


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
