"""`python -m bench.affected_planted CLONE --record FILE --tree FOLDER`: affected tests, one run of the tests.

FILE is the `.coverage` of HEAD's tests with a context per test (`pytest --cov=PACKAGE --cov-context=test`),
run in FOLDER. Each of the last commits names functions that it changed: a statement is planted in each of
them at HEAD, and what gitindex names is compared with the tests that executed that line. `--faults`: each
function raises alone; tests that executed it and are not named are run in FOLDER with the fault.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shutil
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path

from bench.affected import _READ, Bench, Compared, Executed, _told
from gitindex.base.path_kind import is_test
from gitindex.query.impact.change import TreeChange
from gitindex.query.impact.reach import AffectedTest, affected_tests
from gitindex.view.overlay import FactsMemory
from gitindex.view.tree import TreeChoice, open_tree

Function = ast.FunctionDef | ast.AsyncFunctionDef
FAULT = 'raise RuntimeError("planted")'
Places = dict[str, list[tuple[int, int]]]  # path → line and column of the first statement


class PlantedBench(Bench):
    """One project whose tests ran once, at HEAD."""

    def __init__(self, root: Path, python: Path, cache: Path, package: str, tests: str) -> None:
        super().__init__(root, python, cache, package, tests)
        self._clean: dict[str, bool] = {}  # does a test fail without a fault?

    def changes(self, count: int) -> Iterator[Places]:
        """Yield where to plant: the functions of HEAD that each of the last commits changed."""
        seen = set()
        for commit in self.commits(count):
            places = {}
            for path, old, new in self.changed_lines(commit):
                names = self._around(f"{commit}^", path, old) | self._around(commit, path, new)
                starts = [_start(f) for n, f in self._functions("HEAD", path).items() if n in names]
                if not is_test(path) and any(starts):
                    places[path] = sorted(start for start in starts if start)
            key = json.dumps(places, sort_keys=True)
            if places and key not in seen:
                seen.add(key)
                yield places

    def plant(self, places: Places, statement: str = "pass") -> str:
        """Return a commit on HEAD with a statement at each place."""
        index = self.root / ".git/planted-index"
        env = {**os.environ, "GIT_INDEX_FILE": str(index)}
        for who in ("AUTHOR", "COMMITTER"):
            env |= {f"GIT_{who}_NAME": "bench", f"GIT_{who}_EMAIL": "bench@localhost"}

        def git(*args: str, text: str | None = None) -> str:
            command = ["git", "-C", str(self.root), *args]
            done = subprocess.run(
                command, input=text, capture_output=True, text=True, check=True, env=env
            )
            return done.stdout.strip()

        git("read-tree", "HEAD")
        for path, starts in places.items():
            text = self.planted_text(path, starts, statement)
            blob = git("hash-object", "-w", "--stdin", text=text)
            git("update-index", "--cacheinfo", f"100644,{blob},{path}")
        commit = git("commit-tree", git("write-tree"), "-p", "HEAD", "-m", "planted")
        index.unlink()
        return commit

    def planted_text(self, path: str, starts: list[tuple[int, int]], statement: str) -> str:
        """Return a file of HEAD with a statement at some places."""
        lines = self.git("show", f"HEAD:{path}").split("\n")
        for line, column in reversed(starts):
            lines.insert(line - 1, " " * column + statement)
        return "\n".join(lines)

    def failing(self, places: Places, tests: list[str], folder: Path) -> list[str]:
        """Return those tests that fail in a folder with the fault, and do not without it."""
        [(path, starts)] = places.items()
        file = folder / path
        kept = file.read_text()
        unknown = [test for test in tests if test not in self._clean]
        failing = self._failures(unknown, folder) if unknown else set()
        self._clean |= {test: test in failing for test in unknown}
        file.write_text(self.planted_text(path, starts, FAULT))
        try:
            return sorted(t for t in self._failures(tests, folder) if not self._clean[t])
        finally:
            file.write_text(kept)

    def _failures(self, tests: list[str], folder: Path) -> set[str]:
        source = folder / "src" if (folder / "src").is_dir() else folder
        env = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [str(self.python), "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider"]
        command += ["-p", "no:randomly", *tests]
        done = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=600
        )
        said = re.findall(r"(?m)^(?:FAILED|ERROR) (\S+)", done.stdout)
        return {test for test in tests if test in said or test.partition("::")[0] in said}

    def named(self, commit: str) -> list[AffectedTest]:
        """What gitindex names for a planted commit."""
        memory = FactsMemory()
        with (
            open_tree(self.worktree, ".", TreeChoice(at="HEAD"), memory) as old,
            open_tree(self.worktree, ".", TreeChoice(at=commit), memory) as new,
        ):
            return affected_tests(TreeChange(old, new, memory)).tests

    def informed(self, commit: str, record: Path) -> list[AffectedTest]:
        """The same, with the record of HEAD in the work tree."""
        there = self.root / ".coverage"
        shutil.copy(record, there)
        try:
            return self.named(commit)
        finally:
            there.unlink()

    def _functions(self, commit: str, path: str) -> dict[str, Function]:
        try:
            return dict(_walk(ast.parse(self.git("show", f"{commit}:{path}")), ""))
        except (subprocess.CalledProcessError, SyntaxError):
            return {}

    def _around(self, commit: str, path: str, lines: list[int]) -> set[str]:
        """Return the innermost functions around some lines."""
        known = self._functions(commit, path)
        found = set()
        for line in lines:
            around = [n for n, f in known.items() if f.lineno <= line <= (f.end_lineno or 0)]
            found.update(sorted(around, key=lambda n: known[n].lineno)[-1:])
        return found


def _walk(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + child.name, child
        named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        yield from _walk(child, f"{prefix}{child.name}." if named else prefix)  # type: ignore[attr-defined]


def _start(function: Function) -> tuple[int, int] | None:
    """Return the first statement after the docstring; None if it is on the line of the header."""
    body = function.body[ast.get_docstring(function) is not None :]
    if not body or body[0].lineno <= function.lineno:
        return None
    decorators = getattr(body[0], "decorator_list", [])
    return min([body[0].lineno, *(d.lineno for d in decorators)]), body[0].col_offset


def _of(named: list[AffectedTest], tests: set[str]) -> set[str]:
    """Return those tests that are named, alone or with their whole file."""
    whole = {test.path for test in named if not test.nodes}
    nodes = {node for test in named for node in test.nodes}
    return {n for n in tests if n.partition("::")[0] in whole or n.partition("[")[0] in nodes}


def _faults(bench: PlantedBench, executed: Executed, asked: argparse.Namespace) -> int:
    """Print each fault with a missed failing test, and the sums."""
    found: list[Compared] = []
    informed: list[Compared] = []
    shares: list[list[float]] = []
    known = {
        test
        for lines in executed.values()
        for tests in lines.values()
        for test in tests
        if is_test(test.partition("::")[0])
    }
    missed = silent = unrun = lost = run = 0
    seen = set()
    alone = (
        {path: [start]}
        for places in bench.changes(asked.commits)
        for path, starts in places.items()
        for start in starts
    )
    for places in alone:
        [(path, [(line, _)])] = places.items()
        ran = {
            t for t in executed.get(path, {}).get(str(line), ()) if is_test(t.partition("::")[0])
        }
        if (path, line) in seen or len(found) >= asked.changes:
            continue
        seen.add((path, line))
        if not ran:
            unrun += 1
            continue
        commit = bench.plant(places, FAULT)
        named = bench.named(commit)
        found.append(bench.compare("HEAD", named, ran))
        sharper = bench.informed(commit, asked.record)
        informed.append(bench.compare("HEAD", sharper, ran))
        shares.append(
            [len(one) / len(known) for one in (_of(named, known), _of(sharper, known), ran)]
        )
        rest = ran - _of(named, ran)
        failed = bench.failing(places, sorted(rest), asked.tree) if rest else []
        missed += bool(failed)
        lost, run = lost + len(failed), run + len(ran)
        silent += not named
        if failed:
            print(
                f"  {path}:{line}: {len(ran)} ran it, {len(failed)} failing are missed: {failed[:3]}"
            )
    print(
        f"{asked.clone.name}: {len(found)} faults that a test runs ({unrun} that none does), {missed} with"
        f" a missed failing test, {lost} of {run} tests that ran one; {silent} name no test; {_told(found)}",
        flush=True,
    )
    print(f"  with the record: {_told(informed)}", flush=True)
    middle = [f"{statistics.median(column):.0%}" for column in zip(*shares, strict=True)]
    print(
        f"  tests named (median): {', with the record '.join(middle[:2])}; executed: {middle[2:]}",
        flush=True,
    )
    return 0


def main() -> int:
    """Print a line per change and the summary: `named 50% of 30%` that executed it."""
    parser = argparse.ArgumentParser(prog="python -m bench.affected_planted", description=__doc__)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--record", type=Path, required=True)
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--python", type=Path, required=True, help="has coverage.py")
    parser.add_argument("--package", default="src")
    parser.add_argument("--tests", default="tests")
    parser.add_argument("--commits", type=int, default=60)
    parser.add_argument("--changes", type=int, default=16)
    parser.add_argument(
        "--faults", action="store_true", help="each function alone; run what is missed"
    )
    asked = parser.parse_args()
    bench = PlantedBench(asked.clone, asked.python, asked.tree, asked.package, asked.tests)
    read = [asked.python, "-c", _READ, asked.record]
    told = subprocess.run(read, capture_output=True, text=True, check=True).stdout
    executed = {os.path.relpath(p, asked.tree): lines for p, lines in json.loads(told).items()}
    if asked.faults:
        return _faults(bench, executed, asked)
    found: list[Compared] = []
    for places in bench.changes(asked.commits):
        at = [(path, str(line)) for path, starts in places.items() for line, _ in starts]
        tests = {t for path, line in at for t in executed.get(path, {}).get(line, ())}
        wanted = {test for test in tests if is_test(test.partition("::")[0])}
        if wanted and len(found) < asked.changes:
            found.append(bench.compare("HEAD", bench.named(bench.plant(places)), wanted))
            print(f"  {', '.join(places)}: {_told(found[-1:])}", flush=True)
    print(f"{asked.clone.name}: {len(found)} changes; {_told(found)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
