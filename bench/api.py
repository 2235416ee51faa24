"""`python -m bench.api REPOSITORY PACKAGE [N]`: `gitindex api` against griffe, which must be installed.

Of the last commits that touch a Python package: do both say, or both not say, that callers may notice? Reads
an indexed clone; griffe reads unpacked trees. Values, types and defaults are left out: `api` judges none.
"""

from __future__ import annotations

import importlib
import logging
import os
import subprocess
import sys
from collections import Counter
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gitindex.base.worktree import Worktree, worktree_at
from gitindex.query.impact.change import TreeChange
from gitindex.query.impact.surface import find_surface
from gitindex.view.overlay import FactsMemory
from gitindex.view.tree import TreeChoice, open_tree

NOT_JUDGED = (
    "ATTRIBUTE_CHANGED_VALUE",
    "ATTRIBUTE_CHANGED_TYPE",
    "CLASS_REMOVED_BASE",
    "RETURN_CHANGED_TYPE",
    "PARAMETER_CHANGED_DEFAULT",
)


def main() -> int:
    """Print the agreement, and every commit where they differ."""
    root, package = os.path.realpath(sys.argv[1]), sys.argv[2]
    count = sys.argv[3] if len(sys.argv) > 3 else "200"
    logging.disable(logging.CRITICAL)
    worktree, memory = worktree_at(root), FactsMemory()
    asked = ("log", "--no-merges", "--format=%H", f"-n{count}", "HEAD", "--", f"{package}/*.py")
    commits = _git(root, *asked).decode().split()
    differ, counts = [], Counter[tuple[bool, bool]]()
    for commit in commits:
        ours, theirs = _ours(worktree, package, commit, memory), _theirs(root, package, commit)
        counts[bool(ours), bool(theirs)] += 1
        if bool(ours) != bool(theirs):
            differ.append(f"  {commit[:10]} ours {ours[:4]} griffe {theirs[:4]}")
    share = 1 - len(differ) / max(1, len(commits))
    print(
        f"{Path(root).name}: {len(commits)} commits, agreement {share:.3f}: both {counts[True, True]},"
        f" only ours {counts[True, False]}, only griffe {counts[False, True]}"
    )
    print("\n".join(differ), flush=True)
    return 0


def _ours(worktree: Worktree, package: str, commit: str, memory: FactsMemory) -> list[str]:
    with (
        open_tree(worktree, ".", TreeChoice(at=f"{commit}^"), memory) as old,
        open_tree(worktree, ".", TreeChoice(at=commit), memory) as new,
    ):
        found = [one for one in find_surface(TreeChange(old, new, memory)) if one.incompatible]
    own = [one.definition for one in found if one.definition.path.startswith(f"{package}/")]
    return [f"{definition.path} {definition.qualified}" for definition in own]


def _theirs(root: str, package: str, commit: str) -> list[str]:
    griffe: Any = importlib.import_module("griffe")
    trees = [_loaded(root, package, _tree(root, package, one)) for one in (f"{commit}^", commit)]
    breaks = [b for b in griffe.find_breaking_changes(*trees) if b.kind.name not in NOT_JUDGED]
    return [f"{b.kind.name} {b.obj.path}" for b in breaks]


def _tree(root: str, package: str, revision: str) -> str:
    return _git(root, "rev-parse", f"{revision}:{package}").decode().strip()


@lru_cache(2)
def _loaded(root: str, package: str, tree: str) -> Any:
    griffe: Any = importlib.import_module("griffe")
    name = os.path.basename(package)
    with TemporaryDirectory() as folder:
        data = _git(root, "archive", f"--prefix={name}/", tree)
        subprocess.run(["tar", "-x", "-C", folder], input=data, check=True)
        return griffe.load(name, search_paths=[folder], allow_inspection=False)


def _git(root: str, *args: str) -> bytes:
    return subprocess.run(["git", "-C", root, *args], capture_output=True, check=True).stdout


if __name__ == "__main__":
    raise SystemExit(main())
