"""Files that git wrote under attributes that no longer apply.

Git compares times and sizes: a file that was checked out with CRLF line ends, an encoding or an
ident stays unchanged for `git status` after that attribute is removed, although git would now read
other bytes from it. Such a file differs in size from its blob. The runner records which pairs of
size and blob are equal in size (true for ever), and which of the others the current attributes
explain; a reader checks only files in neither record.

A filter driver may keep the size. Where one is configured, or was when the runner looked, sizes say
nothing: the bytes of each file are compared once with its blob, and the record holds its stat data.
"""

from __future__ import annotations

import os
from itertools import chain
from struct import iter_unpack
from zlib import crc32

from gitindex.base.atomic_file import read_small
from gitindex.base.digest import sha256
from gitindex.base.light_types import TYPE_CHECKING, NamedTuple
from gitindex.base.worktree import Worktree
from gitindex.git.command import blob_sizes, clean_env, git_program, try_git
from gitindex.git.config_files import may_be_anywhere
from gitindex.git.index_file import ID, SIZE, SizedEntry
from gitindex.git.interface import blob_id
from gitindex.git.shadow_index import CHECKSUM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Beyond = Callable[[frozenset[bytes], int], list[SizedEntry]]

ATTRIBUTES = ("text", "crlf", "eol", "ident", "working-tree-encoding", "filter")
_SETTINGS = r"^(core\.(autocrlf|eol)|filter\..*\.(clean|process))$"
_UNFILTERED = frozenset({b"unspecified", b"unset", b"set", b""})
FORMAT = b"gitindex_conversions_v2"
MAX_COMPARED = 2_000
"""Files that a reader compares with their blobs; beyond it, it says that its answer is not exact."""
MAX_NOTE = 1 << 26
MAX_BYTES = 4 << 20
"""Larger files are not indexed, so their bytes change no answer."""
FEW = 64
"""Up to this many files are read instead of asking git for the sizes of their blobs."""
NAMES_AT_ONCE = 60_000
"""Maximum number of bytes of names in one command line or one pipe."""


class ConversionNote(NamedTuple):
    """The runner's record about the files of one index."""

    checksum: bytes  # of that index
    attributes: str  # a digest of those that apply to the paths below
    explained: dict[bytes, bytes]  # path to key: bytes differ, and attributes explain why
    differ: tuple[bytes, ...]  # paths whose bytes the attributes do not explain
    by_bytes: bool = False  # a filter driver was configured once: sizes say nothing

    @property
    def start(self) -> int:
        """Where the key of an entry begins: at its size, or with all of its stat data."""
        return 0 if self.by_bytes else SIZE


NO_NOTE = ConversionNote(b"", "", {}, ())


class Converted(NamedTuple):
    """Paths whose bytes are now another blob, and how many files were not compared."""

    paths: list[bytes]
    not_compared: int = 0


class AttributesNow(NamedTuple):
    """How git would convert the bytes of some paths now."""

    filters: dict[bytes, bytes]  # the value of the attribute `filter`
    drivers: frozenset[bytes]  # drivers that have a command
    digest: str


def known_file(worktree: Worktree, note: ConversionNote) -> str:
    """Return the path of the record of keys whose files are as their blobs."""
    return f"{worktree.shadow}.{'compared' if note.by_bytes else 'plain'}"


def note_file(worktree: Worktree) -> str:
    """Return the path of the record of the other files."""
    return f"{worktree.shadow}.conversions"


def read_known(worktree: Worktree, note: ConversionNote, id_bytes: int) -> frozenset[bytes]:
    """Return the keys of entries whose file is as its blob: as long, or the same bytes."""
    width = ID - note.start + id_bytes
    return _keys(known_file(worktree, note), width) | shared_known(worktree, note, id_bytes)


