"""The object database through pygit2; the only importer of pygit2."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from errno import EDQUOT, EMFILE, ENFILE, ENOMEM, ENOSPC
from functools import cache
from hashlib import sha1
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

from gitindex.base.errors import GitIndexError, ObjectMissing
from gitindex.base.escape import safe_text
from gitindex.base.pattern import compile_later
from gitindex.base.worktree import Worktree
from gitindex.git.interface import NO_TREE, Entry, Head, Listing, compare_trees, parse_tree

KINDS = {b"commit": 1, b"tree": 2, b"blob": 3, b"tag": 4}
"""Git's own numbers of the kinds."""
MAX_ALTERNATES = 100  # object folders, which may name each other
SHORTAGES = frozenset({EDQUOT, EMFILE, ENFILE, ENOMEM, ENOSPC})
"""What a machine that runs short says; of an object it says nothing, least of all that it is missing."""
_MOST_OF_A_HEADER = 64  # bytes: a kind and a size of 18 digits are 26
_DIGITS_OF_A_SIZE = 18


class LooseObjects:
    """The loose objects of a sha1 repository and of those that it borrows from."""

    def __init__(self, folders: list[str]) -> None:
        self._folders = folders

    def read(self, oid: str) -> tuple[int, bytes] | None:
        """Return kind and content; None if there is no whole copy."""
        for data in self._files(oid):
            opened = _open(data)
            if opened is None:
                continue
            kind, size, first, rest = opened
            whole = first + _inflate(rest, size - len(first))
            named = sha1(b"%b %d\0" % (kind, size), usedforsecurity=False)
            named.update(whole)
            if named.hexdigest() == oid:
                return KINDS[kind], whole
        return None

    def size(self, oid: str) -> int | None:
        """Return the size that the header says; None if there is no header."""
        for data in self._files(oid):
            opened = _open(data)
            if opened is not None:
                return opened[1]
        return None

    def _files(self, oid: str) -> Iterator[bytes]:
        for folder in self._folders:
            data = _content(f"{folder}/{oid[:2]}/{oid[2:]}")
            if data is not None:
                yield data


def object_folders(objects: str) -> list[str]:
    """Return an object folder and its alternates, theirs included."""
    folders = [objects]
    for folder in folders:
        listed = _content(f"{folder}/info/alternates") or b""
        for line in listed.split(b"\n"):
            named = os.path.normpath(os.path.join(folder, os.fsdecode(line.rstrip(b"\r"))))
            new = line and not line.startswith((b"#", b'"')) and b"\0" not in line
            if new and named not in folders and len(folders) < MAX_ALTERNATES:
                folders.append(named)
    return folders


def refuse_shortage(error: Exception) -> None:
    """Raise GitIndexError if the machine runs short: what could not be read may well be there.

    MemoryError is none: a damaged object may claim to be of any size.
    """
    if isinstance(error, OSError) and error.errno in SHORTAGES:
        raise GitIndexError(f"cannot read git's objects: {error.strerror}", "try again") from error


def _content(path: str) -> bytes | None:
    """Return the content of a regular file; None if there is none that can be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError:
        return None
    except OSError as error:
        refuse_shortage(error)
        return None
    try:
        info = os.fstat(fd)
        return os.read(fd, info.st_size) if stat.S_ISREG(info.st_mode) else None
    except OSError as error:
        refuse_shortage(error)
        return None
    finally:
        os.close(fd)


def _open(data: bytes) -> tuple[bytes, int, bytes, tuple[zlib._Decompress, bytes]] | None:
    """Return kind, size, the first bytes, and what the rest is made of."""
    inflater = zlib.decompressobj()
    try:
        start = inflater.decompress(data, _MOST_OF_A_HEADER)
    except zlib.error:
        return None
    header, end, first = start.partition(b"\0")
    kind, _, size = header.partition(b" ")
    if not end or kind not in KINDS or not size.isdigit() or len(size) > _DIGITS_OF_A_SIZE:
        return None
    return kind, int(size), first, (inflater, inflater.unconsumed_tail)


def _inflate(rest: tuple[zlib._Decompress, bytes], size: int) -> bytes:
    inflater, data = rest
    if size <= 0:
        return b""
    try:
        return inflater.decompress(data, size)
    except zlib.error:
        return b""


_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""libgit2 reads sha1 repositories only."""

_ID_BYTES = 20
_ID = compile_later(f"[0-9a-f]{{{2 * _ID_BYTES}}}")


class _Numbers(ModuleType):
    """Replaces `pygit2.enums`: the kind of an object is its plain number."""

    def __getattr__(self, name: str) -> type[int]:
        if name.startswith("_"):
            raise AttributeError(name)
        return int


