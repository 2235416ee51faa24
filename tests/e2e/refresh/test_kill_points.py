"""L7: kill -9 at many points of a publish. The old or the new generation, whole; one rerun converges."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from gitindex.base.vocabulary import IndexState
from gitindex.refresh.runner import Runner
from tests.e2e.refresh.test_faults import QUICKLY, traces
from tests.support import TIMEOUT, Repo

MUTATING = "rename,unlink,fsync,fdatasync,pwrite64,ftruncate"
"""System calls that change what another process or the next boot can see."""

POINTS = 12
"""`make torture` takes points at random for as long as it is given."""
GROUPS = 2


class Point(NamedTuple):
    """The nth call of one kind by the runner, and the line strace showed for it."""

    call: str
    nth: int
    shown: str


pytestmark = pytest.mark.skipif(not traces(), reason="strace is missing or may not trace")


@pytest.mark.parametrize("group", range(GROUPS))
def test_l7_kill_at_each_step_leaves_a_whole_generation(quiet: Repo, group: int) -> None:
    points = _chosen(_steps(quiet))
    assert len(points) >= POINTS, points
    ours = points[group::GROUPS]
    killed = [_kill_once(quiet, point, number) for number, point in enumerate(ours)]
    _assert_tidy(quiet)
    assert killed.count(True) >= len(ours) - 1, "a call may come a little later or not at all"


def _kill_once(repo: Repo, point: Point, number: int) -> bool:
    before = repo.marker()
    word = _change(repo, _word(point, number))
    ended = _run_traced(repo, f"inject={point.call}:signal=KILL:when={point.nth}")
    _assert_whole(repo, word, before["treeId"], point)
    Runner(repo.worktree).serve()
    assert repo.verdict().state is IndexState.FRESH, (point, ended, repo.verdict(), repo.log())
    repo.assert_published()
    assert repo.marker()["treeId"] == repo.tree()
    assert repo.answer("search", word)["results"], point
    return ended in (-signal.SIGKILL, 128 + signal.SIGKILL)


def _assert_whole(repo: Repo, word: str, old_tree: str, point: Point) -> None:
    """What a reader sees after the kill: one generation, and no false claim about it."""
    new_tree = repo.tree()
    fresh = repo.verdict().state is IndexState.FRESH
    if fresh:
        assert repo.marker()["treeId"] == new_tree, point
        repo.assert_published()
    answer = repo.answer("search", word, "--strict")
    if answer["status"] != "ok":
        assert answer["status"] == "not_indexed", (point, answer)
        return
    served = answer["receipt"]["treeId"]
    assert served in (old_tree, new_tree), point
    source = f"index@{served}" if served == new_tree else "worktree"  # laid over the old one
    assert {row["source"] for row in answer["results"]} == {source}, (point, answer)
    if answer["freshness"]["state"] == "fresh":
        assert served == new_tree, point
        repo.assert_published()


def _assert_tidy(repo: Repo) -> None:
    """I-28: what a killed writer left is gone once it is old enough to be nobody's."""
    for path in _litter(repo):
        os.utime(path, (0, 0))
    Runner(repo.worktree).serve()
    assert _litter(repo) == []


def _litter(repo: Repo) -> list[Path]:
    folders = (Path(repo.worktree.llmc), Path(repo.worktree.store))
    return [path for folder in folders for path in folder.rglob("*.tmp")]


def _word(point: Point, number: int) -> str:
    """One term that no other commit has, also where two threads make their n-th call: letters only."""
    name = f"{point.call}{point.nth}x{number}"
    return name.translate(str.maketrans("0123456789", "abcdefghij"))


def _change(repo: Repo, word: str) -> str:
    """Commit without a hook: edits, an addition, a removal and a policy change at once."""
    repo.write("app.py", f"def {word}():\n    return helper()\n")
    repo.write(f"new/{word}.py", f"class Holder:\n    value = '{word}'\n")
    repo.write(".gitattributes", f"# {word}\n")
    for old in (repo.path / "new").glob("*.py"):
        if old.stem != word:
            old.unlink()
    repo.git("add", "-A")
    repo.git("commit", "-qm", word, env={"GITINDEX": "0"})
    return word


def _run_traced(repo: Repo, *expressions: str, log: Path | None = None) -> int:
    options = [word for expression in expressions for word in ("-e", expression)]
    traced = ["-e", f"trace={MUTATING}", "-o", str(log or os.devnull)]
    argv = ["strace", "-f", "-qq", *(() if expressions else QUICKLY), *traced, *options]
    done = subprocess.run(
        [*argv, sys.executable, "-m", "gitindex", "run"],
        cwd=repo.path,
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    return done.returncode


def _steps(repo: Repo) -> list[Point]:
    """Every mutating call of one undisturbed run that touches the store or the public files."""
    log = repo.path.parent / "strace"
    _change(repo, "rehearsal")
    assert _run_traced(repo, log=log) == 0
    assert repo.state() == "fresh"
    counts: dict[tuple[str, str], int] = {}
    steps: dict[
        tuple[str, int], Point
    ] = {}  # a count is per thread: one of each is one place to kill
    for line in log.read_text(errors="replace").splitlines():
        found = re.match(r"(\d+) +(\w+)\(", line)
        if found is None or "resumed" in line:
            continue
        pid, call = found.groups()
        counts[pid, call] = counts.get((pid, call), 0) + 1
        nth = counts[pid, call]
        steps.setdefault((call, nth), Point(call, nth, line))
    return list(steps.values())


def _chosen(steps: list[Point]) -> list[Point]:
    """Every rename that readers can see (more where a job is slow), the rest spread evenly over the run."""
    visible = [s for s in steps if s.call == "rename" and "/progress/" not in s.shown]
    others = [s for s in steps if s.call != "rename" and '"\\0", 1,' not in s.shown]
    count = max(2, POINTS - len(visible))
    spread = [others[number * len(others) // count] for number in range(count)]
    return sorted({*visible, *spread}, key=steps.index)
