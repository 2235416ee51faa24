"""`python -m bench.affected CLONE --python PYTHON [--commits N]`: affected tests against executed ones.

For each of the last commits that change the package: the project's own tests run under coverage.py with a
context per test (PYTHON has pytest, pytest-cov and what the project needs), at the commit and at its
parent. The oracle is every test that executed a changed line. Two lists are compared with it: what the
call graph and the imports name, and what is named if the parent's `.coverage` lies in the work tree.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from gitindex.base.path_kind import is_test
from gitindex.base.worktree import Worktree, worktree_at
from gitindex.query.impact.change import TreeChange
from gitindex.query.impact.reach import AffectedTest, affected_tests
from gitindex.view.overlay import FactsMemory
from gitindex.view.tree import TreeChoice, open_tree

_READ = """
import coverage, json, sys
data = coverage.CoverageData(sys.argv[1]); data.read()
found = {}
for path in data.measured_files():
    data.set_query_contexts(None)
    lines = data.contexts_by_lineno(path)
    found[path] = {n: sorted({c.partition("|")[0] for c in cs if c}) for n, cs in lines.items()}
print(json.dumps(found))
"""
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
Executed = dict[str, dict[str, list[str]]]  # path → line → node ids of tests


class Compared(NamedTuple):
    """One list of named tests against the executed ones of one commit."""

    files: float  # recall of test files
    nodes: float  # recall of tests; a file that is named whole names all of its tests
    share: float  # test files named, of all there are
    least: float  # test files that executed the change, of all there are


class Bench:
    """One project: its clone, and what its tests executed at each commit (kept in a folder)."""

    def __init__(self, root: Path, python: Path, cache: Path, package: str, tests: str) -> None:
        self.root, self.python, self.cache = root.resolve(), python.absolute(), cache
        self.package, self.tests = package, tests
        self.worktree: Worktree = worktree_at(str(self.root))
        self.memory = FactsMemory()

    def commits(self, count: int) -> list[str]:
        """The last commits that change Python files of the package."""
        asked = ("--no-merges", f"-n{count}", "--format=%H", "HEAD", "--", f"{self.package}/*.py")
        return self.git("log", *asked).split()

    def executed(self, commit: str) -> Executed:
        """What each test executed at a commit."""
        kept = self.cache / f"{commit}.json"
        if not kept.exists():
            with self.unpacked(commit) as folder:
                self.run_tests(folder)
                done = subprocess.run(
                    [self.python, "-c", _READ, str(folder / ".coverage")],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                if done.returncode:
                    raise SystemExit(f"{commit}: the tests left no record\n{done.stderr[-400:]}")
                known = json.loads(done.stdout)
                inside = {os.path.relpath(p, folder): lines for p, lines in known.items()}
                shutil.copy(folder / ".coverage", self.cache / f"{commit}.coverage")
            kept.write_text(json.dumps(inside))
        found: Executed = json.loads(kept.read_text())
        return found

    def run_tests(self, folder: Path) -> None:
        """Run the project's tests with a context for each; some may fail."""
        source = folder / "src" if (folder / "src").is_dir() else folder
        env = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [str(self.python), "-m", "pytest", "-q", "--continue-on-collection-errors"]
        command += ["-p", "no:cacheprovider"]
        command += [f"--cov={self.package}", "--cov-context=test", "--cov-report=", self.tests]
        subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False, timeout=900)

    @contextmanager
    def unpacked(self, commit: str) -> Iterator[Path]:
        """The files of a commit in a folder that always has the same name."""
        folder = self.cache / "tree"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        data = subprocess.run(
            ["git", "-C", self.root, "archive", commit], capture_output=True, check=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=data, check=True)
        yield folder
        shutil.rmtree(folder, ignore_errors=True)

    def oracle(self, commit: str) -> set[str]:
        """The tests that executed a line that the commit changes, before or after."""
        before, after = self.executed(self.parent(commit)), self.executed(commit)
        found: set[str] = set()
        for path, old, new in self.changed_lines(commit):
            for lines, known in ((old, before), (new, after)):
                executed = known.get(path, {})
                found.update(node for line in lines for node in executed.get(str(line), ()))
        return {node for node in found if is_test(node.partition("::")[0])}

    def parent(self, commit: str) -> str:
        """The id of a commit's parent."""
        return self.git("rev-parse", f"{commit}^").strip()

    def changed_lines(self, commit: str) -> Iterator[tuple[str, list[int], list[int]]]:
        """The lines of code that a commit removes and adds, by file, tests left out."""
        told = self.git("diff", "-U0", "--no-renames", f"{commit}^", commit, "--", self.package)
        path = ""
        old: list[int] = []
        new: list[int] = []
        for line in [*told.splitlines(), "diff --git"]:
            if line.startswith("diff --git"):
                if path.endswith(".py"):
                    yield path, old, new
                path, old, new = "", [], []
            elif line.startswith(("--- a/", "+++ b/")):
                path = line[6:]
            elif hunk := _HUNK.match(line):
                first, gone, start, more = (int(n) if n else 1 for n in hunk.groups())
                old += range(first, first + gone)
                new += range(start, start + more)

    def git(self, *args: str) -> str:
        """What git prints."""
        done = subprocess.run(
            ["git", "-C", str(self.root), *args], capture_output=True, text=True, check=True
        )
        return done.stdout

    def named(self, commit: str) -> list[AffectedTest]:
        """What gitindex names for a commit."""
        with (
            open_tree(self.worktree, ".", TreeChoice(at=f"{commit}^"), self.memory) as old,
            open_tree(self.worktree, ".", TreeChoice(at=commit), self.memory) as new,
        ):
            return affected_tests(TreeChange(old, new, self.memory)).tests

    def with_coverage(self, commit: str) -> list[AffectedTest]:
        """The same, with what the tests executed at the parent."""
        there = self.root / ".coverage"
        shutil.copy(self.cache / f"{self.parent(commit)}.coverage", there)
        try:
            return self.named(commit)
        finally:
            there.unlink()

    def compare(self, commit: str, named: list[AffectedTest], wanted: set[str]) -> Compared:
        """Recall of files and of tests, and how much is named."""
        files = {node.partition("::")[0] for node in wanted}
        whole = {test.path for test in named if not test.nodes}
        nodes = {node for test in named for node in test.nodes}
        hit = [n for n in wanted if n.partition("::")[0] in whole or n.partition("[")[0] in nodes]
        listed = self.git("ls-tree", "-r", "--name-only", commit, "--", self.tests).split()
        known = [p for p in listed if re.search(r"(^|/)(test_[^/]*|[^/]*_test)\.py$", p)]
        paths = {test.path for test in named}
        return Compared(
            len(files & paths) / len(files),
            len(hit) / len(wanted),
            len(paths & set(known)) / max(1, len(known)),
            len(files) / max(1, len(known)),
        )


