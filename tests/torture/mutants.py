"""Mutants of the most critical modules: each changes one operator or constant, and a test must notice.

    python -m tests.torture.mutants [MODULE …] [--sample N] [--seed S] [--near]

Prints one line for each mutant that survives the tests of its module, and the sums. Each mutant has a fork
of this process, which has imported all that is not ours: the mutant is in its place before anything of
ours is imported. A mutant first meets the tests that run its function in the test's own process, the
quickest first, and only if they let it live all others; with --near it then counts as a survivor.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = {
    "gitindex.base.atomic_file": ["tests/unit/base/test_atomic_file.py"],
    "gitindex.base.worktree": ["tests/repo/git/test_paths.py"],
    "gitindex.freshness.marker": [
        "tests/unit/freshness/test_marker_fields.py",
        "tests/repo/freshness/test_marker.py",
        "tests/unit/freshness/test_stamp_file.py",
        "tests/repo/freshness/test_stamp.py",
        "tests/repo/freshness/test_unfinished.py",
    ],
    "gitindex.freshness.status_file": ["tests/unit/freshness/test_status_file.py"],
    "gitindex.freshness.verdict": [
        "tests/unit/freshness/test_gate.py",
        "tests/unit/freshness/test_verdict.py",
    ],
    "gitindex.query.absence": [
        "tests/repo/query/names/test_certificates.py",
        "tests/repo/query/names/test_references.py",
        "tests/repo/query/names/test_references_semantic.py",
    ],
    "gitindex.query.references": [
        "tests/repo/query/names/test_references.py",
        "tests/repo/query/test_explore_budget.py",
    ],
    "gitindex.refresh.queue": [
        "tests/unit/refresh/test_queue_reading.py",
        "tests/unit/refresh/test_queue.py",
        "tests/repo/refresh/test_scope.py",
    ],
    "gitindex.refresh.refresher": [
        "tests/repo/refresh/test_incremental.py",
        "tests/repo/refresh/test_ingest.py",
        "tests/repo/refresh/test_refresher.py",
        "tests/repo/refresh/test_tracked_folder.py",
        "tests/repo/freshness/test_upgrade.py",
        "tests/repo/view/test_limits.py",
    ],
    "gitindex.store.checksums": ["tests/unit/store/test_checksums.py"],
    "gitindex.store.mapping": [
        "tests/unit/store/test_store.py",
        "tests/repo/refresh/test_refresher.py",
        "tests/repo/refresh/test_incremental.py",
        "tests/repo/view/test_limits.py",
    ],
    "gitindex.view.difference": ["tests/repo/view/test_overlay.py"],
    "gitindex.view.overlay": ["tests/repo/view/test_overlay.py"],
}
OTHER: dict[type[ast.AST], Any] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
}


class _Mutation(ast.NodeTransformer):
    """Changes the place with one number; counts all of them."""

    def __init__(self, wanted: int) -> None:
        self._wanted, self.count, self.line = wanted, 0, 0

    def _here(self, node: ast.AST) -> bool:
        self.count += 1
        if self.count - 1 == self._wanted:
            self.line = getattr(node, "lineno", 0)
            return True
        return False

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if type(node.ops[0]) in OTHER and self._here(node):
            node.ops[0] = OTHER[type(node.ops[0])]()
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if self._here(node):
            node.op = OTHER[type(node.op)]()
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if type(node.op) in OTHER and self._here(node):
            node.op = OTHER[type(node.op)]()
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return node.operand if isinstance(node.op, ast.Not) and self._here(node) else node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool) and self._here(node):
            return ast.copy_location(ast.Constant(not node.value), node)
        if type(node.value) is int and self._here(node):
            return ast.copy_location(ast.Constant(node.value + 1), node)
        return node


def _source(module: str) -> Path:
    return ROOT / (module.replace(".", "/") + ".py")


def mutate(module: str, number: int) -> tuple[ast.Module, int]:
    """The module's tree with one change, and the line of it."""
    mutation = _Mutation(number)
    tree = mutation.visit(ast.parse(_source(module).read_text()))
    assert isinstance(tree, ast.Module)
    return ast.fix_missing_locations(tree), mutation.line


def places(module: str) -> int:
    """How many mutants a module has."""
    counting = _Mutation(NONE)
    counting.visit(ast.parse(_source(module).read_text()))
    return counting.count


def _put_in_place(module: str, changed: ast.Module) -> None:
    path = _source(module)
    spec = importlib.util.spec_from_file_location(module, path)
    assert spec is not None
    made = ModuleType(module)
    made.__file__, made.__spec__, made.__package__ = str(path), spec, module.rpartition(".")[0]
    package = importlib.import_module(made.__package__)
    sys.modules[module] = made
    exec(compile(changed, str(path), "exec"), made.__dict__)
    setattr(package, module.rpartition(".")[2], made)


