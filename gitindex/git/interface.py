"""What objects of git are, and the interface to them; trees as bytes, and how two of them differ."""

from __future__ import annotations

from gitindex.base.errors import GitIndexError
from gitindex.base.light_types import TYPE_CHECKING, NamedTuple, sha1, sha256
from gitindex.base.pattern import compile_later

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Protocol

    Listing = Mapping[bytes, tuple[int, str]]  # name → mode and object id, of one folder
    Load = Callable[[Iterable[str]], Mapping[str, Listing]]  # ObjectMissing if git lacks a tree
else:
    Protocol = Listing = object  # a prompt cannot afford to import `typing`

LINK = 0o120000
GITLINK = 0o160000
TREE = 0o040000
MAX_ENTRIES = 1_000_000
"""Paths of one tree. A few small objects, each of which lists the next one ten times, are more: folders
beyond it are left out, which every answer counts."""


class Head(NamedTuple):
    """HEAD at one instant. Before the first commit: no commit, and the empty tree."""

    commit: str | None
    tree: str


class TooManyPaths(GitIndexError):
    """Two trees differ in more than MAX_ENTRIES paths: list the new one instead."""


class Entry(NamedTuple):
    """One path of a tree; a folder only if it is left out as a whole (mode TREE)."""

    path: bytes
    mode: int
    oid: str


class Repository(Protocol):
    """Read-only access to one worktree's HEAD and to the objects behind it."""

    def head(self) -> Head:
        """Return HEAD, read anew each time."""

    def entries(self, tree: str) -> Iterator[Entry]:
        """Return all paths of a tree."""

    def changes(self, old: str, new: str) -> Iterator[tuple[bytes, Entry | None]]:
        """Return paths that differ between two trees with their entry in `new`, None if removed."""

    def size(self, oid: str) -> int:
        """Return the size of a blob, without reading it. ObjectMissing if git does not have it."""

    def read(self, oid: str) -> bytes:
        """Return a blob's bytes. ObjectMissing if git does not have it."""

    def close(self) -> None:
        """Close every file."""


def blob_id(data: bytes, digits: int) -> str:
    """Return the id that git would give these bytes."""
    return object_id(b"blob", data, digits)


def object_id(kind: bytes, data: bytes, digits: int) -> str:
    """Return the id that git would give an object of any kind."""
    make = sha256 if digits == 64 else sha1  # git's own name for it
    return str(make(b"%s %d\0%s" % (kind, len(data), data)).hexdigest())


NO_TREE = ""
"""Stands for a missing folder: needs no hash and no object."""

CHUNK = 200
"""Number of trees requested at once: their names fit into a pipe."""

_TYPE = 0o170000
_ENTRIES = {n: compile_later(rb"(?s)([0-7]+) ([^\0]+)\0(.{%d})" % n) for n in (20, 32)}
"""Mode, name and id of each entry of a tree, by the length of an id."""


def parse_tree(data: bytes, id_bytes: int) -> Listing:
    """Return the entries of a raw tree object."""
    listed = _ENTRIES[id_bytes].findall(data)
    modes = {spelled: _plain_mode(int(spelled, 8)) for spelled in {entry[0] for entry in listed}}
    entries = {name: (modes[spelled], oid.hex()) for spelled, name, oid in listed}
    read = sum([len(spelled) + len(name) for spelled, name, _ in listed])
    if read + len(listed) * (2 + id_bytes) == len(data):
        return entries
    return parse_odd_tree(data, id_bytes)  # entries that are spelled in another way, or cut


def parse_odd_tree(data: bytes, id_bytes: int) -> Listing:
    """Return the same, byte by byte."""
    entries = {}
    at, size, find = 0, len(data), data.index
    try:
        while at < size:
            space = find(b" ", at)
            end = find(b"\0", space)
            after = end + 1 + id_bytes
            if after > size:
                raise ValueError("an id is cut short")
            mode = _plain_mode(int(data[at:space], 8))
            entries[data[space + 1 : end]] = (mode, data[end + 1 : after].hex())
            at = after
    except ValueError:
        raise GitIndexError("a tree object is malformed", "run `git fsck`") from None
    return entries


def compare_trees(load: Load, old: str, new: str) -> Iterator[tuple[bytes, Entry | None]]:
    """Yield paths that differ, with their entry in `new`. Skips folders of equal id.

    A folder beyond MAX_ENTRIES becomes one entry of mode TREE when a whole tree is listed, and raises
    TooManyPaths when two are compared.
    """
    todo = [(b"", old, new)]
    count = 0
    while todo:
        chunk = [item for item in todo[-CHUNK:] if item[1] != item[2]]
        del todo[-CHUNK:]
        listings = load({oid for _, *pair in chunk for oid in pair if oid != NO_TREE})
        for prefix, before, after in chunk:
            was, now = listings.get(before, {}), listings.get(after, {})
            others = {name for name, _ in was.items() ^ now.items()}
            count += len(others)
            if count <= MAX_ENTRIES:
                yield from _compare_folder(prefix, was, now, others, todo)
                continue
            if old != NO_TREE or not prefix:
                raise TooManyPaths(f"more than {MAX_ENTRIES} paths differ between two trees")
            count -= len(others)  # a smaller folder may still fit
            yield prefix[:-1], Entry(prefix[:-1], TREE, after)


def _compare_folder(
    prefix: bytes, was: Listing, now: Listing, names: set[bytes], todo: list[tuple[bytes, str, str]]
) -> Iterator[tuple[bytes, Entry | None]]:
    """Yield the files of a folder that differ; folders that do are added to `todo`."""
    for name in sorted(names):  # what is left out must be deterministic
        a, b = was.get(name), now.get(name)
        path = prefix + name
        folders = _folder(a), _folder(b)
        if b is not None and not folders[1]:
            yield path, Entry(path, b[0], b[1])
        elif a is not None and not folders[0]:
            yield path, None
        if folders[0] != folders[1]:
            todo.append((path + b"/", *folders))


def _folder(item: tuple[int, str] | None) -> str:
    return item[1] if item is not None and item[0] == TREE else NO_TREE


def _plain_mode(mode: int) -> int:
    """Normalize odd modes as git does: files are executable or not, unknown is a gitlink."""
    kind = mode & _TYPE
    if kind in (LINK, TREE):
        return kind
    if kind == 0o100000:
        return 0o100755 if mode & 0o100 else 0o100644
    return GITLINK
