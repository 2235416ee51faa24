"""`gitindex status`: what a shell prompt pays, against a bare interpreter and `git status`."""

from __future__ import annotations

from bench.harness import BARE_PYTHON, GITINDEX, Row, round_robin, run
from bench.scratch import Bench, small_repo

ROUNDS = 25


def measure(bench: Bench) -> list[Row]:
    repo = small_repo(bench.folder("status"))
    repo.gitindex("index")
    variants = {
        "ours": lambda: run([*GITINDEX, "status"], repo.path),
        "json": lambda: run([*GITINDEX, "status", "--json"], repo.path),
        "python": lambda: run(BARE_PYTHON, repo.path),
        "git": lambda: run(["git", "status", "--porcelain"], repo.path),
    }
    big = bench.indexed()
    files = big.git("ls-files").count("\n") + 1
    many = {
        "short": lambda: run([*GITINDEX, "status", "--short"], big.path),
        "count": lambda: run([*GITINDEX, "status"], big.path),
        "git": lambda: run(["git", "status", "--porcelain"], big.path),
    }
    large = {name: used.cpu for name, used in round_robin(many, ROUNDS).items()}
    cpu = {name: used.cpu for name, used in round_robin(variants, ROUNDS).items()}
    floor = cpu["python"] + cpu["git"]
    return [
        Row("gitindex status", cpu["ours"], "ms", floor, "bare python + git status", most=30),
        Row("gitindex status --json", cpu["json"], "ms", floor, "bare python + git status"),
        Row(
            "  over a bare interpreter", cpu["ours"] - cpu["python"], "ms", cpu["git"], "git status"
        ),
        Row(f"gitindex status --short, {files} files", large["short"], "ms", most=30),
        Row(
            f"gitindex status with its count, {files} files",
            large["count"],
            "ms",
            large["git"],
            "git status",
            most_ratio=0.6,
        ),
        Row("  bare interpreter (python -I -c pass)", cpu["python"], "ms"),
    ]
