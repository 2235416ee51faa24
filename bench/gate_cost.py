"""`python -m bench.gate_cost REPOSITORY`: CPU of the dangling gate on a comment edit, beside git's own diff.

The clone is indexed and clean; a comment is staged in one Python file, and taken back.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

from bench.harness import GITINDEX

ROUNDS = 7


def main() -> int:
    """Print the median CPU seconds of both, taken in turn, and their ratio."""
    root = Path(sys.argv[1])
    files = _git(root, "ls-files", "*.py").split()
    chosen = root / max(files, key=lambda name: (root / name).stat().st_size)
    text = chosen.read_text()
    chosen.write_text(f"# a comment\n{text}")
    _git(root, "add", str(chosen.relative_to(root)))
    try:
        gate, diff, bare = [], [], []
        for _ in range(ROUNDS):
            gate.append(_cpu([*GITINDEX, "gate", "dangling"], root))
            diff.append(_cpu(["git", "diff", "--cached"], root))
            bare.append(_cpu([sys.executable, "-c", "pass"], root))
    finally:
        _git(root, "reset", "-q", "--hard")
    middle = [sorted(listed)[ROUNDS // 2] for listed in (gate, diff, bare)]
    print(
        f"{root.name}: dangling {middle[0]:.3f} s of CPU, git diff --cached {middle[1]:.3f},"
        f" an interpreter {middle[2]:.3f}: {middle[0] / middle[2]:.1f} interpreters"
    )
    return 0


def _cpu(command: list[str], root: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {k: v for k, v in os.environ.items() if k != "GIT_INDEX_FILE"}
    subprocess.run(command, cwd=root, env=env, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _git(root: Path, *args: str) -> str:
    done = subprocess.run(["git", "-C", root, *args], capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    raise SystemExit(main())
