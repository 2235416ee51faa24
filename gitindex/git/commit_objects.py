"""A commit read from its objects, without a process: what `git log` says of it (git/subjects.py)."""

from __future__ import annotations

import os
from itertools import islice

from gitindex.base.errors import GitIndexError
from gitindex.base.pattern import compile_later
from gitindex.base.worktree import Worktree
from gitindex.git.interface import Repository
from gitindex.git.subjects import MAX_PATHS, CommitMessage, message_of

_BLANK = b" \t\r\n"
"""What git takes for blank; other white space is not."""
_HEADER = compile_later(rb"tree ([0-9a-f]+)\n((?:parent [0-9a-f]+\n)*)author ")


def parents_may_differ(worktree: Worktree) -> bool:
    """May git report other parents than the commits name: a shallow clone, or grafts?"""
    names = ("shallow", os.path.join("info", "grafts"))
    return any(os.path.exists(os.path.join(worktree.common_dir, name)) for name in names)


def read_commit(repository: Repository, oid: str, with_paths: bool = True) -> CommitMessage | None:
    """Return a commit as `git log` has it; None if git itself should be asked.

    Only where `parents_may_differ` is false.
    """
    try:
        data = repository.read(oid)
        header = _HEADER.match(data)
        head, _, message = data.partition(b"\n\n")
        if header is None or b"\0" in data or b"\nencoding " in head:
            return None
        parents = tuple(line[7:].decode() for line in header[2].splitlines())
        listed = with_paths and len(parents) < 2  # git lists no paths of a merge
        paths = _changed(repository, parents, header[1].decode()) if listed else ()
    except GitIndexError:
        return None
    if any(path.startswith((b"\n", b"\x01")) for path in paths):
        return None
    return message_of(oid, parents, *_split(message), paths)


def _changed(repository: Repository, parents: tuple[str, ...], tree: str) -> tuple[bytes, ...]:
    """Return the paths that a commit changes; of too many only the first."""
    if not parents:
        return tuple(entry.path for entry in islice(repository.entries(tree), MAX_PATHS + 1))
    before = repository.read(parents[0])[5:].partition(b"\n")[0].decode("ascii", "replace")
    return tuple(path for path, _ in islice(repository.changes(before, tree), MAX_PATHS + 1))


def _split(message: bytes) -> tuple[bytes, bytes]:
    """Return the first paragraph on one line, and the rest, as `%s` and `%b` of `git log`."""
    lines = message.split(b"\n")
    at = _skip_blank(lines, 0)
    start = at
    while at < len(lines) and lines[at].strip(_BLANK):
        at += 1
    subject = b" ".join(line.rstrip(_BLANK) for line in lines[start:at])
    return subject, b"\n".join(lines[_skip_blank(lines, at) :])


def _skip_blank(lines: list[bytes], at: int) -> int:
    while at < len(lines) and not lines[at].strip(_BLANK):
        at += 1
    return at
