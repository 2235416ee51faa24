"""`python -m bench.renames [--count N] [--seed N] [--methods] [--folder DIR]`: renames in packages of PyPI.

Functions at random, the same number of each package: how many are applied, how many of those break
the package's own tests, and what stands in the way of the others. `--methods` takes methods, too.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from gitindex.query.symbols import SymbolQuery, list_symbols
from gitindex.view.tree import open_tree
from tests.renames import rename_and_run
from tests.support import Repo
from tests.torture.renames import NEEDS, PACKAGES, Candidate, candidates, fresh_name, source_paths

GOAL = 0.75


def ordinary(repo: Repo, under: str, kinds: tuple[str, ...]) -> set[str]:
    """Ids of the symbols below a path, but those that a language or a test runner calls."""
    with open_tree(repo.worktree, ".") as view:
        found = list_symbols(view, SymbolQuery("", path=under, limit=1000))["symbols"]
    return {
        f"{one['path']}#{one['qualifiedName']}"
        for one in found
        if one["kind"] in kinds and not one["name"].startswith(("__", "test", "Test", "setUp"))
    }


def sample(count: int, seed: int, folder: Path, kinds: tuple[str, ...]) -> list[Candidate]:
    """Symbols at random, as many of each package as of the others."""
    rng = random.Random(seed)
    chosen: list[Candidate] = []
    for number, package in enumerate(PACKAGES):
        found = candidates(package, folder)
        if not found:
            continue
        ids = ordinary(found[0].repo, package.code, kinds)
        kept = sorted((one for one in found if one.symbol in ids), key=lambda one: one.symbol)
        share = (count - len(chosen)) // (len(PACKAGES) - number)
        chosen += rng.sample(kept, min(share, len(kept)))
    return chosen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--folder", default="")
    parser.add_argument("--methods", action="store_true")
    args = parser.parse_args()
    folder = Path(args.folder or tempfile.mkdtemp(prefix="gitindex-renames-"))
    if not (folder / "needs").exists():
        argv = [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder / "needs")]
        subprocess.run([*argv, *NEEDS], check=True, capture_output=True)
    reasons: Counter[str] = Counter()
    kinds = ("function", "method") if args.methods else ("function",)
    applied, broken, chosen = 0, 0, sample(args.count, args.seed, folder, kinds)
    for number, one in enumerate(chosen):
        paths = source_paths(one.package, one.repo.path, folder)
        new = fresh_name(number)
        done = rename_and_run(one.repo, one.symbol, new, one.command, paths, one.memory)
        applied += not done.refused
        broken += bool(done.wrong)
        reasons.update(done.refused)
        told = (
            "broken" if done.wrong else f"refused: {', '.join(done.refused)}" * bool(done.refused)
        )
        print(f"{one.package.name} {one.symbol}: {told or 'applied'}", flush=True)
        if done.wrong:
            print(done.wrong, flush=True)
    packages = len({one.package.name for one in chosen})
    print(f"{applied} of {len(chosen)} applied, {broken} broken, in {packages} packages; {reasons}")
    return int(bool(broken) or applied < GOAL * len(chosen))


if __name__ == "__main__":
    sys.exit(main())
