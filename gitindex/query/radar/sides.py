"""The work that is compared: each live worktree as it is on disk, and branches, as commits.

Uncommitted edits become a commit in a temporary object directory: the repository stays as it is.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gitindex.base.confined_read import ConfinedRoot
from gitindex.base.errors import GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.vocabulary import MAX_TEXT_BYTES
from gitindex.base.worktree import Worktree, find_worktree
from gitindex.extract.policy import is_secret
from gitindex.git.command import check_result, run_git, try_git
from gitindex.git.merge_tree import commit_of, environment
from gitindex.git.status_cache import Probe
from gitindex.git.worktree_probe import HeadState

MAX_SIDES = 64
"""Worktrees that are compared: their pairs grow with the square."""
MAX_EDITS = 5_000
"""Edited files of one worktree that are compared: all are read."""
_SIGNED = b"committer gitindex <gitindex> 0 +0000\ndata 6\nedits\n"

Entry = tuple[bytes, bytes]  # mode and content
Edits = dict[bytes, Entry | None]  # by path; None: deleted


class Objects:
    """A folder for objects that the repository does not have; `env` lets git see both."""

    def __init__(self, worktree: Worktree, folder: str, digits: int) -> None:
        self.env = environment(worktree, folder, digits)
        own = os.path.join(folder, "git")  # `fast-import` writes a reference
        shutil.copytree(self.env["GIT_DIR"], own)
        self.env["GIT_DIR"] = own

    def git(self, *args: str, stdin: bytes = b"") -> bytes:
        """Run git on these objects, outside of the repository."""
        return check_result(args, try_git("/", *args, stdin=stdin, env=self.env))

    def commit(self, parent: str, edits: Edits) -> str:
        """Return a commit of edits on top of another one; its id depends on nothing else."""
        lines = [b"commit refs/edits\nmark :1\n", _SIGNED, b"from %s\n" % parent.encode()]
        for path, entry in edits.items():
            quoted = b'"%s"' % path.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
            if entry is None:
                lines.append(b"D %s\n" % quoted)
            else:
                lines += [
                    b"M %s inline %s\ndata %d\n" % (entry[0], quoted, len(entry[1])),
                    entry[1],
                ]
                lines.append(b"\n")
        stream = b"".join([*lines, b"\nget-mark :1\ndone\n"])
        return (
            self.git("fast-import", "--quiet", "--force", "--done", stdin=stream).decode().strip()
        )


class Side(NamedTuple):
    """One line of work: a commit, which for edits exists only in the temporary object directory."""

    name: str
    kind: str  # "worktree" or "branch"
    root: str  # of a worktree
    head: str  # the commit that is in the repository
    commit: str
    edits: int = 0
    left_out: int = 0  # edited files that are secret, too large or not readable


def live_worktrees(worktree: Worktree) -> tuple[list[Worktree], list[str]]:
    """Return the checkouts of a repository, this one first, and a line for each left out."""
    found, notes = [worktree], []
    listed = run_git(worktree.root, "worktree", "list", "--porcelain", "-z")
    for block in listed.split(b"\0\0"):
        fields = dict(line.partition(b" ")[::2] for line in block.strip(b"\0").split(b"\0"))
        root = os.fsdecode(fields.get(b"worktree", b""))
        if not root or b"bare" in fields or os.path.realpath(root) == worktree.root:
            continue
        try:
            other = find_worktree(root)
            if other.common_dir != worktree.common_dir:
                raise GitIndexError("it belongs to another repository")
            found.append(other)
        except (GitIndexError, OSError) as error:
            why = error.message if isinstance(error, GitIndexError) else error.strerror
            notes.append(f"left out: worktree {safe_text(root)} ({why})")
    return found[:MAX_SIDES], notes


def worktree_sides(
    worktrees: list[Worktree], objects: Objects, start: Callable[[Worktree], Probe]
) -> Iterator[Side | str]:
    """Yield the work of each checkout, or why it has none; git looks at all of them at once."""
    probes = [start(one) for one in worktrees]
    try:
        for one, probe in zip(worktrees, probes, strict=True):
            yield _worktree_side(one, probe, objects)
    finally:
        for probe in probes:
            probe.abandon()


def branch_side(worktree: Worktree, name: str) -> Side:
    """Return the work of a branch, tag or commit; refuses a name that is none."""
    commit = commit_of(worktree, name)
    return Side(name, "branch", "", commit, commit)


def _worktree_side(worktree: Worktree, probe: Probe, objects: Objects) -> Side | str:
    name = _name(worktree)
    try:
        head = probe.result()
    except GitIndexError as error:
        return f"left out: worktree {safe_text(name)} ({error.message})"
    if head.commit is None:
        return f"left out: worktree {safe_text(name)} (no commit yet)"
    shown = f"{name}" + (f" ({head.branch})" if head.branch and head.branch != name else "")
    side = Side(shown, "worktree", worktree.root, head.commit, head.commit)
    paths = list(dict.fromkeys((*head.dirty, *head.untracked)))
    if not paths:
        return side
    entries, left_out = _entries(worktree, head, paths, objects)
    commit = objects.commit(head.commit, entries) if entries else head.commit
    return side._replace(commit=commit, edits=len(entries), left_out=left_out)


def _name(worktree: Worktree) -> str:
    return os.path.basename(worktree.root)


def _entries(
    worktree: Worktree, head: HeadState, paths: list[bytes], objects: Objects
) -> tuple[Edits, int]:
    """Return the edited paths as tree entries, and how many are left out."""
    entries: Edits = {}
    left_out = max(0, len(paths) - MAX_EDITS)
    with ConfinedRoot(worktree.root) as disk:
        for path in paths[:MAX_EDITS]:
            if path.endswith(b"/") or b"\n" in path or is_secret(path):
                left_out += not path.endswith(b"/")  # a nested repository is another's work
                continue
            try:
                entries[path] = _entry(disk, worktree.root, path, head, objects)
            except OSError:
                left_out += 1
    return entries, left_out


def _entry(
    disk: ConfinedRoot, root: str, path: bytes, head: HeadState, objects: Objects
) -> Entry | None:
    """Return the entry of a path as it is on disk, None if it is gone; OSError if it is unusable."""
    found = disk.read(path, MAX_TEXT_BYTES + 1)
    if found is not None:
        if found.size > MAX_TEXT_BYTES:
            raise OSError("too large")
        data = found.data
        if b"\r\n" in data and path in head.dirty:
            old = _committed(objects, head.commit or "", path)
            if old and b"\r\n" not in old:
                data = data.replace(b"\r\n", b"\n")  # as git would with `autocrlf`
        mode = b"100755" if found.executable else b"100644"
        return mode, data
    whole = os.path.join(os.fsencode(root), path)
    try:
        info = os.lstat(whole)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(info.st_mode):
        return b"120000", os.readlink(whole)
    if stat.S_ISDIR(info.st_mode):
        return None
    raise OSError("neither a file nor a link")


def _committed(objects: Objects, commit: str, path: bytes) -> bytes:
    """Return the bytes that a commit has of a path; empty if it has none."""
    done = try_git("/", "cat-file", "blob", f"{commit}:{os.fsdecode(path)}", env=objects.env)
    return b"" if done.returncode else done.output
