"""Applies a plan to the work tree: all of its files, or none."""

from __future__ import annotations

from typing import Any

from gitindex.base.tree_edit import FileChange, change_files
from gitindex.base.worktree import Worktree
from gitindex.edit.patch import FileEdit
from gitindex.edit.rename import RenamePlan
from gitindex.view.tree import TreeView


def apply_plan(view: TreeView, plan: RenamePlan) -> dict[str, Any]:
    """Write a plan that nothing blocks; returns its answer, which says whether it was applied."""
    if plan.blocked:
        return plan.answer
    apply_edits(view.worktree, plan.edits)
    return plan.answer | {"applied": True}


def apply_edits(worktree: Worktree, edits: list[FileEdit]) -> None:
    """Write all edits, or leave every file as it was. `.git` is never touched."""
    change_files(worktree, [FileChange(*edit) for edit in edits])
