"""Checks that a file on disk has git's bytes: before a run, after it, and while importing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gitindex.base.confined_read import ConfinedRoot
from gitindex.extract.policy import MAX_TEXT_BYTES
from gitindex.git.interface import blob_id

Signature = tuple[int, int, int, int]


class UnchangedFile(NamedTuple):
    """One file that had git's bytes when it was checked."""

    path: bytes
    oid: str
    signature: Signature  # of the file on disk: any later write changes it


def signature(root: str, path: bytes) -> Signature | None:
    """Return a value that changes with every write to the file; None if there is no file."""
    try:
        found = os.lstat(os.path.join(os.fsencode(root), path))
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def look(root: str, files: Iterable[tuple[bytes, str]]) -> Iterator[UnchangedFile]:
    """Yield those of `files` whose bytes on disk are those of their blob."""
    with ConfinedRoot(root) as disk:
        for path, oid in files:
            before = signature(root, path)
            if before is not None and _content(disk, path, oid) is not None:
                yield UnchangedFile(path, oid, before)


def look_again(root: str, seen: UnchangedFile) -> bytes | None:
    """Return the bytes of a file that has not changed since it was checked, else None."""
    with ConfinedRoot(root) as disk:
        content = _content(disk, seen.path, seen.oid)
    return content if signature(root, seen.path) == seen.signature else None


def _content(disk: ConfinedRoot, path: bytes, oid: str) -> bytes | None:
    """Return the file's bytes if git would store them as this blob, with LF or CRLF line ends."""
    found = disk.read(path, MAX_TEXT_BYTES)
    if found is None or found.size > MAX_TEXT_BYTES:
        return None
    data = found.data
    if blob_id(data, len(oid)) == oid:
        return data
    unix = data.replace(b"\r\n", b"\n")
    return data if blob_id(unix, len(oid)) == oid else None
