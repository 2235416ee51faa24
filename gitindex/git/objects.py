"""The object database through pygit2; the only importer of pygit2."""

from __future__ import annotations

from collections.abc import Iterator

import pygit2

from gitindex.errors import GitIndexError, ObjectMissing
from gitindex.git.interface import GITLINK, LINK, MAX_ENTRIES, Entry, Head
from gitindex.paths import Worktree, safe_text

_TREE = 0o040000
_Listing = dict[bytes, tuple[int, pygit2.Oid]]


class Pygit2Repository:
    """One worktree opened by its exact git directory: nothing is discovered."""

    def __init__(self, worktree: Worktree) -> None:
        try:
            self._repo = pygit2.Repository(worktree.git_dir)
        except (pygit2.GitError, KeyError) as error:
            raise GitIndexError(
                f"libgit2 cannot open {safe_text(worktree.git_dir)}: {error}"
            ) from error
        self._odb = self._repo.odb

    def head(self) -> Head:
        try:
            commit = self._repo.revparse_single("HEAD").peel(pygit2.Commit)
        except KeyError:
            if self._repo.head_is_unborn:
                return Head(None, _EMPTY_TREE)
            raise GitIndexError("HEAD names an object that is missing", "run `git fsck`") from None
        except (pygit2.GitError, ValueError) as error:
            raise GitIndexError(f"cannot read HEAD: {error}", "run `git fsck`") from error
        return Head(str(commit.id), str(commit.tree_id))

    def entries(self, tree: str) -> Iterator[Entry]:
        for _, entry in self.changes(_EMPTY_TREE, tree):
            if entry is not None:
                yield entry

    def changes(self, old: str, new: str) -> Iterator[tuple[bytes, Entry | None]]:
        todo: list[tuple[bytes, str, str]] = [(b"", old, new)]
        count = 0
        while todo:
            prefix, before, after = todo.pop()
            if before == after:
                continue
            was, now = self._list(before), self._list(after)
            for name in was.keys() | now.keys():
                a, b = was.get(name), now.get(name)
                if a == b:
                    continue
                count += 1
                if count > MAX_ENTRIES:
                    raise GitIndexError(f"more than {MAX_ENTRIES} paths differ between two trees")
                yield from _leaf_changes(prefix + name, a, b)
                sub_a, sub_b = _subtree(a), _subtree(b)
                if sub_a != sub_b:
                    todo.append((prefix + name + b"/", sub_a, sub_b))

    def size(self, oid: str) -> int:
        try:
            _, size = self._odb.read_header(oid)
        except KeyError:
            raise ObjectMissing(f"object {oid} is not in this repository") from None
        return int(size)

    def read(self, oid: str) -> bytes:
        try:
            _, data = self._odb.read(oid)
        except KeyError:
            raise ObjectMissing(f"object {oid} is not in this repository") from None
        return bytes(data)

    def close(self) -> None:
        self._repo.free()

    def _list(self, oid: str) -> _Listing:
        if oid == _EMPTY_TREE:
            return {}
        try:
            tree = self._repo[oid]
        except KeyError:
            raise ObjectMissing(f"tree {oid} is not in this repository") from None
        if not isinstance(tree, pygit2.Tree):
            raise GitIndexError(f"object {oid} is not a tree")
        return {entry.raw_name or b"": (int(entry.filemode), entry.id) for entry in tree}


_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def _subtree(item: tuple[int, pygit2.Oid] | None) -> str:
    return str(item[1]) if item is not None and item[0] == _TREE else _EMPTY_TREE


def _leaf_changes(
    path: bytes, a: tuple[int, pygit2.Oid] | None, b: tuple[int, pygit2.Oid] | None
) -> Iterator[tuple[bytes, Entry | None]]:
    if b is not None and b[0] != _TREE:
        yield path, Entry(path, _plain_mode(b[0]), str(b[1]))
    elif a is not None and a[0] != _TREE:
        yield path, None


def _plain_mode(mode: int) -> int:
    return mode if mode in (LINK, GITLINK) else 0o100755 if mode & 0o111 else 0o100644
