"""`gitindex status`: what a shell prompt pays, against a bare interpreter and `git status`.

And the copy of git's index after a commit: what it costs to keep, and what a count of edits saves by it.
"""

from __future__ import annotations

from itertools import count

from bench.harness import BARE_PYTHON, GITINDEX, Row, Used, round_robin, run, timed
from bench.scratch import Bench, Repo, module_text, small_repo
from gitindex.base.atomic_file import remove
from gitindex.base.worktree import worktree_at
from gitindex.refresh.detached import help_readers

ROUNDS = 25
COMMITS = 9


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
        *_copy_rows(big),
    ]


def _copy_rows(repo: Repo) -> list[Row]:
    """After each commit: a count without a copy that fits, what a runner does for readers when it
    ends, a count with it, the same with a copy made anew."""
    worktree, numbers = worktree_at(str(repo.path)), count(1)

    def commit() -> None:
        repo.write("bench_status.py", module_text(next(numbers)))
        repo.commit()

    def made_anew() -> Used:
        remove(worktree.shadow)
        return timed(lambda: help_readers([worktree]))

    variants = {
        "commit": lambda: timed(commit),
        "without": lambda: run([*GITINDEX, "status"], repo.path, codes=(0, 1)),
        "update": lambda: timed(lambda: help_readers([worktree])),
        "with": lambda: run([*GITINDEX, "status"], repo.path, codes=(0, 1)),
        "git": lambda: run(["git", "--no-optional-locks", "status", "--porcelain"], repo.path),
        "anew": made_anew,
    }
    cpu = {name: used.cpu for name, used in round_robin(variants, COMMITS).items()}
    return [
        Row("after a commit: status with its count", cpu["with"], "ms", cpu["git"], "git status"),
        Row(
            "  the same, copy of git's index not updated",
            cpu["without"],
            "ms",
            cpu["git"],
            "git status",
        ),
        Row(
            "  updating the copy, once per runner",
            cpu["update"],
            "ms",
            cpu["anew"],
            "making it anew",
        ),
    ]
