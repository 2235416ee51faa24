"""Files whose bytes on disk are not those of their blobs although `git status` calls them unchanged.

Edits: `assume-unchanged` and `skip-worktree` hide them from git, and so does resetting a file's times
to the old ones within the second in which git last read them: git compares seconds. Those files are few;
they are hashed.

Conversions: under a filter driver, an ident or an encoding, in force or removed since, the disk holds
other bytes than the blob and git calls the file clean. Answers show the disk, so such files are
overlaid, whatever attribute explains them; no filter runs for it. The runner compares each file once
with its blob and records the stat data and the result; a reader compares only what is in no record.
Where nothing can convert content but line ends, a file as long as its blob is as its blob. A file that
differs in line ends alone counts as its blob: lines are the same, and `grep` reads the disk.
"""

from __future__ import annotations

import os
from itertools import chain
from struct import iter_unpack

from gitindex.base.atomic_file import add_checksum, read_small, strip_checksum, write_atomic
from gitindex.base.light_types import TYPE_CHECKING, NamedTuple
from gitindex.base.worktree import Worktree
from gitindex.git.command import (
    attribute_files,
    blob_sizes,
    clean_env,
    git_program,
    may_be_anywhere,
    may_mention,
    try_git,
)
from gitindex.git.index_file import (
    ID,
    SECOND,
    SIZE,
    ComparedEntry,
    UncheckedEntry,
    Unreadable,
    entries_beyond,
    find_unchecked,
    tracked_attributes,
)
from gitindex.git.interface import GITLINK, LINK, blob_id
from gitindex.git.shadow_index import CHECKSUM, identity_of, index_of, plain_index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from gitindex.base.confined_read import ConfinedRoot

MAX_BYTES = 4 << 20
"""Larger files are not indexed (`extract/policy.py`): only their size can change an answer."""
MAX_COMPARED = 2_000
"""Files that a reader compares with their blobs (about 60 ms); an answer that needs more is not exact."""
MAX_FILTERED = 2_000
"""Hidden files that git filters; further ones count as edited."""
PATHS_AT_ONCE = 200
"""Names in one command line: of the longest paths they take 800 kB of the system's 2 MB."""
FEW = 64
"""Up to this many files are read instead of asking git for the sizes of their blobs: a process."""
MAX_OLD = 2
"""Records for each entry of the index from which those of other indexes are dropped."""
MAX_RECORD = 1 << 28
"""Bytes of a record: of an index of two million files."""
WORDS = (b"filter", b"ident", b"encoding")
"""A file with attributes that has none of them converts nothing but line ends."""
_ALIKE, _TEXT, _OTHER = b"=~!"
"""How a file compares with its blob: the same bytes, the same text with other line ends, or neither."""


class HiddenEdits(NamedTuple):
    """Paths that git does not report as changed."""

    edited: list[bytes]  # hidden from git
    converted: list[bytes]  # git would call them unchanged if it read them, or did
    not_compared: int


class IndexProbe(NamedTuple):
    """Entries of git's index about which `git status` may be wrong."""

    unchecked: list[UncheckedEntry]
    beyond: Callable[[frozenset[bytes]], list[ComparedEntry]]  # whose size and id are not known
    attributes: list[bytes]  # tracked files with attributes
    checksum: bytes
    id_bytes: int
    entries: int  # how many there are in all


class ComparedFiles(NamedTuple):
    """The runner's record: how the files of an index compare with their blobs, by stat data and id."""

    checksum: bytes = b""  # of that index
    results: dict[bytes, int] = {}  # noqa: RUF012 - never changed

    def is_of(self, checksum: bytes) -> bool:
        """Was the record made from the index with this checksum?"""
        return len(checksum) == CHECKSUM and any(checksum) and self.checksum == checksum

    def of(self, entries: list[ComparedEntry]) -> dict[bytes, int]:
        """Return what is recorded of some entries."""
        known = self.results
        return {entry.key: known[entry.key] for entry in entries if entry.key in known}

    @property
    def has_others(self) -> bool:
        """Is a file not as its blob?"""
        return _OTHER in self.results.values()


def find_hidden(
    worktree: Worktree, probe: IndexProbe, dirty: Iterable[bytes], untracked: Iterable[bytes]
) -> HiddenEdits:
    """Return tracked paths that differ from their blobs although `git status` does not show it."""
    edited, converted = edited_paths(worktree, probe.unchecked)
    others, left = _converted(worktree, probe, frozenset(dirty), untracked)
    return HiddenEdits(edited, converted + others, left)


