"""`gitindex index` after a commit of one line, without a runner."""

from __future__ import annotations

from bench.harness import BARE_PYTHON, Row, Used, round_robin, run
from bench.scratch import Bench

ROUNDS = 5


def measure(bench: Bench) -> list[Row]:
    """CPU of the whole command, of its workers and of what it leaves to a runner apart."""
    repo = bench.indexed()
    number = 0

    def commit() -> Used:
        nonlocal number
        number += 1
        repo.write("one_line.py", f"NUMBER = {number}\n")
        repo.git("add", "one_line.py")
        repo.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", f"line {number}")
        return repo.gitindex("index")

    found = round_robin({"index": commit, "bare": lambda: run(BARE_PYTHON, repo.path)}, ROUNDS)
    return [
        Row(
            "gitindex index after one line",
            found["index"].cpu,
            "ms",
            found["bare"].cpu,
            "bare python",
            most=300,
        )
    ]