def _load_core() -> Any:
    """Load pygit2's compiled core alone: the rest (TLS, archives, enumerations) costs six times as
    much, at every start of a runner. Loads all of pygit2 if the core is not as expected.
    """
    if "pygit2" not in sys.modules:
        try:
            return _core_alone()
        except (ImportError, AttributeError, TypeError):
            pass  # another version, or no compiled core beside the package
    import pygit2

    return pygit2._pygit2


def _core_alone() -> Any:
    package = find_spec("pygit2")
    spec = package and PathFinder.find_spec("pygit2._pygit2", package.submodule_search_locations)
    if spec is None or spec.loader is None:
        raise ImportError("pygit2 has no compiled core")
    core: Any = module_from_spec(spec)
    spec.loader.exec_module(core)
    stand_ins = {"pygit2": ModuleType("pygit2"), "pygit2.enums": _Numbers("pygit2.enums")}
    sys.modules.update(stand_ins)
    try:
        core._cache_enums()
    finally:
        for name in stand_ins:
            del sys.modules[name]
    if not callable(core.init_file_backend):
        raise ImportError("pygit2 opens repositories in another way")
    return core


_CORE = _load_core()
_UNREADABLE = (KeyError, ValueError, OSError, MemoryError, _CORE.GitError)
"""What pygit2 raises for a damaged repository: which of them depends on where libgit2 noticed it."""
_SET_WINDOW_SIZE, _SET_MAPPED_LIMIT, _CHECK_HASHES = 1, 3, 22
"""Options of libgit2."""
_NAMES_OF_KINDS = {number: name for name, number in KINDS.items()}
MAX_LISTED = 20_000
"""Entries of trees in memory."""
READS = 500
"""Number of blobs after which packs are opened anew: every page of their indexes would be in memory else."""