def probe_index(worktree: Worktree, digits: int) -> IndexProbe:
    """Read git's index once."""
    id_bytes = digits // 2
    try:
        with open(index_of(worktree), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return IndexProbe([], lambda _known: [], [], b"", id_bytes, 0)
    checksum = data[-CHECKSUM:]
    try:
        unchecked = find_unchecked(data, id_bytes)
    except Unreadable:  # split, sparse or of a newer format: git reads it, or reports what is wrong
        data = plain_index(worktree)
        unchecked = find_unchecked(data, id_bytes)
    # no functools: a prompt would pay 3 ms for it
    return IndexProbe(
        unchecked,
        lambda known: entries_beyond(data, id_bytes, known),
        tracked_attributes(data, id_bytes),
        checksum,
        id_bytes,
        int.from_bytes(data[8:12]),
    )


def record_file(worktree: Worktree) -> str:
    """Return the path of the record of files that were compared."""
    return f"{worktree.shadow}.compared"


def sizes_file(worktree: Worktree) -> str:
    """Return the path of the record of sizes and ids, of all work trees: a blob of this id has this size."""
    return os.path.join(worktree.store, "shadow", "sizes")


def read_sizes(worktree: Worktree, id_bytes: int) -> frozenset[bytes]:
    """Return the sizes of blobs, each with its id; none if the record is damaged."""
    width = ID - SIZE + id_bytes
    data = _read(sizes_file(worktree))
    return frozenset(
        chain.from_iterable(iter_unpack(f"{width}s", data[: len(data) // width * width]))
    )


def read_compared(worktree: Worktree, id_bytes: int) -> ComparedFiles:
    """Return the runner's record; an empty one if there is none, or it is not what was written."""
    data, width = _read(record_file(worktree)), ID + id_bytes + 1
    checksum, body = data[:CHECKSUM], data[CHECKSUM:]
    if len(body) % width:
        return ComparedFiles()
    rows = chain.from_iterable(iter_unpack(f"{width}s", body))
    return ComparedFiles(checksum, {row[:-1]: row[-1] for row in rows})


def render_compared(record: ComparedFiles) -> bytes:
    """Serialize the record."""
    rows = [b"%s%c" % row for row in sorted(record.results.items())]
    return add_checksum(b"".join([record.checksum, *rows]))


def _read(path: str) -> bytes:
    try:
        return strip_checksum(read_small(path, MAX_RECORD)) or b""
    except OSError:
        return b""


def is_noted(worktree: Worktree) -> bool:
    """Has the runner compared the files of this work tree once?"""
    return os.path.exists(record_file(worktree))


def note_compared(worktree: Worktree, digits: int) -> None:
    """Compare what is new in the index with its blobs, and record it. For the runner."""
    before = identity_of(index_of(worktree))
    probe = probe_index(worktree, digits)
    record = read_compared(worktree, probe.id_bytes)
    if record.is_of(probe.checksum):
        return
    sizes = read_sizes(worktree, probe.id_bytes)
    if len(sizes) > MAX_OLD * probe.entries:
        sizes &= frozenset(entry.key[SIZE:] for entry in probe.beyond(frozenset()))
    by_bytes = may_convert(worktree, probe, record, ())
    # What has a known size is its blob: of a large index only a few entries are looked at.
    entries = probe.beyond(frozenset() if by_bytes else sizes)
    results = record.of(entries)
    results |= _compare_indexed(worktree, [e for e in entries if e.key not in results])
    if not by_bytes and _OTHER not in results.values():
        # Sizes will do: they are true for every file, and survive a change of times.
        alike, results = _split(results)
        sizes |= alike
    if identity_of(index_of(worktree)) != before:
        return  # git is at work: the next run will do
    data = add_checksum(b"".join(sorted(sizes)))
    write_atomic(sizes_file(worktree), data, durable=False)
    noted = render_compared(ComparedFiles(probe.checksum, results))
    write_atomic(record_file(worktree), noted, durable=False)


def _compare_indexed(worktree: Worktree, entries: list[ComparedEntry]) -> dict[bytes, int]:
    """Compare files; one that differs and was written since is an edit, which git reports."""
    results, is_as_noted = compare(worktree, entries), _is_as_noted(worktree)
    return {
        entry.key: results[entry.key]
        for entry in entries
        if entry.key in results and (results[entry.key] != _OTHER or is_as_noted(entry))
    }


def _split(results: dict[bytes, int]) -> tuple[frozenset[bytes], dict[bytes, int]]:
    """Return sizes and ids of files that are their blobs, and the results of the other files."""
    alike = frozenset(key[SIZE:] for key, result in results.items() if result == _ALIKE)
    return alike, {key: result for key, result in results.items() if result != _ALIKE}


def _converted(
    worktree: Worktree, probe: IndexProbe, dirty: frozenset[bytes], untracked: Iterable[bytes]
) -> tuple[list[bytes], int]:
    """Return paths whose bytes are not their blob's text, and how many files were not compared.

    What git reports as changed is not compared again.
    """
    record = read_compared(worktree, probe.id_bytes)
    by_bytes = may_convert(worktree, probe, record, untracked)
    if not by_bytes and record.is_of(probe.checksum):
        return [], 0
    entries = probe.beyond(frozenset() if by_bytes else read_sizes(worktree, probe.id_bytes))
    # Git may have read a file whose times are others: filtered, it was as its blob.
    results = record.of(list(filter(_is_as_noted(worktree), entries)) if by_bytes else entries)
    new = [e for e in entries if e.key not in results and e.path not in dirty]
    if not by_bytes and len(new) > FEW:
        new = _of_other_size(worktree, new)
    results |= compare(worktree, new[:MAX_COMPARED])
    paths = [entry.path for entry in entries if results.get(entry.key) == _OTHER]
    return paths, max(0, len(new) - MAX_COMPARED)


def may_convert(
    worktree: Worktree, probe: IndexProbe, record: ComparedFiles, untracked: Iterable[bytes]
) -> bool:
    """May a file be as long as its blob and have other bytes: does an attribute, a driver or the record
    say so? Not a driver of git-lfs alone: what it writes is as long as a pointer by chance only.
    """
    if record.has_others:
        return True
    own = [path for path in untracked if path.endswith(b".gitattributes")]
    root = os.fsencode(worktree.root)
    files = [os.fsdecode(os.path.join(root, path)) for path in (*probe.attributes, *own)]
    if may_mention((*files, *attribute_files(worktree)), *WORDS):
        return True
    env = clean_env()  # drivers of the repository count, too: git itself has run them
    git = git_program(env)
    if not any(may_be_anywhere(word, worktree, git) for word in (b"filter", b"attributesfile")):
        return False
    query = "config", "-z", "--get-regexp", r"^(core\.attributesfile|filter\..*\.(smudge|process))$"
    settings = try_git(worktree.root, *query, env=env).output.split(b"\0")[:-1]
    return any(not setting.startswith(b"filter.lfs.") for setting in settings)


def _is_as_noted(worktree: Worktree) -> Callable[[ComparedEntry], bool]:
    """Return whether a file has the stat data that git's index has of it."""
    root = os.fsencode(worktree.root)

    def is_as_noted(entry: ComparedEntry) -> bool:
        try:
            now = os.lstat(os.path.join(root, entry.path))
        except OSError:
            return False
        numbers = (*divmod(now.st_ctime_ns, SECOND), *divmod(now.st_mtime_ns, SECOND))
        times = b"".join((number & 0xFFFFFFFF).to_bytes(4) for number in numbers)
        inode, size = now.st_ino & 0xFFFFFFFF, now.st_size & 0xFFFFFFFF
        same = entry.key.startswith(times) and entry.key[20:24] == inode.to_bytes(4)
        return same and entry.size == size

    return is_as_noted


def compare(worktree: Worktree, entries: list[ComparedEntry]) -> dict[bytes, int]:
    """Compare files on disk with their blobs; those that are missing or unreadable are left out."""
    root = os.fsencode(worktree.root)
    large = [entry for entry in entries if entry.size > MAX_BYTES]
    other = {entry.key for entry in _of_other_size(worktree, large)}
    results = {entry.key: _OTHER if entry.key in other else _ALIKE for entry in large}
    for entry in entries:
        data = _content(os.path.join(root, entry.path)) if entry.size <= MAX_BYTES else None
        if data is not None:
            results[entry.key] = _compare_bytes(data, entry.oid)
    return results


def _content(name: bytes) -> bytes | None:
    """Return the bytes of a file; None if it is missing, unreadable or none: `git status` reports it.

    Of these bytes only a comparison is shown, so folders are not opened one by one, which takes twice
    the time: the runner reads a whole work tree once.
    """
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        size = os.fstat(fd).st_size
        data = os.read(fd, size + 1)
        return data if len(data) == size else None
    except OSError:
        return None
    finally:
        os.close(fd)


def _compare_bytes(data: bytes, oid: str) -> int:
    """Compare the bytes of a file with the blob of this id."""
    digits = len(oid)
    if blob_id(data, digits) == oid:
        return _ALIKE
    if b"\r\n" in data and blob_id(data.replace(b"\r\n", b"\n"), digits) == oid:
        return _TEXT
    return _OTHER


def _of_other_size(worktree: Worktree, entries: list[ComparedEntry]) -> list[ComparedEntry]:
    """Return the entries whose blob has another size, or is missing here."""
    sizes = blob_sizes(worktree.root, [entry.oid for entry in entries]) if entries else {}
    return [entry for entry in entries if sizes.get(entry.oid) != entry.size]


def edited_paths(
    worktree: Worktree, unchecked: list[UncheckedEntry]
) -> tuple[list[bytes], list[bytes]]:
    """Return paths whose bytes or executable bit on disk differ from the index, and those that only
    a filter or an attribute makes differ.
    """
    if not unchecked:
        return [], []
    from gitindex.base.confined_read import ConfinedRoot  # lazily: mostly there is nothing to read

    differ: list[bytes] = []
    unclear: list[UncheckedEntry] = []
    root = os.fsencode(worktree.root)
    with ConfinedRoot(worktree.root) as disk:
        for entry in _present(root, unchecked):
            oid = _oid_on_disk(disk, os.path.join(root, entry.path), entry)
            if oid is None or (oid != entry.oid and entry.mode == LINK):
                differ.append(entry.path)
            elif oid != entry.oid:
                unclear.append(entry)
    differ += _filtered_otherwise(worktree, unclear)
    converted = [entry.path for entry in unclear if entry.path not in differ]
    return differ + _other_modes(worktree, unchecked), converted


def _present(root: bytes, unchecked: list[UncheckedEntry]) -> Iterator[UncheckedEntry]:
    """Yield files but those in folders that a sparse checkout omits as a whole."""
    folders: dict[bytes, bool] = {}
    for entry in unchecked:
        folder = os.path.dirname(entry.path)
        if entry.may_miss and folder not in folders:
            folders[folder] = os.path.isdir(os.path.join(root, folder))
        if entry.mode != GITLINK and folders.get(folder, True):
            yield entry


def _other_modes(worktree: Worktree, unchecked: list[UncheckedEntry]) -> list[bytes]:
    """Return files that git does not check and whose executable bit differs from the index."""
    root = os.fsencode(worktree.root)
    paths = []
    for entry in unchecked:
        if entry.covered and entry.mode not in (LINK, GITLINK):
            try:
                now = os.lstat(os.path.join(root, entry.path)).st_mode
            except OSError:
                continue  # missing: compared by its bytes already
            if bool(now & 0o100) != bool(entry.mode & 0o100):
                paths.append(entry.path)
    if paths:
        setting = try_git(worktree.root, "config", "--type=bool", "--get", "core.fileMode")
        return [] if setting.output.strip() == b"false" else paths
    return paths


def _oid_on_disk(disk: ConfinedRoot, name: bytes, entry: UncheckedEntry) -> str | None:
    """Return the id of the raw bytes, or the entry's if git checked it; None: not such a file."""
    try:
        stat = os.lstat(name)
    except OSError:
        return entry.oid if entry.may_miss or not entry.covered else None
    if not entry.covered and not _is_within_a_second(stat, entry):
        return entry.oid
    try:
        if entry.mode == LINK:
            return blob_id(os.readlink(name), len(entry.oid))
        file = disk.read(entry.path, MAX_BYTES)
    except OSError:
        return None
    return blob_id(file.data, len(entry.oid)) if file else None


def _is_within_a_second(stat: os.stat_result, entry: UncheckedEntry) -> bool:
    """Are the times equal in seconds, as git compares them, but not in nanoseconds?"""
    now = stat.st_ctime_ns, stat.st_mtime_ns
    same = all(a // SECOND == b // SECOND for a, b in zip(now, entry.times, strict=True))
    return same and now != entry.times


def _filtered_otherwise(worktree: Worktree, entries: list[UncheckedEntry]) -> list[bytes]:
    """Return paths that differ from their blob after git's own filters: line ends, encodings."""
    differ = [entry.path for entry in entries[MAX_FILTERED:]]
    for at in range(0, min(len(entries), MAX_FILTERED), PATHS_AT_ONCE):
        part = entries[at : min(at + PATHS_AT_ONCE, MAX_FILTERED)]
        names = [os.fsdecode(entry.path) for entry in part]
        hashed = try_git(worktree.root, "hash-object", "--end-of-options", *names)
        oids = hashed.output.decode().split()
        oids += [""] * (len(part) - len(oids))  # git stopped at what it could not read
        differ += [e.path for e, oid in zip(part, oids, strict=True) if e.oid != oid]
    return differ