def shared_known(worktree: Worktree, note: ConversionNote, id_bytes: int) -> frozenset[bytes]:
    """Return those of the main worktree, if this is another: sizes are true for all."""
    if worktree.id == "main" or note.by_bytes:
        return frozenset()
    path = os.path.join(os.path.dirname(worktree.shadow), "main.plain")
    return _keys(path, ID - note.start + id_bytes)


def _keys(path: str, width: int) -> frozenset[bytes]:
    try:
        data = read_small(path, MAX_NOTE) or b""
    except OSError:
        return frozenset()
    whole = len(data) - len(data) % width
    return frozenset(chain.from_iterable(iter_unpack(f"{width}s", data[:whole])))


def read_conversions(worktree: Worktree) -> ConversionNote:
    """Return the runner's record; an empty one if there is none, or it is not what was written."""
    try:
        head, _, body = (read_small(note_file(worktree), MAX_NOTE) or b"").partition(b"\n")
        kind, checksum, attributes, mode, crc = head.decode("ascii").split(" ")
        if kind.encode() != FORMAT or int(crc, 16) != crc32(body, crc32(mode.encode())):
            return NO_NOTE
        explained: dict[bytes, bytes] = {}
        differ: list[bytes] = []
        for record in body.split(b"\0")[:-1]:
            key, _, path = record.partition(b" ")
            if key == b"-":
                differ.append(path)
            else:
                explained[path] = bytes.fromhex(key.decode())
        found = bytes.fromhex(checksum), attributes, explained, tuple(differ), mode == "bytes"
        return ConversionNote(*found)
    except (OSError, ValueError):
        return NO_NOTE


def render_conversions(note: ConversionNote) -> bytes:
    """Serialize the record."""
    parts = [b"%s %s\0" % (key.hex().encode(), path) for path, key in note.explained.items()]
    body = b"".join([*parts, *[b"- %s\0" % path for path in note.differ]])
    mode = b"bytes" if note.by_bytes else b"sizes"
    fields = FORMAT, note.checksum.hex().encode(), note.attributes.encode(), mode
    return b"%s %08x\n" % (b" ".join(fields), crc32(body, crc32(mode))) + body


def is_noted(note: ConversionNote, checksum: bytes) -> bool:
    """Was the record made from the index with this checksum?"""
    return len(checksum) == CHECKSUM and any(checksum) and note.checksum == checksum


def in_use(worktree: Worktree, note: ConversionNote) -> ConversionNote:
    """Return the record as it counts now: of sizes only where no filter driver is configured."""
    if note.by_bytes or not may_keep_sizes(worktree):
        return note
    return NO_NOTE._replace(by_bytes=True)


def converted_paths(
    worktree: Worktree, beyond: Beyond, checksum: bytes, id_bytes: int, shadowed: bool
) -> Converted:
    """Return paths that `git status` reports as unchanged, but whose bytes are now another blob.

    `beyond` gives the entries of the index whose key is not known; `checksum` is that of the
    index. Git itself re-reads a file whose recorded size is 0, but not through the copy of its
    index.
    """
    note = read_conversions(worktree)
    if is_noted(note, checksum) and still_explained(worktree, note):
        return Converted(list(note.differ))
    note = in_use(worktree, note)
    entries = beyond(read_known(worktree, note, id_bytes), note.start)
    if entries and note.explained and still_explained(worktree, note):
        entries = [entry for entry in entries if note.explained.get(entry.path) != entry.key]
    if not shadowed:
        entries = [entry for entry in entries if entry.size]
    if not note.by_bytes and len(entries) > FEW:
        entries = other_sizes(worktree, entries)
    unlike = unlike_blob(worktree, entries[:MAX_COMPARED]) if entries else []
    left = max(0, len(entries) - MAX_COMPARED)
    if not unlike:
        return Converted([], left)
    now = attributes_now(worktree, [entry.path for entry in unlike])
    return Converted(differing(worktree, unlike, now), left)


