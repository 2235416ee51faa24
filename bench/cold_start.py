"""Cold start: what the first answer of a new process costs, and what the parser adds to it."""

from __future__ import annotations

import sys

from bench.harness import BARE_PYTHON, GITINDEX, Row, round_robin, run
from bench.scratch import Bench, small_repo

ROUNDS = 15
PARSED = [
    sys.executable,
    "-I",
    "-c",
    "import os, sys\nfrom gitindex.cli.door import run_cli\n"
    "code = run_cli(sys.argv[1:])\nsys.stdout.flush()\nos._exit(code)",
]
"""The same command without the table of everyday forms (cli/fast_path.py)."""


def measure(bench: Bench) -> list[Row]:
    repo = small_repo(bench.folder("cold-start"))
    repo.gitindex("index")
    typed = ["_GITINDEX_COMPLETE=complete_bash", "COMP_WORDS=gitindex refs f", "COMP_CWORD=2"]
    variants = {
        "python": lambda: run(BARE_PYTHON, repo.path),
        "help": lambda: run([*GITINDEX, "--help"], repo.path),
        "complete": lambda: run(["env", *typed, *GITINDEX], repo.path),
        "status": lambda: run([*GITINDEX, "status"], repo.path),
        "status parsed": lambda: run([*PARSED, "status"], repo.path),
        "search": lambda: run([*GITINDEX, "search", "value"], repo.path),
        "search parsed": lambda: run([*PARSED, "search", "value"], repo.path),
    }
    cpu = {name: used.cpu for name, used in round_robin(variants, ROUNDS).items()}
    bare = cpu["python"]
    return [
        Row("gitindex --help, cold", cpu["help"], "ms", bare, "bare python", most=120),
        Row("a shell completes a symbol", cpu["complete"], "ms", bare, "bare python"),
        Row("status, everyday form", cpu["status"], "ms", cpu["status parsed"], "by the parser"),
        Row("search, everyday form", cpu["search"], "ms", cpu["search parsed"], "by the parser"),
    ]
