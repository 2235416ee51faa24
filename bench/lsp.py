"""`workspace/symbol` of the language server, key by key: `python -m bench.lsp REPOSITORY [QUERY…]`.

The repository is indexed before; the real server answers over its pipes. Each query is typed letter by
letter from its third on, as an editor asks. The first answers are left out: they fill what the server
remembers.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

from tests.lsp_client import LspClient

QUERIES = ("parse_expr", "TyCtxt", "resolver", "HirId", "BorrowChecker", "fn_sig")
ROUNDS = 3
WARM_UP = 5


def measure(root: Path, queries: tuple[str, ...]) -> tuple[list[float], float]:
    """Return the milliseconds of each answer by the wall clock, and the CPU milliseconds of one."""
    client = LspClient(root)
    try:
        for _ in range(WARM_UP):
            client.ask("workspace/symbol", query=queries[0])
        before, found = _cpu(client.pid), []
        for _ in range(ROUNDS):
            for query in queries:
                for end in range(3, len(query) + 1):
                    begun = time.perf_counter()
                    client.ask("workspace/symbol", query=query[:end])
                    found.append((time.perf_counter() - begun) * 1e3)
        return found, (_cpu(client.pid) - before) / len(found)
    finally:
        client.close()


def _cpu(pid: int) -> float:
    """The CPU milliseconds of a process, its other threads included; not those of its children."""
    return time.clock_gettime((~pid << 3) | 2) * 1e3


def main(args: list[str]) -> int:
    root = Path(args[0]).resolve()
    found, cpu = measure(root, tuple(args[1:]) or QUERIES)
    p50, p99 = statistics.median(found), statistics.quantiles(found, n=100)[98]
    print(
        f"workspace/symbol, {len(found)} answers: wall p50 {p50:.1f} ms, p99 {p99:.1f} ms, worst"
        f" {max(found):.1f} ms; CPU {cpu:.1f} ms on average"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
