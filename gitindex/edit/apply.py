"""Applies edits to a work tree: checks every file first, then writes all of them or none."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress

from gitindex.base.confined_read import ConfinedRoot
from gitindex.base.errors import GitIndexError
from gitindex.base.escape import safe_text
from gitindex.edit.rename import FileEdit


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
            os.replace(temporary, os.path.join(root, edit.path))
            written.append(edit)
    except (OSError, GitIndexError):
        for edit in written:
            os.replace(_stage(root, edit._replace(new=edit.old)), os.path.join(root, edit.path))
        raise
    finally:
        for _, temporary in staged:
            with suppress(FileNotFoundError):
                os.unlink(temporary)


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
