"""The mutation gate on real repositories: what share of functions may be edited without a decision."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from gitindex.base.path_kind import is_test
from gitindex.base.worktree import find_worktree
from gitindex.filestate import FileStateService
from gitindex.filestate.ambiguity import EditTarget
from gitindex.view.tree import open_tree

FUNCTIONS = ("function", "method", "constructor")


def measure(folder: Path, every: int = 1) -> tuple[Counter[str], Counter[str]]:
    """Ask for every nth function of an indexed repository: statuses, and the flags that were open."""
    statuses: Counter[str] = Counter()
    flags: Counter[str] = Counter()
    worktree = find_worktree(str(folder))
    with open_tree(worktree, worktree.root) as view:
        service = FileStateService(view)
        targets = [
            EditTarget(path, line=symbol.line + 1)
            for path, row in sorted(service.inputs.files.items())
            if row.has_facts and not is_test(path) and (facts := service.inputs.facts(path))
            for symbol in facts.symbols
            if symbol.kind in FUNCTIONS
        ]
        for target in service.check_mutation_gate(targets[::every]).targets:
            statuses[target["status"]] += 1
            for failed in target.get("witness", {}).get("failedInvariants", ()):
                found = failed.get("found")
                flags.update(found if isinstance(found, list) else [failed["invariant"]])
    return statuses, flags


def main() -> int:
    """`python -m bench.gate [--every=N] REPOSITORY…`, each indexed before."""
    every = next((int(a[8:]) for a in sys.argv[1:] if a.startswith("--every=")), 1)
    for name in sys.argv[1:]:
        if name.startswith("--"):
            continue
        statuses, flags = measure(Path(name), every)
        total = sum(statuses.values())
        share = 100 * statuses["ok"] / max(1, total)
        shown = f"{Path(name).name:<10} {total:>5} functions  ok {share:5.1f} %"
        sys.stdout.write(f"{shown}  {dict(statuses)}  open: {dict(flags.most_common())}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