def may_keep_sizes(worktree: Worktree) -> bool:
    """Is a filter driver configured that writes other bytes than the blob's, perhaps as many?

    Not that of git-lfs: what it writes is as long as a pointer by chance only.
    """
    env = clean_env()  # drivers of the repository count, too: git itself has run them
    if not may_be_anywhere(b"filter", worktree, git_program(env)):
        return False
    asked = "config", "-z", "--get-regexp", r"^filter\..*\.(smudge|process)$"
    return bool(_drivers(try_git(worktree.root, *asked, env=env).output) - {b"lfs"})


def still_explained(worktree: Worktree, note: ConversionNote) -> bool:
    """Do the recorded paths still have the attributes that the runner saw?"""
    if not (note.explained or note.differ):
        return True
    paths = [*note.explained, *note.differ]
    return attributes_now(worktree, paths).digest == note.attributes


def other_sizes(worktree: Worktree, entries: list[SizedEntry]) -> list[SizedEntry]:
    """Return the entries whose blob has another size, or is missing here."""
    sizes = blob_sizes(worktree.root, [entry.oid for entry in entries])
    return [entry for entry in entries if sizes.get(entry.oid) != entry.size]


def attributes_now(worktree: Worktree, paths: list[bytes]) -> AttributesNow:
    """Return the attributes and settings that decide how git converts these paths."""
    env = clean_env(worktree.root)
    asked = try_git(worktree.root, "config", "-z", "--get-regexp", _SETTINGS, env=env).output
    digest = sha256(asked)
    filters: dict[bytes, bytes] = {}
    for part in _parts(sorted(paths)):
        names = [os.fsdecode(path) for path in part]
        told = try_git(worktree.root, "check-attr", "-z", *ATTRIBUTES, "--", *names, env=env).output
        digest.update(told)
        fields = told.split(b"\0")
        for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
            if name == b"filter" and value not in _UNFILTERED:
                filters[path] = value
    return AttributesNow(filters, _drivers(asked), digest.hexdigest())


def unlike_blob(worktree: Worktree, entries: list[SizedEntry]) -> list[SizedEntry]:
    """Return those whose bytes on disk are not the bytes of their blob."""
    from gitindex.base.confined_read import ConfinedRoot

    found: list[SizedEntry] = []
    with ConfinedRoot(worktree.root) as disk:
        for entry in entries:
            if entry.size > MAX_BYTES:
                continue
            try:
                file = disk.read(entry.path, MAX_BYTES)
            except OSError:
                continue  # missing or unreadable: `git status` reports it
            if file is not None and blob_id(file.data, len(entry.oid)) != entry.oid:
                found.append(entry)
    return found


def differing(worktree: Worktree, unlike: list[SizedEntry], now: AttributesNow) -> list[bytes]:
    """Return paths of those whose bytes on disk are now another blob for git.

    Paths with a filter driver of the user are skipped: running all filters again costs too much.
    """
    from gitindex.git.hidden_edits import not_filtered

    unclear = [entry for entry in unlike if now.filters.get(entry.path) not in now.drivers]
    return not_filtered(worktree, [(entry.path, entry.oid) for entry in unclear])


def _drivers(settings: bytes) -> frozenset[bytes]:
    """Return filter drivers with a command; the last value of a key counts."""
    commands: dict[bytes, bytes] = {}
    for record in settings.split(b"\0")[:-1]:
        key, _, value = record.partition(b"\n")
        if key.startswith(b"filter."):
            commands[key] = value
    return frozenset(
        key.removeprefix(b"filter.").rpartition(b".")[0] for key, value in commands.items() if value
    )


def _parts(paths: list[bytes]) -> Iterator[list[bytes]]:
    """Split paths into groups that fit into a command line."""
    part: list[bytes] = []
    room = NAMES_AT_ONCE
    for path in paths:
        if len(path) + 1 > room and part:
            yield part
            part, room = [], NAMES_AT_ONCE
        part.append(path)
        room -= len(path) + 1
    if part:
        yield part