def main() -> int:
    """Print a line per commit and the summary of both lists: `named 50% of 30%` that executed it."""
    parser = argparse.ArgumentParser(prog="python -m bench.affected", description=__doc__)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--package", default="src")
    parser.add_argument("--tests", default="tests")
    parser.add_argument("--commits", type=int, default=40)
    parser.add_argument("--cache", type=Path, required=True)
    asked = parser.parse_args()
    asked.cache.mkdir(parents=True, exist_ok=True)
    bench = Bench(asked.clone, asked.python, asked.cache, asked.package, asked.tests)
    plain, informed = [], []
    for commit in bench.commits(asked.commits):
        wanted = bench.oracle(commit)
        if not wanted:
            continue  # only comments, or what no test executes
        plain.append(bench.compare(commit, bench.named(commit), wanted))
        informed.append(bench.compare(commit, bench.with_coverage(commit), wanted))
        files = {node.partition("::")[0] for node in wanted}
        print(f"  {commit[:10]} {len(wanted)} tests in {len(files)} files:", end=" ")
        print("; ".join(_told([one]) for one in (plain[-1], informed[-1])), flush=True)
    print(f"{asked.clone.name}: {len(plain)} commits whose changed lines tests execute")
    print(f"  calls and imports: {_told(plain)}")
    print(f"  with .coverage:    {_told(informed)}")
    return 0


def _told(found: list[Compared]) -> str:
    if not found:
        return "nothing to compare"
    files = statistics.mean(c.files for c in found)
    nodes = statistics.mean(c.nodes for c in found)
    share = statistics.median(c.share for c in found)
    least = statistics.median(c.least for c in found)
    return f"recall of files {files:.3f}, of tests {nodes:.3f}, named {share:.0%} of {least:.0%}"


if __name__ == "__main__":
    raise SystemExit(main())