OPTIONS = [
    *("-q", "-x", "-p", "no:xdist", "-p", "no:cacheprovider", "-m", "not torture"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # of what is imported already
]
SECONDS = 1800
NONE = -1
OURS = ("gitindex", "tests", "__main__")


def import_the_rest(tests: list[str]) -> None:
    """Import what some tests import, but nothing of ours."""
    listing = f"""import pytest, sys
pytest.main([*{OPTIONS!r}, "--collect-only", *{tests!r}])
print()
print(*sorted(sys.modules))"""
    command = [sys.executable, "-c", listing]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=600
    )
    for name in done.stdout.splitlines()[-1].split():
        if name.partition(".")[0] not in OURS:
            with suppress(Exception):  # some modules refuse to be imported by their name
                importlib.import_module(name)


class Calls:
    """A plugin of pytest: which functions of one file each test calls, and how long the test takes."""

    def __init__(self, source: Path) -> None:
        self._source = str(source)
        self._called: set[int] = set()
        self.tests: list[tuple[float, str, list[int]]] = []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._called.clear()
        begun = time.monotonic()
        sys.setprofile(self._note)
        yield
        sys.setprofile(None)
        self.tests.append((time.monotonic() - begun, item.nodeid, sorted(self._called)))

    def _note(self, frame: FrameType, event: str, _arg: object) -> None:
        if event == "call" and frame.f_code.co_filename == self._source:
            self._called.add(frame.f_code.co_firstlineno)


def calls_of(module: str) -> list[tuple[float, str, list[int]]]:
    """The tests of the module without a mutant, quickest first: all of them pass."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "calls.json")
        plugin = Calls(_source(module))
        assert passes(module, mutate(module, NONE)[0], TESTS[module], (plugin, file)), (
            f"the tests of {module} fail without a mutant"
        )
        return sorted(json.loads(file.read_text()))


def survives(
    module: str, number: int, calls: list[tuple[float, str, list[int]]], only_near: bool = False
) -> bool:
    """Do all tests of the module pass with the mutant in its place?"""
    changed, line = mutate(module, number)
    functions = _functions_around(module, line)
    near = [test for _, test, called in calls if functions.intersection(called)]
    if near and not passes(module, changed, near):
        return False
    return bool(near and only_near) or passes(module, changed, TESTS[module])


def _functions_around(module: str, line: int) -> set[int]:
    """The first lines, as code objects name them, of the functions that a line is in."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return {
        min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        for node in ast.walk(ast.parse(_source(module).read_text()))
        if isinstance(node, kinds) and node.lineno <= line <= (node.end_lineno or 0)
    }


def passes(
    module: str, changed: ast.Module, tests: list[str], noted: tuple[Calls, Path] | None = None
) -> bool:
    """Do these tests pass with the changed module in its place? In a fork."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setpgid(0, 0)
            for name in [name for name in sys.modules if name.partition(".")[0] == "gitindex"]:
                del sys.modules[name]
            _be_silent()
            _put_in_place(module, changed)
            code = int(pytest.main([*OPTIONS, *tests], plugins=[noted[0]] if noted else []))
            if noted:
                noted[1].write_text(json.dumps(noted[0].tests))
        finally:
            os._exit(code)
    deadline = time.monotonic() + SECONDS
    while (done := os.waitpid(child, os.WNOHANG))[0] == 0:
        if time.monotonic() > deadline:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return False  # it hangs, which is noticed
        time.sleep(0.02)
    return os.waitstatus_to_exitcode(done[1]) == 0


def _be_silent() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(nothing, fd)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("modules", nargs="*", default=sorted(TESTS))
    parser.add_argument("--sample", type=int, help="so many mutants of each module")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--near", action="store_true", help="only tests that run its function")
    given = parser.parse_args()
    for module in given.modules:
        total = places(module)
        chosen = list(range(total))
        if given.sample is not None and given.sample < total:
            chosen = sorted(random.Random(f"{module} {given.seed}").sample(chosen, given.sample))
        import_the_rest(TESTS[module])
        calls = calls_of(module)
        left = 0
        for number in chosen:
            if survives(module, number, calls, given.near):
                left += 1
                _, line = mutate(module, number)
                text = _source(module).read_text().split("\n")[line - 1].strip()
                print(f"  survives: {module}:{number} line {line}: {text}", flush=True)
        print(
            f"{module}: {len(chosen) - left} of {len(chosen)} noticed, {total} in all", flush=True
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
