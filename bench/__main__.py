"""`python -m bench [NAME…] [--json] [--corpus DIR]`: runs the benchmarks and prints one table."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench import (
    branch,
    checksums,
    claims,
    cold_start,
    evidence,
    extraction,
    first_index,
    first_questions,
    fresh,
    grep,
    growth,
    history,
    hook,
    jobqueue,
    mcp,
    mcp_texts,
    one_line,
    oracle,
    page,
    precommit,
    radar,
    ranking,
    rebase,
    recheck,
    refs,
    scip,
    search,
    size,
    state,
    status,
    unattended,
    walks,
    web,
)
from bench.harness import Row, isolate, table
from bench.scratch import Bench

BENCHMARKS: dict[str, Callable[[Bench], list[Row]]] = {
    "hook": hook.measure,
    "precommit": precommit.measure,
    "fresh": fresh.measure,
    "growth": growth.measure,
    "branch": branch.measure,
    "rebase": rebase.measure,
    "one-line": one_line.measure,
    "cold-start": cold_start.measure,
    "status": status.measure,
    "search": search.measure,
    "web": web.measure,
    "grep": grep.measure,
    "ranking": ranking.measure,
    "evidence": evidence.measure,
    "refs": refs.measure,
    "first-questions": first_questions.measure,
    "history": history.measure,
    "checksums": checksums.measure,
    "mcp": mcp.measure,
    "mcp-texts": mcp_texts.measure,
    "state": state.measure,
    "extraction": extraction.measure,
    "index": first_index.measure,
    "unattended": unattended.measure,
    "size": size.measure,  # last: it leaves worktrees behind
    "queue": jobqueue.measure,
    "scip": scip.measure,
    "oracle": oracle.measure,
    "claims": claims.measure,
    "recheck": recheck.measure,
    "walks": walks.measure,
    "radar": radar.measure,
}


def main() -> int:
    """Run the chosen benchmarks; a missed target is told in its row."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument(
        "--save", action="store_true", help="keep the rows for docs/benchmarks.md, and write it"
    )
    parser.add_argument("--corpus", type=Path, help="index this folder, not the standard library")
    args = parser.parse_args()
    unknown = set(args.names) - BENCHMARKS.keys()
    if unknown:
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    chosen = [name for name in BENCHMARKS if not args.names or name in args.names]
    found = _run(chosen, args.corpus)  # in the order of the table: some leave workers behind
    rows = [row for of_one in found.values() for row in of_one]
    if args.save:
        page.save(found, args.corpus.name if args.corpus else "Python's standard library")
    if args.json:
        derived = [{"ratio": row.ratio, "target": row.target, "met": row.met} for row in rows]
        print(json.dumps([row._asdict() | more for row, more in zip(rows, derived, strict=True)]))
    else:
        print(table(rows))
    return 0


def _run(names: list[str], corpus: Path | None) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {}
    # a runner may still write what is being removed
    with tempfile.TemporaryDirectory(
        prefix="gitindex-bench-", ignore_cleanup_errors=True
    ) as folder:
        isolate(Path(folder, "home"))
        bench = Bench(Path(folder), corpus)
        for name in names:
            started = time.monotonic()
            try:
                rows[name] = BENCHMARKS[name](bench)
            except Exception as error:  # the others are still worth their rows
                sys.stderr.write(f"{name}: {error!r}\n")
            sys.stderr.write(f"{name}: {time.monotonic() - started:.0f} s\n")
    return rows


if __name__ == "__main__":
    sys.exit(main())