class Pygit2Repository:
    """One worktree opened by its exact git directory, without discovery."""

    def __init__(self, worktree: Worktree) -> None:
        try:
            self._repo = _CORE.Repository(_CORE.init_file_backend(worktree.git_dir, 0))
            folders = object_folders(os.path.join(worktree.common_dir, "objects"))
            self._folders, self._loose = folders, LooseObjects(folders)
            self._packs = _open_packs(folders)
        except _UNREADABLE as error:
            raise GitIndexError(
                f"libgit2 cannot open {safe_text(worktree.git_dir)}: {error}"
            ) from error
        self._reads = 0
        self._packs_first = False  # where the last object of a whole tree was
        self._compared: tuple[str, str, list[tuple[bytes, Entry | None]]] = "", "", []
        self._listings: dict[
            str, Listing
        ] = {}  # cache: of two trees that are compared, one was before
        self._listed = 0

    def head(self) -> Head:
        try:
            commit = str(self._repo.lookup_reference("HEAD").resolve().target)
        except KeyError:
            if self._is_unborn():
                return Head(None, _EMPTY_TREE)
            raise GitIndexError("HEAD names an object that is missing", "run `git fsck`") from None
        except _UNREADABLE as error:
            raise GitIndexError(f"cannot read HEAD: {error}", "run `git fsck`") from error
        try:
            kind, data = self._read(commit)
        except ObjectMissing as error:
            raise GitIndexError("HEAD names an object that is missing", "run `git fsck`") from error
        named = data.partition(b"\n")[0].removeprefix(b"tree ").decode("ascii", "replace")
        if kind != KINDS[b"commit"] or not _ID.fullmatch(named):
            raise GitIndexError("cannot read HEAD: it is no commit", "run `git fsck`")
        return Head(commit, named)

    def entries(self, tree: str) -> Iterator[Entry]:
        _prepare_for_many()  # all of its blobs may be read next
        self._packs_first = True
        for _, entry in compare_trees(self._list_anew, NO_TREE, tree):
            if entry is not None:
                yield entry

    def changes(self, old: str, new: str) -> Iterator[tuple[bytes, Entry | None]]:
        self._packs_first = False  # what a commit adds is loose
        if self._compared[:2] != (
            old,
            new,
        ):  # a refresh lists it twice: for its scope, and for its plan
            self._compared = old, new, list(compare_trees(self._list, old, new))
        return iter(self._compared[2])

    def size(self, oid: str) -> int:
        loose = None if self._packs_first else self._loose.size(_whole(oid))
        if loose is not None:
            return loose
        try:
            _, size = self._packs.read_header(_whole(oid))
        except _UNREADABLE as error:
            loose = self._loose.size(oid) if self._packs_first else None
            if loose is None:
                raise self._missing(oid, error) from None
            return loose
        return int(size)

    def read(self, oid: str) -> bytes:
        self._reads += 1
        if self._reads % READS == 0:
            self._packs = _CORE.Odb()  # first: packs that are open are shared
            try:
                self._packs = _open_packs(self._folders)
            except _UNREADABLE as error:  # then its objects are missing
                refuse_shortage(error)
        return self._read(oid)[1]

    def close(self) -> None:
        self._repo.free()

    def _read(self, oid: str) -> tuple[int, bytes]:
        packs_first = self._packs_first
        loose = None if packs_first else self._loose.read(_whole(oid))
        if loose is not None:
            return loose
        try:
            return _checked(oid, *self._packs.read(_whole(oid)))
        except _UNREADABLE as error:
            loose = self._loose.read(oid) if packs_first else None
            if loose is None:
                raise self._missing(oid, error) from None
            self._packs_first = False  # others are likely loose, too: libgit2 is slow to miss one
            return loose

    def _missing(self, oid: str, error: Exception) -> ObjectMissing:
        """The error for an unreadable object; GitIndexError if it may be there.

        A pack that libgit2 cannot open for lack of descriptors has no objects, as it says.
        """
        refuse_shortage(error)
        try:
            os.close(os.open(self._folders[0], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        except OSError as shortage:
            refuse_shortage(shortage)
        return _missing(oid, error)

    def _is_unborn(self) -> bool:
        try:
            return bool(self._repo.head_is_unborn)
        except _UNREADABLE:
            return False

    def _list(self, oids: Iterable[str]) -> dict[str, Listing]:
        listings = self._listings
        lists = {oid: listings[oid] if oid in listings else self._list_one(oid) for oid in oids}
        self._listed += sum(len(lists[oid]) for oid in lists.keys() - listings.keys())
        if self._listed > MAX_LISTED:
            listings.clear()
            self._listed = sum(map(len, lists.values()))
        listings |= lists
        return lists

    def _list_anew(self, oids: Iterable[str]) -> dict[str, Listing]:
        return {oid: self._list_one(oid) for oid in oids}

    def _list_one(self, oid: str) -> Listing:
        if oid == _EMPTY_TREE:
            return {}
        kind, data = self._read(oid)
        if kind != KINDS[b"tree"]:
            raise GitIndexError(f"object {oid} is not a tree")
        return parse_tree(data, _ID_BYTES)


def _open_packs(folders: Iterable[str]) -> Any:
    packs = _CORE.Odb()
    for folder in folders:
        if os.path.isdir(os.path.join(folder, "pack")):
            packs.add_backend(_CORE.OdbBackendPack(folder), 1)
    return packs


class _Hashes:
    """Who compares objects with their ids: libgit2, or `_checked`, which takes a fifth of the time."""

    ours = False


@cache
def _prepare_for_many() -> None:
    """Set libgit2 up for a first index; a library that does not export its options stays as it is.

    It maps little of a pack at once: else all that was read stays in memory. And it leaves it to us to
    hash what it read. pygit2's compiled core has no function for either.
    """
    import ctypes  # lazily: only a first index reads so much

    with contextlib.suppress(OSError, AttributeError):
        options = ctypes.CDLL(_CORE.__file__).git_libgit2_opts
        options(_SET_WINDOW_SIZE, ctypes.c_size_t(8 << 20))
        options(_SET_MAPPED_LIMIT, ctypes.c_size_t(64 << 20))
        _Hashes.ours = True  # before: another thread may be reading
        options(_CHECK_HASHES, ctypes.c_int(0))


def _checked(oid: str, kind: int, data: bytes) -> tuple[int, bytes]:
    """Return an object that libgit2 read from a pack; ValueError if it is not the one of this id."""
    if _Hashes.ours:
        named = sha1(b"%b %d\0" % (_NAMES_OF_KINDS[kind], len(data)), usedforsecurity=False)
        named.update(data)
        if named.hexdigest() != oid:
            raise ValueError("its content has another id")
    return int(kind), bytes(data)


def _whole(oid: str) -> str:
    """Refuse abbreviated ids, which libgit2 would accept."""
    if not _ID.fullmatch(oid):
        raise _missing(oid, KeyError(oid))
    return oid


def _missing(oid: str, error: Exception) -> ObjectMissing:
    """Return the error for an unreadable object: it counts as missing, to be retried."""
    if isinstance(error, KeyError):
        return ObjectMissing(f"object {safe_text(oid)} is not in this repository")
    return ObjectMissing(f"object {safe_text(oid)} cannot be read: {error}", "run `git fsck`")
