"""Files that git wrote under attributes that no longer apply.

Git compares times and sizes: a file that was checked out with CRLF line ends, an encoding or an
ident stays unchanged for `git status` after that attribute is removed, although git would now read
other bytes from it. Such a file differs in size from its blob. The runner records which pairs of
size and blob are equal in size (true for ever), and which of the others the current attributes
explain; a reader checks only files in neither record.
"""

from __future__ import annotations

import os
from itertools import chain
from struct import iter_unpack

from gitindex.base.atomic_file import read_small
from gitindex.base.digest import sha256
from gitindex.base.lean import TYPE_CHECKING, NamedTuple
from gitindex.base.worktree import Worktree
from gitindex.git.command import clean_env, try_git
from gitindex.git.index_file import SizedEntry
from gitindex.git.interface import blob_id
from gitindex.git.shadow_index import CHECKSUM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Beyond = Callable[[frozenset[bytes]], list[SizedEntry]]

ATTRIBUTES = ("text", "crlf", "eol", "ident", "working-tree-encoding", "filter")
_SETTINGS = r"^(core\.(autocrlf|eol)|filter\..*\.(clean|process))$"
_UNFILTERED = frozenset({b"unspecified", b"unset", b"set", b""})
FORMAT = b"gitindex_conversions_v1"
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
    explained: dict[bytes, bytes]  # path to size and blob: sizes differ, and attributes explain why
    differ: tuple[bytes, ...]  # paths whose bytes the attributes do not explain


NO_NOTE = ConversionNote(b"", "", {}, ())


class AttributesNow(NamedTuple):
    """How git would convert the bytes of some paths now."""

    filters: dict[bytes, bytes]  # the value of the attribute `filter`
    drivers: frozenset[bytes]  # drivers that have a command
    digest: str


def plain_file(worktree: Worktree) -> str:
    """Return the path of the record of pairs of size and blob that are equal in size."""
    return f"{worktree.shadow}.plain"


def note_file(worktree: Worktree) -> str:
    """Return the path of the record of the other pairs."""
    return f"{worktree.shadow}.conversions"


def read_plain(worktree: Worktree, width: int) -> frozenset[bytes]:
    """Return the pairs of size and blob, as in git's index, whose file is as long as the blob."""
    return _pairs(plain_file(worktree), width) | shared_plain(worktree, width)


def shared_plain(worktree: Worktree, width: int) -> frozenset[bytes]:
    """Return those that the record of the main worktree has, if this is another: they are true for all."""
    if worktree.id == "main":
        return frozenset()
    return _pairs(os.path.join(os.path.dirname(worktree.shadow), "main.plain"), width)


def _pairs(path: str, width: int) -> frozenset[bytes]:
    data = read_small(path, MAX_NOTE) or b""
    whole = len(data) - len(data) % width
    return frozenset(chain.from_iterable(iter_unpack(f"{width}s", data[:whole])))


def read_conversions(worktree: Worktree) -> ConversionNote:
    """Return the runner's record; an empty one if there is none."""
    head, _, body = (read_small(note_file(worktree), MAX_NOTE) or b"").partition(b"\n")
    words = head.split(b" ")
    if len(words) != 3 or words[0] != FORMAT:
        return NO_NOTE
    explained: dict[bytes, bytes] = {}
    differ: list[bytes] = []
    for record in body.split(b"\0")[:-1]:
        pair, _, path = record.partition(b" ")
        if pair == b"-":
            differ.append(path)
        else:
            explained[path] = bytes.fromhex(pair.decode())
    return ConversionNote(
        bytes.fromhex(words[1].decode()), words[2].decode(), explained, tuple(differ)
    )


def render_conversions(note: ConversionNote) -> bytes:
    """Serialize the record."""
    parts = [b"%s %s %s\n" % (FORMAT, note.checksum.hex().encode(), note.attributes.encode())]
    parts += [b"%s %s\0" % (pair.hex().encode(), path) for path, pair in note.explained.items()]
    parts += [b"- %s\0" % path for path in note.differ]
    return b"".join(parts)


def is_noted(note: ConversionNote, checksum: bytes) -> bool:
    """Was the record made from the index with this checksum?"""
    return len(checksum) == CHECKSUM and any(checksum) and note.checksum == checksum


def converted_paths(
    worktree: Worktree, beyond: Beyond, checksum: bytes, id_bytes: int, shadowed: bool
) -> list[bytes]:
    """Return paths that `git status` reports as unchanged, but whose bytes are now another blob.

    `beyond` gives the entries of the index whose pair is not known; `checksum` is that of the
    index. Git itself re-reads a file whose recorded size is 0, but not through the copy of its
    index.
    """
    note = read_conversions(worktree)
    if is_noted(note, checksum) and still_explained(worktree, note):
        return list(note.differ)
    entries = beyond(read_plain(worktree, 4 + id_bytes))
    if entries and note.explained and still_explained(worktree, note):
        entries = [entry for entry in entries if note.explained.get(entry.path) != entry.pair]
    if not shadowed:
        entries = [entry for entry in entries if entry.size]
    suspects = other_sizes(worktree, entries) if len(entries) > FEW else entries
    unlike = unlike_blob(worktree, suspects) if suspects else []
    if not unlike:
        return []
    return differing(worktree, unlike, attributes_now(worktree, [e.path for e in unlike]))


def still_explained(worktree: Worktree, note: ConversionNote) -> bool:
    """Do the recorded paths still have the attributes that the runner saw?"""
    if not (note.explained or note.differ):
        return True
    paths = [*note.explained, *note.differ]
    return attributes_now(worktree, paths).digest == note.attributes


def other_sizes(worktree: Worktree, entries: list[SizedEntry]) -> list[SizedEntry]:
    """Return the entries whose blob has another size, or is missing here."""
    env = clean_env(worktree.root)
    form = "--batch-check=%(objectsize)"
    found: list[SizedEntry] = []
    at_once = NAMES_AT_ONCE // 65
    for at in range(0, len(entries), at_once):
        part = entries[at : at + at_once]
        names = "".join(f"{entry.oid}\n" for entry in part).encode()
        told = try_git(worktree.root, "cat-file", form, stdin=names, env=env).output.split(b"\n")
        sizes = [*told, *([b""] * len(part))]
        found += [e for e, size in zip(part, sizes, strict=False) if size != b"%d" % e.size]
    return found


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
