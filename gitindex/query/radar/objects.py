"""Objects that the repository does not have: blobs, trees and commits of uncommitted edits."""

from __future__ import annotations

import hashlib
import os
import zlib
from typing import NamedTuple

from gitindex.git.command import check_result, read_objects, try_git

Entry = tuple[bytes, str]  # mode and id
Edits = dict[bytes, Entry | None]  # by path; None: deleted
_TREE = b"40000"
_SIGNED = "gitindex <gitindex> 0 +0000"
_NAMES = 32_000
"""Bytes of names given to git at once: they must fit into a pipe."""


class Objects:
    """A folder for objects that the repository does not have; `env` lets git see both."""

    def __init__(self, folder: str, env: dict[str, str], digits: int) -> None:
        self.env, self.digits = env, digits
        self._folder = folder

    def write(self, kind: str, data: bytes) -> str:
        """Store an object and return its id."""
        whole = b"%s %d\0%s" % (kind.encode(), len(data), data)
        made = hashlib.sha256 if self.digits == 64 else hashlib.sha1
        name = made(whole).hexdigest()
        path = os.path.join(self._folder, name[:2], name[2:])
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(zlib.compress(whole, 1))
        return name

    def git(self, *args: str, stdin: bytes = b"", index: str = "") -> bytes:
        """Run git on these objects, outside of the repository."""
        env = self.env | ({"GIT_INDEX_FILE": os.path.join(self._folder, index)} if index else {})
        return check_result(args, try_git("/", *args, stdin=stdin, env=env))


def commit_edits(objects: Objects, parent: str, edits: Edits) -> str:
    """Return a commit of edits on top of another one; its id depends on nothing else."""
    tree = _write_trees(objects, parent, edits)
    text = f"tree {tree}\nparent {parent}\nauthor {_SIGNED}\ncommitter {_SIGNED}\n\nedits\n"
    return objects.write("commit", text.encode())


class _ObjectFolder(NamedTuple):
    """The entries of a folder, and what is to be changed in it."""

    entries: dict[bytes, Entry]
    changes: Edits


def _write_trees(objects: Objects, parent: str, edits: Edits) -> str:
    """Write the folders that edits change, from the deepest up; return the root's id."""
    names = {b""}
    for path in edits:
        parts = path.split(b"/")[:-1]
        names.update(b"/".join(parts[: n + 1]) for n in range(len(parts)))
    stored = _read_trees(objects, parent, sorted(names))
    folders = {name: _ObjectFolder(stored.get(name, {}), {}) for name in names}
    for path, entry in edits.items():
        above, _, name = path.rpartition(b"/")
        folders[above].changes[name] = entry
    for folder in sorted(folders, key=lambda name: -len(name)):
        made = _write_tree(objects, folders[folder])
        if not folder:
            return objects.write("tree", b"") if made is None else made
        above, _, name = folder.rpartition(b"/")
        if made is not None:  # a folder that is left empty is gone
            folders[above].changes[name] = _TREE, made
        elif name not in folders[above].changes:
            folders[above].changes[name] = None
    raise AssertionError("there is always a root")


def _write_tree(objects: Objects, folder: _ObjectFolder) -> str | None:
    entries: dict[bytes, Entry | None] = {**folder.entries, **folder.changes}
    kept = {name: entry for name, entry in entries.items() if entry is not None}
    if not kept:
        return None
    order = sorted(kept, key=lambda name: name + (b"/" if kept[name][0] == _TREE else b""))
    lines = (b"%s %s\0%s" % (kept[n][0], n, bytes.fromhex(kept[n][1])) for n in order)
    return objects.write("tree", b"".join(lines))


def _read_trees(
    objects: Objects, commit: str, names: list[bytes]
) -> dict[bytes, dict[bytes, Entry]]:
    """Return the entries of folders of a commit; those that it does not have are left out."""
    ids: dict[bytes, str] = {}
    at = 0
    while at < len(names):
        part = names[at : at + max(1, _NAMES // (len(max(names, key=len)) + 66))]
        text = b"".join(b"%s:%s\n" % (commit.encode(), name) for name in part)
        told = objects.git("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=text)
        for name, line in zip(part, told.splitlines(), strict=True):
            if line.endswith(b" tree"):
                ids[name] = line.partition(b" ")[0].decode()
        at += len(part)
    found = read_objects(ids.values(), objects.env)
    return {name: _parse_tree(found.get(oid, b""), objects.digits) for name, oid in ids.items()}


def _parse_tree(data: bytes, digits: int) -> dict[bytes, Entry]:
    entries: dict[bytes, Entry] = {}
    at = 0
    while at < len(data):
        end = data.index(b"\0", at)
        mode, _, name = data[at:end].partition(b" ")
        at = end + 1 + digits // 2
        entries[name] = mode, data[end + 1 : at].hex()
    return entries
