"""File states: ten thousand files in one batch, and what the gate costs for one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial

from bench.harness import BARE_PYTHON, GITINDEX, Row, Used, median_ms, round_robin, run
from bench.scratch import Bench, Repo
from gitindex.base.worktree import Worktree, find_worktree
from gitindex.filestate import FileStateService
from gitindex.filestate.ambiguity import EditTarget
from gitindex.filestate.service import check_mutation_gate
from gitindex.view.tree import open_tree

FILES = 10_000
ROUNDS = 3


def measure(bench: Bench) -> list[Row]:
    repo = _graph(Repo(bench.folder("state")).init())
    repo.gitindex("index")
    worktree = find_worktree(os.fspath(repo.path))
    names = [_name(number) for number in range(FILES)]
    batch = [_timed(partial(_states, worktree, names)) for _ in range(ROUNDS)]
    gate = [_timed(partial(_gate, worktree, name)) for name in names[: 997 * ROUNDS : 997]]
    leaf = [_timed(partial(_gate, worktree, names[-1])) for _ in range(ROUNDS)]
    variants = {
        "cold": lambda: run([*GITINDEX, "state", "--gate", names[0]], repo.path),
        "python": lambda: run(BARE_PYTHON, repo.path),
        "status": lambda: run(["git", "status", "--porcelain"], repo.path),
    }
    found = {name: median.cpu for name, median in round_robin(variants, ROUNDS).items()}
    status = found["status"]
    return [
        Row("states of 10,000 files, one batch", median_ms(batch).cpu, "ms", status, "git status"),
        Row("  wall", median_ms(batch).wall, "ms"),
        Row("gate of one file, warm, of 10,000", median_ms(gate).cpu, "ms", status, "git status"),
        Row("  of one that imports nothing", median_ms(leaf).cpu, "ms", status, "git status"),
        Row("gitindex state --gate, cold", found["cold"], "ms", found["python"], "bare python"),
    ]


def _graph(repo: Repo) -> Repo:
    """Folders of a hundred files; each imports three others, and some of the standard library."""
    for number in range(FILES):
        targets = [(number * 7 + step) % FILES for step in (1, 11, 101) if number + step < FILES]
        lines = [f"from pkg{t // 100} import mod{t}\n" for t in targets if t > number]
        text = "".join(("import os\nimport re\n", *lines))
        repo.write(
            _name(number), f"{text}\n\ndef work_{number}(value):\n    return os, re, value\n"
        )
    repo.commit()
    return repo


def _name(number: int) -> str:
    return f"pkg{number // 100}/mod{number}.py"


def _states(worktree: Worktree, names: list[str]) -> None:
    with open_tree(worktree, ".") as view:
        found = FileStateService(view).get_file_states_batch(names)
    assert all(state.freshness == "clean" for state in found.values())


def _gate(worktree: Worktree, name: str) -> None:
    with open_tree(worktree, ".") as view:
        assert check_mutation_gate(view, [EditTarget(name)])["status"] == "ok"


def _timed(work: Callable[[], None]) -> Used:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return Used(time.process_time() - cpu, time.perf_counter() - wall)
