"""Segments of the lexical index as files: moves one between two indexes, and says which to merge.

An index is a list of segments (`meta.json`) and a few files for each. Tantivy writes the files once;
here only the list is changed, by one rename, as Tantivy does it. The caller holds the runner lock.
A writer of Tantivy that has the index open would write its own list over ours: its lock is taken.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from gitindex.base.atomic_file import sync_dir, write_atomic
from gitindex.base.errors import StoreError
from gitindex.base.pattern import compile_later
from gitindex.store.lexical_files import MANAGED
from gitindex.store.seal import META

MERGED = 8
"""Number of segments of similar size that are merged into one."""
MAX_MERGED = 2_000
"""Larger segments are left alone. Tantivy merges all that it is given of up to 10,000 documents."""
REMEDY = "run `gitindex index --force`"
_READING = ".tantivy-meta.lock"
"""Held by readers of any process while they open the files of the list."""
_WRITING = ".tantivy-writer.lock"
"""Held by a writer of Tantivy: also by one that failed, while something still refers to it."""
_SEGMENT = compile_later(r"[0-9a-f]{32}")


class Segment(NamedTuple):
    """One segment as the list has it."""

    entry: dict[str, Any]

    @property
    def name(self) -> str:
        """Name of its files, without their endings."""
        return str(self.entry["segment_id"]).replace("-", "")

    @property
    def documents(self) -> int:
        return int(self.entry["max_doc"])

    @property
    def is_whole(self) -> bool:
        """Was no document of it removed?"""
        return not self.entry.get("deletes")


class SegmentList:
    """The list of an index, read once; `write` replaces it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        try:
            with open(os.path.join(folder, META), encoding="utf-8") as file:
                self._fields: dict[str, Any] = json.load(file)
            self.segments = [Segment(entry) for entry in self._fields["segments"]]
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"the lexical index has no list: {error}", REMEDY) from error

    def is_of_kind(self, other: SegmentList) -> bool:
        """Have both the same schema and settings?"""
        return all(self._fields[k] == other._fields[k] for k in ("schema", "index_settings"))

    def copy(self, segments: list[Segment], folder: str) -> None:
        """Make an index of some of the segments in an empty folder, which shares their files."""
        names = self.files(segments)
        for name in names:
            _link(os.path.join(self.folder, name), os.path.join(folder, name))
        listed = self._fields | {"segments": [one.entry for one in segments]}
        for name, value in ((MANAGED, [META, *names]), (META, listed)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                json.dump(value, file)

    def take(self, other: SegmentList, instead_of: list[Segment]) -> None:
        """Move all segments of another index here, in place of some; one rename makes it so."""
        with _nobody_writes(self.folder):
            self._take(other, instead_of)

    def _take(self, other: SegmentList, instead_of: list[Segment]) -> None:
        gone = {one.name for one in instead_of}
        kept = [one for one in self.segments if one.name not in gone]
        moved = other.files(other.segments)
        _write(self.folder, MANAGED, [META, *self.files(self.segments), *moved])
        for name in moved:
            os.rename(os.path.join(other.folder, name), os.path.join(self.folder, name))
        sync_dir(self.folder)
        self.segments = [*kept, *other.segments]
        self._fields["segments"] = [one.entry for one in self.segments]
        self._fields["opstamp"] += 1
        _write(self.folder, META, self._fields)
        if gone:
            self._remove(gone)

    def remove_unlisted(self) -> None:
        """Remove files of segments that a writer that died did not list yet, or any more."""
        with _nobody_writes(self.folder):
            self._remove_unlisted()

    def _remove_unlisted(self) -> None:
        stems = {name.partition(".")[0] for name in os.listdir(self.folder)}
        listed = {one.name for one in self.segments}
        gone = {stem for stem in stems - listed if _SEGMENT.fullmatch(stem)}
        if gone:
            self._remove(gone)

    def files(self, segments: list[Segment]) -> list[str]:
        """Return the names of all files of some segments."""
        names = {one.name for one in segments}
        return sorted(n for n in os.listdir(self.folder) if n.partition(".")[0] in names)

    def _remove(self, gone: set[str]) -> None:
        """Remove the files of segments that are not listed any more, while nobody opens any."""
        with _nobody_opens(self.folder):
            for name in os.listdir(self.folder):
                if name.partition(".")[0] in gone:
                    os.unlink(os.path.join(self.folder, name))
        _write(self.folder, MANAGED, [META, *self.files(self.segments)])


def to_merge(segments: list[Segment]) -> list[Segment]:
    """Return small segments of similar size if there are many of them; else none."""
    tiers: dict[int, list[Segment]] = {}
    for one in segments:
        if one.is_whole and one.documents <= MAX_MERGED:
            tiers.setdefault(one.documents.bit_length() // 3, []).append(one)
    return next((tier for tier in tiers.values() if len(tier) >= MERGED), [])


def empty_folder(path: str) -> str:
    """Make a folder, or remove the files in it."""
    with suppress(FileExistsError):
        os.mkdir(path, 0o700)
    for name in os.listdir(path):
        os.unlink(os.path.join(path, name))
    return path


def remove_folder(path: str) -> None:
    """Remove a folder of files, if it is there."""
    if os.path.isdir(path):
        os.rmdir(empty_folder(path))


def _link(path: str, target: str) -> None:
    try:
        os.link(path, target)
    except OSError:  # a file system without links
        with open(path, "rb") as file, open(target, "wb") as copy:
            copy.write(file.read())


@contextmanager
def _nobody_opens(folder: str) -> Iterator[None]:
    with _lock_file(folder, _READING) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _nobody_writes(folder: str) -> Iterator[None]:
    with _lock_file(folder, _WRITING) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreError("a writer has the lexical index open", "try again") from None
        yield


@contextmanager
def _lock_file(folder: str, name: str) -> Iterator[int]:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    lock = os.open(os.path.join(folder, name), flags, 0o600)
    try:
        yield lock
    finally:
        os.close(lock)


def _write(folder: str, name: str, value: object) -> None:
    """Replace a list, durably: Tantivy opens no index whose list a power cut tore.

    A temporary that a death leaves lies in the store, where it is swept.
    """
    scratch = os.path.dirname(folder)
    data = json.dumps(value).encode()
    write_atomic(os.path.join(folder, name), data, scratch=scratch)
