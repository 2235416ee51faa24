"""Does the partition of a name add up to what git itself counts? On any repository, for many names."""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from collections import Counter
from statistics import median
from typing import Any

from gitindex.base.worktree import find_worktree
from gitindex.query.absence import partition
from gitindex.query.names.finder import Finder
from gitindex.query.names.memory import Memory
from gitindex.view.tree import TreeView, open_tree

_NAMES = (
    "SELECT DISTINCT n.text FROM {symbols} s JOIN {live} l ON l.blob_id=s.blob_id"
    " JOIN {names} n ON n.id=s.name_id"
)


def git_count(root: str, name: str) -> int:
    """Return how often git finds a name as a word in the files on disk that are not binary.

    Twice: `--untracked` leaves out files that are tracked and ignored.
    """
    grep = (
        "git",
        "-C",
        root,
        "-c",
        "submodule.recurse=false",
        "grep",
        "-a",
        "-F",
        "-w",
        "-o",
        "-z",
    )
    found: dict[bytes, int] = {}
    for option in ("--untracked", "--no-recurse-submodules"):
        command = (*grep, option, "-e", name)
        output = subprocess.run(command, capture_output=True, check=False).stdout
        found |= Counter(line.partition(b"\0")[0] for line in output.splitlines() if b"\0" in line)
    total = 0
    for path, count in found.items():
        with open(os.path.join(os.fsencode(root), path), "rb") as file:
            total += count if b"\0" not in file.read(8000) else 0
    return total


def names_of(view: TreeView, count: int, seed: int) -> list[str]:
    """Return a sample of the names of the tree's symbols."""
    names = sorted({text for (text,) in view.rows(_NAMES) if text.isidentifier()})
    return random.Random(seed).sample(names, min(count, len(names)))


def measure(root: str, count: int, seed: int, check: bool) -> dict[str, Any]:
    """Return how many partitions add up, are complete, and how many rows they have."""
    told: Counter[str] = Counter()
    ratios = []
    wrong = []
    with open_tree(find_worktree(root), root) as view:
        memory = Memory()
        for name in names_of(view, count, seed):
            finder = Finder(view, memory)
            part = partition(finder, finder.project.definitions(name), name)
            counts = part.counts
            told["names"] += 1
            told["accountedFor"] += part.accounted_for
            told["complete"] += part.complete
            told["absent"] += part.absent
            told.update({f"rows.{key}": number for key, number in counts.items()})
            told.update(f"why.{place.why}" for place in part.possible)
            ratios.append(counts["possible"])
            if check and git_count(root, name) != counts["total"]:
                wrong.append((name, counts["total"], git_count(root, name)))
    return {**told, "median possible": median(ratios) if ratios else 0, "wrong": wrong}


def main() -> int:
    """Print the measures of some repositories; exit 1 if one partition does not add up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("roots", nargs="+")
    parser.add_argument("--names", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-git", action="store_true", help="do not compare with git grep")
    asked = parser.parse_args()
    wrong = 0
    for root in asked.roots:
        found = measure(root, asked.names, asked.seed, not asked.no_git)
        wrong += len(found["wrong"])
        sys.stdout.write(f"{root}\n")
        for key, value in found.items():
            sys.stdout.write(f"  {key}: {value}\n")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
