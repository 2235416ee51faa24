"""Applies edits to a work tree: checks every file first, then writes all of them or none."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from typing import Any

from gitindex.base.confined_read import ConfinedRoot
from gitindex.base.errors import GitIndexError
from gitindex.base.escape import safe_text
from gitindex.edit.patch import FileEdit
from gitindex.edit.rename import RenamePlan
from gitindex.view.tree import TreeView


def apply_plan(view: TreeView, plan: RenamePlan) -> dict[str, Any]:
    """Write a plan that nothing blocks; returns its answer, which says whether it was applied."""
    if plan.blocked:
        return plan.answer
    apply_edits(view.worktree.root, plan.edits)
    return plan.answer | {"applied": True}


def apply_edits(root: str, edits: list[FileEdit]) -> None:
    """Write all edits, or leave every file as it was. `.git` is never touched."""
    written: list[FileEdit] = []
    staged: list[tuple[FileEdit, str]] = []
    try:
        for edit in edits:
            _check(root, edit)
            staged.append((edit, _stage(root, edit)))
        for edit, temporary in staged:
            _check(root, edit)
            _put(root, edit, temporary)
            written.append(edit)
    except (OSError, GitIndexError):
        for edit in written:
            _take_back(root, edit)
        raise
    finally:
        for _, temporary in staged:
            with suppress(FileNotFoundError):
                os.unlink(temporary)


def _put(root: str, edit: FileEdit, temporary: str) -> None:
    """Give the new bytes their path; one that a moved file would take must be free."""
    old = os.path.join(root, edit.path)
    if not edit.moved:
        os.replace(temporary, old)
        return
    new = os.path.join(root, edit.moved)
    os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL))  # fails where something is there
    try:
        os.replace(temporary, new)
        os.unlink(old)
    except OSError:
        os.unlink(new)
        raise


def _take_back(root: str, edit: FileEdit) -> None:
    """Put the old bytes back, at the old path."""
    temporary = _stage(root, FileEdit(edit.target, edit.new, edit.old))
    os.replace(temporary, os.path.join(root, edit.path))
    if edit.moved:
        os.unlink(os.path.join(root, edit.moved))


def _check(root: str, edit: FileEdit) -> None:
    """Raise unless the file on disk still has the planned bytes and no symlink leads to it."""
    raw = os.fsencode(edit.path)
    if raw.split(b"/")[0].lower() == b".git":
        raise GitIndexError(f"inside .git: {safe_text(edit.path)}")
    with ConfinedRoot(root) as disk:
        found = disk.read(raw, len(edit.old) + 1)
    if found is None or found.data != edit.old:
        raise GitIndexError(
            f"changed since it was read: {safe_text(edit.path)}", "nothing was written; try again"
        )


def _stage(root: str, edit: FileEdit) -> str:
    """Write the new bytes to a file beside the old one, with the same mode."""
    path = os.path.join(root, edit.path)
    mode = stat.S_IMODE(os.lstat(path).st_mode)
    handle, temporary = tempfile.mkstemp(prefix=".gitindex-rename-", dir=os.path.dirname(path))
    with os.fdopen(handle, "wb") as file:
        file.write(edit.new)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(temporary, mode)
    return temporary
