"""docs/benchmarks.md from the last saved runs: a sentence per question, one table, how to run it yourself."""

from __future__ import annotations

import json
import os
import platform
import time
from fnmatch import fnmatchcase as fnmatch
from pathlib import Path
from typing import Any

from bench.harness import BARE_PYTHON, Row, run

RESULTS = Path(__file__).with_name("results.json")
PAGE = RESULTS.parents[1] / "docs/benchmarks.md"
MARK = "<!-- Generated below this line by `make pages`: do not edit. -->"
SENTENCES = (
    ("A commit takes {0.ours:.1f} ms longer.", "git commit, starts a runner: added by the hook"),
    (
        "A commit becomes searchable in about {starts:.1f} × the start of Python.",
        "one-file commit → fresh, runner alive",
    ),
    (
        "Coming back to a branch that was indexed before costs {percent:.0f} % of the first visit.",
        "back to a seen branch, 500 files differ, runner alive",
    ),
    (
        "A rebase of 50 commits costs {0.ratio:.1f} × the same rebase with empty hooks.",
        "rebase of 50, foreground / exit 0 hooks",
    ),
    ("`gitindex status` costs {starts:.1f} × the start of Python.", "gitindex status"),
    (
        "A search in a running server takes {0.ratio:.2f} × one `rg -w`.",
        "search, warm, p50, besides git: the same / rg -w",
    ),
    (
        "A search from the command line takes {0.ratio:.1f} × one `rg -w`.",
        "gitindex search, cold: the same / rg -w",
    ),
    (
        "References from the command line take {0.ratio:.1f} × one `git grep -w`.",
        "gitindex refs, cold",
    ),
    (
        "A first index costs {0.ratio:.1f} × parsing all files, and then each blob is read once, ever.",
        "first index,* MB",
    ),
    (
        "The same first index costs {0.ratio:.1f} × that of codegraph.",
        "first index,*: the same / codegraph",
    ),
    ("The store takes {percent:.0f} % of the size of the text.", "store, facts and lexical"),
)
"""A sentence and the row it is about; `starts` is in starts of a bare interpreter."""


def save(rows_by_name: dict[str, list[Row]], corpus: str) -> None:
    """Keep the rows of these benchmarks, with the day and the machine, and write the page anew."""
    kept = json.loads(RESULTS.read_text())
    starts = sorted(run(BARE_PYTHON, Path.cwd()).cpu * 1000 for _ in range(9))
    for name, rows in rows_by_name.items():
        kept["runs"][name] = {
            "day": time.strftime("%Y-%m-%d", time.gmtime()),
            "machine": f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}",
            "corpus": corpus,
            "pythonStartMs": round(starts[4], 1),
            "rows": [row._asdict() for row in rows],
        }
    RESULTS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    PAGE.write_text(render())


def render() -> str:
    """The page, its generated part from the saved results."""
    kept = json.loads(RESULTS.read_text())
    rows, starts = _rows(kept["runs"])
    told = []
    for sentence, name in SENTENCES:
        found = next((key for key in rows if fnmatch(key, name)), "")
        if found:
            row = rows[found]
            percent = (row.ratio or 0) * 100
            told.append(
                "- " + sentence.format(row, starts=row.ours / starts[found], percent=percent)
            )
    parts = ["## How fast is it?", "\n".join(told), "## How good is it?", _quality(kept["quality"])]
    parts += ["## All rows", _machines(kept["runs"]), _table(rows)]
    head = PAGE.read_text().partition(MARK)[0].rstrip()
    return f"{head}\n\n{MARK}\n\n" + "\n\n".join(parts) + "\n"


def _rows(runs: dict[str, Any]) -> tuple[dict[str, Row], dict[str, float]]:
    """Rows by a name of their own: `the same` and its like are named after the row above them."""
    rows: dict[str, Row] = {}
    starts: dict[str, float] = {}
    for one in runs.values():
        above = ""
        for fields in one["rows"]:
            row = Row(**fields)
            if row.name.startswith("  "):
                name = f"{above}: {row.name.strip()}"
            else:
                name = above = row.name
            if name in rows or row.name.strip() in ("the same", "wall"):
                name += f" / {row.peer_name or 'absolute'}"
            rows[name] = row
            starts[name] = one["pythonStartMs"]
    return rows, starts


def _table(rows: dict[str, Row]) -> str:
    lines = ["| what | ratio | goal | | ours | against |", "|---|---|---|---|---|---|"]
    for name, row in rows.items():
        if not row.target and row.ratio is None:
            continue
        ratio = f"{row.ratio:.2f} ×" if row.ratio is not None else ""
        met = {True: "met", False: "**missed**", None: ""}[row.met]
        peer = f"{_figure(row.peer)} {row.unit} ({row.peer_name})" if row.peer is not None else ""
        lines.append(
            f"| {name} | {ratio} | {row.target} | {met} | {_figure(row.ours)} {row.unit} | {peer} |"
        )
    return "\n".join(lines)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def _quality(rows: list[dict[str, str]]) -> str:
    lines = ["| what | ours | goal | judged by |", "|---|---|---|---|"]
    lines += [f"| {r['what']} | {r['ours']} | {r['goal']} | {r['judge']} |" for r in rows]
    return "\n".join(lines)


def _machines(runs: dict[str, Any]) -> str:
    seen = dict.fromkeys(
        f"- {one['day']}, {one['machine']}, {one['corpus']}; Python starts in {one['pythonStartMs']} ms"
        for one in runs.values()
    )
    return "\n".join(seen)
